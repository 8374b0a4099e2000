"""NumPy's functions that are more than one operation or one reduction."""

import builtins

import numpy as np

from . import _treadle
from ._creation import asarray, empty
from ._treadle import ndarray

__all__ = [
    "allclose", "amax", "amin", "argmax", "argmin", "around", "array_equal", "broadcast_arrays", "broadcast_to", "clip",
    "concat", "concatenate", "copy", "copyto", "dot", "expand_dims", "flip", "hstack", "isclose", "moveaxis", "ndim",
    "permute_dims", "ravel", "reshape", "result_type", "round", "round_", "shape", "size", "squeeze", "stack", "std",
    "swapaxes", "transpose", "var", "vdot", "vstack", "where",
]  # fmt: skip

amax, amin = _treadle.amax, _treadle.amin
argmax, argmin = _treadle.argmax, _treadle.argmin


def _own(a, function):
    if isinstance(a, ndarray):
        return a
    raise TypeError(
        f"{function} takes treadle arrays, not {type(a).__name__}; use treadle.asarray(x) first"
    )


# ---- shape ----


def shape(a):
    """The shape of an array."""
    return a.shape if hasattr(a, "shape") else np.shape(a)


def ndim(a):
    """The number of dimensions of an array."""
    return len(shape(a))


def size(a, axis=None):
    """The number of elements, or the length of one axis."""
    return a.size if axis is None else a.shape[axis]


def reshape(a, shape, order="C"):
    """``a`` in another shape; a view where one exists."""
    a = _own(a, "reshape")
    if order == "F":
        dims = (shape,) if isinstance(shape, int) else tuple(shape)
        return a.T.reshape(dims[::-1]).T
    return a.reshape(shape)


def ravel(a, order="C"):
    """``a`` in one dimension; a view where one exists."""
    return reshape(a, -1, order)


def transpose(a, axes=None):
    """``a`` with its axes permuted: reversed when ``axes`` is None."""
    return _own(a, "transpose").transpose(axes)


permute_dims = transpose


def _axis(axis, n):
    if not -n <= axis < n:
        raise np.exceptions.AxisError(axis, n)
    return axis + n if axis < 0 else axis


def _axes(axes, n):
    """Axes as a tuple of distinct, non-negative numbers."""
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    result = tuple(_axis(axis, n) for axis in axes)
    if len(set(result)) != len(result):
        raise ValueError("an axis is named twice")
    return result


