"""cuda.jit: what public reports say that others get wrong, and the kind around each (../shared/cases/jit.md C1-C19)."""

import numpy as np
import pytest
import treadle as td
from treadle import cuda

N = 1


def test_c1_slices_of_dynamic_shared_memory_are_different_places():
    @cuda.jit
    def kernel(o):
        d = cuda.shared.array(0, np.int32)
        a, b = d[0:1], d[1:2]
        a[0] = 1
        b[0] = 2
        o[0] = a[0]
        o[1] = b[0]

    o = td.zeros(2, np.int32)
    kernel[1, 1, 0, 8](o)
    assert o.tolist() == [1, 2]


def test_c1_dynamic_shared_memory_cut_in_parts_of_several_types():
    @cuda.jit
    def kernel(o, n):
        whole = cuda.shared.array(0, np.float64)
        first, rest = whole[:n], whole[n:]
        small = cuda.shared.array(0, np.int32)
        t = cuda.threadIdx.x
        first[t] = t
        rest[-1 - t] = 10 + t
        cuda.syncthreads()
        o[t] = first[n - 1 - t] + rest[t] * 100
        if t == 0:
            o[n] = rest.size * 1000 + small.size

    o = td.zeros(5)
    kernel[1, 4, 0, 64](o, 4)
    assert o.tolist() == [1303, 1202, 1101, 1000, 4016]


