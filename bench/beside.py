"""Measures the same rows of several array libraries in one run: Treadle, and CuPy, PyTorch or NumPy beside it.

A program gives its arrays, made by Treadle (the peers on a GPU see the same memory), and for each library a dictionary
from the name of a row to a call. On a device the clock is a pair of events around the call, behind work that fills the
stream and the cache: so the time is the device's, unless the call itself waits for the device.
"""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import common
import numpy as np
import treadle as td
from treadle import cuda

FILLER = 1 << 27  # elements that are summed in front of a measured call
SECONDS = 0.25  # spent on a row, at most, after its warm-up


class Library(NamedTuple):
    """An array module."""

    label: str
    xp: object
    take: Callable  # an array of Treadle's as one of this module's
    clock: Callable  # seconds of one call


def treadle():
    if cuda.Device().is_software:
        return Library("", td, lambda x: x, lambda work: wall_clock(work, cuda.synchronize))
    filler = td.zeros(FILLER, np.float32)

    def events(work):
        filler.sum().flush()
        start, end = cuda.Event(), cuda.Event()
        start.record()
        kept = work()
        end.record()
        end.synchronize()
        del kept
        return cuda.get_elapsed_time(start, end) / 1e3

    return Library("", td, lambda x: x, events)


def cupy():
    import cupy as cp

    filler = cp.zeros(FILLER, cp.float32)

    def events(work):
        filler.sum()
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        kept = work()
        end.record()
        end.synchronize()
        del kept
        return cp.cuda.get_elapsed_time(start, end) / 1e3

    return Library("CuPy", cp, cp.from_dlpack, events)


def torch():
    import torch as t

    filler = t.zeros(FILLER, device="cuda")

    def events(work):
        filler.sum()
        start, end = t.cuda.Event(enable_timing=True), t.cuda.Event(enable_timing=True)
        start.record()
        kept = work()
        end.record()
        end.synchronize()
        del kept
        return start.elapsed_time(end) / 1e3

    return Library("PyTorch", t, t.from_dlpack, events)


def peers(device):
    """The libraries beside Treadle that are installed."""
    if device.is_software:
        yield Library("NumPy", np, td.asnumpy, wall_clock)
        return
    for make in (cupy, torch):
        try:
            yield make()
        except ImportError:
            continue


def wall_clock(work, wait=lambda: None):
    """Seconds to the end of the work of a call, for Treadle on the software device and for NumPy."""
    start = time.perf_counter()
    kept = work()
    wait()
    del kept
    return time.perf_counter() - start


def row_seconds(library, calls):
    """Median time of each of the named ``calls``; None for one that a peer refuses, with the reason on stderr."""
    times = {}
    for name, call in calls.items():
        try:
            library.clock(call)
            common.wait_for_compiles()
            library.clock(call)
            once = library.clock(call)
        except Exception as error:  # a peer without the function must not end the run
            if not library.label:
                raise
            common.note(f"{library.label}: {name}: {type(error).__name__}: {str(error)[:120]}")
            times[name] = None
            continue
        repeats = int(min(21, max(3, SECONDS / once)))
        times[name] = statistics.median(library.clock(call) for _ in range(repeats))
    return times


def measure(program, device, arrays, calls, facts, scope):
    """Records of a program: one for each row of each library.

    ``calls(xp, arrays)`` gives the rows. ``facts[name]`` is (bytes moved at least, goal): the goal of Treadle's
    time on a GPU is ("ms", number), ("copy", share of the speed of row "copy"), ("peer", share of the best peer's
    speed) or None.
    """
    times = {}
    for library in (treadle(), *peers(device)):
        times[library.label] = row_seconds(
            library, calls(library.xp, [library.take(x) for x in arrays])
        )
    own = times.pop("")
    rows = []
    for name, seconds in own.items():
        size, goal = facts.get(name, (0, None))
        beside = {label: t[name] for label, t in times.items() if t.get(name)}
        best = min(beside, key=beside.get, default=None)
        bound = None if device.is_software else _bound(goal, facts, size, own, beside.get(best))
        more = {"GB/s": size / seconds / 1e9} if size else {}
        if best:
            more |= {"best peer": best, "times ours": beside[best] / seconds}
        rows.append(
            common.record(
                f"{program}: {name}",
                1e3 * seconds,
                "ms",
                scope,
                device.evidence,
                ("<=", bound) if bound else None,
                **more,
            )
        )
        for label, theirs in beside.items():
            more = {"GB/s": size / theirs / 1e9} if size else {}
            where = "CPU" if label == "NumPy" else device.evidence
            rows.append(
                common.record(
                    f"{program}: {label} {name}",
                    1e3 * theirs,
                    "ms",
                    scope,
                    where,
                    **more,
                    **{"times ours": theirs / seconds},
                )
            )
    return rows


def _bound(goal, facts, size, own, best):
    """The goal in milliseconds."""
    if goal is None:
        return None
    kind, number = goal
    if kind == "ms":
        return number
    if kind == "copy":
        return 1e3 * size / (number * facts["copy"][0] / own["copy"])
    return None if best is None else 1e3 * best / number
