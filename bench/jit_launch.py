"""What a launch of a cuda.jit kernel costs the host, and its first call, with Numba beside where it is installed.

Goals: at most 1.3 times the bare driver call and 0.1 us for each argument; a first call of at most 120 ms when
nothing is
cached and of 10 ms when all is.
"""

import os
import sys
import tempfile

import common
import numpy as np
from treadle import cuda

import launch

NAMES = [f"a{k}" for k in range(16)]


def kernels(jit):
    """(label, kernel, number and kind of its arguments): kernels that do nothing."""
    scope = {"jit": jit}
    import linecache

    found = []
    for label, count, kind in (
        ("empty", 0, ""),
        ("1 array", 1, "array"),
        ("16 scalars", 16, "scalar"),
        ("16 arrays", 16, "array"),
    ):
        name = "k_" + label.replace(" ", "_")
        text = f"def {name}({', '.join(NAMES[:count])}):\n    return\n"
        file = f"<{name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        exec(compile(text, file, "exec"), scope)
        found.append((label, jit(scope[name]), count, kind))
    return found


def per_launch(module, array):
    """Seconds of a launch of each kernel."""
    times = {}
    for label, kernel, count, kind in kernels(module.jit):
        args = [array] * count if kind == "array" else [k + 1 for k in range(count)]
        times[label] = common.per_call_seconds(
            lambda k=kernel, a=args: k[4, 256](*a), 5_000, wait=module.synchronize
        )
    return times


def numba(device):
    """Numba's times, or none."""
    if device.is_software:
        return {}
    try:
        from numba import cuda as other

        return per_launch(other, other.to_device(np.ones(1000, np.float32)))
    except Exception as error:  # an import or a driver that does not fit: said, not hidden
        print(f"Numba: SKIPPED({type(error).__name__}: {error})"[:300], file=sys.stderr)
        return {}


FIRST = """
import time
import numpy as np
{prepare}
@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
start = time.perf_counter()
add[4, 256](a, a, c)
cuda.synchronize()
print(time.perf_counter() - start)
"""
OURS = """
import treadle as td
from treadle import cuda
cuda.jit
a, c = td.ones(1000, np.float32), td.zeros(1000, np.float32)
a.flush(), c.flush(), cuda.synchronize()
"""
THEIRS = """
from numba import cuda
a = cuda.to_device(np.ones(1000, np.float32)); c = cuda.device_array_like(a)
cuda.synchronize()
"""


def first_call(device, prepare):
    """Seconds of the first call in a new process: (nothing cached, all cached)."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "first.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(FIRST.replace("{prepare}", prepare))
        code = f"exec(compile(open({program!r}).read(), {program!r}, 'exec'))"
        environment = {
            "TREADLE_DEVICE": device.name, "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": os.path.join(folder, "pyc"),
        }  # fmt: skip
        cold = min(
            common.fresh_process(
                code,
                TREADLE_CACHE_DIR=os.path.join(folder, f"cache{k}"),
                CUDA_CACHE_DISABLE="1",
                **environment,
            )
            for k in range(3)
        )
        environment["TREADLE_CACHE_DIR"] = os.path.join(folder, "cache0")
        return cold, common.fresh_process(code, repeats=5, **environment)


def run(device):
    import treadle as td

    rows, floor = [], None
    with tempfile.TemporaryDirectory() as folder:
        command = launch.bare_command(device, folder)
        floor = min(launch.bare(command) for _ in range(3)) if command else None
    mine = per_launch(cuda, td.ones(1000, np.float32))
    theirs = numba(device)
    scope = "host time of one call, grid and block given each time, best of 5 rounds"
    counts = {label: count for label, _, count, _ in kernels(cuda.jit)}
    if floor:
        rows.append(
            common.record(
                "jit launch: bare cuLaunchKernel from C++",
                1e6 * floor,
                "us",
                scope,
                device.evidence,
            )
        )
    for label, seconds in mine.items():
        goal = ("<=", 1.3 * 1e6 * floor + 0.1 * counts[label]) if floor else None
        rows.append(
            common.record(f"jit launch: {label}", 1e6 * seconds, "us", scope, device.evidence, goal)
        )
    for label, seconds in theirs.items():
        rows.append(
            common.record(f"jit launch: Numba {label}", 1e6 * seconds, "us", scope, "NVIDIA GPU")
        )
    scope = "first call in a new process to the end of its work, arrays and device ready; best of 3 and 5"
    for label, prepare in (("", OURS), ("Numba ", THEIRS if theirs else None)):
        if prepare is None:
            continue
        cold, warm = first_call(device, prepare)
        for words, seconds, most in (("nothing cached", cold, 120), ("cached", warm, 10)):
            goal = ("<=", most) if not label else None
            rows.append(
                common.record(
                    f"jit first call: {label}{words}",
                    1e3 * seconds,
                    "ms",
                    scope,
                    device.evidence,
                    goal,
                )
            )
    return rows
