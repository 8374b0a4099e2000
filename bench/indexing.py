"""Indexing and counting, with CuPy and PyTorch beside on a GPU where they are installed, and NumPy otherwise.

Times are wall clock from the call to the end of the work on the device, since several of these calls wait for a length.
"""

import common
import numpy as np
import treadle as td
from treadle import cuda

# what: goal in seconds for 2^28 elements (2^26 for counting) on one H200
GOALS = {"mask, half kept": 0.7e-3, "histogram, 256 bins": 0.12e-3, "bincount, 256 bins": 0.12e-3}


def work(xp, data):
    """Name and call of every row, for the arrays of one library."""
    x, mask, few, places, bins, rows, table = data
    # Of PyTorch's functions only those that are spelled as NumPy's are compared.
    calls = {
        "mask, half kept": lambda: x[mask],
        "mask, 1 % kept": lambda: x[few],
        "take, random": lambda: x[places],
        "take, rows of 64": lambda: table[rows],
        "assignment, random": lambda: x.__setitem__(places, 1),
        "bincount, 256 bins": lambda: xp.bincount(bins),
    }
    if xp.__name__ != "torch":
        calls |= {
            "nonzero": lambda: xp.nonzero(mask),
            "histogram, 256 bins": lambda: xp.histogram(x[: bins.size], 256, (0, 1)),
        }
    return calls


def host_data(n):
    rng = np.random.default_rng(1)
    x = rng.random(n, np.float32)
    places = rng.integers(0, n, n // 4)
    bins = rng.integers(0, 256, n // 4, dtype=np.int32)
    rows = rng.integers(0, n // 64, n // 256)
    return x, x < 0.5, x < 0.01, places, bins, rows, x.reshape(-1, 64)


def run(device):
    n = 1 << (24 if device.is_software else 28)
    host = host_data(n)
    own = common.row_seconds(work(td, [td.asarray(a) for a in host]), cuda.synchronize, 7, 2)
    scope = f"{n} float32 (a quarter of them counted or taken, rows: 1/4), median of 7, wall clock"
    rows = []
    for library, times in [("", own), *common.peer_seconds(work, host, device, 7, 2)]:
        for name, seconds in times.items():
            goal = GOALS.get(name) if not library and not device.is_software else None
            beside = {} if not library else {"times ours": seconds / own[name]}
            rows.append(
                common.record(
                    f"indexing: {library}{name}",
                    1e3 * seconds,
                    "ms",
                    scope,
                    "CPU" if library == "NumPy " else device.evidence,
                    ("<=", 1e3 * goal) if goal else None,
                    **beside,
                )
            )
    return rows
