"""cuda.jit: the Python of kernels, feature by feature."""

# ruff: noqa: B007
import enum
import math
import operator
from collections import namedtuple

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import types as T


def launch(k, out, *args, grid=1, block=1, shared=0):
    d = td.asarray(out)
    k[grid, block, None, shared](
        d, *[td.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    )
    return d.get()


def test_slices_of_dynamic_shared_memory():
    @cuda.jit
    def k(o):
        d = cuda.shared.array(0, T.int32)
        a = d[0:1]
        b = d[1:2]
        a[0] = 1
        b[0] = 2
        o[0] = a[0]
        o[1] = b[0]

    assert launch(k, np.zeros(2, np.int32), shared=8).tolist() == [1, 2]


def test_static_and_dynamic_shared_memory_do_not_overlap():
    @cuda.jit
    def k(o):
        t = cuda.threadIdx.x
        s = cuda.shared.array(16, T.int32)
        d = cuda.shared.array(0, T.int32)
        s[t] = 100 + t
        d[t] = 200 + t
        cuda.syncthreads()
        o[t] = s[t]
        o[16 + t] = d[t]
        if t == 0:
            o[32] = d.size

    o = launch(k, np.zeros(33, np.int32), block=16, shared=128)
    assert o.tolist() == [*range(100, 116), *range(200, 216), 32]


def test_dynamic_shared_memory_as_two_types():
    @cuda.jit
    def k(o):
        f = cuda.shared.array(0, T.float32)
        i = cuda.shared.array(0, T.int32)[4:]
        f[0] = 1.5
        i[0] = 7
        o[0] = f[0]
        o[1] = i[0]
        o[2] = f.size
        o[3] = i.size

    assert launch(k, np.zeros(4), shared=32).tolist() == [1.5, 7, 8, 4]


def test_dynamic_shared_memory_in_a_device_function():
    @cuda.jit(device=True)
    def g(i):
        s = cuda.shared.array(0, T.float64)
        s[i] = i
        return s

    @cuda.jit
    def k(o):
        s = g(cuda.threadIdx.x)
        cuda.syncthreads()
        o[cuda.threadIdx.x] = s[3 - cuda.threadIdx.x]

    assert launch(k, np.zeros(4), block=4, shared=32).tolist() == [3, 2, 1, 0]


def test_bool_complex_and_float16_in_shared_memory():
    @cuda.jit
    def k(o):
        s = cuda.shared.array(4, T.boolean)
        c = cuda.shared.array(4, T.complex64)
        h = cuda.shared.array(4, T.float16)
        t = cuda.threadIdx.x
        s[t] = t % 2 == 0
        c[t] = t + 1j
        h[t] = t * 0.5
        cuda.syncthreads()
        o[t] = c[3 - t].real + 10 * s[t] + 100 * h[t] + c[t].imag

    assert launch(k, np.zeros(4), block=4).tolist() == [14, 53, 112, 151], launch(
        k, np.zeros(4), block=4
    )


def test_alignment():
    @cuda.jit
    def k(o):
        a = cuda.shared.array(3, T.int8, alignment=16)
        b = cuda.shared.array(3, T.int8)
        c = cuda.shared.array(5, T.float32, alignment=64)
        l = cuda.local.array(3, T.int8, alignment=32)
        l[0] = 1
        o[0] = a.ctypes.data % 16
        o[1] = c.ctypes.data % 64
        o[2] = l.ctypes.data % 32
        b[0] = 1

    assert launch(k, np.ones(3, np.int64)).tolist() == [0, 0, 0]


def test_attributes_of_arrays():
    @cuda.jit
    def k(o, a):
        o[0] = a.shape[-1]
        o[1] = a.strides[0]
        o[2] = a.ndim
        o[3] = a.size
        o[4] = a.itemsize
        o[5] = a.nbytes
        o[6] = a.T.shape[0]
        o[7] = a.flat[3]
        o[8] = len(a)
        o[9] = a.flags.c_contiguous
        o[10] = a.real[0, 1]
        o[11] = a.dtype.itemsize
        for x in a.flat:
            o[12] += x
        o[13] = a.T[1, 0]
        o[14] = a.reshape(6)[5]
        o[15] = a.reshape((3, -1))[2, 1]
        o[16] = a.ravel()[2]
        o[17] = a.view(np.int32)[0, 2]
        o[18] = a.flat[-1]

    a = np.arange(6, dtype=np.int64).reshape(2, 3)
    assert launch(k, np.zeros(19), a).tolist() == [
        3,
        24,
        2,
        6,
        8,
        48,
        3,
        3,
        2,
        1,
        1,
        8,
        15,
        1,
        5,
        5,
        2,
        1,
        5,
    ], launch(k, np.zeros(19), a)


def test_parts_of_complex_arrays():
    @cuda.jit
    def k(o, a):
        a.imag[0] = 5
        o[0] = a[0].imag
        o[1] = a.real[0]
        o[2] = a[0].conjugate().imag
        a[1] = 3
        o[3] = a[1].real
        a.real[:] = 9
        o[4] = a[0].real
        o[5] = np.conj(a[0]).imag
        o[6] = abs(a[0] - 9)

    assert launch(k, np.zeros(7), np.ones(2, complex)).tolist() == [5, 1, -5, 3, 9, -5, 5]


def test_folds_of_whole_arrays():
    @cuda.jit
    def k(o, a):
        o[0] = a.sum()
        o[1] = np.mean(a)
        o[2] = np.var(a)
        o[3] = np.std(a)
        o[4] = np.min(a)
        o[5] = np.max(a)
        o[6] = np.argmax(a)
        o[7] = np.argmin(a)
        o[8] = np.all(a)
        o[9] = np.any(a)
        o[10] = np.count_nonzero(a)
        o[11] = np.sum(a)
        o[12] = np.prod(a)
        o[13] = a.var()
        o[14] = a.std()
        o[15] = a.argmax()
        o[16] = a.argmin()
        o[17] = a.mean()
        o[18] = a.max()
        o[19] = np.amax(a)
        o[20] = a.prod()

    a = np.array([3.0, 0, 4, -1])
    w = [
        a.sum(),
        a.mean(),
        a.var(),
        a.std(),
        a.min(),
        a.max(),
        2,
        3,
        0,
        1,
        3,
        6,
        0,
        a.var(),
        a.std(),
        2,
        3,
        1.5,
        4,
        4,
        0,
    ]
    assert np.allclose(launch(k, np.zeros(21), a), w), launch(k, np.zeros(21), a)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int32])
