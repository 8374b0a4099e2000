"""Kernels that a block-size sweep can launch: with any block size, on arguments that are given or made up."""

import math

import numpy as np

import treadle as td

from .. import _treadle
from .sources import Problem

__all__ = ["Launchable", "launchable", "read_argument"]


class Launchable:
    """A kernel with its arguments. ``compiled``: the `RawKernel` behind it, which knows registers and limits."""

    def __init__(self, name, compiled, arguments, launch, elements):
        self.name, self.compiled, self.arguments = name, compiled, arguments
        self._launch, self.elements = launch, elements

    def launch(self, grid, block, shared, arguments):
        """Enqueues one launch on arguments that are on the device."""
        self._launch(grid, block, shared, arguments)

    def results(self, grid, block, shared):
        """Every array after one launch on fresh copies."""
        arrays = (np.ndarray, _treadle.ndarray)
        fresh = [td.array(a) if isinstance(a, arrays) else a for a in self.arguments]
        self.launch(grid, block, shared, fresh)
        return [a.get() for a in fresh if isinstance(a, _treadle.ndarray)]


def launchable(kernel, elements, given=None, name=None):
    """The `Launchable` of a ``RawKernel`` or a ``cuda.jit`` kernel for ``elements`` elements.

    ``given``: name (or position) of a parameter -> its value. Others are made up: an array of ``elements`` elements
    for a pointer or an array (floating: random in [0, 1); integers: 0, 1, 2, ...), ``elements`` for an integer, 1 for
    a floating number. Problem: a parameter that nothing can be made up for, or a name that the kernel does not have.
    """
    given = dict(given or {})
    if isinstance(kernel, _treadle._PythonKernel):
        return _python(kernel, elements, given, name)
    rows = kernel.params
    arguments = [
        given.pop(_key(given, row["name"], i)) if _key(given, row["name"], i) is not None
        else _made_up(row["name"] or str(i), row["kind"], row["dtype"], (elements,), elements)
        for i, row in enumerate(rows)
    ]  # fmt: skip
    _all_used(given, kernel.name, [row["name"] for row in rows])

    def launch(grid, block, shared, values):
        kernel((grid,), (block,), tuple(values), shared_mem=shared)

    return Launchable(name or kernel.name, kernel, tuple(arguments), launch, elements)


def _python(kernel, elements, given, name):
    from ..occupancy import kernel_of

    label = kernel.py_func.__name__
    try:
        compiled = kernel_of(kernel)
    except TypeError as error:
        raise Problem(str(error)) from None
    types = next(iter(kernel.overloads))
    names = kernel.py_func.__code__.co_varnames[: len(types)]
    arguments = []
    for i, (parameter, type_) in enumerate(zip(names, types)):
        key = _key(given, parameter, i)
        if key is not None:
            arguments.append(given.pop(key))
            continue
        kind, dtype, shape = "unknown", None, ()
        if type_.is_array and type_.dtype is not None:
            kind, shape = "pointer", _shape(elements, type_.ndim)
            dtype = _numpy_dtype(type_.dtype)
        elif not type_.is_tuple:
            kind, dtype = "scalar", _numpy_dtype(type_)
        arguments.append(_made_up(parameter, kind, dtype, shape, elements))
    _all_used(given, label, names)

    def launch(grid, block, shared, values):
        kernel[grid, block, None, shared](*values)

    return Launchable(name or label, compiled, tuple(arguments), launch, elements)


def _numpy_dtype(type_):
    try:
        return np.dtype(str(type_))
    except TypeError:
        return None


def _shape(elements, ndim):
    """About so many elements in ``ndim`` equal extents."""
    return (
        (max(1, round(elements ** (1 / max(ndim, 1)))),) * max(ndim, 1)
        if ndim != 1
        else (elements,)
    )


def _key(given, name, position):
    return name if name in given else str(position) if str(position) in given else None


def _all_used(given, kernel, names):
    if given:
        raise Problem(
            f"kernel '{kernel}' has no parameter '{next(iter(given))}'; it has "
            f"{', '.join(n or f'number {i}' for i, n in enumerate(names)) or 'none'}"
        )


def _made_up(name, kind, dtype, shape, elements):
    if dtype is None or kind not in ("pointer", "scalar"):
        raise Problem(
            f"nothing can be made up for parameter '{name}'; give it: --arg {name}=float32[4096] or --arg {name}=7"
        )
    if kind == "scalar":
        if dtype.kind in "iu" and elements > np.iinfo(dtype).max:
            raise Problem(
                f"{elements} elements do not fit the parameter '{name}' ({dtype}); give --arg {name}=…"
            )
        return dtype.type(elements if dtype.kind in "iu" else 1)
    return _array(dtype, shape)


def _array(dtype, shape):
    count = math.prod(shape)
    if dtype.kind in "fc":
        return np.random.default_rng(0).random(count).astype(dtype).reshape(shape)
    if dtype.kind == "b":
        return (np.arange(count) % 2).astype(dtype).reshape(shape)
    return (np.arange(count) % min(count, int(np.iinfo(dtype).max))).astype(dtype).reshape(shape)


def read_argument(text):
    """(name, value) of ``NAME=7``, ``NAME=0.5``, or NAME and an argument as `treadle bench` writes it, such as
    ``NAME=int32=7`` or ``NAME=float32[512,512]=arange``. Problem otherwise.
    """
    from ..benchmarking.kernel_arguments import generate

    name, equals, value = text.partition("=")
    if not (equals and name and value):
        raise Problem(f"--arg {text}: write NAME=7, NAME=0.5 or NAME=float32[512,512]")
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    try:
        return name, generate(value, np.random.default_rng(0)).value
    except ValueError as error:
        raise Problem(f"--arg {text}: {error}") from None
