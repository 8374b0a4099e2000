"""Array expressions, reductions, copies that turn the axes and random numbers, and the host's time for small arrays."""

import beside
import common
import numpy as np
import treadle as td
from treadle import cuda

CHAIN = "sqrt(a*a + b*b)*0.5 + exp(-a)"
REDUCTIONS = ("sum", "max", "argmax", "std")
COPY = ("copy", 0.93)  # the goal of a reduction: a share of the copy's bytes per second


def chain(xp, a, b):
    return xp.sqrt(a * a + b * b) * 0.5 + xp.exp(-a)


def elementwise(xp, a, b, c):
    copy = (lambda: c.copy_(a)) if xp.__name__ == "torch" else (lambda: xp.copyto(c, a))
    return {
        "copy": copy,
        "a + b": lambda: xp.add(a, b, out=c),
        CHAIN: lambda: chain(xp, a, b),
    }


def reductions(xp, square, tall):
    """Over all elements, long and short axes, and in F order."""
    calls = {}
    for name in REDUCTIONS:
        function = getattr(xp, "amax" if name == "max" and xp.__name__ == "torch" else name)
        calls |= {
            name: lambda f=function: f(square),
            f"{name}, axis 0": lambda f=function: f(square, axis=0),
            f"{name}, axis 1": lambda f=function: f(square, axis=1),
            f"{name}, axis 0 of columns of 16": lambda f=function: f(tall, axis=0),
            f"{name}, axis 1 of rows of 16": lambda f=function: f(tall, axis=1),
            f"{name}, F order": lambda f=function: f(square.T),
            f"{name}, F order, axis 0": lambda f=function: f(tall.T, axis=0),
        }
    return calls


def normalised(xp, rows):
    """Softmax and layer normalisation of rows, written out."""
    wide = {"dim": 1, "keepdim": True} if xp.__name__ == "torch" else {"axis": 1, "keepdims": True}
    largest = xp.amax

    def softmax():
        e = xp.exp(rows - largest(rows, **wide))
        return e / e.sum(**wide)

    return {
        "softmax, rows of 1024": softmax,
        "layer norm, rows of 1024": lambda: (rows - rows.mean(**wide)) / rows.std(**wide),
    }


def turned(xp, square, cube, pixels):
    """Copies in C order of arrays whose axes were permuted."""

    def copied(x, *axes):
        if xp.__name__ == "torch":
            return lambda: x.permute(axes).contiguous()
        return lambda: xp.ascontiguousarray(x.transpose(axes))

    calls = {"transposed copy": copied(square, 1, 0)}
    for axes in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        calls["axes {}{}{}".format(*axes)] = copied(cube, *axes)
    calls["pixels of 4 to planes"] = copied(pixels, 1, 0)
    calls["planes to pixels of 4"] = copied(pixels.reshape(4, -1), 1, 0)
    return calls


def random(xp, n):
    if xp.__name__ == "torch":
        return {
            "uniform": lambda: xp.rand(n, device="cuda"),
            "normal": lambda: xp.randn(n, device="cuda"),
            "normal float64": lambda: xp.randn(n // 2, device="cuda", dtype=xp.float64),
            "integers": lambda: xp.randint(0, 1000, (n // 2,), device="cuda"),
        }
    rng = xp.random.default_rng(1)
    return {
        "uniform": lambda: rng.random(n, dtype=np.float32),
        "normal": lambda: rng.standard_normal(n, dtype=np.float32),
        "normal float64": lambda: rng.standard_normal(n // 2),
        "integers": lambda: rng.integers(0, 1000, n // 2),
    }


def calls(xp, arrays):
    a, b, c, square, tall, cube, pixels = arrays
    return {
        **elementwise(xp, a, b, c),
        **reductions(xp, square, tall),
        **normalised(xp, a.reshape(-1, 1024)),
        **turned(xp, square, cube, pixels),
        **random(xp, len(a)),
    }


def facts(n):
    """(bytes, goal) of every row."""
    rows = {
        "copy": (8 * n, None),
        "a + b": (12 * n, ("copy", 0.97)),
        CHAIN: (12 * n, ("ms", 0.80)),
    }
    for name in REDUCTIONS:
        for where in (
            "",
            ", axis 0",
            ", axis 1",
            ", axis 0 of columns of 16",
            ", F order",
            ", F order, axis 0",
        ):
            rows[name + where] = (4 * n, COPY)
        # The results are bytes too: indices have 8.
        result = n // 16 * (8 if name == "argmax" else 4)
        rows[f"{name}, axis 1 of rows of 16"] = (4 * n + result, COPY)
        rows[f"{name}, F order, axis 0"] = (4 * n + result, COPY)
    for name in ("softmax, rows of 1024", "layer norm, rows of 1024"):
        rows[name] = (8 * n, ("copy", 0.9))
    for name in ("transposed copy", "axes 021", "axes 102", "axes 120", "axes 201", "axes 210"):
        rows[name] = (8 * n, ("ms", 0.60))
    for name in ("pixels of 4 to planes", "planes to pixels of 4"):
        rows[name] = (8 * n, ("peer", 1))
    rows["uniform"] = (4 * n, ("ms", 0.30))
    for name in ("normal", "normal float64", "integers"):
        rows[name] = (4 * n, ("peer", 1))
    return rows


def host_time(device):
    """Host time of one operation on 1000 elements, launched at once and as part of a chain of 20."""
    libraries = [beside.treadle(), *beside.peers(device)]
    times = {}
    for library in libraries:
        x, y = (library.take(td.ones(1000, np.float32)) for _ in range(2))

        def one(x=x, y=y):
            z = x + y
            if hasattr(z, "flush"):
                z.flush()

        def dependent(x=x, y=y):
            for _ in range(20):
                x = x + y
            if hasattr(x, "flush"):
                x.flush()

        wait = cuda.synchronize
        times[library.label] = {
            "x + y of 1000": (1, common.per_call_seconds(one, 5000, wait=wait), 5),
            "x + y of 1000 in a chain of 20": (
                20,
                common.per_call_seconds(dependent, 500, wait=wait),
                2,
            ),
        }
    scope = "host time of one operation, without waiting inside; best of 5 rounds"
    rows = []
    for label, measured in times.items():
        for name, (count, seconds, goal) in measured.items():
            ours = times[""][name][1]
            rows.append(
                common.record(
                    f"arrays: {label} {name}".replace("  ", " "),
                    1e6 * seconds / count,
                    "us",
                    scope,
                    "CPU" if label == "NumPy" else device.evidence,
                    ("<=", goal) if not label and not device.is_software else None,
                    **({"times ours": seconds / ours} if label else {}),
                )
            )
    return rows


def run(device):
    side = 1 << (11 if device.is_software else 14)
    n = side * side
    rng = td.random.default_rng(1)
    a, b = rng.random(n, np.float32), rng.random(n, np.float32)
    c = td.empty(n, np.float32)
    cube = a.reshape(side // 16, side // 16, 256)
    arrays = [a, b, c, a.reshape(side, side), a.reshape(-1, 16), cube, a.reshape(-1, 4)]
    rows = beside.measure("arrays", device, arrays, calls, facts(n), f"{n} float32")
    return rows + host_time(device)
