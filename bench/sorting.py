"""Scans, sorting and statistics."""

import beside
import numpy as np
import treadle as td


def calls(xp, arrays):
    """Name and call of every row, for the arrays of one library."""
    x, few, rows, wide, keys, small, sample = arrays
    rows_few = rows[: rows.shape[0] // 4]
    calls = {
        "cumsum": lambda: xp.cumsum(x, axis=0),
        "cumsum, rows of 1024": lambda: xp.cumsum(rows, axis=1),
        "cumsum, columns": lambda: xp.cumsum(rows, axis=0),
        "sort": lambda: xp.sort(few),
        "argsort": lambda: xp.argsort(few),
        "sort int32": lambda: xp.sort(small),
        "sort int64": lambda: xp.sort(keys),
        "sort, rows of 1024": lambda: xp.sort(rows_few),
        "sort, rows of 64": lambda: xp.sort(wide),
        "unique int64": lambda: xp.unique(keys),
        "unique int32, 1000 values": lambda: xp.unique(small),
        "searchsorted": lambda: xp.searchsorted(sample, keys),
    }
    if xp.__name__ != "torch":
        calls |= {
            "median": lambda: xp.median(few),
            "percentile": lambda: xp.percentile(few, [5, 50, 95]),
            "nanmean": lambda: xp.nanmean(x),
        }
    return calls


def facts(n):
    """(bytes, goal) of every row."""
    peer, q = ("peer", 1), n // 4
    return {
        "cumsum": (8 * n, ("ms", 0.60)),
        "cumsum, rows of 1024": (8 * n, ("ms", 0.60)),
        "cumsum, columns": (8 * n, peer),
        "sort": (8 * q, ("ms", 1.89)),
        "argsort": (12 * q, ("ms", 1.89)),
        "sort int32": (8 * q, ("ms", 1.89)),
        "sort int64": (16 * q, peer),
        "sort, rows of 1024": (8 * q, peer),
        "sort, rows of 64": (8 * q, peer),
        "unique int64": (8 * q, peer),
        "unique int32, 1000 values": (4 * q, peer),
        "searchsorted": (16 * q, peer),
        "median": (4 * q, peer),
        "percentile": (4 * q, peer),
        "nanmean": (4 * n, peer),
    }


def run(device):
    n = 1 << (22 if device.is_software else 28)
    rng = td.random.default_rng(1)
    x = rng.standard_normal(n, np.float32)
    few, keys = x[: n // 4], rng.integers(0, n, n // 4)
    small = rng.integers(0, 1000, n // 4).astype(np.int32)
    arrays = [x, few, x.reshape(-1, 1024), few.reshape(-1, 64), keys, small, td.sort(keys[:1000])]
    scope = f"{n} float32 (sorts and what is built on them: a quarter)"
    return beside.measure("sorting", device, arrays, calls, facts(n), scope)
