"""Kernels written in Python: an addition, records and a device function, a reduction."""

import math

import numpy as np
import treadle as td
from treadle import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


n = 10_003
a, b = td.random.rand(n), td.random.rand(n)
out = td.empty(n)
add.forall(n)(a, b, out)
np.testing.assert_array_equal(td.asnumpy(out), td.asnumpy(a) + td.asnumpy(b))


# A function that kernels call; its types follow from each call.
@cuda.jit(device=True)
def distance(p, q):
    return math.sqrt((p.x - q.x) ** 2 + (p.y - q.y) ** 2)


point = np.dtype([("x", np.float32), ("y", np.float32)])


@cuda.jit
def nearest(points, result):
    """For each point the index of the nearest other one."""
    i = cuda.grid(1)
    if i < points.size:
        best, place = math.inf, -1
        for j in range(points.size):
            if j != i:
                d = distance(points[i], points[j])
                if d < best:
                    best, place = d, j
        result[i] = place


rng = np.random.default_rng(0)
points = np.zeros(200, point)
points["x"], points["y"] = rng.random((2, 200))
result = td.empty(200, np.int32)
nearest[2, 128](cuda.to_device(points), result)
apart = np.hypot(points["x"][:, None] - points["x"], points["y"][:, None] - points["y"]) + np.diag(
    np.full(200, np.inf)
)
np.testing.assert_array_equal(td.asnumpy(result), apart.argmin(axis=1))


# Sums of blocks in shared memory, joined by an atomic addition.
@cuda.jit
def total(x, result):
    part = cuda.shared.array(256, np.float64)
    t = cuda.threadIdx.x
    mine = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        mine += x[i]
    part[t] = mine
    cuda.syncthreads()
    width = 128
    while width > 0:
        if t < width:
            part[t] += part[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        cuda.atomic.add(result, 0, part[0])


result = td.zeros(1)
total[16, 256](a, result)
np.testing.assert_allclose(result.item(), td.asnumpy(a).sum())
print(f"{n} additions, {points.size} nearest neighbours, a sum of {result.item():.3f}")
