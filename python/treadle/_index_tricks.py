"""Arrays of indices: grids, triangles, and flat indices against tuples."""

import math
import operator

import numpy as np

from . import _treadle
from ._creation import arange, zeros
from ._indexing import _array_like, _places

__all__ = [
    "diag_indices", "diag_indices_from", "indices", "ix_", "mask_indices", "ravel_multi_index", "tril", "tril_indices",
    "tril_indices_from", "triu", "triu_indices", "triu_indices_from", "unravel_index",
]  # fmt: skip


def indices(dimensions, dtype=int, sparse=False):
    """The index of every element of a grid along each axis: one array, or with ``sparse`` a tuple that broadcasts."""
    dimensions = tuple(dimensions)
    n = len(dimensions)
    lines = [
        arange(length, dtype=dtype).reshape((1,) * k + (-1,) + (1,) * (n - k - 1))
        for k, length in enumerate(dimensions)
    ]
    if sparse:
        return tuple(lines)
    result = zeros((n, *dimensions), dtype)
    for k, line in enumerate(lines):
        result[k] = line
    return result


def ix_(*args):
    """Index arrays that select the cross product of 1-D sequences; a mask stands for the places where it holds."""
    result = []
    for k, sequence in enumerate(args):
        places = _places(sequence)
        if places.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if places.dtype == np.bool_:
            places = _treadle._nonzero(places)[0]
        result.append(places.reshape((1,) * k + (-1,) + (1,) * (len(args) - k - 1)))
    return tuple(result)


# ---- triangles ----


def _triangle(shape, k):
    """True on and below the ``k``-th diagonal of a plane of the last two axes."""
    rows, columns = (shape[-1], shape[-1]) if len(shape) == 1 else shape[-2:]
    return arange(rows)[:, None] >= arange(-k, columns - k)


def tril(m, k=0):
    """The lower triangle of the last two axes, on and below the ``k``-th diagonal; the rest is zero."""
    m = _array_like(m, "tril")
    if m.ndim == 0:
        raise ValueError("tril needs an array of at least one dimension")
    return _treadle.where(_triangle(m.shape, k), m, zeros((), m.dtype))


def triu(m, k=0):
    """The upper triangle of the last two axes, on and above the ``k``-th diagonal; the rest is zero."""
    m = _array_like(m, "triu")
    if m.ndim == 0:
        raise ValueError("triu needs an array of at least one dimension")
    return _treadle.where(_triangle(m.shape, k - 1), zeros((), m.dtype), m)


def tril_indices(n, k=0, m=None):
    """The indices of the lower triangle of an n x m matrix."""
    return tuple(_treadle._nonzero(_triangle((n, n if m is None else m), k)))


def triu_indices(n, k=0, m=None):
    """The indices of the upper triangle of an n x m matrix."""
    return tuple(_treadle._nonzero(~_triangle((n, n if m is None else m), k - 1)))


def _matrix(arr):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return arr.shape


def tril_indices_from(arr, k=0):
    """The indices of the lower triangle of the matrix ``arr``."""
    n, m = _matrix(arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr, k=0):
    """The indices of the upper triangle of the matrix ``arr``."""
    n, m = _matrix(arr)
    return triu_indices(n, k, m)


def mask_indices(n, mask_func, k=0):
    """The indices where ``mask_func(ones((n, n)), k)`` is not zero."""
    from ._creation import ones

    return tuple(_treadle._nonzero(mask_func(ones((n, n), np.int64), k)))


def diag_indices(n, ndim=2):
    """The indices of the main diagonal of an array of ``ndim`` axes of length ``n``."""
    return (arange(n),) * ndim


def diag_indices_from(arr):
    """The indices of the main diagonal of ``arr``, whose axes must be of one length."""
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


# ---- flat indices ----


def _grid(dims, order):
    """The lengths of a grid, and whether its last axis varies fastest."""
    if order not in ("C", "F", None):
        raise ValueError("only 'C' or 'F' order is permitted")
    dims = tuple(operator.index(n) for n in (dims if np.ndim(dims) else (dims,)))
    if math.prod(dims) >= 2**63:
        raise ValueError(
            "invalid dims: array size defined by dims is larger than the maximum possible size."
        )
    return dims, order != "F"


def _coordinates(indices):
    places = _places(indices)
    if places.dtype.kind not in "iub":
        raise TypeError("only int indices permitted")
    return places


def unravel_index(indices, shape, order="C"):
    """Flat indices as a tuple of arrays, one for each axis of ``shape``. ValueError for one that is out of bounds."""
    shape, last_is_fastest = _grid(shape, order)
    places = _coordinates(indices)
    size = math.prod(shape)
    if places.size:
        low, high = _treadle._index_range(places)
        if low < 0 or high >= size:
            raise ValueError(
                f"index {low if low < 0 else high} is out of bounds for array with size {size}"
            )
    rest, result = places.astype(np.int64), []
    for length in shape[::-1] if last_is_fastest else shape:
        result.append(rest % length)
        rest = rest // length
    return tuple(result[::-1] if last_is_fastest else result)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Index arrays, one for each axis of ``dims``, as flat indices.

    ``mode``, or one for each axis, says what an index out of bounds does: "raise" is a ValueError, "wrap" goes round,
    "clip" takes the nearest.
    """
    dims, last_is_fastest = _grid(dims, order)
    modes = tuple(mode) if isinstance(mode, (tuple, list)) else (mode,) * len(dims)
    if len(multi_index) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    flat = None
    order_of_axes = range(len(dims)) if last_is_fastest else range(len(dims) - 1, -1, -1)
    for axis in order_of_axes:
        places = _in_bounds(multi_index[axis], dims[axis], modes[axis])
        flat = places if flat is None else flat * dims[axis] + places
    return flat


def _in_bounds(indices, length, mode):
    places = _coordinates(indices)
    whole = places.astype(np.int64)
    if mode == "wrap":
        return whole % length
    if mode == "clip":
        return _treadle.clip(whole, 0, length - 1)
    if mode not in ("raise", None):
        raise ValueError(f"mode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    if places.size:
        low, high = _treadle._index_range(places)
        if low < 0 or high >= length:
            raise ValueError("invalid entry in coordinates array")
    return whole
