"""cuda.jit: whole kernels, Python's arithmetic, names that change their type, control flow."""

import math

import numpy as np
import pytest
import treadle as td
from treadle import cuda


def launch(kernel, out, *args, grid=1, block=1):
    device = td.asarray(out)
    kernel[grid, block](device, *args)
    return device.get()


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@pytest.mark.parametrize(
    "dtype", [np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64, np.complex64]
)
def test_vector_add(dtype):
    a = td.arange(1000).astype(dtype)
    b = td.ones(1000, dtype)
    c = td.zeros(1000, dtype)
    add[4, 256](a, b, c)
    np.testing.assert_array_equal(c.get(), (a + b).get())


def test_views_of_every_layout():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)

    @cuda.jit
    def copy(a, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[i, j] = a[i, j]

    device = td.asarray(x)
    for host, view in (
        (x, device),
        (x.T, device.T),
        (x[::-1, ::2], device[::-1, ::2]),
        (x[1:, 3:], device[1:, 3:]),
    ):
        out = td.zeros(host.shape, np.float32)
        copy[(2, 2), (4, 4)](view, out)
        np.testing.assert_array_equal(out.get(), host)


def test_tiled_product():
    n = 16

    @cuda.jit
    def product(a, b, c):
        left = cuda.shared.array((n, n), np.float32)
        right = cuda.shared.array((n, n), np.float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = np.float32(0)
        for i in range((a.shape[1] + n - 1) // n):
            left[ty, tx] = a[y, tx + i * n] if y < a.shape[0] and tx + i * n < a.shape[1] else 0
            right[ty, tx] = b[ty + i * n, x] if x < b.shape[1] and ty + i * n < b.shape[0] else 0
            cuda.syncthreads()
            for j in range(n):
                total += left[ty, j] * right[j, tx]
            cuda.syncthreads()
        if y < c.shape[0] and x < c.shape[1]:
            c[y, x] = total

    rng = np.random.default_rng(1)
    a, b = rng.random((50, 70), np.float32), rng.random((70, 33), np.float32)
    c = td.zeros((50, 33), np.float32)
    product[(3, 4), (n, n)](td.asarray(a), td.asarray(b), c)
    np.testing.assert_allclose(c.get(), a @ b, rtol=1e-5)


def test_reduction_with_barriers_and_atomics():
    @cuda.jit
    def total(x, out):
        part = cuda.shared.array(256, np.float64)
        t = cuda.threadIdx.x
        acc = 0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            acc += x[i]
        part[t] = acc
        cuda.syncthreads()
        k = 128
        while k > 0:
            if t < k:
                part[t] += part[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            cuda.atomic.add(out, 0, part[0])

    out = td.zeros(1)
    total[8, 256](td.arange(10_000, dtype=np.float32), out)
    assert out.item() == 49_995_000


NUMBERS = [-7, -2, -1, 0, 1, 2, 3, 6, 7, 2**31 - 1, -(2**31)]


def test_floor_division_and_remainder_are_pythons():
    @cuda.jit
    def divide(a, b, q, r):
        i = cuda.grid(1)
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]

    pairs = [(x, y) for x in NUMBERS for y in NUMBERS if y]
    a, b = (np.array(column, np.int32) for column in zip(*pairs))
    for dtype in (np.int32, np.int64, np.float64):
        x, y = a.astype(dtype), b.astype(dtype)
        q, r = td.zeros(x.shape), td.zeros(x.shape)
        divide[1, x.size](td.asarray(x), td.asarray(y), q, r)
        np.testing.assert_array_equal(q.get(), [float(int(m) // int(n)) for m, n in pairs])
        np.testing.assert_array_equal(r.get(), [float(int(m) % int(n)) for m, n in pairs])


def test_integers_of_32_bits_are_computed_in_64():
    @cuda.jit
    def square(a, out):
        out[0] = a[0] * a[0]

    out = td.zeros(1, np.int64)
    square[1, 1](td.asarray(np.array([2**31 - 1], np.int32)), out)
    assert out.item() == (2**31 - 1) ** 2


def test_comparisons_across_signs():
    @cuda.jit
    def compare(a, b, out):
        out[0], out[1], out[2], out[3] = a[0] < b[0], a[0] > b[0], a[0] == b[0], a[0] != b[0]

    for signed in (np.int32, np.int64):
        for unsigned in (np.uint32, np.uint64):
            out = td.zeros(4, np.int32)
            compare[1, 1](
                td.asarray(np.array([-1], signed)), td.asarray(np.array([1], unsigned)), out
            )
            assert out.tolist() == [1, 0, 0, 1]


def test_a_name_may_change_its_type():
    @cuda.jit
    def mixed(out, flag):
        x = 1
        out[0] = x / 2
        if flag:
            x = 2.5
        out[1] = x
        for k in range(3):
            x = x + k * 0.5
        out[2] = x
        x = cuda.blockDim.x
        out[3] = x

    assert launch(mixed, np.zeros(4), True).tolist() == [0.5, 2.5, 4.0, 1.0]
    assert launch(mixed, np.zeros(4), False).tolist() == [0.5, 1.0, 2.5, 1.0]


def test_loops():
    @cuda.jit
    def loops(out):
        for i in range(10):
            if i == 3:
                continue
            if i == 7:
                break
            out[0] += i
        else:
            out[0] = -1
        for i in range(5, -5, -2):
            out[1] += i
        else:
            out[1] += 100
        n = 0
        while True:
            n += 1
            if n > 10:
                break
        out[2] = n
        while n > 3:
            n -= 2
        else:
            out[3] = n
        for x in (1, 2.5, 3):
            out[4] += x
        for k, x in enumerate(out):
            if k == 5:
                out[5] = x + k
        for i, j in zip(range(3), range(10, 20)):
            out[6] += i * j

    assert launch(loops, np.zeros(7)).tolist() == [18, 105, 11, 3, 6.5, 5, 35]


def test_device_functions_defaults_and_recursion():
    @cuda.jit(device=True)
    def fibonacci(n):
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    def scale(x, by=2.0):
        return x * by

    def both(a, b):
        return b, a

    @cuda.jit
    def calls(out):
        out[0] = fibonacci(10)
        out[1] = scale(3)
        out[2] = scale(3, by=5)
        out[3], out[4] = both(1.5, 2)

    assert launch(calls, np.zeros(5)).tolist() == [55, 6, 15, 2, 1.5]


def test_math_and_casts():
    @cuda.jit
    def functions(x, out):
        out[0] = math.sin(x[0])
        out[1] = np.exp(x[0])
        out[2] = min(x[0], 0.25, 3)
        out[3] = int(x[0] * 7)
        out[4] = round(2.5)
        out[5] = abs(-x[0])
        out[6] = np.float32(0.1)
        out[7] = 2**10
        out[8] = x[0] ** 3
        out[9] = math.floor(-1.5)

    x = 0.75
    out = td.zeros(10)
    functions[1, 1](td.asarray(np.array([x])), out)
    wanted = [math.sin(x), math.exp(x), 0.25, 5, 2, x, float(np.float32(0.1)), 1024, x**3, -2]
    np.testing.assert_allclose(out.get(), wanted, rtol=1e-15)


def test_slices_tuples_and_local_memory():
    @cuda.jit
    def parts(a, out):
        row = a[1]
        out[0] = row[2]
        out[1] = a[::-1, ::2][0, 1]
        out[2] = a[-1, -1]
        mine = cuda.local.array(4, np.float64)
        mine[:] = 2
        mine[1:3] = row[:2]
        for x in mine:
            out[3] += x
        t = (1, 2.5, a[0, 1])
        out[4] = t[2] + t[-2] + len(t)
        out[5] = a.shape[1] * a.ndim

    a = np.arange(12.0).reshape(3, 4)
    out = td.zeros(6)
    parts[1, 1](td.asarray(a), out)
    assert out.tolist() == [6, 10, 11, 2 + 4 + 5 + 2, 1 + 2.5 + 3, 8]


def test_launch_with_keywords_and_defaults():
    @cuda.jit
    def kernel(out, f=3):
        out[0] = f

    out = td.zeros(1, np.int64)
    kernel[1, 1](out)
    assert out.item() == 3
    kernel[1, 1](out, f=5)
    assert out.item() == 5
    with pytest.raises(TypeError, match=r"kernel 'kernel'.*'g'"):
        kernel[1, 1](out, g=5)
