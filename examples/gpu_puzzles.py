"""Fourteen small problems that teach CUDA (GPU-Puzzles), each solved by a kernel in Python and checked.

Every solution keeps to the puzzle's rules: guards where there are more threads than elements, one read of global memory
for each element where shared memory is asked for, barriers where threads share.
"""

import numpy as np
import treadle as td
from treadle import cuda

TPB = 8  # threads of a block where shared memory is used


@cuda.jit
def map_(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10


@cuda.jit
def zip_(out, a, b):
    i = cuda.threadIdx.x
    out[i] = a[i] + b[i]


@cuda.jit
def guard(out, a, size):
    i = cuda.threadIdx.x
    if i < size:
        out[i] = a[i] + 10


@cuda.jit
def map_2d(out, a, size):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if i < size and j < size:
        out[i, j] = a[i, j] + 10


@cuda.jit
def broadcast(out, a, b, size):
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    if i < size and j < size:
        out[i, j] = a[i, 0] + b[0, j]


@cuda.jit
def blocks(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 10


@cuda.jit
def blocks_2d(out, a, size):
    i, j = cuda.grid(2)
    if i < size and j < size:
        out[i, j] = a[i, j] + 10


@cuda.jit
def shared(out, a, size):
    tile = cuda.shared.array(TPB, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[t] + 10


@cuda.jit
def pooling(out, a, size):
    """Each element with the two before it."""
    tile = cuda.shared.array(TPB, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        total = np.float32(0)
        for k in range(3):
            if t >= k:
                total += tile[t - k]
        out[i] = total


@cuda.jit
def dot(out, a, b, size):
    tile = cuda.shared.array(TPB, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < size:
        tile[t] = a[i] * b[i]
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for k in range(size):
            total += tile[k]
        out[0] = total


MAX_CONV = 4


@cuda.jit
def convolution(out, a, b, a_size, b_size):
    """Of a row of any length: a block keeps its part and what follows it."""
    tile = cuda.shared.array(TPB + MAX_CONV, np.float32)
    weights = cuda.shared.array(MAX_CONV, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i] if i < a_size else 0
    if t < MAX_CONV:
        tile[TPB + t] = a[i + TPB] if i + TPB < a_size else 0
        weights[t] = b[t] if t < b_size else 0
    cuda.syncthreads()
    if i < a_size:
        total = np.float32(0)
        for k in range(b_size):
            total += tile[t + k] * weights[k]
        out[i] = total


@cuda.jit
def block_sums(out, a, size):
    """The sum of each block's elements, by halves."""
    tile = cuda.shared.array(TPB, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i] if i < size else 0
    cuda.syncthreads()
    width = TPB // 2
    while width > 0:
        if t < width:
            tile[t] += tile[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@cuda.jit
def axis_sum(out, a, size):
    """One block sums one row."""
    tile = cuda.shared.array(TPB, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.y
    tile[t] = a[row, t] if t < size else 0
    cuda.syncthreads()
    width = TPB // 2
    while width > 0:
        if t < width:
            tile[t] += tile[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[row, 0] = tile[0]


SIDE = 3


@cuda.jit
def product(out, a, b, size):
    left = cuda.shared.array((SIDE, SIDE), np.float32)
    right = cuda.shared.array((SIDE, SIDE), np.float32)
    i, j = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for start in range(0, size, SIDE):
        left[x, y] = a[i, start + y] if i < size and start + y < size else 0
        right[x, y] = b[start + x, j] if start + x < size and j < size else 0
        cuda.syncthreads()
        for k in range(SIDE):
            total += left[x, k] * right[k, y]
        cuda.syncthreads()
    if i < size and j < size:
        out[i, j] = total


def check(name, kernel, grid, block, want, *args):
    """Launches a solution and compares."""
    out = td.zeros(want.shape, np.float32)
    device = [td.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    kernel[grid, block](out, *device)
    np.testing.assert_allclose(td.asnumpy(out), want, rtol=1e-5)
    print(f"{name:14} solved")


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


a, b, square, column, row = numbers(4), numbers(4) * 2, numbers(2, 2), numbers(2, 1), numbers(1, 2)
check("map", map_, 1, 4, a + 10, a)
check("zip", zip_, 1, 4, a + b, a, b)
check("guard", guard, 1, 8, a + 10, a, 4)
check("map 2D", map_2d, 1, (3, 3), square + 10, square, 2)
check("broadcast", broadcast, 1, (3, 3), column + row, column, row, 2)
check("blocks", blocks, 3, 4, numbers(9) + 10, numbers(9), 9)
check("blocks 2D", blocks_2d, (2, 2), (3, 3), numbers(5, 5) + 10, numbers(5, 5), 5)
check("shared", shared, 2, TPB, numbers(14) + 10, numbers(14), 14)
x = numbers(8)
check("pooling", pooling, 1, TPB, np.convolve(x, np.ones(3, np.float32))[:8], x, 8)
check("dot product", dot, 1, TPB, np.array([x @ x]), x, x, 8)
long, kernel = numbers(15), numbers(4)
padded = np.concatenate([long, np.zeros(3, np.float32)])
want = np.array([padded[k : k + 4] @ kernel for k in range(15)])
check("convolution", convolution, 2, TPB, want, long, kernel, 15, 4)
sums = np.array([numbers(15)[:8].sum(), numbers(15)[8:].sum()])
check("prefix sum", block_sums, 2, TPB, sums, numbers(15), 15)
rows = numbers(4, 6)
check("axis sum", axis_sum, (1, 4), TPB, rows.sum(axis=1, keepdims=True), rows, 6)
m = numbers(8, 8)
check("product", product, (3, 3), (SIDE, SIDE), m @ m.T, m, np.ascontiguousarray(m.T), 8)