def test_c3_static_and_dynamic_shared_memory_do_not_overlap():
    @cuda.jit
    def kernel(o):
        s = cuda.shared.array(16, np.int32)
        d = cuda.shared.array(0, np.int32)
        u = cuda.shared.array((2, 8), np.int32)
        t = cuda.threadIdx.x
        s[t] = 100 + t
        d[t] = 200 + t
        u[t // 8, t % 8] = 300 + t
        cuda.syncthreads()
        o[t] = s[t]
        o[16 + t] = d[t]
        o[32 + t] = u[t // 8, t % 8]
        if t == 0:
            o[48] = d.size

    o = td.zeros(49, np.int32)
    kernel[1, 16, 0, 128](o)
    assert o.tolist() == [*range(100, 116), *range(200, 216), *range(300, 316), 32]


def test_c3_two_shared_arrays_on_one_line_are_two():
    @cuda.jit
    def kernel(o):
        a, b = cuda.shared.array(4, np.int32), cuda.shared.array(4, np.int32)
        t = cuda.threadIdx.x
        a[t], b[t] = t, 10 + t
        cuda.syncthreads()
        o[t] = a[3 - t] * 100 + b[t]

    o = td.zeros(4, np.int32)
    kernel[1, 4](o)
    assert o.tolist() == [310, 211, 112, 13]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_c5_floor_division_and_remainder(dtype):
    @cuda.jit
    def kernel(a, b, q, m):
        i = cuda.threadIdx.x
        q[i] = a[i] // b[i]
        m[i] = a[i] % b[i]

    a, b = np.array([-6, 6, -7, 7, -7, 0], dtype), np.array([5, -5, 3, -3, -3, -2], dtype)
    q, m = td.zeros(6, dtype), td.zeros(6, dtype)
    kernel[1, 6](td.asarray(a), td.asarray(b), q, m)
    assert q.tolist() == [-2, -2, -3, -3, 2, 0] and m.tolist() == [4, -4, 2, -2, -1, 0]


def test_c5_floor_division_of_floats_is_pythons():
    @cuda.jit
    def kernel(a, b, q, m):
        i = cuda.threadIdx.x
        q[i] = a[i] // b[i]
        m[i] = a[i] % b[i]

    values = [0.0, -0.0, 0.1, -0.1, 1.0, -1.0, 2.5, -7.25, 0.3, 1e17, np.inf, -np.inf, np.nan]
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    for dtype in (np.float64, np.float32):
        x, y = a.astype(dtype), b.astype(dtype)
        q, m = td.zeros(x.size, dtype), td.zeros(x.size, dtype)
        kernel[1, x.size](td.asarray(x), td.asarray(y), q, m)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(q.get(), x // y)
            np.testing.assert_array_equal(m.get()[y != 0], (x % y)[y != 0])
            zero = q.get() == 0
            np.testing.assert_array_equal(np.signbit(q.get()[zero]), np.signbit(x // y)[zero])


@pytest.mark.parametrize(
    ("source", "value"),
    [(np.uint8, 200), (np.uint16, 60000), (np.uint32, 3_000_000_000), (np.uint64, 2**63 + 2048),
     (np.int8, -56), (np.int16, -5536), (np.int32, -(2**31)), (np.int64, -(2**63))],
)  # fmt: skip
def test_c7_integers_to_floats_and_back(source, value):
    @cuda.jit
    def kernel(a, f, g, back):
        f[0] = a[0]
        f[1] = np.float64(a[0])
        f[2] = float(a[0])
        g[0] = a[0]
        back[0] = f[0]
        back[1] = source(f[1])

    f, g, back = td.zeros(3), td.zeros(1, np.float32), td.zeros(2, source)
    kernel[1, 1](td.asarray(np.array([value], source)), f, g, back)
    assert f.tolist() == [float(value)] * 3 and g.item() == np.float32(value)
    assert back.tolist() == [value, value]


def test_c8_comparisons_of_signed_with_unsigned():
    @cuda.jit
    def kernel(a, b, o):
        o[0], o[1], o[2] = a[0] < b[0], a[0] > b[0], a[0] == b[0]
        o[3], o[4], o[5] = b[0] <= a[0], b[0] >= a[0], a[0] != b[0]
        o[6] = 1 if a[0] < b[0] < 5 else 0

    for signed in (np.int8, np.int32, np.int64):
        for unsigned in (np.uint8, np.uint32, np.uint64):
            o = td.zeros(7, np.int32)
            kernel[1, 1](td.full(1, -1, signed), td.full(1, 1, unsigned), o)
            assert o.tolist() == [1, 0, 0, 0, 1, 1, 1]
    o = td.zeros(7, np.int32)
    kernel[1, 1](td.full(1, -1, np.int64), td.full(1, 2**64 - 1, np.uint64), o)
    assert o.tolist() == [1, 0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("debug", [False, True])
def test_c12_what_is_written_before_a_barrier_is_seen_after_it(debug):
    @cuda.jit(debug=debug)
    def kernel(p, n):
        t = cuda.threadIdx.x
        if t < 14:
            p[2] = 5 // (n[0] + 1)
        if t == 1:
            p[0] = 112211
        cuda.syncthreads()
        if t == 17:
            p[1] = p[0]

    p = td.zeros(3, np.int64)
    kernel[1, 20](p, td.zeros(1, np.int64))
    assert p.tolist() == [112211, 112211, 5]


def test_c12_threads_that_returned_do_not_hold_a_barrier():
    @cuda.jit
    def kernel(o):
        y = cuda.threadIdx.y
        s = cuda.shared.array(3, np.int32)
        if y > 3:
            return
        s[y] = -999
        cuda.syncthreads()
        if y == 0:
            for k in range(3):
                o[k] = s[k]

    o = td.zeros(3, np.int32)
    kernel[1, (1, 3)](o)
    assert o.tolist() == [-999] * 3


def test_c13_globals_are_frozen_when_a_kernel_is_compiled():
    global N

    def body(o):
        a = cuda.local.array(N, np.float64)
        for i in range(N):
            a[i] = i
        o[0] = a[N - 1]

    N = 1
    eager, lazy = cuda.jit("void(float64[:])")(body), cuda.jit(body)
    N = 10
    o = td.zeros(1)
    eager[1, 1](o)
    assert o.item() == 0
    lazy[1, 1](o)
    assert o.item() == 9
    N = 5
    lazy[1, 1](o)
    assert o.item() == 9


def test_c15_keywords_and_defaults_at_a_launch():
    @cuda.jit
    def kernel(o, f=3, *, g=2.5):
        o[0] = f
        o[1] = g

    o = td.zeros(2)
    for args, keywords, want in (
        ((), {"f": 5}, [5, 2.5]), ((), {}, [3, 2.5]), ((7,), {"g": 1}, [7, 1]), ((), {"g": 4, "f": 8}, [8, 4]),
    ):  # fmt: skip
        kernel[1, 1](o, *args, **keywords)
        assert o.tolist() == want
    kernel[1, 1](f=6, o=o)
    assert o.tolist() == [6, 2.5]
    for args, keywords, name in (((1,), {"f": 2}, "'f'"), ((), {"h": 1}, "'h'")):
        with pytest.raises(TypeError, match=name):
            kernel[1, 1](o, *args, **keywords)


@pytest.mark.parametrize("space", ["shared", "local"])
def test_c16_a_shape_of_run_time_is_refused_before_the_launch(space):
    array = getattr(cuda, space).array

    @cuda.jit
    def of_a_register(o):
        s = array(cuda.blockDim.x, np.int32)
        o[0] = s[0]

    @cuda.jit
    def of_an_argument(o, n=4):
        s = array((2, n), np.int32)
        o[0] = s[0, 0]

    @cuda.jit
    def of_an_array(o):
        s = array(o.shape[0] * 2, np.int32)
        o[0] = s[0]

    o = td.full(4, 7, np.int32)
    for kernel in (of_a_register, of_an_argument, of_an_array):
        with pytest.raises(TypeError) as caught:
            kernel[1, 1](o)
        text = str(caught.value)
        assert text.count("\n") <= 3 and f"shape of cuda.{space}.array must be a constant" in text
        assert ("dynamic shared memory" in text) == (space == "shared")
    assert o.tolist() == [7] * 4


def test_c16_shapes_that_are_constants():
    size, pair = np.int64(3), (2, 3)

    @cuda.jit
    def kernel(o):
        a = cuda.shared.array(size * 2 - 1, np.int32)
        b = cuda.local.array(pair, np.float32)
        c = cuda.local.array(pair[1], np.int64)
        o[0], o[1], o[2] = a.size, b.size, c.size

    o = td.zeros(3, np.int32)
    kernel[1, 1](o)
    assert o.tolist() == [5, 6, 3]


def test_c19_a_kernel_that_returns_a_value_is_refused():
    def returns(o):
        o[0] = 1
        return o[0]

    def sometimes(o):
        if o[0] > 5:
            return 3
        o[0] = 1
        return None

    def nothing(o):
        if o[0] > 5:
            return
        o[0] = 1
        return

    o = td.zeros(1)
    for body in (returns, sometimes):
        with pytest.raises(TypeError, match="must have void return type"):
            cuda.jit(body)[1, 1](o)
        with pytest.raises(TypeError, match="void"):
            cuda.jit("void(float64[:])")(body)
    assert o.item() == 0
    cuda.jit(nothing)[1, 1](o)
    assert o.item() == 1
    with pytest.raises(TypeError, match="void"):
        cuda.jit("float64(float64[:])")(nothing)


def test_a_loops_else_runs_for_the_threads_that_did_not_break():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        for p in range(3):
            for q in range(3):
                if x[i, p + q] > 5:
                    break
            else:
                out[i, p] += 1
        k = 0
        while k < 8:
            if x[i, k] == 7:
                break
            k += 1
        else:
            out[i, 3] = 1

    x = np.random.default_rng(0).integers(-10, 20, (70, 8))
    out = td.zeros((70, 4), np.int32)
    kernel[2, 35](td.asarray(x), out)
    want = np.stack(
        [*(~(x[:, p : p + 3] > 5).any(axis=1) for p in range(3)), ~(x == 7).any(axis=1)], axis=1
    )
    np.testing.assert_array_equal(out.get(), want)


@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_loops_over_tuples_leave_with_the_types_of_every_way(n):
    def body(out, n):
        x = 0
        for v in (1, 2.5, 7):
            x = v
            if v > n:
                break
        else:
            y = x * 2
            x = y + 0.5
        out[0] = x
        for t in (3, 4):
            for q in range(5):
                if q > n + t:
                    break
            else:
                out[1] += t
        for t, s in ((1, 2.0), (2, 3)):
            if t == 2:
                continue
            a = 0
            for _ in range(2):
                a += s
            out[2] += a
        z = 1
        for v in (1, 2.5):
            if n > 5:
                z = v
                continue
            z = z + v
            if z > 3:
                break
        out[3] = z

    out, want = td.zeros(4), [0.0] * 4
    cuda.jit(body)[1, 1](out, n)
    body(want, n)
    assert out.tolist() == want