def test_folds_that_leave_nan_out(dtype):
    @cuda.jit
    def k(o, a):
        o[0] = np.nansum(a)
        o[1] = np.nanprod(a)
        o[2] = np.nanmean(a)
        o[3] = np.nanvar(a)
        o[4] = np.nanstd(a)

    @cuda.jit
    def extremes(o, a):
        o[0] = np.nanmin(a)
        o[1] = np.nanmax(a)

    values = [[3, 1, 4], [7]]
    if dtype != np.int32:
        values += [[np.nan, 2, -5, np.nan, 3], [np.nan, np.nan], [1, np.nan], [np.inf, np.nan, 1]]
    for row in values:
        a = np.array(row, dtype)
        want = [np.nansum(a), np.nanprod(a), np.nanmean(a), np.nanvar(a), np.nanstd(a)]
        found = launch(k, np.zeros(5, complex), a)
        np.testing.assert_allclose(found, want, rtol=1e-5, equal_nan=True)
        if dtype != np.complex128:
            want = [np.nanmin(a), np.nanmax(a)]
            np.testing.assert_array_equal(launch(extremes, np.zeros(2), a), want)


def test_functions_of_operator():
    @cuda.jit
    def k(o, a, b):
        o[0] = operator.add(a[0], b[0])
        o[1] = operator.floordiv(a[0], b[0])
        o[2] = operator.lshift(a[0], 1)
        o[3] = operator.eq(a[0], b[0])
        o[4] = operator.neg(a[0])
        o[5] = operator.not_(a[0])
        o[6] = operator.xor(a[0], b[0])
        o[7] = operator.truth(a[0])
        o[8] = operator.is_(a[0], b[0])
        o[9] = operator.pow(a[0], 2)
        o[10] = operator.getitem(a, 1)
        o[11] = operator.iadd(a[0], b[0])
        o[12] = operator.contains((1, 2), a[0])
        operator.setitem(a, 1, 5)
        o[13] = a[1]
        o[14] = operator.concat((1, 2), (3,))[2]

    assert launch(k, np.zeros(15), np.array([-7, 4]), np.array([2, 1])).tolist() == [
        -5,
        -4,
        -14,
        0,
        7,
        0,
        -7 ^ 2,
        1,
        0,
        49,
        4,
        -5,
        0,
        5,
        3,
    ]


