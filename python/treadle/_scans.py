"""Running sums and products, differences, and integration along an axis."""

import numpy as np

from . import _treadle
from ._creation import asarray, empty, empty_like
from ._functions import _axis, _own, concatenate, moveaxis
from ._kinds import kind_of
from ._treadle import ndarray

__all__ = [
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "ediff1d", "gradient", "nancumprod", "nancumsum",
    "trapezoid",
]  # fmt: skip


def _scan(operation, a, axis, dtype, out, function):
    a = _own(a, function)
    if axis is None or a.ndim == 0:
        if axis is not None:
            _axis(axis, 1)
        a, axis = a.reshape(-1), 0
    if isinstance(out, tuple):
        (out,) = out
    return _treadle._scan(operation, a, axis, dtype, out)


def cumsum(a, axis=None, dtype=None, out=None):
    """The running sum along ``axis`` (of the flattened array when None).

    The dtype is that of ``sum``. Terms are grouped by shape alone, so a result repeats to the bit, but its last digits
    may differ from those of NumPy, which adds one by one.
    """
    return _scan("sum", a, axis, dtype, out, "cumsum")


def cumprod(a, axis=None, dtype=None, out=None):
    """The running product along ``axis`` (of the flattened array when None)."""
    return _scan("prod", a, axis, dtype, out, "cumprod")


def _cumulative(operation, x, axis, dtype, out, include_initial, function):
    x = _own(x, function)
    if x.ndim == 0:
        x = x.reshape(1)
    if axis is None:
        if x.ndim > 1:
            raise ValueError(
                f"{function}: an array of {x.ndim} dimensions needs axis=; use axis=0, or flatten it"
            )
        axis = 0
    axis = _axis(axis, x.ndim)
    if not include_initial:
        return _scan(operation, x, axis, dtype, out, function)
    dims = list(x.shape)
    dims[axis] += 1
    if out is None:
        kind = _treadle.sum if operation == "sum" else _treadle.prod
        out = empty(dims, kind(x[(slice(0),) * x.ndim], dtype=dtype).dtype)
    elif tuple(out.shape) != tuple(dims):
        raise ValueError(
            f"{function}: out has shape {out.shape}; with the initial value it needs {tuple(dims)}"
        )
    before = (slice(None),) * axis
    out[(*before, slice(0, 1))] = 0 if operation == "sum" else 1
    _treadle._scan(operation, x, axis, dtype, out[(*before, slice(1, None))])
    return out


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """The running sum along ``axis``, with a 0 in front of it if ``include_initial``.

    ``axis`` may be left out only for an array of one dimension (ValueError).
    """
    return _cumulative("sum", x, axis, dtype, out, include_initial, "cumulative_sum")


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """The running product along ``axis``, with a 1 in front of it if ``include_initial``.

    ``axis`` may be left out only for an array of one dimension (ValueError).
    """
    return _cumulative("prod", x, axis, dtype, out, include_initial, "cumulative_prod")


def _without_nan(a, value):
    """``a`` with every NaN replaced."""
    if kind_of(a.dtype) not in "fc":
        return a
    return _treadle.where(_treadle.isnan(a), np.zeros((), a.dtype)[()] + a.dtype.type(value), a)


