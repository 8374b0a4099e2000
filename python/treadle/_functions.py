"""NumPy's functions that are more than one operation or one reduction."""

import builtins

import numpy as np

from . import _treadle
from ._creation import asarray
from ._manipulation import (  # noqa: F401
    axes_of,
    axis_of,
    broadcast_to,
    concatenate,
    copyto,
    expand_dims,
    moveaxis,
    own,
    ravel,
    reshape,
    squeeze,
    stack,
    swapaxes,
)
from ._treadle import ndarray

__all__ = [
    "allclose", "amax", "amin", "argmax", "argmin", "around", "array_equal", "array_equiv", "clip", "isclose", "round",
    "round_", "where",
]  # fmt: skip

_own, _axis, _axes = own, axis_of, axes_of  # the names by which other modules import them
amax, amin = _treadle.amax, _treadle.amin
argmax, argmin = _treadle.argmax, _treadle.argmin


# ---- values ----


_ABSENT = object()


def where(condition, x1=_ABSENT, x2=_ABSENT, /):
    """``x1`` where the condition holds, else ``x2``; of a condition alone, its ``nonzero``."""
    if x1 is _ABSENT and x2 is _ABSENT:
        return tuple(_treadle._nonzero(_own(condition, "where")))
    if x1 is _ABSENT or x2 is _ABSENT:
        raise ValueError("either both or neither of x and y should be given")
    return _treadle.where(condition, x1, x2)


def clip(
    a, /, min=None, max=None, out=None, *, a_min=_ABSENT, a_max=_ABSENT, dtype=None, where=True
):
    """``a`` limited to ``[min, max]``; a limit may be None, a number, or an array that broadcasts.

    Where ``min`` is above ``max`` the result is ``max``. NaN stays NaN.
    ``a_min`` and ``a_max`` are NumPy's older names.
    """
    if a_min is not _ABSENT or a_max is not _ABSENT:
        if min is not None or max is not None:
            raise ValueError(
                "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
            )
        min, max = (None if x is _ABSENT else x for x in (a_min, a_max))
    low, high = min, max
    if where is not True:
        result = clip(a, low, high, dtype=dtype)
        if out is None:
            return result
        copyto(out, result, where=where)
        return out
    low, high = _limiting(low, a, -1), _limiting(high, a, 1)
    if low is None and high is None:
        return _treadle.positive(own(a, "clip"), out, dtype=dtype)
    if low is None:
        return _treadle.minimum(a, high, out, dtype=dtype)
    if high is None:
        return _treadle.maximum(a, low, out, dtype=dtype)
    return _treadle.clip(a, low, high, out, dtype=dtype)


def _limiting(limit, a, sign):
    """The limit; None for a number of Python that lies beyond all integers of the dtype, so limits nothing."""
    if type(limit) is not int or not isinstance(a, ndarray) or a.dtype.kind not in "iu":
        return limit
    info = np.iinfo(a.dtype)
    return None if (limit > info.max if sign > 0 else limit < info.min) else limit


def copied(a, out):
    """``a`` as a new array, or in ``out``."""
    if out is None:
        return a.copy("K")
    copyto(out, a)
    return out


def around(a, decimals=0, out=None):
    """``a`` rounded half to even to so many decimals."""
    a = asarray(a) if np.isscalar(a) else own(a, "round")
    if a.dtype.kind == "b" and decimals != 0:
        raise TypeError("round: an array of bool has no decimals; convert it with astype")
    if a.dtype.kind in "iub" and decimals >= 0:
        return _treadle.positive(a if a.dtype.kind != "b" else a.astype(np.float16), out)
    if decimals == 0:
        return _treadle.rint(a, out)
    if a.dtype.kind == "c":  # each part by itself: a quotient of complex numbers rounds otherwise
        result = a.copy("K")
        result.real, result.imag = around(a.real, decimals), around(a.imag, decimals)
        if out is None:
            return result
        copyto(out, result)
        return out
    scale = float(np.power(10.0, builtins.abs(decimals)))  # infinite for decimals that no float has
    scaled = a * scale if decimals > 0 else a / scale
    rounded = _treadle.rint(scaled)
    result = rounded / scale if decimals > 0 else rounded * scale
    if a.dtype.kind in "iu":
        result = result.astype(a.dtype)
    if out is None:
        return result
    copyto(out, result)
    return out


round = round_ = around


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Element by element: ``|a - b| <= atol + rtol * |b|``, or both the same infinity.

    NaN equals NaN with ``equal_nan``.
    """
    a, b = asarray(a), asarray(b)
    b = b.astype(np.result_type(b.dtype, 1.0), copy=False)
    near = _treadle.less_equal(_treadle.absolute(a - b), atol + rtol * _treadle.absolute(b))
    result = (near & _treadle.isfinite(b)) | (a == b)
    return result | (_treadle.isnan(a) & _treadle.isnan(b)) if equal_nan else result


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """All values are equal within a tolerance: a 0-d array of bool."""
    return _treadle.all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2, equal_nan=False):
    """Shapes and all values are equal: a 0-d array of bool."""
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return _treadle.full((), False)
    same = _treadle.equal(a1, a2)
    if equal_nan:
        same = same | (_treadle.isnan(a1) & _treadle.isnan(a2))
    return _treadle.all(same)


def array_equiv(a1, a2):
    """The arrays broadcast to each other and all values are equal: a 0-d array of bool."""
    a1, a2 = asarray(a1), asarray(a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return _treadle.full((), False)
    return _treadle.all(_treadle.equal(a1, a2))