Pt = namedtuple("Pt", "x y")


def test_tuples():
    @cuda.jit
    def k2(o, p, t, n):
        o[0] = p.x + p.y
        o[1] = p[1]
        q = Pt(3, 4.5)
        o[2] = q.y
        r = t[::-1]
        o[3] = r[0]
        o[4] = t[1:][0]
        o[5] = t[n]
        a, (b, c) = (1, (2, 3))
        o[6] = a + b + c
        o[7] = sum_(t)
        o[8] = (t + (9,))[3]
        o[9] = t == (1, 2, 3)
        o[10] = t < (1, 3, 0)
        o[11] = 2 in t
        u = (1, 2.5)
        for x in cuda.literal_unroll(u):
            o[12] += x
        nested = ((1, 2), (3, 4))
        o[13] = nested[n % 2][1]
        for i, (x, y) in enumerate(nested):
            o[14] += i * x * y
        for a_, _ in zip(t, o):
            o[15] += a_
        o[16] = max(t)
        o[17] = min(t[0], t[1])
        o[18] = len(t[1:])

    assert launch(k2, np.zeros(19), Pt(1, 2), (1, 2, 3), 1).tolist() == [
        3,
        2,
        4.5,
        3,
        2,
        2,
        6,
        6,
        9,
        1,
        1,
        1,
        3.5,
        4,
        12,
        6,
        3,
        1,
        2,
    ], launch(k2, np.zeros(19), Pt(1, 2), (1, 2, 3), 1).tolist()


@cuda.jit(device=True)
def sum_(t):
    s = 0
    for x in t:
        s += x
    return s


GA = np.arange(5.0)


GT = (1, 2, 3)


GC = 3 + 4j


def test_globals_and_closures_are_frozen():
    local = np.array([[1, 2], [3, 4]], np.int32)

    @cuda.jit
    def k(o):
        o[0] = GA[3]
        o[1] = GT[2]
        o[2] = GC.imag
        c = cuda.const.array_like(local)
        o[3] = c[1, 0]
        o[4] = local[1, 1]
        o[5] = np.pi
        o[6] = math.e
        o[7] = c.shape[0]
        s = 0
        for x in GA:
            s += x
        o[8] = s

    assert np.allclose(launch(k, np.zeros(9)), [3, 3, 4, 3, 4, np.pi, math.e, 2, 10])


def test_global_arrays_of_every_rank_are_frozen(also_by_nvrtc):
    cases = (np.array(7), np.float64([]), np.int64([1, 0, 3]), np.ones((2, 1, 3), np.float32))

    @cuda.jit
    def kernel(out):
        i = 0
        for case in cuda.literal_unroll(cases):
            out[i] = case.size + 10 * np.count_nonzero(case)
            i = i + 1

    assert launch(kernel, np.zeros(4)).tolist() == [11, 0, 23, 66]
    also_by_nvrtc(kernel)


def test_a_global_device_array_is_live():
    g = td.asarray(np.arange(4.0))

    @cuda.jit
    def k(o):
        o[0] = g[2]
        g[1] = 7

    assert launch(k, np.zeros(1)).tolist() == [2]
    assert g.get().tolist() == [0, 7, 2, 3]