def nancumsum(a, axis=None, dtype=None, out=None):
    """The running sum along ``axis``, with NaN counted as 0."""
    return cumsum(_without_nan(_own(a, "nancumsum"), 0), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """The running product along ``axis``, with NaN counted as 1."""
    return cumprod(_without_nan(_own(a, "nancumprod"), 1), axis, dtype, out)


def accumulate(operation, a, axis, dtype, out):
    """``ufunc.accumulate`` of one of sum, prod, min and max."""
    a = _own(a, "accumulate")
    if a.ndim == 0:
        raise TypeError("cannot accumulate on a scalar")
    if axis is None:
        if a.ndim > 1:
            raise ValueError("accumulate does not allow multiple axes; give one axis")
        axis = 0
    return _scan(operation, a, axis, dtype, out, "accumulate")


# ---- differences ----


def _part(ndim, axis, piece):
    return (slice(None),) * axis + (piece,) + (slice(None),) * (ndim - axis - 1)


def _edge(value, a, axis):
    """``prepend`` and ``append`` of diff: a scalar counts as one element a row."""
    if not isinstance(value, ndarray):
        value = asarray(value) if np.ndim(value) == 0 else _own(value, "diff")
    if value.ndim == 0:
        dims = list(a.shape)
        dims[axis] = 1
        value = value._broadcast_to(dims)
    return value


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The ``n``-th difference of neighbours along ``axis``; of booleans, whether they differ.

    ``prepend`` and ``append`` are arrays, or a number for every row. ValueError for a negative ``n`` or no dimensions.
    """
    a = _own(a, "diff")
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = _axis(axis, a.ndim)
    pieces = [a]
    if prepend is not None:
        pieces.insert(0, _edge(prepend, a, axis))
    if append is not None:
        pieces.append(_edge(append, a, axis))
    if len(pieces) > 1:
        a = concatenate(pieces, axis)
    subtract = _treadle.not_equal if a.dtype.kind == "b" else _treadle.subtract
    for _ in range(n):
        a = subtract(
            a[_part(a.ndim, axis, slice(1, None))], a[_part(a.ndim, axis, slice(None, -1))]
        )
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the flattened array, with ``to_begin`` and ``to_end`` around them.

    TypeError when these do not cast to the array's dtype by the same_kind rule.
    """
    ary = _own(ary, "ediff1d").reshape(-1)
    pieces = [ary[1:] - ary[:-1]]
    for place, value in ((0, to_begin), (2, to_end)):
        if value is None:
            continue
        value = value if isinstance(value, ndarray) else asarray(value)
        if not np.can_cast(value.dtype, ary.dtype, casting="same_kind"):
            which = "to_end" if place else "to_begin"
            raise TypeError(
                f"ediff1d: dtype {value.dtype} of {which} does not cast to {ary.dtype} under the same_kind rule"
            )
        pieces.insert(place, value.reshape(-1).astype(ary.dtype, copy=False))
    return concatenate(pieces) if len(pieces) > 1 else pieces[0]


def _spacings(f, varargs, axes):
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and np.ndim(varargs[0]) == 0:
        return list(varargs) * len(axes)
    if len(varargs) != len(axes):
        raise TypeError(
            f"gradient: {len(varargs)} spacings for {len(axes)} axes; give one, or one for each axis"
        )
    result = []
    for spacing, axis in zip(varargs, axes):
        if np.ndim(spacing) == 0 and not isinstance(spacing, ndarray):
            result.append(spacing)
            continue
        spacing = _own(spacing, "gradient")
        if spacing.ndim == 0:
            result.append(spacing)
            continue
        if spacing.ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        if spacing.size != f.shape[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")  # fmt: skip
        if spacing.dtype.kind in "iu":
            spacing = spacing.astype(np.float64)
        result.append(diff(spacing))
    return result


def gradient(f, *varargs, axis=None, edge_order=1):
    """Derivatives along each of ``axis`` (all when None) by central differences, one-sided at the ends.

    ``varargs`` are spacings: one number, or for each axis a number or the coordinates (a 1-D array). ``edge_order``
    is 1 or 2. An array, or a tuple with one for each axis. ValueError when an axis has fewer than
    ``edge_order + 1`` elements.
    """
    f = _own(f, "gradient")
    axes = (
        tuple(range(f.ndim))
        if axis is None
        else tuple(_axis(k, f.ndim) for k in ((axis,) if np.ndim(axis) == 0 else axis))
    )
    spacings = _spacings(f, varargs, axes)
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if f.dtype.kind == "b":
        raise TypeError("gradient: bools cannot be subtracted; use f.astype(float)")
    if f.dtype.kind in "iu":
        f = f.astype(np.float64)
    for k in axes:
        if f.shape[k] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                f"required; axis {k} has {f.shape[k]}"
            )
    results = tuple(_derivative(f, k, h, edge_order) for k, h in zip(axes, spacings))
    return results[0] if len(axes) == 1 else results


def _derivative(f, axis, h, edge_order):
    result = empty_like(f)
    f, out = moveaxis(f, axis, -1), moveaxis(result, axis, -1)
    uniform = not isinstance(h, ndarray) or h.ndim == 0
    if uniform:
        out[..., 1:-1] = (f[..., 2:] - f[..., :-2]) / (2.0 * h)
        first, last = (h, h), (h, h)
    else:
        left, right = h[:-1], h[1:]
        a = -right / (left * (left + right))
        b = (right - left) / (left * right)
        c = left / (right * (left + right))
        out[..., 1:-1] = a * f[..., :-2] + b * f[..., 1:-1] + c * f[..., 2:]
        first, last = (h[0], h[1] if h.size > 1 else h[0]), (h[-1], h[-2] if h.size > 1 else h[-1])
    if edge_order == 1:
        out[..., 0] = (f[..., 1] - f[..., 0]) / first[0]
        out[..., -1] = (f[..., -1] - f[..., -2]) / last[0]
    else:
        out[..., 0] = _edge_slope(f[..., 0], f[..., 1], f[..., 2], *first, uniform)
        out[..., -1] = -_edge_slope(f[..., -1], f[..., -2], f[..., -3], *last, uniform)
    return result


def _edge_slope(f0, f1, f2, near, far, uniform):
    """The slope at f0 of the parabola through three points, ``near`` and then ``far`` apart."""
    if uniform:
        return (-1.5 / near) * f0 + (2.0 / near) * f1 + (-0.5 / near) * f2
    a = -(2.0 * near + far) / (near * (near + far))
    b = (near + far) / (near * far)
    c = -near / (far * (near + far))
    return a * f0 + b * f1 + c * f2


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along ``axis`` by the trapezoidal rule, for samples at ``x``, or ``dx`` apart."""
    y = _own(y, "trapezoid")
    axis = _axis(axis, y.ndim)
    if x is None:
        d = dx
    else:
        x = _own(x, "trapezoid")
        d = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            dims = [1] * y.ndim
            dims[axis] = d.shape[0]
            d = d.reshape(dims)
    upper, lower = y[_part(y.ndim, axis, slice(1, None))], y[_part(y.ndim, axis, slice(None, -1))]
    return _treadle.sum(d * (upper + lower) / 2.0, axis)


def _install(cls):
    cls.cumsum = lambda self, axis=None, dtype=None, out=None: cumsum(self, axis, dtype, out)
    cls.cumprod = lambda self, axis=None, dtype=None, out=None: cumprod(self, axis, dtype, out)


_install(ndarray)
