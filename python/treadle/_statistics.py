"""Variances, averages, reductions that pass over NaN, and covariance."""

import numpy as np

from . import _treadle
from ._creation import asarray, empty
from ._functions import _axes, _own, concatenate, copyto
from ._kinds import is_half, kind_of
from ._scans import _without_nan
from ._sorting import _scalar
from ._treadle import ndarray

__all__ = [
    "average",
    "corrcoef",
    "cov",
    "nanargmax",
    "nanargmin",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "ptp",
    "std",
    "var",
]


def _deliver(result, out, casting="same_kind"):
    """``result``, or ``out`` with its values."""
    if out is None:
        return result
    copyto(out, result, casting)
    return out


def _count(a, axis):
    axes = tuple(range(a.ndim)) if axis is None else _axes(axis, a.ndim)
    return int(np.prod([a.shape[i] for i in axes], dtype=np.int64))


def _degrees(ddof, correction):
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def var(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """The variance along ``axis``: the mean of squared distances from the mean, in one pass over memory.

    The divisor is the number of elements less ``ddof`` (or ``correction``, its other name). ``mean`` may give the mean
    when it is known, with its axes kept. ``where`` chooses elements. bool and integers give float64.
    """
    a, ddof = _own(a, "var"), _degrees(ddof, correction)
    if dtype is None and a.dtype.kind in "iub":
        dtype = np.float64
    x = a if dtype is None else a.astype(dtype, copy=False)
    if where is True and mean is None:
        return _deliver(_treadle._var(x, axis, ddof, keepdims), out, "unsafe")
    narrow = x.dtype if is_half(x.dtype) else None
    if narrow is not None:
        x = x.astype(np.float32)
    mean = _treadle.mean(x, axis, keepdims=True, where=where) if mean is None else mean
    distance = x - mean
    if distance.dtype.kind == "c":
        squared = _treadle.square(distance.real) + _treadle.square(distance.imag)
    else:
        squared = _treadle.square(distance)
    total = _treadle.sum(squared, axis, keepdims=keepdims, where=where)
    if where is True:
        result = total / max(_count(a, axis) - ddof, 0)
    else:
        chosen = _scalar(where, "var")._broadcast_to(a.shape)
        number = _treadle.count_nonzero(chosen, axis, keepdims=keepdims)
        result = total / _treadle.maximum(number - ddof, 0).astype(total.dtype)
    return _deliver(result if narrow is None else result.astype(narrow), out, "unsafe")


def std(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """The standard deviation: the root of the variance. Arguments as for ``var``."""
    a, ddof = _own(a, "std"), _degrees(ddof, correction)
    return _treadle.sqrt(var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean), out)


def ptp(a, axis=None, out=None, keepdims=False):
    """The range: the largest value less the smallest."""
    a = _own(a, "ptp")
    return _treadle.subtract(
        _treadle.max(a, axis, keepdims=keepdims), _treadle.min(a, axis, keepdims=keepdims), out
    )


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The mean along ``axis``, weighted by ``weights``; with ``returned`` also the sums of the weights.

    ``weights`` has the shape of ``a``, or that of the axes. ZeroDivisionError when a sum of weights is 0.
    """
    a = _own(a, "average")
    axis = None if axis is None else _axes(axis, a.ndim)
    if weights is None:
        result = _treadle.mean(a, axis, keepdims=keepdims)
        total = asarray(result.dtype.type(a.size / result.size if result.size else np.nan))
    else:
        weights = _checked_weights(_own(weights, "average"), a, axis)
        kinds = [a.dtype, weights.dtype] + ([np.float64] if a.dtype.kind in "iub" else [])
        dtype = np.result_type(*kinds)
        total = _treadle.sum(weights, axis, dtype, keepdims=keepdims)
        if bool(_treadle.any(total == 0)):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        product = _treadle.multiply(a, weights, dtype=dtype)
        result = _treadle.sum(product, axis, keepdims=keepdims) / total
    if not returned:
        return result
    return result, total if total.shape == result.shape else total._broadcast_to(
        result.shape
    ).copy()


def _checked_weights(weights, a, axis):
    if a.shape == weights.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.shape != tuple(a.shape[k] for k in axis):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    order = sorted(range(len(axis)), key=lambda k: axis[k])
    dims = [n if k in axis else 1 for k, n in enumerate(a.shape)]
    return weights.transpose(order).reshape(dims)


# ---- reductions that pass over NaN ----


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The sum along ``axis`` with NaN counted as 0."""
    return _treadle.sum(
        _without_nan(_own(a, "nansum"), 0), axis, dtype, out, keepdims, initial, where
    )


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """The product along ``axis`` with NaN counted as 1."""
    return _treadle.prod(
        _without_nan(_own(a, "nanprod"), 1), axis, dtype, out, keepdims, initial, where
    )


def _extreme(reduction, a, limit, axis, out, keepdims, initial, where):
    if kind_of(a.dtype) not in "fc":
        return reduction(a, axis, out, keepdims, initial, where)
    missing = _treadle.isnan(a)
    result = reduction(_replaced(a, missing, limit), axis, None, keepdims, initial, where)
    if initial is None:
        nothing = _treadle.all(missing, axis, keepdims=keepdims)
        result = _treadle.where(nothing, np.asarray(np.nan, a.dtype)[()], result)
    return _deliver(result, out)


def _replaced(a, mask, value):
    if a.dtype.kind == "c":
        value = complex(value, value)
    return _treadle.where(mask, np.asarray(value, a.dtype)[()], a)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The smallest number along ``axis``; NaN where there is nothing but NaN."""
    return _extreme(_treadle.min, _own(a, "nanmin"), np.inf, axis, out, keepdims, initial, where)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """The largest number along ``axis``; NaN where there is nothing but NaN."""
    return _extreme(_treadle.max, _own(a, "nanmax"), -np.inf, axis, out, keepdims, initial, where)


def _extreme_place(reduction, a, limit, axis, out, keepdims):
    if kind_of(a.dtype) in "fc":
        missing = _treadle.isnan(a)
        if a.size and bool(_treadle.any(_treadle.all(missing, axis))):
            raise ValueError("All-NaN slice encountered")
        a = _replaced(a, missing, limit)
    return reduction(a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """The place of the smallest number along ``axis``. ValueError where there is nothing but NaN (waits for that)."""
    return _extreme_place(_treadle.argmin, _own(a, "nanargmin"), np.inf, axis, out, keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """The place of the largest number along ``axis``. ValueError where there is nothing but NaN (waits for that)."""
    return _extreme_place(_treadle.argmax, _own(a, "nanargmax"), -np.inf, axis, out, keepdims)


def _numbers(a, where):
    """Where ``a`` is chosen and not NaN."""
    if kind_of(a.dtype) not in "fc":
        return where
    numbers = ~_treadle.isnan(a)
    return numbers if where is True else numbers & _scalar(where, "where")


def _check_inexact(a, dtype, out):
    """The mean of floating-point numbers is one; NumPy's rule for what passes over NaN."""
    if kind_of(a.dtype) not in "fc":
        return
    if dtype is not None and kind_of(np.dtype(dtype)) not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if out is not None and kind_of(out.dtype) not in "fc":
        raise TypeError("If a is inexact, then out must be inexact")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """The mean of the numbers along ``axis``; NaN where there are none."""
    a = _own(a, "nanmean")
    _check_inexact(a, dtype, out)
    if where is not True or kind_of(a.dtype) not in "fc":
        return _treadle.mean(a, axis, dtype, out, keepdims, where=_numbers(a, where))
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    wide = np.float32 if is_half(dtype) else dtype
    total = _treadle.sum(_without_nan(a, 0), axis, wide, keepdims=keepdims)
    count = _treadle.count_nonzero(~_treadle.isnan(a), axis, keepdims=keepdims)
    return _deliver((total / count.astype(wide)).astype(dtype, copy=False), out)


def nanvar(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """The variance of the numbers along ``axis``; NaN where there are not more of them than ``ddof``."""
    a, ddof = _own(a, "nanvar"), _degrees(ddof, correction)
    _check_inexact(a, dtype, out)
    numbers = _numbers(a, where)
    if numbers is True:
        return var(a, axis, dtype, out, ddof, keepdims, mean=mean)
    result = var(_without_nan(a, 0), axis, dtype, None, ddof, keepdims, where=numbers, mean=mean)
    count = _treadle.count_nonzero(numbers._broadcast_to(a.shape), axis, keepdims=keepdims)
    return _deliver(_treadle.where(count > ddof, result, result.dtype.type(np.nan)), out)


def nanstd(
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    """The standard deviation of the numbers along ``axis``; arguments as for ``nanvar``."""
    a, ddof = _own(a, "nanstd"), _degrees(ddof, correction)
    return _treadle.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean), out)


# ---- covariance ----


def _observations(x, rowvar, dtype, function):
    if x.ndim > 2:
        raise ValueError(f"{function} has more than 2 dimensions")
    flat = x.ndim < 2
    x = x.astype(dtype, copy=False).reshape(1, -1) if flat else x.astype(dtype, copy=False)
    return x if rowvar or (x.shape[0] == 1 and flat) else x.T


def _weight_factor(weights, name, samples):
    weights = _own(weights, "cov").astype(np.float64, copy=False)
    if weights.ndim > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if weights.shape[0] != samples:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if bool(_treadle.any(weights < 0)):
        raise ValueError(f"{name} cannot be negative")
    return weights


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix of variables, which are the rows of ``m`` and ``y`` (columns if ``rowvar`` is false).

    Divided by the number of observations less 1, or less ``ddof``, or as it is with ``bias``. ``fweights`` are counts,
    ``aweights`` importances of observations. Errors are NumPy's.
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = _own(m, "cov")
    kinds = [x.dtype for x in (m, y) if x is not None]
    dtype = np.result_type(*kinds, np.float64) if dtype is None else np.dtype(dtype)
    x = _observations(m, rowvar, dtype, "m")
    if x.shape[0] == 0:
        return empty((0, 0), np.float64)
    if y is not None:
        y = _own(y, "cov")
        rows = rowvar or (y.ndim == 2 and y.shape[0] == 1)  # one row of y is never a column
        x = concatenate([x, _observations(y, rows, dtype, "y")], axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    if fweights is not None:
        w = fweights = _weight_factor(fweights, "fweights", x.shape[1])
        if bool(_treadle.any(fweights != _treadle.rint(fweights))):
            raise TypeError("fweights must be integer")
    if aweights is not None:
        aweights = _weight_factor(aweights, "aweights", x.shape[1])
        w = aweights if w is None else w * aweights
    mean, total = average(x, 1, w, True)
    if not np.can_cast(mean.dtype, dtype, "same_kind"):
        raise TypeError(
            f"cov: means of {mean.dtype} do not cast to dtype {dtype}; use a floating one"
        )
    if w is None:
        factor = asarray(float(max(x.shape[1] - ddof, 0)))
    else:
        factor = total[0].real if total.dtype.kind == "c" else total[0]
        if ddof and aweights is None:
            factor = factor - ddof
        elif ddof:
            factor = factor - ddof * _treadle.sum(w * aweights) / factor
        factor = _treadle.maximum(factor, 0)
    x = x - mean.reshape(-1, 1)
    right = (x if w is None else x * w).T
    product = _treadle.matmul(x, _treadle.conjugate(right))
    result = product * (1 / factor).astype(product.real.dtype)
    return result.reshape(tuple(n for n in result.shape if n != 1))


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Pearson's correlation coefficients of variables; arguments as for ``cov``."""
    c = cov(_own(x, "corrcoef"), y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    n = c.shape[0]
    spread = _treadle.sqrt(c.reshape(-1)[:: n + 1].real)
    c = c / spread.reshape(-1, 1) / spread
    if c.dtype.kind != "c":
        return _treadle.clip(c, -1, 1)
    result = empty(c.shape, c.dtype)
    result[...] = _treadle.clip(c.real, -1, 1) + 1j * _treadle.clip(c.imag, -1, 1)
    return result


def _method(function):
    return lambda self, *args, **options: function(self, *args, **options)


ndarray.var, ndarray.std = _method(var), _method(std)