def swapaxes(a, axis1, axis2):
    """``a`` with two axes exchanged."""
    order = list(range(a.ndim))
    i, j = _axis(axis1, a.ndim), _axis(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return a.transpose(order)


def moveaxis(a, source, destination):
    """``a`` with some axes moved to new places."""
    source, destination = _axes(source, a.ndim), _axes(destination, a.ndim)
    if len(source) != len(destination):
        raise ValueError("source and destination must name as many axes")
    order = [axis for axis in range(a.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return a.transpose(order)


def expand_dims(a, axis):
    """``a`` with axes of length one put in."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    new = _axes(axes, a.ndim + len(axes))
    return a[tuple(None if i in new else slice(None) for i in range(a.ndim + len(axes)))]


def squeeze(a, axis=None):
    """``a`` without its axes of length one."""
    if axis is None:
        drop = tuple(i for i, n in enumerate(a.shape) if n == 1)
    else:
        drop = _axes(axis, a.ndim)
        if builtins.any(a.shape[i] != 1 for i in drop):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a[tuple(0 if i in drop else slice(None) for i in range(a.ndim))]


def flip(a, axis=None):
    """``a`` with the order of elements reversed along some axes."""
    axes = range(a.ndim) if axis is None else _axes(axis, a.ndim)
    return a[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(a.ndim))]


def broadcast_to(a, shape):
    """A read-only view of ``a`` in a shape that it broadcasts to."""
    return _own(a, "broadcast_to")._broadcast_to(shape)


def broadcast_arrays(*arrays):
    """Views of all arrays in their common shape."""
    common = np.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, common) for a in arrays)


# ---- joining and copying ----


def copy(a, order="K"):
    """A new array with the values of ``a``."""
    return _own(a, "copy").copy(order)


def copyto(dst, src):
    """``dst[...] = src``."""
    _treadle._copy_into(_own(dst, "copyto"), src)


def result_type(*args):
    """NumPy's result_type, with treadle arrays standing for their dtypes."""
    return np.result_type(*(a.dtype if isinstance(a, ndarray) else a for a in args))


def concatenate(arrays, axis=0, out=None, *, dtype=None):
    """The arrays one after the other along an axis that exists."""
    arrays = [_own(a, "concatenate") for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = _axis(axis, first.ndim)
    rest = first.shape[:axis] + first.shape[axis + 1 :]
    for a in arrays:
        if a.ndim != first.ndim or a.shape[:axis] + a.shape[axis + 1 :] != rest:
            raise ValueError(f"shapes {first.shape} and {a.shape} differ outside of axis {axis}")
    if out is None:
        dims = list(first.shape)
        dims[axis] = builtins.sum(a.shape[axis] for a in arrays)
        out = empty(dims, result_type(*arrays) if dtype is None else dtype)
    start = 0
    for a in arrays:
        stop = start + a.shape[axis]
        out[(slice(None),) * axis + (slice(start, stop),)] = a
        start = stop
    return out


concat = concatenate


def stack(arrays, axis=0):
    """The arrays one after the other along a new axis."""
    return concatenate([expand_dims(_own(a, "stack"), axis) for a in arrays], axis)


def vstack(arrays):
    """The arrays as rows."""
    return concatenate([a.reshape(1, -1) if a.ndim < 2 else a for a in arrays], 0)


def hstack(arrays):
    """The arrays side by side."""
    arrays = [a.reshape(-1) if a.ndim == 0 else a for a in arrays]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


# ---- values ----


def where(condition, *choices):
    """``x`` where the condition holds, else ``y``."""
    if len(choices) != 2:
        raise NotImplementedError("where(condition) alone is not supported yet; give x and y")
    return _treadle.where(condition, *choices)


def clip(a, a_min=None, a_max=None, out=None):
    """``a`` limited to ``[a_min, a_max]``; a limit may be None."""
    if a_min is None and a_max is None:
        return _treadle.positive(a, out)
    if a_min is None:
        return _treadle.minimum(a, a_max, out)
    if a_max is None:
        return _treadle.maximum(a, a_min, out)
    return _treadle.clip(a, a_min, a_max, out)


def around(a, decimals=0, out=None):
    """``a`` rounded half to even to so many decimals."""
    if a.dtype.kind in "iub" and decimals >= 0:
        return _treadle.positive(a if a.dtype.kind != "b" else a.astype(np.float16), out)
    if decimals == 0:
        return _treadle.rint(a, out)
    scale = 10.0 ** builtins.abs(decimals)
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


def dot(a, b, out=None):
    """The product of vectors and matrices; a scalar multiplies."""
    if not isinstance(a, ndarray) or not isinstance(b, ndarray) or a.ndim == 0 or b.ndim == 0:
        return _treadle.multiply(a, b, out)
    if b.ndim > 2:
        raise NotImplementedError(
            "dot with a right operand of more than two dimensions is not supported yet; use matmul"
        )
    return _treadle.matmul(a, b, out)


def vdot(a, b):
    """The inner product of the flattened arrays; the first is conjugated."""
    a = a.ravel()
    return dot(_treadle.conjugate(a) if a.dtype.kind == "c" else a, b.ravel())


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None):
    """The variance: the mean of squared distances from the mean, in two passes."""
    ddof = ddof if correction is None else correction
    if dtype is None and a.dtype.kind in "iub":
        dtype = np.float64
    x = a if dtype is None else a.astype(dtype, copy=False)
    narrow = x.dtype if x.dtype == np.float16 else None
    if narrow is not None:
        x = x.astype(np.float32)
    distance = x - _treadle.mean(x, axis, keepdims=True)
    squared = _treadle.square(_treadle.absolute(distance) if x.dtype.kind == "c" else distance)
    axes = tuple(range(a.ndim)) if axis is None else _axes(axis, a.ndim)
    count = int(np.prod([a.shape[i] for i in axes], dtype=np.int64))
    result = _treadle.sum(squared, axis, keepdims=keepdims) / builtins.max(count - ddof, 0)
    if narrow is not None:
        result = result.astype(narrow)
    if out is None:
        return result
    copyto(out, result)
    return out


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None):
    """The standard deviation: the root of the variance."""
    return _treadle.sqrt(var(a, axis, dtype, None, ddof, keepdims, correction=correction), out)


def isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Element by element: are the values equal within a tolerance?"""
    a, b = asarray(a), asarray(b)
    near = _treadle.less_equal(_treadle.absolute(a - b), atol + rtol * _treadle.absolute(b))
    finite = _treadle.isfinite(a) & _treadle.isfinite(b)
    result = (near & finite) | (a == b)
    return result | (_treadle.isnan(a) & _treadle.isnan(b)) if equal_nan else result


def allclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    """True when all values are equal within a tolerance."""
    return bool(_treadle.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a, b):
    """True when shapes and all values are equal."""
    a, b = asarray(a), asarray(b)
    return a.shape == b.shape and bool(_treadle.all(a == b))