def test_slices_and_slice_assignment():
    @cuda.jit
    def k(o, a):
        a[2:4] = a[0:2]
        o[:] = a[:8]
        o[6:] = -1
        b = a[::-2]
        o[0] = b[0]
        o[1] = b.size
        c = a[3:100]
        o[2] = len(c)
        a[1:3] = (8, 9)
        o[3] = a[1]

    assert launch(k, np.zeros(8), np.arange(10.0)).tolist() == [9, 5, 7, 8, 4, 5, -1, -1]


def test_new_axes():
    @cuda.jit
    def k(o, a):
        b = a[:, None]
        o[0] = b.shape[1]
        o[1] = a[..., 1:][0]
        o[2] = a[np.newaxis, :].ndim

    assert launch(k, np.zeros(3), np.arange(4.0)).tolist() == [1, 1, 2]


def test_warp_operations():
    @cuda.jit
    def k(o, p):
        t = cuda.laneid
        o[t] = cuda.shfl_xor_sync(4294967295, p[t], 1)
        _, pr = cuda.match_all_sync(4294967295, 5)
        o[t] += pr
        cuda.syncwarp()
        cuda.syncwarp(4294967295)
        if t == 0:
            o[0] += cuda.activemask()

    p = np.arange(32, dtype=np.float64) + 0.5
    o = launch(k, np.zeros(32), p, block=32)
    assert o[2] == 3.5 + 1 and o[0] == 1.5 + 1 + 1, o


def test_casts():
    @cuda.jit
    def k(o, x):
        o[0] = np.float32(x[0])
        o[1] = np.uint8(x[1])
        o[2] = np.int64(x[2])
        o[3] = np.bool_(x[0])
        o[4] = np.float16(0.1)
        o[5] = T.int32(x[2])
        o[6] = np.complex64(x[0]).real
        o[7] = int(x[2])
        o[8] = float(3)
        o[9] = bool(x[0])
        o[10] = np.int_(3)
        o[11] = np.double(2)
        o[12] = np.intp(4)
        o[13] = np.uint32(3000000000.0)

    x = np.array([0.1, 200.7, -3.7])
    r = launch(k, np.zeros(14), x)
    assert np.allclose(
        r, [np.float32(0.1), 200, -3, 1, np.float16(0.1), -3, 0.1, -3, 3, 1, 3, 2, 4, 3000000000.0]
    ), r


def test_cache_hints():
    @cuda.jit
    def k(o, a):
        o[0] = (
            cuda.ldca(a, 0) + cuda.ldcg(a, 1) + cuda.ldcs(a, 2) + cuda.ldlu(a, -1) + cuda.ldcv(a, 0)
        )
        cuda.stcg(o, 1, 5)
        cuda.stcs(o, 2, 6)
        cuda.stwb(o, 3, 7)
        cuda.stwt(o, 4, 8)

    assert launch(k, np.zeros(5), np.arange(4.0)).tolist() == [6, 5, 6, 7, 8]


def test_device_functions_as_arguments():
    def make(n):
        @cuda.jit(device=True)
        def f(x):
            return x + n

        return f

    f, g = (make(1), make(10))

    @cuda.jit(device=True)
    def ap(fn, x):
        return fn(x)

    @cuda.jit
    def k(o):
        o[0] = ap(f, 1)
        o[1] = ap(g, 1)
        h = f
        o[2] = h(5)
        o[3] = lambda_(3)

    lambda_ = cuda.jit(device=True)(lambda x: x * 2)
    assert launch(k, np.zeros(4)).tolist() == [2, 11, 6, 6]


def test_any_number_of_arguments():
    @cuda.jit(device=True)
    def f(*a):
        s = 0
        for x in a:
            s += x
        return s + len(a)

    @cuda.jit
    def k(o, *a):
        o[0] = f(*a)
        o[1] = f(1, 2.5)
        o[2] = f()

    assert launch(k, np.zeros(3), 1, 2, 3).tolist() == [9, 5.5, 0]


def test_arrays_as_results():
    @cuda.jit(device=True)
    def f(a):
        return a[1:]

    @cuda.jit
    def k(o, a):
        b = f(a)
        b[0] = 5
        o[0] = a[1]
        o[1] = b.shape[0]

    assert launch(k, np.zeros(2), np.zeros(4)).tolist() == [5, 3]


