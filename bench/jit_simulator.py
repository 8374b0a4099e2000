"""Kernels written in Python on the software device beside Numba's simulator: items per second of each.

An item is what one step of a kernel's work makes: a sum, a multiply-add, a pair of bodies, a pixel, a cell. Both run
the same functions (jit_sources.py); the simulator a smaller problem, as one thread of Python runs for each thread of
the grid. Numba is looked for in this Python, then in that of the variable NUMBA_PYTHON (a path); without it nothing is
compared, and the table says so.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np

# name: (sizes for the software device, sizes for the simulator)
SIZES = {
    "vector_add": (1 << 20, 1 << 11), "product": ((512, 64), (32, 64)), "reduction": (1 << 20, 1 << 13),
    "bodies": (2048, 128), "mandelbrot": (512, 32), "stencil": (512, 64),
}  # fmt: skip


def problem(name, size):
    """(grid, block, arguments, items) of one kernel."""
    rng = np.random.default_rng(0)

    def floats(*shape):
        return rng.random(shape, np.float32)

    if name == "vector_add":
        return size // 256, 256, [floats(size), floats(size), floats(size)], size
    if name == "product":
        side, inner = size
        args = [floats(side, inner), floats(inner, side), floats(side, side)]
        return (side // 16, side // 16), (16, 16), args, side * side * inner
    if name == "reduction":
        return max(size // 2048, 1), 256, [floats(size), np.zeros(1, np.float32)], size
    if name == "bodies":
        block = min(size, 256)
        return size // block, block, [floats(size, 3), floats(size), floats(size, 3)], size * size
    tiles = (size // 32, size // 8), (32, 8)
    if name == "mandelbrot":
        return (
            *tiles,
            [np.zeros((size, size), np.int32), -2.0, -1.25, 2.5 / size, 200],
            size * size,
        )
    return (*tiles, [floats(size, size), floats(size, size)], size * size)


def rates(cuda, which, rounds):
    """Items per second by kernel, the best of some rounds; ``which``: the column of SIZES."""
    from jit_sources import python_kernels

    found = {}
    for kernel in python_kernels(cuda, np.int32, np.float32):
        grid, block, args, items = problem(kernel.__name__, SIZES[kernel.__name__][which])
        args = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in args]
        times = []
        for _ in range(rounds + 1):  # the first one compiles
            start = time.perf_counter()
            kernel[grid, block](*args)
            cuda.synchronize()
            times.append(time.perf_counter() - start)
        found[kernel.__name__] = items / min(times[1:])
    return found


def simulate():
    """What the process with the simulator prints."""
    from numba import cuda

    print(json.dumps(rates(cuda, 1, 1)))


def simulator_rates():
    """(items per second by kernel, "") of Numba's simulator, or (None, why not)."""
    problems = []
    for python in filter(None, (sys.executable, os.environ.get("NUMBA_PYTHON"))):
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        done = subprocess.run(
            [python, __file__, "--simulate"], capture_output=True, text=True, env=environment
        )
        if done.returncode == 0:
            return json.loads(done.stdout.splitlines()[-1]), ""
        problems.append((done.stderr.strip() or "no message").splitlines()[-1])
    return (
        None,
        f"Numba's simulator did not run: {problems[-1]}; set NUMBA_PYTHON to a Python with numba",
    )


def run(device):
    """The records: items per second here, and as a multiple of the simulator's."""
    import common
    from treadle import cuda

    if device.evidence == "NVIDIA GPU":
        return []  # a simulator beside a GPU says nothing
    ours = rates(cuda, 0, 5)
    theirs, reason = simulator_rates()
    if theirs is None:
        common.note(reason)
    rows = []
    for name, rate in ours.items():
        scope = "launch and wait, all cores"
        what = f"cuda.jit: {name}"
        rows.append(common.record(what, rate, "items/s", scope, device.evidence))
        if theirs is not None:
            what += " / Numba's simulator"
            goal = (">=", 1000)
            ratio = rate / theirs[name]
            rows.append(common.record(what, ratio, "ratio", scope, device.evidence, goal=goal))
    return rows


if __name__ == "__main__" and "--simulate" in sys.argv:
    simulate()
