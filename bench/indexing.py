"""Selecting and counting."""

import beside
import numpy as np
import treadle as td


def calls(xp, arrays):
    """Name and call of every row, for the arrays of one library."""
    x, mask, few, places, bins, rows, table = arrays
    quarter = x[: bins.shape[0]]
    torch = xp.__name__ == "torch"
    return {
        "mask, half kept": lambda: x[mask],
        "mask, 1 % kept": lambda: x[few],
        "nonzero": lambda: xp.nonzero(mask),
        "take, random": lambda: x[places],
        "take, rows of 64": lambda: table[rows],
        "assignment, random": lambda: x.__setitem__(places, 1),
        "bincount, 256 bins": lambda: xp.bincount(bins),
        "histogram, 256 bins": (
            (lambda: xp.histc(quarter, 256, 0, 1))
            if torch
            else (lambda: xp.histogram(quarter, 256, (0, 1)))
        ),
    }


def facts(n):
    """(bytes, goal) of every row."""
    peer = ("peer", 1)
    return {
        "mask, half kept": (n + 6 * n, ("ms", 0.7)),
        "mask, 1 % kept": (n, peer),
        "nonzero": (n + 4 * n, peer),
        "take, random": (n // 4 * 16, peer),
        "take, rows of 64": (n // 4 * 8, peer),
        "assignment, random": (n // 4 * 12, peer),
        "bincount, 256 bins": (n, ("ms", 0.12)),
        "histogram, 256 bins": (n, ("ms", 0.12)),
    }


def run(device):
    n = 1 << (22 if device.is_software else 28)
    rng = td.random.default_rng(1)
    x = rng.random(n, np.float32)
    places = rng.integers(0, n, n // 4)
    bins = rng.integers(0, 256, n // 4).astype(np.int32)
    rows = rng.integers(0, n // 64, n // 256)
    arrays = [x, x < 0.5, x < 0.01, places, bins, rows, x.reshape(-1, 64)]
    scope = f"{n} float32, a quarter of them counted or taken"
    return beside.measure("indexing", device, arrays, calls, facts(n), scope)
