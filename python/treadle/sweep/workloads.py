"""What a sweep measures: the same computation for NumPy on the host and for Treadle on the device."""

import dataclasses
import inspect

import numpy as np

import treadle as td

from .. import _treadle
from .sources import Problem, load_script

__all__ = ["WORKLOADS", "Workload", "of_function", "of_script"]


@dataclasses.dataclass(frozen=True)
class Workload:
    """``host`` and ``device`` take the arrays of ``inputs(n)``: NumPy's on the host, Treadle's on the device. The same
    dtype and the same result in both places; a sweep refuses work whose results differ.

    ``steps``: the device's computation with every step's result written to memory; None when it has one step.
    """

    name: str
    formula: str
    inputs: object  # n -> tuple of NumPy arrays
    host: object
    device: object
    steps: object = None
    unit: str = "elements"
    largest: int = 10_000_000
    smallest: int = 10
    moved: object = (
        None  # n -> bytes between host and device for one end-to-end call; None: not known
    )
    tolerance: float = 1e-5  # relative, of the result's largest value


def _random(n, count, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(rng.random(n, np.float32) for _ in range(count))


def _chain(sqrt, exp):
    return lambda a, b: sqrt(a * a + b * b) * exp(-a) + b


def _steps(a, b):
    """The chain, every operation launched by itself: nothing is fused."""

    def done(x):
        x.flush()
        return x

    squares = done(a * a), done(b * b)
    root, decay = done(td.sqrt(done(squares[0] + squares[1]))), done(td.exp(done(-a)))
    return done(done(root * decay) + b)


def _square(n):
    side = max(1, round(n**0.5))
    rng = np.random.default_rng(0)
    return tuple(rng.random((side, side), np.float32) for _ in range(2))


WORKLOADS = {
    w.name: w
    for w in (
        Workload("add", "a + b", lambda n: _random(n, 2), lambda a, b: a + b, lambda a, b: a + b,
                 moved=lambda n: 12 * n),
        Workload("chain", "sqrt(a² + b²) · exp(-a) + b", lambda n: _random(n, 2), _chain(np.sqrt, np.exp),
                 lambda a, b: _chain(td.sqrt, td.exp)(a, b), _steps, moved=lambda n: 12 * n),
        Workload("sum", "sum of a", lambda n: _random(n, 1), lambda a: a.sum(), lambda a: a.sum(),
                 moved=lambda n: 4 * n + 4),
        Workload("matmul", "A @ B, square matrices of so many elements", _square, lambda a, b: a @ b,
                 lambda a, b: a @ b, largest=1_000_000, moved=lambda n: 12 * max(1, round(n**0.5)) ** 2),
        Workload("copy", "a copied: end to end it is the two transfers", lambda n: _random(n, 1), np.copy,
                 lambda a: a.copy(), moved=lambda n: 8 * n),
    )
}  # fmt: skip


def of_function(function, inputs=None, host=None, name=None):
    """The `Workload` of a user's function of arrays.

    ``function``  takes Treadle arrays and returns one array; also NumPy's, unless ``host`` is its counterpart
    ``inputs``    ``n -> tuple of NumPy arrays``; default: a float32 array of n random numbers for each parameter
    """
    if not callable(function):
        raise Problem(f"{function!r} is no function")
    name = name or getattr(function, "__name__", "work")
    if isinstance(function, (_treadle.RawKernel, _treadle._PythonKernel)):
        raise Problem(
            f"'{name}' is a kernel: give a function that launches it and returns its result"
        )
    if inputs is None:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            raise Problem(
                f"the parameters of '{name}' cannot be read; give inputs (n -> tuple of arrays)"
            ) from None
        count = sum(
            p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for p in parameters
        )
        if not count:
            raise Problem(f"'{name}' takes no arrays; a function that is swept is given its inputs")

        def inputs(n):
            return _random(n, count)

    def as_tuple(n):
        made = inputs(n)
        return (
            made if isinstance(made, tuple) else tuple(made) if isinstance(made, list) else (made,)
        )

    return Workload(name, f"{name}(...)", as_tuple, host or function, function)


def of_script(text):
    """The `Workload` of ``script.py:function``. Where the script also has ``inputs(n)`` it makes the arrays, and
    ``function_numpy`` is the host's counterpart.
    """
    path, _, name = text.rpartition(":")
    if not path.endswith(".py"):
        raise Problem(
            f"there is no work '{text}'; there are {', '.join(WORKLOADS)}, or SCRIPT.py:FUNCTION"
        )
    import os

    if not os.path.isfile(path):
        raise Problem(f"there is no file '{path}'")
    function, others = load_script(path, name, ("inputs", f"{name}_numpy"))
    return of_function(function, *others, name=name)
