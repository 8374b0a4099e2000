"""Step 6. Time. Every figure names its scope, and software device time is called by that name."""

import statistics
import time

import numpy as np

import treadle as td
from treadle import cuda

from .context import blocks_for, kernel, random_floats
from .report import Mismatch

EVENTS = "between two events, 10 repeats after 3 warm-ups"


def wall_ms(work, repeats=3):
    """The median wall clock of a call whose result is usable on the host when it returns."""
    work()
    td.config.wait_for_compiles()
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def product_of_1024(run):
    n = 1024
    a, b = random_floats(n, n, seed=1), random_floats(n, n, seed=2)
    x, y = td.asarray(a, blocking=True), td.asarray(b, blocking=True)
    resident = run.milliseconds(lambda: x @ y)
    whole = wall_ms(lambda: td.asnumpy(td.asarray(a) @ td.asarray(b)))
    error = run.expect(x @ y, a.astype(np.float64) @ b, rtol=1e-4, atol=1e-3)
    return {
        "kind": run.time_label,
        "largest difference (checked outside of the timed region)": error,
        "times": [
            {
                "scope": f"data on the device, {EVENTS}",
                "ms": resident,
                "GFLOP/s": 2 * n**3 / resident / 1e6,
            },
            {
                "scope": "upload + product + download, wall clock",
                "ms": whole,
                "GFLOP/s": 2 * n**3 / whole / 1e6,
            },
        ],
    }


def block_sizes(run):
    n = 1 << (20 if run.device.is_software else 24)
    host = random_floats(n)
    x, axpy, rows = td.asarray(host), kernel("axpy.cu", "axpy"), []
    for block in (32, 64, 128, 256, 512, 1024):
        y = td.zeros(n, np.float32)

        def launch(block=block, y=y):
            axpy((blocks_for(n, block),), (block,), (2.0, x, y, n))

        ms = run.milliseconds(launch)
        run.expect(y, 26 * host, rtol=1e-5, atol=1e-5)  # 13 launches added 2 x each
        rows.append({"threads a block": block, "ms": ms, "GB/s": 12 * n / ms / 1e6})
    best = min(rows, key=lambda row: row["ms"])["threads a block"]
    return {
        "kind": run.time_label,
        "scope": f"data on the device, {EVENTS}",
        "elements": n,
        "best": best,
        "sweep": rows,
    }


def expression(xp, x, y):
    return xp.sqrt(x * x + y * y) * 0.5 + xp.exp(-x)


def sizes(run):
    rows = []
    for n in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
        a, b = random_floats(n, seed=1), random_floats(n, seed=2)
        x, y = td.asarray(a, blocking=True), td.asarray(b, blocking=True)

        def device(x=x, y=y):
            result = expression(td, x, y)
            result.flush()
            cuda.synchronize()
            return result

        run.expect(device(), expression(np, a, b), rtol=1e-5, atol=1e-6)
        numpy_ms, device_ms = wall_ms(lambda a=a, b=b: expression(np, a, b)), wall_ms(device)
        rows.append(
            {
                "elements": n,
                "NumPy ms": numpy_ms,
                "device ms": device_ms,
                "NumPy/device": numpy_ms / device_ms,
            }
        )
    return {
        "kind": f"{run.time_label} beside NumPy's",
        "scope": "sqrt(x*x + y*y)*0.5 + exp(-x), data where it is computed, wall clock until it has finished",
        "crossover": crossover(rows),
        "sweep": rows,
    }


def crossover(rows):
    """From which size on the device is always faster, in words."""
    faster = None
    for row in reversed(rows):
        if row["NumPy/device"] <= 1:
            break
        faster = row["elements"]
    if faster is None:
        return "NumPy is faster up to the largest size"
    return f"the device is faster from {faster:,} elements on"


def events_are_ordered(run):
    """The clock itself: an event pair around work takes longer than around none, and never less than zero."""
    x = td.asarray(random_floats(1_000_000))
    nothing = run.milliseconds(lambda: None)
    something = run.milliseconds(lambda: td.sqrt(x * x + 1.0))
    if not 0 <= nothing < something:
        raise Mismatch(f"{nothing} ms around nothing, {something} ms around work")
    run.expect(td.sqrt(x * x + 1.0), np.sqrt(random_floats(1_000_000) ** 2 + 1), rtol=1e-6)
    return {"kind": run.time_label, "ms around nothing": nothing, "ms around work": something}


STEPS = (
    ("time: events around nothing and around work", events_are_ordered),
    ("time: product of 1024 x 1024", product_of_1024),
    ("time: block-size sweep", block_sizes),
    ("time: size sweep against NumPy", sizes),
)
