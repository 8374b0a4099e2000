"""Norms of vectors and matrices, and condition numbers: ``numpy.linalg``'s, as treadle.linalg shows them."""

import math

import numpy as np
from numpy.linalg import LinAlgError

from . import _functions as _f
from . import _treadle
from ._creation import asarray, zeros
from ._kinds import kind_of


def _real_or_complex(x, function):
    _f._own(x, f"linalg.{function}")
    return x if kind_of(x.dtype) in "fc" else x.astype(np.float64)


def _squares(x):
    if x.dtype.kind == "c":
        return _treadle.square(_treadle.real(x)) + _treadle.square(_treadle.imag(x))
    return _treadle.square(x)


def _largest(x, axis, keepdims=False):
    """The maximum of values that are not negative; 0 where there are none."""
    if x.shape[axis] == 0:
        shape = list(x.shape)
        shape[axis : axis + 1] = [1] if keepdims else []
        return zeros(shape, x.dtype)
    return _treadle.max(x, axis, keepdims=keepdims)


def _vector_norm(x, ord, axis, keepdims):
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return _treadle.sqrt(_treadle.sum(_squares(x), axis, keepdims=keepdims))
    size = _treadle.absolute(x)
    if ord == math.inf:
        return _largest(size, axis, keepdims)
    if ord == -math.inf:
        return _treadle.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return _treadle.sum((x != 0).astype(size.dtype), axis, keepdims=keepdims)
    if ord == 1:
        return _treadle.sum(size, axis, keepdims=keepdims)
    return _treadle.sum(size**ord, axis, keepdims=keepdims) ** (1 / ord)


def _singular_values(x, row, column):
    return _treadle._linalg_svd(_f.moveaxis(x, (row, column), (-2, -1)), False, False)[1]


def _matrix_norm(x, ord, row, column):
    """Without keepdims. `row` and `column` are not negative."""
    if ord in (None, "fro", "f"):
        return _treadle.sqrt(_treadle.sum(_squares(x), (row, column)))
    if ord in (2, -2, "nuc"):
        s = _singular_values(x, row, column)
        if ord == "nuc":
            return _treadle.sum(s, -1)
        return _largest(s, s.ndim - 1) if ord == 2 else _treadle.min(s, -1)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    summed, other = (row, column) if ord in (1, -1) else (column, row)
    sums = _treadle.sum(_treadle.absolute(x), summed)
    other -= other > summed
    return _largest(sums, other) if ord > 0 else _treadle.min(sums, other)


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors along one axis, of matrices along two, or of all elements.

    ``ord`` for vectors: None or 2, any other number, inf, -inf, 0 (the count of elements that are not 0); for matrices:
    None or "fro", "nuc", 1, -1, 2, -2, inf, -inf. The result is real. ValueError for another ``ord``.
    """
    x = _real_or_complex(x, "norm")
    n = x.ndim
    if axis is None:
        if ord is None or (ord in ("f", "fro") and n == 2) or (ord == 2 and n == 1):
            result = _treadle.sqrt(_treadle.sum(_squares(x)))
            return result.reshape((1,) * n) if keepdims else result
        axis = tuple(range(n))
    elif not isinstance(axis, tuple):
        try:
            axis = (int(axis),)
        except Exception as error:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from error
    axis = tuple(_f._axis(i, n) for i in axis)
    if len(axis) == 1:
        return _vector_norm(x, ord, axis[0], keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if axis[0] == axis[1]:
        raise ValueError("Duplicate axes given.")
    result = _matrix_norm(x, ord, *axis)
    if keepdims:
        result = result.reshape(
            tuple(1 if i in axis else length for i, length in enumerate(x.shape))
        )
    return result


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of each matrix (..., m, n) -> (...); ``ord`` as in ``norm``."""
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of the elements along one axis or several, or of all; ``ord`` as in ``norm``."""
    x = _real_or_complex(x, "vector_norm")
    axes = tuple(range(x.ndim)) if axis is None else _f._axes(axis, x.ndim)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    flat = x.transpose(axes + rest).reshape(
        (math.prod(x.shape[i] for i in axes), *(x.shape[i] for i in rest))
    )
    result = _vector_norm(flat, ord, 0, False)
    if keepdims:
        result = result.reshape(
            tuple(1 if i in axes else length for i, length in enumerate(x.shape))
        )
    return result


def cond(x, p=None):
    """How far errors may grow in solving with each matrix: (..., m, n) -> (...).

    ``p`` None, 2 or -2: from the singular values; otherwise ``norm(x, p) * norm(inv(x), p)``. A singular matrix gives
    inf.
    """
    x = _real_or_complex(asarray(x) if isinstance(x, (list, tuple)) else x, "cond")
    if x.ndim < 2:
        raise LinAlgError(
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if x.shape[-1] == 0 or x.shape[-2] == 0 or x.size == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = _treadle._linalg_svd(x, False, False)[1]
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        inverse = _treadle._linalg_inv(x, True)
        result = norm(x, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    nan_inside = _treadle.any(_treadle.isnan(x), (-2, -1))
    return _treadle.where(_treadle.isnan(result) & ~nan_inside, math.inf, result)
