"""The software device against the same loop in C++ with OpenMP, and against Numba's simulator."""

import os
import subprocess
import sys

import common
import numpy as np
import treadle as td
from treadle import cuda
from treadle.tour.context import blocks_for, kernel


def best_seconds(launch, rounds=30):
    """Best wall clock of a launch, until it has finished."""
    import time

    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        launch()
        cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def vector_addition(n=10_000_000):
    a = td.asarray(np.arange(n, dtype=np.float32) % 1000, blocking=True)
    b, c = td.ones(n, np.float32), td.zeros(n, np.float32)
    b.flush(), c.flush()
    add, grid = kernel("vector_add.cu", "vector_add"), (blocks_for(n, 256),)
    seconds = best_seconds(lambda: add(grid, (256,), (a, b, c, n)))
    assert td.array_equal(c, a + 1)
    return seconds


def openmp(n=10_000_000):
    program = common.compile_program(
        os.path.join(common.ROOT, "bench", "vector_add_openmp.cpp"), "vector_add"
    )
    env = {**os.environ, "OMP_PROC_BIND": "true"}
    return float(
        subprocess.run(
            [program, str(n)], capture_output=True, text=True, check=True, env=env
        ).stdout
    )


def reduction(n=1 << 22):
    x, blocks = td.asarray(np.ones(n, np.float32)), blocks_for(n, 256)
    out = td.zeros(blocks, np.float32)
    tree = kernel("reduce.cu", "tree_sum")
    seconds = best_seconds(lambda: tree((blocks,), (256,), (x, out, n)), 10)
    assert float(out.sum()) == n
    return n / seconds


def product(n=512):
    a = td.asarray(np.ones((n, n), np.float32))
    c = td.zeros((n, n), np.float32)
    tiled, grid = kernel("matmul.cu", "tiled_matmul"), (n // 16, n // 16)
    seconds = best_seconds(lambda: tiled(grid, (16, 16), (a, a, c, n, n, n)), 5)
    assert (td.asnumpy(c) == n).all()
    # A thread of this product runs n / 16 rounds of the loop over tiles: thread-rounds a second can be compared
    # between sizes.
    return n * n * (n // 16) / seconds


SIMULATOR = r"""
import json, time
import numpy as np
from numba import cuda, float32

@cuda.jit
def tree(x, sums, n):
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    part[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]

@cuda.jit
def product(a, b, c, n):
    ta = cuda.shared.array((16, 16), float32)
    tb = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx
    total = float32(0)
    for start in range(0, n, 16):
        ta[ty, tx] = a[row, start + tx]
        tb[ty, tx] = b[start + ty, column]
        cuda.syncthreads()
        for i in range(16):
            total += ta[ty, i] * tb[i, tx]
        cuda.syncthreads()
    c[row, column] = total

def rate(launch, work):
    start = time.perf_counter()
    launch()
    return work / (time.perf_counter() - start)

n = 1024
x, sums = np.ones(n, np.float32), np.zeros(n // 256, np.float32)
tree_rate = rate(lambda: tree[n // 256, 256](x, sums, n), n)
assert sums.sum() == n
m = 32
a, c = np.ones((m, m), np.float32), np.zeros((m, m), np.float32)
product_rate = rate(lambda: product[(m // 16, m // 16), (16, 16)](a, a, c, m), m * m * (m // 16))
assert (c == m).all()
print(json.dumps([tree_rate, product_rate]))
"""


def simulator():
    """Threads a second of Numba's simulator; None where Numba is not installed."""
    import json

    env = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATOR], capture_output=True, text=True, env=env, timeout=600
    )
    if done.returncode:
        print(
            f"Numba's simulator did not run: {done.stderr.strip().splitlines()[-1:]}",
            file=sys.stderr,
        )
        return None
    return json.loads(done.stdout.splitlines()[-1])


def run(device):
    if not device.is_software:
        return []
    n = 10_000_000
    ours, theirs = vector_addition(n), openmp(n)
    scope = "1e7 float32, best of 30 passes, wall clock"
    rows = [
        common.record(
            "vector addition: C++ with OpenMP", 12 * n / theirs / 1e9, "GB/s", scope, "host"
        ),
        common.record(
            "vector addition: raw kernel", 12 * n / ours / 1e9, "GB/s", scope, device.evidence
        ),
        common.record(
            "vector addition: speed against OpenMP",
            theirs / ours,
            "x",
            scope,
            device.evidence,
            (">=", 0.9),
        ),
    ]
    rates = {
        "tree reduction": (reduction(), "threads/s"),
        "tiled product": (product(), "thread tiles/s"),
    }
    others = simulator() or (None, None)
    for (name, (rate, unit)), other in zip(rates.items(), others):
        scope = "256 threads a block"
        rows.append(common.record(f"{name}: raw kernel", rate, unit, scope, device.evidence))
        if other is None:
            continue
        rows.append(common.record(f"{name}: Numba's simulator", other, unit, scope, "host"))
        what = f"{name}: against Numba's simulator"
        rows.append(common.record(what, rate / other, "x", scope, device.evidence, (">=", 1000)))
    return rows
