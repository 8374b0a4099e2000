"""Step 3. Raw kernels in CUDA C++: one, two and three dimensions."""

import numpy as np

import treadle as td

from .context import Output, blocks_for, kernel, random_floats
from .report import Mismatch

BLOCK = 256


def vector_add(n):
    """A step: add two vectors of ``n`` elements, 256 threads a block."""

    def step(run):
        add = kernel("vector_add.cu", "vector_add")
        a, b = random_floats(n, seed=1), random_floats(n, seed=2)
        out = Output(n, np.float32)
        blocks = blocks_for(n, BLOCK)
        if n:
            add((blocks,), (BLOCK,), (td.asarray(a), td.asarray(b), out.array, np.int32(n)))
        elif not out.untouched():
            raise Mismatch("an empty input wrote something")
        run.expect(out.read(), a + b)
        return {"blocks": blocks, "threads": blocks * BLOCK, "idle": blocks * BLOCK - n}

    return step


def square(run):
    n = 1_000_000
    x = random_floats(n)
    out = Output(n, np.float32)
    kernel("square.cu", "square")((blocks_for(n, BLOCK),), (BLOCK,), (td.asarray(x), out.array, n))
    run.expect(out.read(), x * x)
    return {"elements": n}


def two_dimensions(height, width):
    """A step: a 2-D kernel with 16 x 16 blocks."""

    def step(run):
        x = random_floats(height, width)
        out = Output((height, width), np.float32)
        grid = (blocks_for(width, 16), blocks_for(height, 16))
        kernel("grid.cu", "scale_2d")(grid, (16, 16), (td.asarray(x), out.array, height, width))
        run.expect(
            out.read(), 2 * x + np.arange(height, dtype=np.float32)[:, None], rtol=1e-6, atol=1e-6
        )
        return {"grid": f"{grid[0]}x{grid[1]}", "block": "16x16"}

    return step


def three_dimensions(run):
    depth, height, width = 13, 37, 65
    out = Output((depth, height, width), np.int32)
    grid = (blocks_for(width, 8), blocks_for(height, 8), blocks_for(depth, 4))
    kernel("grid.cu", "number_3d")(grid, (8, 8, 4), (out.array, depth, height, width))
    z, y, x = np.indices((depth, height, width))
    run.expect(out.read(), 10000 * z + 100 * y + x)
    return {"grid": "x".join(map(str, grid)), "block": "8x8x4"}


STEPS = (
    *((f"launches: vector addition of {n}", vector_add(n)) for n in (0, 1, 255, 256, 257, 10003)),
    ("launches: square of 1,000,000", square),
    ("launches: 2-D, 1024 x 1024", two_dimensions(1024, 1024)),
    ("launches: 2-D, 1000 x 777", two_dimensions(1000, 777)),
    ("launches: 3-D, 13 x 37 x 65", three_dimensions),
)