def test_arrays_where_paths_meet():
    @cuda.jit
    def k(o, a, b, f):
        if f:
            c = a
        else:
            c = b[::2]
        o[0] = c[1]
        a, b = (b, a)
        o[1] = a[0]

    assert launch(k, np.zeros(2), np.arange(4.0), np.arange(4.0) * 10, 0).tolist() == [20, 0]


def test_atomic_operations():
    for t in (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64):

        @cuda.jit
        def k(o, a):
            o[0] = cuda.atomic.add(a, (0, 1), 2)
            o[1] = cuda.atomic.sub(a, (-1, -1), 1)
            o[2] = cuda.atomic.max(a, (0, 0), 50)
            o[3] = cuda.atomic.min(a, (1, 0), 1)
            o[4] = cuda.atomic.nanmax(a, (1, 1), 99)
            o[5] = cuda.atomic.exch(a, (0, 2), 3) if 0 else 0

        r = launch(k, np.zeros(6, t), np.arange(6).reshape(2, 3).astype(t))
        assert r.tolist() == [1, 5, 0, 3, 4, 0], (t, r)
    for t in (np.int32, np.uint32, np.int64, np.uint64):

        @cuda.jit
        def k(o, a):
            o[0] = cuda.atomic.and_(a, 0, 6)
            o[1] = cuda.atomic.or_(a, 1, 8)
            o[2] = cuda.atomic.xor(a, 2, 1)
            o[3] = cuda.atomic.exch(a, 3, 77)
            o[4] = cuda.atomic.cas(a, 3, 77, 5)
            o[5] = cuda.atomic.compare_and_swap(a, a[0], 9)

        launch(k, np.zeros(6, t), np.arange(6).astype(t))

    @cuda.jit
    def s(o):
        sm = cuda.shared.array(4, T.float64)
        t = cuda.threadIdx.x
        sm[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(sm, 1, t)
        cuda.syncthreads()
        o[t] = sm[t]

    assert launch(s, np.zeros(4), block=4)[1] == 6


def test_enumerations():
    class C(enum.IntEnum):
        A = 1
        B = 5

    class D(enum.Enum):
        X = 2.5
        Y = 3

    @cuda.jit
    def k(o):
        o[0] = C.B
        o[1] = D.X.value
        o[2] = C.A == 1
        o[3] = D.X == D.X
        o[4] = D.X is D.Y
        o[5] = C.B + 1

    assert launch(k, np.zeros(6)).tolist() == [5, 2.5, 1, 1, 0, 6]


def test_iteration():
    @cuda.jit
    def k(o, a, b):
        for i, (x, y) in enumerate(zip(a, b)):
            o[0] += i * x * y
        for i, j in zip(range(3), a):
            o[1] += i * j
        for i, x in enumerate(a, 10):
            o[2] += i
        for row in b2(a):
            o[3] += row
        it = 0
        for i in range(10, 0, -3):
            it += i
        o[4] = it
        for i in range(np.int32(3)):
            o[5] += i

    @cuda.jit(device=True)
    def b2(a):
        return a

    assert launch(k, np.zeros(6), np.arange(4.0), np.ones(4)).tolist() == [14, 5, 46, 6, 22, 3]


def test_powers():
    @cuda.jit
    def k(o, x, n):
        o[0] = x[0] ** n[0]
        o[1] = x[0] ** (-2)
        o[2] = 2 ** n[0]
        o[3] = n[0] ** 2
        o[4] = pow(x[0], 3)

    assert np.allclose(
        launch(k, np.zeros(5), np.array([1.5]), np.array([3])), [3.375, 1 / 2.25, 8, 9, 3.375]
    )


def test_constants_reach_shapes_through_device_functions():
    @cuda.jit(device=True)
    def through(out, shape, dtype, update, checked):
        part = cuda.shared.array(shape, dtype)
        place = (0, np.uint64(0))
        if checked:
            place = (place[0] % shape[0], place[1] % shape[1])
        part[place] = 5
        update(part, place, 2)
        out[0] = part[place]

    @cuda.jit(device=True)
    def outer(out, n):
        through(out, (n, 2), T.int32, cuda.atomic.add, False)

    @cuda.jit
    def kernel(out):
        outer(out, 3)

    assert launch(kernel, np.zeros(1)).tolist() == [7]

    @cuda.jit
    def wrong(out, n):
        outer(out, n)

    with pytest.raises(TypeError, match="must be a constant"):
        launch(wrong, np.zeros(1), 3)


def test_ranges_with_a_step_that_is_known_at_run_time_only():
    @cuda.jit
    def kernel(out, step):
        for i in range(0, 10, step):
            out[0] += i
        for i in range(10, 0, -step):
            out[1] += i
        for i in range(cuda.grid(1), 100, cuda.gridsize(1)):
            cuda.atomic.add(out, 2, i)

    assert launch(kernel, np.zeros(3), 3).tolist() == [18, 22, 4950]


def test_random_numbers_are_numbas():
    """The states are xoroshiro128+'s, 2**64 steps apart; the sequence is the published one."""
    from treadle.cuda import random

    mask = 2**64 - 1

    def rotate(x, k):
        return (x << k | x >> (64 - k)) & mask

    def step(s):
        result, s1 = (s[0] + s[1]) & mask, s[0] ^ s[1]
        s[:] = [rotate(s[0], 55) ^ s1 ^ (s1 << 14) & mask, rotate(s1, 36)]
        return result

    states = random.create_xoroshiro128p_states(5, seed=7)
    follow = [[int(v) for v in state] for state in states.copy_to_host().tolist()]
    assert follow[0] == [0x63CBE1E459320DD7] * 2  # SplitMix64 of 7
    later = random.create_xoroshiro128p_states(2, seed=7, subsequence_start=3)
    assert later.copy_to_host().tolist() == states.copy_to_host().tolist()[3:]

    @cuda.jit
    def kernel(out, states):
        i = cuda.grid(1)
        out[i, 0] = random.xoroshiro128p_uniform_float64(states, i)
        out[i, 1] = random.xoroshiro128p_uniform_float32(states, i)
        out[i, 2] = random.xoroshiro128p_normal_float64(states, i)

    found = launch(kernel, np.zeros((5, 3)), states, block=5)
    for row, state in zip(found, follow):
        uniform = [(step(state) >> 11) / 2**53 for _ in range(4)]
        assert row[0] == uniform[0]
        assert row[1] == np.float32(uniform[1])
        u1, u2 = np.float32(uniform[2]), np.float32(uniform[3])
        normal = math.sqrt(-2 * math.log(u1)) * math.cos(2 * math.pi * float(u2))
        assert abs(row[2] - normal) < 1e-5


def test_pointers():
    from treadle._jit.stubs import carray, farray

    @cuda.jit(T.void(T.CPointer(T.float32), T.float64[::1]))
    def kernel(p, out):
        out[0] = p[2]
        p[1] += 5
        square = carray(p, (2, 3))
        out[1] = square[1, 0]
        turned = farray(p, (2, 3), T.float32)
        out[2] = turned[0, 1]
        turned[1, 2] = 9

    x, out = td.arange(6, dtype=np.float32), td.zeros(3)
    kernel[1, 1](x.data.ptr, out)
    assert out.tolist() == [2, 3, 2]
    assert x.tolist() == [0, 6, 2, 3, 4, 9]


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.float16, np.float32, np.float64],
)
def test_cache_hints_of_every_type(dtype):
    @cuda.jit
    def kernel(out, x):
        cuda.stcg(out, 0, cuda.ldca(x, 0))
        cuda.stcs(out, 1, cuda.ldcg(x, -1))
        cuda.stwb(out, 2, cuda.ldcs(x, 1))
        cuda.stwt(out, 3, cuda.ldlu(x, 2))
        cuda.stwt(out, (4,), cuda.ldcv(x, (0,)))

    x = np.arange(1, 5).astype(dtype)
    found = launch(kernel, np.zeros(5, dtype), x)
    assert found.tolist() == x[[0, 3, 1, 2, 0]].tolist()
