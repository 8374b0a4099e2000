"""Sequences: convolution, correlation and linear interpolation."""

import numpy as np

from . import _treadle
from ._creation import asarray
from ._functions import _own
from ._sorting import _scalar, searchsorted

__all__ = ["convolve", "correlate", "interp"]  # fmt: skip

_MODES = ("valid", "same", "full")


def _slide(a, v, mode):
    """Products of ``v``, the shorter sequence, with ``a`` at every place of the mode."""
    if mode not in _MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    n, m = a.size, v.size
    first, count = {
        "valid": (m - 1, n - m + 1),
        "same": (m - 1 - m // 2, n),
        "full": (0, n + m - 1),
    }[mode]
    dtype = np.promote_types(a.dtype, v.dtype)
    return _treadle._sliding_products(
        a.astype(dtype, copy=False), v.astype(dtype, copy=False), first, count
    )


def _sequence(x, function):
    x = _scalar(x, function)
    if x.ndim > 1:
        raise ValueError("object too deep for desired array")
    return x.reshape(-1)


def convolve(a, v, mode="full"):
    """The convolution of two sequences: ``full``, as long as the longer (``same``), or where both overlap (``valid``).

    Every result is one sum of products, in the dtype of both. ValueError for empty or 2-D operands.
    """
    a, v = _sequence(a, "convolve"), _sequence(v, "convolve")
    for name, x in (("a", a), ("v", v)):
        if x.size == 0:
            raise ValueError(f"{name} cannot be empty")
    if v.size > a.size:
        a, v = v, a
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode="valid"):
    """The cross-correlation of two sequences: sums of ``a[n + k] * conj(v[n])``. Modes as for ``convolve``."""
    for x in (a, v):
        if _scalar(x, "correlate").ndim == 0:
            raise ValueError("object of too small depth for desired array")
    a, v = _sequence(a, "correlate"), _sequence(v, "correlate")
    for name, x in (("first", a), ("second", v)):
        if x.size == 0:
            raise ValueError(f"{name} array argument cannot be empty")
    v = _treadle.conjugate(v) if v.dtype.kind == "c" else v
    if a.size >= v.size:
        return _slide(a, v, mode)
    return _slide(v, a, mode)[::-1].copy()


def interp(x, xp, fp, left=None, right=None, period=None):
    """Values at ``x`` of the broken line through the points (``xp``, ``fp``), whose ``xp`` must ascend.

    ``left`` and ``right`` are the values beyond the ends (by default the outermost ``fp``). With ``period`` the line
    repeats, and ``xp`` need not be in order. float64, or complex128 where ``fp`` is complex.
    """
    x, xp, fp = _scalar(x, "interp"), _own(xp, "interp"), _own(fp, "interp")
    dtype = np.complex128 if fp.dtype.kind == "c" else np.float64
    x, xp, fp = x.astype(np.float64), xp.astype(np.float64), fp.astype(dtype)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length.")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        places = _treadle._argsort(xp, 0, False)
        xp, fp = _treadle._gather(xp, places), _treadle._gather(fp, places)
        n = xp.size
        places = asarray(np.concatenate(([n - 1], np.arange(n), [0])))
        shift = asarray(np.concatenate(([-period], np.zeros(n), [period])).astype(np.float64))
        xp, fp = _treadle._gather(xp, places) + shift, _treadle._gather(fp, places)
    return _line(x, xp, fp, left, right)


def _line(x, xp, fp, left, right):
    n = xp.size
    flat = x.reshape(-1)
    j = searchsorted(xp, flat, "right") - 1
    low, high = _treadle.clip(j, 0, n - 1), _treadle.clip(j + 1, 0, n - 1)
    x0, x1 = _treadle._gather(xp, low), _treadle._gather(xp, high)
    f0, f1 = _treadle._gather(fp, low), _treadle._gather(fp, high)
    if fp.dtype.kind == "c":
        result = _between(flat, x0, x1, f0.real, f1.real) + 1j * _between(
            flat, x0, x1, f0.imag, f1.imag
        )
    else:
        result = _between(flat, x0, x1, f0, f1)
    result = _treadle.where((flat == x0) | (j >= n - 1), f0, result)
    first = fp[0] if left is None else left
    last = fp[-1] if right is None else right
    result = _treadle.where(j < 0, first, result)
    result = _treadle.where(flat > xp[-1], last, result)
    result = _treadle.where(_treadle.isnan(flat), flat, result)
    return result.reshape(x.shape)


def _between(x, x0, x1, f0, f1):
    """From the left point; from the right one where that is not a number, and flat lines as they are."""
    slope = (f1 - f0) / (x1 - x0)
    value = slope * (x - x0) + f0
    value = _treadle.where(_treadle.isnan(value), slope * (x - x1) + f1, value)
    return _treadle.where(_treadle.isnan(value) & (f0 == f1), f0, value)
