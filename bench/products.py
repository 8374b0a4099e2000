"""Matrix products. The peers call the same library (cuBLAS, OpenBLAS), so the goal is a share of their speed."""

import beside
import numpy as np
import treadle as td

SHARE = ("peer", 0.98)


def run(device):
    side = 1024 if device.is_software else 8192
    rng = td.random.default_rng(1)
    dtypes = {"float32": np.float32, "float64": np.float64}
    if not device.is_software:
        dtypes["float16"] = np.float16
    arrays = [rng.random((side, side), np.float64).astype(dtype) for dtype in dtypes.values()]
    batch = rng.random((64, side // 8, side // 8), np.float32)
    vector = rng.random(side, np.float32)
    facts = {
        f"{name} {side}": (3 * side * side * np.dtype(dtype).itemsize, SHARE)
        for name, dtype in dtypes.items()
    }
    batched, by_vector = f"float32, 64 of {side // 8}", "float32, matrix times vector"
    facts |= {
        batched: (3 * 64 * (side // 8) ** 2 * 4, SHARE),
        by_vector: (4 * side * side, SHARE),
    }

    def calls(xp, taken):
        *squares, many, v = taken
        rows = {f"{name} {side}": lambda a=a: a @ a for name, a in zip(dtypes, squares)}
        return rows | {batched: lambda: many @ many, by_vector: lambda: squares[0] @ v}

    scope = "product of matrices, operands on the device"
    return beside.measure("products", device, [*arrays, batch, vector], calls, facts, scope)
