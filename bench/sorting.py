"""Scans, sorting and statistics, beside CuPy and PyTorch on a GPU where installed, beside NumPy on the software device.

Times are wall clock from the call to the end of the work on the device.
"""

import common
import numpy as np
import treadle as td
from treadle import cuda

# what: goal in seconds for 2^28 elements (2^26 for sorts) on one H200
GOALS = {"cumsum": 0.60e-3, "sort": 1.89e-3, "argsort": 1.89e-3}


def work(xp, data):
    """Name and call of every row, for the arrays of one library."""
    x, few, rows, wide, keys = data
    torch = xp.__name__ == "torch"

    def along(function, a, axis):
        result = function(a, **{"dim" if torch else "axis": axis})
        return tuple(result) if torch and not hasattr(result, "shape") else result

    calls = {
        "cumsum": lambda: along(xp.cumsum, x, 0),
        "cumsum, rows of 1024": lambda: along(xp.cumsum, rows, 1),
        "cumsum, columns": lambda: along(xp.cumsum, rows, 0),
        "sort": lambda: along(xp.sort, few, 0),
        "argsort": lambda: along(xp.argsort, few, 0),
        "sort int64": lambda: along(xp.sort, keys, 0),
        "sort, rows of 1024": lambda: along(xp.sort, rows[: wide.shape[0] // 16], 1),
        "sort, rows of 64": lambda: along(xp.sort, wide, 1),
        "unique": lambda: xp.unique(keys),
    }
    if not torch:
        calls |= {
            "median": lambda: xp.median(few),
            "percentile": lambda: xp.percentile(few, [5, 50, 95]),
            "nanmean": lambda: xp.nanmean(x),
            "searchsorted": lambda: xp.searchsorted(keys[:1000], keys),
        }
    return calls


def host_data(n):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(n, np.float32)
    few = x[: n // 4]
    keys = np.sort(rng.integers(0, n, n // 4))
    return x, few, x.reshape(-1, 1024), few.reshape(-1, 64), rng.permutation(keys)


def main():
    device = cuda.Device()
    n = 1 << (24 if device.is_software else 28)
    host = host_data(n)
    own = common.row_seconds(work(td, [td.asarray(a) for a in host]), device.synchronize, 5, 1)
    beside = list(
        common.peer_seconds(
            work, host, device, 5, 1, lambda name: print(f"{name}: SKIPPED(not installed)")
        )
    )
    print(f"{device.name}: {device.evidence}, {n} float32")
    for name, seconds in own.items():
        goal = GOALS.get(name) if not device.is_software else None
        line = f"{name:22} {seconds * 1e3:9.3f} ms" + (f" (goal {goal * 1e3:.2f})" if goal else "")
        for peer, times in beside:
            if name in times:
                line += f"  {peer}{times[name] * 1e3:9.3f} ms, {times[name] / seconds:5.2f}x"
        print(line)


if __name__ == "__main__":
    main()
