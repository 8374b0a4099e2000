"""Step 4. Threads of a block that work together: shared memory, barriers, shuffles, atomics."""

import numpy as np

import treadle as td

from .context import Output, blocks_for, kernel, random_floats

BLOCK = 256


def sum_of_blocks(name):
    """A step: one sum a block, the sums added on the host."""

    def step(run):
        n = 1_000_003
        x = random_floats(n)
        blocks = blocks_for(n, BLOCK)
        out = Output(blocks, np.float32)
        kernel("reduce.cu", name)((blocks,), (BLOCK,), (td.asarray(x), out.array, n))
        padded = np.zeros(blocks * BLOCK)
        padded[:n] = x
        error = run.expect(
            out.read(), padded.reshape(blocks, BLOCK).sum(axis=1), rtol=1e-5, atol=1e-4
        )
        return {"elements": n, "largest difference": error, "atol": 1e-4}

    return step


def tiled_product(m, n, k):
    """A step: (m x k) times (k x n)."""

    def step(run):
        a, b = random_floats(m, k, seed=1), random_floats(k, n, seed=2)
        out = Output((m, n), np.float32)
        grid = (blocks_for(n, 16), blocks_for(m, 16))
        kernel("matmul.cu", "tiled_matmul")(
            grid, (16, 16), (td.asarray(a), td.asarray(b), out.array, m, n, k)
        )
        error = run.expect(out.read(), a.astype(np.float64) @ b, rtol=1e-5, atol=1e-4)
        return {"largest difference": error, "atol": 1e-4}

    return step


def histogram(run):
    n = 1_000_003
    x = np.random.default_rng(3).integers(0, 256, n, dtype=np.uint8)
    counts = td.zeros(256, np.uint32)
    kernel("histogram.cu", "histogram")((64,), (BLOCK,), (td.asarray(x), counts, n))
    run.expect(counts, np.bincount(x, minlength=256))
    return {"elements": n, "bins": 256}


def block_scan(run):
    n = 100_003
    x = np.random.default_rng(4).integers(-100, 100, n, dtype=np.int32)
    out = Output(n, np.int32)
    blocks = blocks_for(n, BLOCK)
    kernel("scan.cu", "block_scan")((blocks,), (BLOCK,), (td.asarray(x), out.array, n))
    padded = np.zeros(blocks * BLOCK, np.int64)
    padded[:n] = x
    run.expect(out.read(), padded.reshape(blocks, BLOCK).cumsum(axis=1).ravel()[:n])
    return {"elements": n, "blocks": blocks}


STEPS = (
    ("blocks: tree reduction in shared memory", sum_of_blocks("tree_sum")),
    ("blocks: warp-shuffle reduction", sum_of_blocks("shuffle_sum")),
    ("blocks: tiled matrix product, 128 x 96 x 80", tiled_product(128, 96, 80)),
    ("blocks: tiled matrix product, 37 x 53 x 29", tiled_product(37, 53, 29)),
    ("blocks: histogram with atomics", histogram),
    ("blocks: block-wise scan", block_scan),
)
