"""Array expressions against a device copy: bytes per second, with CuPy and PyTorch beside where they are installed."""

import common
import numpy as np
import treadle as td

CHAIN = "sqrt(a*a + b*b)*0.5 + exp(-a)"


def chain(xp, a, b):
    return xp.sqrt(a * a + b * b) * 0.5 + xp.exp(-a)


def ours(n):
    rng = td.random.default_rng(1)
    a, b = rng.random(n, np.float32), rng.random(n, np.float32)
    c = td.empty(n, np.float32)
    for x in (a, b, c):
        x.flush()
    return {
        "copy": (8 * n, common.event_seconds(lambda: td.copyto(c, a))),
        "a + b": (12 * n, common.event_seconds(lambda: td.add(a, b, out=c))),
        CHAIN: (12 * n, common.event_seconds(lambda: _flushed(chain(td, a, b)))),
        "sum": (4 * n, common.event_seconds(lambda: _flushed(a.sum()))),
    }


def _flushed(x):
    x.flush()
    return x


def cupy(n):
    try:
        import cupy as cp
    except ImportError:
        return {}
    a, b = cp.random.random(n, dtype=cp.float32), cp.random.random(n, dtype=cp.float32)
    c = cp.empty_like(a)

    def events(work):
        for _ in range(5):
            work()
        start, end = cp.cuda.Event(), cp.cuda.Event()
        times = []
        for _ in range(20):
            start.record()
            work()
            end.record()
            end.synchronize()
            times.append(cp.cuda.get_elapsed_time(start, end) / 1e3)
        return sorted(times)[10]

    return {
        "copy": (8 * n, events(lambda: cp.copyto(c, a))),
        "a + b": (12 * n, events(lambda: cp.add(a, b, c))),
        CHAIN: (12 * n, events(lambda: chain(cp, a, b))),
        "sum": (4 * n, events(lambda: a.sum())),
    }


def torch(n):
    try:
        import torch as t
    except ImportError:
        return {}
    if not t.cuda.is_available():
        return {}
    a, b = t.rand(n, device="cuda"), t.rand(n, device="cuda")
    c = t.empty_like(a)

    def events(work):
        for _ in range(5):
            work()
        times = []
        for _ in range(20):
            start, end = t.cuda.Event(enable_timing=True), t.cuda.Event(enable_timing=True)
            start.record()
            work()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) / 1e3)
        return sorted(times)[10]

    return {
        "copy": (8 * n, events(lambda: c.copy_(a))),
        "a + b": (12 * n, events(lambda: t.add(a, b, out=c))),
        CHAIN: (12 * n, events(lambda: chain(t, a, b))),
        "sum": (4 * n, events(lambda: a.sum())),
    }


def run(device):
    n = 1 << (24 if device.is_software else 28)
    rows, copy_rate = [], None
    for library, measured in (("", ours(n)), ("CuPy ", cupy(n)), ("PyTorch ", torch(n))):
        for name, (size, seconds) in measured.items():
            rate = size / seconds / 1e9
            evidence = device.evidence if not library else "NVIDIA GPU"
            scope = f"{n} float32 on the device, median of 20 between two events"
            if not library and name == "copy":
                copy_rate = rate
            goal = (
                (">=", 0.95 * copy_rate)
                if not library and not device.is_software and name != "copy"
                else None
            )
            rows.append(
                common.record(
                    f"arrays: {library}{name}",
                    rate,
                    "GB/s",
                    scope,
                    evidence,
                    goal,
                    ms=1e3 * seconds,
                )
            )
    return rows
