"""Medians, quantiles and percentiles: elements by their place in sorted rows."""

import numpy as np

from . import _treadle
from ._creation import asarray, asnumpy
from ._functions import _axes, _own, moveaxis
from ._kinds import is_half, kind_of
from ._statistics import _checked_weights, _deliver, _numbers, nanmean
from ._treadle import ndarray

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]  # fmt: skip


class _Rows:
    """An array with the reduced axes flattened into a last one, and how a result gets its shape."""

    def __init__(self, a, axis):
        axes = tuple(range(a.ndim)) if axis is None else _axes(axis, a.ndim)
        kept = [k for k in range(a.ndim) if k not in axes]
        self.kept = tuple(a.shape[k] for k in kept)
        self.dims = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
        self.length = int(np.prod([a.shape[k] for k in axes], dtype=np.int64))
        self.count = int(np.prod(self.kept, dtype=np.int64))
        self._order = [*kept, *sorted(axes)]

    def table(self, a):
        """``a`` as (rows, length)."""
        return a.transpose(self._order).reshape(self.count, self.length)

    def shaped(self, result, keepdims, leading=()):
        """(rows, …) as the result's shape; ``leading`` axes in front."""
        return result.reshape(leading + (self.dims if keepdims else self.kept))


def _overwrite(a, axis, table):
    """What ``overwrite_input`` allows and NumPy's callers see: the input sorted, where it has one reduced axis."""
    if axis is None and a.flags.c_contiguous:
        _treadle._copy_into(a.reshape(-1), table.reshape(-1))
    elif isinstance(axis, int):
        turned = moveaxis(a, axis, -1)
        _treadle._copy_into(turned, table.reshape(turned.shape))


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle value along ``axis`` (one, several, or all), or the mean of the two middle ones; NaN if there is any.

    With ``overwrite_input`` the input is sorted, too. An empty axis gives NaN.
    """
    a = _own(a, "median")
    rows = _Rows(a, axis)
    table, n = rows.table(a), rows.length
    middle = [(n - 1) // 2, n // 2][n % 2 :]
    if overwrite_input:
        table = _treadle._sort(table, -1, False)
        _overwrite(a, axis, table)
        two = table[:, middle[0] : middle[-1] + 1]
    else:
        two = _elements(table, np.array(middle)) if n else table
    result = _treadle.mean(two, 1, keepdims=True)
    if n and kind_of(a.dtype) in "fc":
        result = _with_nan(table, result)
    return _deliver(rows.shaped(result, keepdims), out)


_FEW = 32  # places; for more, one sort and one gathering


def _elements(table, places):
    """Elements (rows, places) that stand at places, on the host, when the rows are sorted."""
    places = places.reshape(-1).astype(np.int64)
    if places.size <= _FEW:
        return _treadle._sorted_elements(table, places.tolist())
    return _gathered(_treadle._sort(table, -1, False), places)


def _gathered(table, places):
    places = asarray(places.reshape(1, -1).astype(np.int64))
    return _treadle._gather(table, places._broadcast_to((table.shape[0], places.shape[1])))


def _with_nan(table, result):
    """``result`` (rows, …), but the NaN of each row that has one."""
    largest = _treadle.max(table, 1, keepdims=True)
    return _treadle.where(_treadle.isnan(largest), largest, result)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of the numbers along ``axis``; NaN where there are none."""
    a = _own(a, "nanmedian")
    if kind_of(a.dtype) not in "fc" or a.size == 0:
        return median(a, axis, out, overwrite_input, keepdims)
    rows = _Rows(a, axis)
    table = _treadle._sort(rows.table(a), -1, False)
    if overwrite_input:
        _overwrite(a, axis, table)
    count = _treadle.count_nonzero(~_treadle.isnan(table), 1, keepdims=True)
    places = [_treadle.maximum(count - 1, 0) // 2, count // 2 % max(rows.length, 1)]
    low, high = (_treadle._gather(table, place) for place in places)
    two = count % 2 == 0
    # As the mean of two numbers; of one it is that number, even where doubling overflows.
    wide = np.float32 if is_half(a.dtype) else a.dtype
    middle = ((low.astype(wide) + high.astype(wide)) / 2).astype(a.dtype)
    result = _treadle.where(two, middle, low)
    result = _treadle.where(count == 0, table[:, -1:], result)
    return _deliver(rows.shaped(result, keepdims), out)


# ---- where a quantile stands among n sorted elements ----
#
# Each method gives a place between elements (Hyndman and Fan's, and NumPy's five others). `xp` is numpy for numbers of
# elements that are known on the host, treadle for those that differ by row.


def _between(alpha, beta):
    return lambda xp, n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _boundary(shift, takes_lower):
    def place(xp, n, q):
        index = n * q - 1 - shift
        lower = xp.floor(index)
        chosen = xp.where(takes_lower(index - lower, lower), lower, lower + 1)
        return xp.maximum(chosen, 0).astype(np.int64)

    return place


def _midpoint(xp, n, q):
    return 0.5 * (xp.floor((n - 1) * q) + xp.ceil((n - 1) * q))


_PLACES = {
    "inverted_cdf": _boundary(0, lambda gamma, lower: gamma == 0),
    "averaged_inverted_cdf": lambda xp, n, q: n * q - 1,
    "closest_observation": _boundary(0.5, lambda gamma, lower: (gamma == 0) & (lower % 2 == 1)),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "linear": lambda xp, n, q: (n - 1) * q,
    "median_unbiased": _between(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _between(3 / 8.0, 3 / 8.0),
    "lower": lambda xp, n, q: xp.floor((n - 1) * q).astype(np.int64),
    "higher": lambda xp, n, q: xp.ceil((n - 1) * q).astype(np.int64),
    "midpoint": _midpoint,
    "nearest": lambda xp, n, q: xp.rint((n - 1) * q).astype(np.int64),
}
_WHOLE = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
_WEIGHTS = {
    "averaged_inverted_cdf": lambda xp, gamma: xp.where(gamma == 0, gamma.dtype.type(0.5), gamma.dtype.type(1)),
    "midpoint": lambda xp, gamma: xp.where(gamma == 0, gamma.dtype.type(0), gamma.dtype.type(0.5)),
}  # fmt: skip


def _neighbours(xp, method, n, q):
    """The places of the two elements around each quantile, and the weight of the second (None: take the first)."""
    place = xp.asarray(_PLACES[method](xp, n, q))
    if method in _WHOLE or (method == "linear" and place.dtype.kind in "iu"):
        return xp.minimum(place, n - 1).astype(np.int64), None, None
    below = xp.clip(xp.floor(place), 0, None)
    outside = (place < 0) | (place >= n - 1)
    lower = xp.minimum(below, xp.maximum(n - 1, 0))
    upper = xp.where(outside, lower, lower + 1)
    gamma = place - below
    gamma = _WEIGHTS[method](xp, gamma) if method in _WEIGHTS else gamma
    return lower.astype(np.int64), upper.astype(np.int64), gamma.astype(place.dtype)


def _lerp(a, b, t):
    """From a to b; exact at both ends and monotone, whatever the rounding."""
    difference = b - a
    low = a + difference * t
    if not isinstance(t, ndarray):
        return b - difference * (1 - t) if t >= 0.5 else low
    return _treadle.where(t >= 0.5, b - difference * (1 - t), low)


class _Request:
    """The checked arguments of a quantile function; ``q`` is on the host."""

    def __init__(self, a, q, method, axis, weights, overwrite, function, scale=1):
        self.a, self.overwrite = _own(a, function), overwrite
        if self.a.dtype.kind == "c":
            raise TypeError("a must be an array of real numbers")
        self.weak = type(q) in (int, float)
        q = asnumpy(q) if isinstance(q, ndarray) else np.asarray(q)
        self.q = (
            q
            if scale == 1
            else np.true_divide(q, q.dtype.type(scale) if kind_of(q.dtype) == "f" else scale)
        )
        self.q = np.asarray(self.q)
        if self.q.ndim > 2:
            raise ValueError("q must be a scalar or 1d")
        if self.q.size and not (self.q.min() >= 0 and self.q.max() <= 1):
            high = "range [0, 1]" if scale == 1 else "range [0, 100]"
            raise ValueError(
                f"{'Quantiles' if scale == 1 else 'Percentiles'} must be in the {high}"
            )
        if method not in _PLACES:
            raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(_PLACES)}")
        self.method, self.axis, self.weights = method, axis, weights
        if weights is not None:
            if method != "inverted_cdf":
                raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
            axes = None if axis is None else _axes(axis, self.a.ndim)
            self.weights = _checked_weights(_own(weights, function), self.a, axes)
            if bool(_treadle.any(self.weights < 0)):
                raise ValueError("Weights must be non-negative.")

    def result(self, table, rows, keepdims, out):
        """(rows, quantiles) as the result."""
        table = moveaxis(table, 1, 0).copy("C")
        return _deliver(rows.shaped(table, keepdims, self.q.shape), out)


def _known_count(request, elements, n):
    """Quantiles of rows of n elements; ``elements(places)`` are those of the sorted rows."""
    lower, upper, gamma = _neighbours(np, request.method, n, request.q)
    if gamma is None:
        return elements(lower)
    both = elements(np.concatenate([lower.reshape(-1), upper.reshape(-1)]))
    low, high = both[:, : lower.size], both[:, lower.size :]
    return _lerp(low, high, float(gamma) if request.weak else asarray(gamma.reshape(1, -1)))


def _counted(request, table, count):
    """As _known_count, for rows of ``count`` (rows, 1) numbers each, at least 1."""
    import treadle

    q = asarray(request.q.reshape(1, -1))
    if kind_of(q.dtype) == "f":
        count = count.astype(q.dtype)  # as NumPy, whose numbers of elements are weak
    lower, upper, gamma = _neighbours(treadle, request.method, count, q)
    result = _treadle._gather(table, lower)
    if gamma is None:
        return result
    if request.weak:
        gamma = gamma.astype(table.dtype, copy=False)
    return _lerp(result, _treadle._gather(table, upper), gamma)


def _weighted(request, rows, places, table, numbers=None):
    """The first element whose share of the weights, with those in front of it, reaches the quantile."""
    weights = rows.table(request.weights._broadcast_to(request.a.shape))
    if numbers is not None:
        weights = _treadle.where(numbers, weights, weights.dtype.type(0))
    weights = _treadle._gather(weights, places)
    share = _treadle._scan("sum", weights, 1, np.float64)
    share = share / share[:, -1:]
    bad = _treadle.isnan(share[:, -1])
    if numbers is not None:
        bad = bad & _treadle.any(numbers, 1)
    if bool(_treadle.any(bad)):
        raise ValueError("Weights included NaN, inf or were all zero.")
    if kind_of(request.q.dtype) == "f":
        share = share.astype(request.q.dtype)
    share = _treadle.where(share == 0, share.dtype.type(-1), share)
    q = request.q.reshape(-1)
    index = asarray(np.zeros((1, q.size), np.int64))._broadcast_to((table.shape[0], q.size)).copy()
    for k, value in enumerate(q):
        index[:, k] = _treadle.count_nonzero(share < value, 1)
    return _treadle._gather(table, _treadle.minimum(index, rows.length - 1))


def _quantile(request, out, keepdims):
    a, rows = request.a, _Rows(request.a, request.axis)
    if rows.length == 0:
        raise IndexError("quantile of an empty axis: there is no element to take")
    if request.weights is not None:
        places = _treadle._argsort(rows.table(a), -1, False)
        table = _treadle._gather(rows.table(a), places)
        result = _weighted(request, rows, places, table)
    elif request.overwrite:
        table = _treadle._sort(rows.table(a), -1, False)
        result = _known_count(request, lambda places: _gathered(table, places), rows.length)
    else:
        table = rows.table(a)
        result = _known_count(request, lambda places: _elements(table, places), rows.length)
    if request.overwrite:
        _overwrite(a, request.axis, table)
    if kind_of(a.dtype) == "f":
        result = _with_nan(table, result)
    return request.result(result, rows, keepdims, out)


def _nanquantile(request, out, keepdims):
    a, rows = request.a, _Rows(request.a, request.axis)
    if a.size == 0:
        return nanmean(a, request.axis, None, out, keepdims)
    if kind_of(a.dtype) != "f":
        return _quantile(request, out, keepdims)
    table = rows.table(a)
    numbers = _numbers(table, True)
    count = _treadle.count_nonzero(numbers, 1, keepdims=True)
    if request.weights is not None:
        places = _treadle._argsort(table, -1, False)
        table = _treadle._gather(table, places)
        result = _weighted(request, rows, places, table, numbers)
    else:
        table = _treadle._sort(table, -1, False)
        result = _counted(request, table, _treadle.maximum(count, 1))
    if request.overwrite:
        _overwrite(a, request.axis, table)
    result = _treadle.where(count == 0, table[:, -1:], result)
    return request.result(result, rows, keepdims, out)


def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Quantiles ``q`` (0 to 1) along ``axis``: axes of ``q`` in front; NaN where there is any.

    ``method`` is one of NumPy's thirteen. ``weights`` (method ``inverted_cdf``) has the shape of ``a`` or of the axes.
    ``q`` on the device is waited for. Errors are NumPy's.
    """
    return _quantile(
        _Request(a, q, method, axis, weights, overwrite_input, "quantile"), out, keepdims
    )


def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Percentiles ``q`` (0 to 100) along ``axis``; see ``quantile``."""
    return _quantile(
        _Request(a, q, method, axis, weights, overwrite_input, "percentile", 100), out, keepdims
    )


def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Quantiles of the numbers along ``axis``; NaN where there are none. See ``quantile``."""
    return _nanquantile(
        _Request(a, q, method, axis, weights, overwrite_input, "nanquantile"), out, keepdims
    )


def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
):
    """Percentiles of the numbers along ``axis``; NaN where there are none. See ``quantile``."""
    return _nanquantile(
        _Request(a, q, method, axis, weights, overwrite_input, "nanpercentile", 100), out, keepdims
    )
