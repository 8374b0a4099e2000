"""Power series, the coefficient of the lowest power first."""

import operator

from .. import _treadle
from .._creation import empty, eye, ones_like
from .._indexing import _array_like
from .._manipulation import moveaxis
from . import polyutils

__all__ = ["polycompanion", "polyval", "polyvalfromroots", "polyvander"]


def polyvander(x, deg):
    """The powers 0 to ``deg`` of ``x``, along a new last axis. ValueError for a negative degree."""
    try:
        degree = operator.index(deg)
    except TypeError:
        raise TypeError(f"deg must be an integer, received {deg}") from None
    if degree < 0:
        raise ValueError("deg must be non-negative")
    x = _array_like(x, "polyvander") + 0.0
    if x.ndim == 0:
        x = x.reshape(1)
    result = empty((degree + 1, *x.shape), x.dtype)
    result[0] = 1
    for k in range(1, degree + 1):
        result[k] = result[k - 1] * x
    return moveaxis(result, 0, -1)


def polycompanion(c):
    """The companion matrix of a series. ValueError unless its degree is 1 at least."""
    (c,) = polyutils.as_series([c])
    degree = c.size - 1
    if degree < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    matrix = eye(degree, k=-1, dtype=c.dtype)
    matrix[:, -1] -= c[:-1] / c[-1]
    return matrix


def polyval(x, c, tensor=True):
    """The value of a series at ``x``, by Horner's rule: one fused kernel.

    Coefficients stand along the first axis of ``c``. With ``tensor`` every column is evaluated at every ``x``, else
    ``x`` broadcasts over the columns.
    """
    c = _array_like(c, "polyval")
    if c.ndim == 0:
        c = c.reshape(1)
    if c.dtype.kind in "?biu":
        c = c + 0.0
    x = _array_like(x, "polyval")
    if tensor:
        c = c.reshape(c.shape + (1,) * x.ndim)
    value = c[-1] + x * 0
    for k in range(2, len(c) + 1):
        value = c[-k] + value * x
    return value


def polyvalfromroots(x, r, tensor=True):
    """The value at ``x`` of the polynomial with the roots ``r``, which stand along the first axis of ``r``.

    ValueError when ``x`` has as many dimensions as ``r`` and ``tensor`` is false.
    """
    r = _array_like(r, "polyvalfromroots")
    if r.ndim == 0:
        r = r.reshape(1)
    if r.dtype.kind in "?biu":
        r = r.astype(float)
    x = _array_like(x, "polyvalfromroots")
    if tensor:
        r = r.reshape(r.shape + (1,) * x.ndim)
    elif x.ndim >= r.ndim:
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    if r.shape[0] == 0:
        return ones_like(x - r.sum(axis=0))
    return _treadle.prod(x - r, axis=0)
