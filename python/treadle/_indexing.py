"""Elements by index: taking, putting, choosing, and where conditions hold.

Indices, masks and values that are stored may be treadle arrays, or host data (lists, NumPy arrays), which are moved to
the device by themselves. Other values are treadle arrays or scalars.
"""

import numpy as np

from . import _treadle
from ._creation import arange, asarray, empty, full, zeros
from ._functions import _axis, _own, broadcast_to, copyto, ravel
from ._treadle import ndarray, scatter_add, scatter_max, scatter_min

__all__ = [
    "argwhere", "choose", "compress", "diag", "diagflat", "diagonal", "extract", "fill_diagonal", "flatnonzero",
    "nonzero", "piecewise", "place", "put", "put_along_axis", "putmask", "repeat", "scatter_add", "scatter_max",
    "scatter_min", "select", "take", "take_along_axis", "trace",
]  # fmt: skip

_SCALARS = (bool, int, float, complex, np.generic)


def _places(indices):
    """Index data as a treadle array; what is on the host goes over, its range known."""
    if isinstance(indices, ndarray):
        return indices
    host = np.asarray(indices)
    if host.size == 0 and not isinstance(indices, np.ndarray):
        host = host.astype(np.int64)
    if host.dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from dtype('{host.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    return _treadle._index_array(
        np.ascontiguousarray(host, np.bool_ if host.dtype.kind == "b" else np.int64).reshape(
            host.shape
        )
    )


def _condition(condition):
    """A condition as a treadle array: host data are masks."""
    if isinstance(condition, ndarray):
        return condition
    return asarray(np.asarray(condition, dtype=bool))


def _values(value, dtype, function):
    """Values that take part in a computation in ``dtype``."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, _SCALARS):
        return full((), value, dtype)
    return _own(value, function)


def _stored(value, dtype):
    """Values to be stored in an array of ``dtype``; what is on the host goes over, a list as that dtype."""
    if isinstance(value, ndarray):
        return value
    if isinstance(value, _SCALARS):
        return full((), value, dtype)
    return asarray(value if isinstance(value, np.ndarray) else np.asarray(value, dtype))


def _check_safe(values, target):
    if not np.can_cast(values.dtype, target.dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to {target.dtype!r} according to the rule 'safe'"
        )


def _deliver(result, out):
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"output array has shape {out.shape}, the result {result.shape}")
    copyto(out, result)
    return out


# ---- taking and putting ----


def take(a, indices, axis=None, out=None, mode="raise"):
    """The elements of ``a`` along ``axis`` (of the flattened array when None) at ``indices`` of any shape.

    Negative indices count from the end. ``mode`` says what an index out of bounds does: "raise" is an IndexError,
    "wrap" goes round, "clip" takes the nearest (and 0 for negative ones). An ``out`` of another dtype gets the elements
    as it casts them, as with NumPy from 2.5 on.
    """
    a = _own(a, "take")
    result = _treadle._take(a, _places(indices), axis, mode)
    return _deliver(result if out is None else result.astype(out.dtype, copy=False), out)


def put(a, ind, v, mode="raise"):
    """``a.flat[ind] = v`` in place; ``v`` is repeated or cut as needed. ``mode`` as in ``take``."""
    a = _own(a, "put")
    _treadle._put(a, _places(ind), _stored(v, a.dtype), mode)


def _along_axis(arr, indices, axis):
    """The index that ``take_along_axis`` and ``put_along_axis`` use, and the array that it is for."""
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return arr.reshape(-1), (indices,)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if indices.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    axis = _axis(axis, arr.ndim)
    index = [arange(n).reshape((-1,) + (1,) * (arr.ndim - 1 - k)) for k, n in enumerate(arr.shape)]
    index[axis] = indices
    return arr, tuple(index)


def take_along_axis(arr, indices, axis=-1):
    """``arr`` at ``indices`` along ``axis``, the other axes matched one to one (broadcast).

    IndexError for indices out of bounds, ValueError when the numbers of dimensions differ.
    """
    arr, index = _along_axis(_own(arr, "take_along_axis"), _places(indices), axis)
    return arr[index]


def put_along_axis(arr, indices, values, axis):
    """Writes ``values`` where ``take_along_axis`` with the same arguments reads."""
    arr = _own(arr, "put_along_axis")
    flat, index = _along_axis(arr, _places(indices), axis)
    flat[index] = values
    if axis is None and not arr.flags.c_contiguous:
        copyto(arr, flat.reshape(arr.shape))


def choose(a, choices, out=None, mode="raise"):
    """Element by element ``choices[a]``: ``a`` says which of the choices, which all broadcast, gives the value.

    ValueError for an entry that names no choice, unless ``mode`` is "wrap" or "clip".
    """
    a = _own(a, "choose")
    if a.dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from dtype('{a.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    choices = [choices[k] for k in range(len(choices))]
    if not choices:
        raise ValueError("choose: at least one choice is needed")
    n = len(choices)
    if mode == "raise":
        low, high = _treadle._index_range(a) if a.size else (0, 0)
        if low < 0 or high >= n:
            raise ValueError(
                f"invalid entry {low if low < 0 else high} in choice array: there are {n} choices"
            )
    elif mode == "wrap":
        a = a.astype(np.int64) % n
    elif mode == "clip":
        a = _treadle.clip(a.astype(np.int64), 0, n - 1)
    else:
        raise ValueError(f"mode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    dtype = np.result_type(*(_type_of(c) for c in choices))
    result = _values(choices[0], dtype, "choose").astype(dtype)
    for k in range(1, n):
        result = _treadle.where(a == k, _values(choices[k], dtype, "choose").astype(dtype), result)
    shape = np.broadcast_shapes(a.shape, result.shape)
    if result.shape != shape:
        result = broadcast_to(result, shape).copy()
    return _deliver(result, out)


def _type_of(value):
    if isinstance(value, ndarray):
        return value.dtype
    return value if isinstance(value, _SCALARS) else np.asarray(value)


def compress(condition, a, axis=None, out=None):
    """The slices of ``a`` along ``axis`` for which the 1-D ``condition`` holds; it may be shorter than the axis."""
    a = _own(a, "compress")
    condition = _condition(condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, _treadle._nonzero(condition)[0], axis, out)


def extract(condition, arr):
    """The elements of ``arr`` where ``condition``, of as many elements, is not zero: 1-D."""
    return take(_own(arr, "extract"), flatnonzero(_condition(condition)))


def place(arr, mask, vals):
    """Where ``mask`` holds, ``arr`` gets the next of ``vals``, from the start again when they are used up.

    ValueError when the sizes of ``mask`` and ``arr`` differ or there are no values.
    """
    arr = _own(arr, "place")
    values = _stored(vals, arr.dtype)
    _check_safe(values, arr)
    _treadle._place(arr, _condition(mask), values)


def putmask(a, mask, values):
    """Where ``mask`` holds, ``a.flat[i] = values.flat[i]``; fewer values are repeated. Sizes must agree."""
    a = _own(a, "putmask")
    mask, values = _condition(mask), _stored(values, a.dtype)
    if mask.size != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    _check_safe(values, a)
    if values.size == 0:
        return
    if values.size > 1 and values.shape != a.shape:
        repeated = _treadle._take(values.reshape(-1), arange(a.size), 0, "wrap")
        values = repeated.reshape(a.shape)
    values = values.reshape(()) if values.size == 1 else values
    copyto(a, _treadle.where(mask.reshape(a.shape).astype(np.bool_), values.astype(a.dtype), a))


def repeat(a, repeats, axis=None):
    """Each element of ``a`` along ``axis`` (flattened when None) ``repeats`` times: one number, or one for each."""
    a = _own(a, "repeat")
    if axis is None:
        a, axis = a.reshape(-1), 0
    elif a.ndim == 0:
        a = a.reshape(1)
    axis = _axis(axis, a.ndim)
    n = a.shape[axis]
    if isinstance(repeats, ndarray) and repeats.size != 1:
        places = _repeated_places(repeats, n)
    else:
        counts = np.asarray(int(repeats) if isinstance(repeats, ndarray) else repeats)
        if counts.dtype.kind not in "iub":
            raise TypeError(
                f"Cannot cast array data from dtype('{counts.dtype}') to dtype('int64') according to the rule 'safe'"
            )
        if np.any(counts < 0):
            raise ValueError("repeats may not contain negative values.")
        if counts.size == 1:
            return _repeat_evenly(a, int(counts.reshape(())), axis)
        places = _places(np.repeat(np.arange(n), counts))
    return _treadle._take(a, places, axis, "raise")


def _repeat_evenly(a, count, axis):
    wide = a[(slice(None),) * (axis + 1) + (None,)]
    shape = wide.shape[: axis + 1] + (count,) + wide.shape[axis + 2 :]
    dims = a.shape[:axis] + (a.shape[axis] * count,) + a.shape[axis + 1 :]
    result = empty(shape, a.dtype)
    copyto(result, wide)
    return result.reshape(dims)


def _repeated_places(repeats, n):
    from ._scans import cumsum

    if repeats.dtype.kind not in "iub" or repeats.dtype == np.uint64:
        raise TypeError(
            f"Cannot cast array data from dtype('{repeats.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    if repeats.ndim != 1 or repeats.size != n:
        raise ValueError(
            f"operands could not be broadcast together with shape ({n},) ({repeats.size},)"
        )
    if n == 0:
        return zeros(0, np.int64)
    if _treadle._index_range(repeats)[0] < 0:
        raise ValueError("repeats may not contain negative values.")
    ends = cumsum(repeats.astype(np.int64))
    # A mark where each element's run starts; elements without one leave theirs on the next.
    steps = zeros(int(ends[-1]) + 1, np.int32 if n < 2**31 else np.int64)
    scatter_add(steps, ends[:-1], 1)
    return cumsum(steps[:-1], dtype=np.int64)


# ---- where ----


def nonzero(a):
    """The indices of the elements that are not zero, one array for each axis. ValueError for 0-d arrays."""
    return tuple(_treadle._nonzero(_own(a, "nonzero")))


def flatnonzero(a):
    """The indices of the elements of the flattened array that are not zero."""
    return _treadle._nonzero(_own(a, "flatnonzero").reshape(-1))[0]


def argwhere(a):
    """The indices of the elements that are not zero, one row for each element."""
    a = _own(a, "argwhere")
    if a.ndim == 0:
        return _treadle._nonzero(a.reshape(1)).T[:, :0]
    return _treadle._nonzero(a).T


def select(condlist, choicelist, default=0):
    """Element by element the choice of the first condition that holds, ``default`` where none does.

    Conditions are bool arrays (TypeError), as many as choices (ValueError); all broadcast.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    dtype = np.result_type(*(_type_of(c) for c in [*choicelist, default]))
    result = _values(default, dtype, "select").astype(dtype)
    for k in range(len(condlist) - 1, -1, -1):
        condition = _own(condlist[k], "select")
        if condition.dtype != np.bool_:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
        choice = _values(choicelist[k], dtype, "select").astype(dtype)
        result = _treadle.where(condition, choice, result)
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    """A function of pieces: where ``condlist[k]`` holds, ``funclist[k]`` of those elements, or its value.

    One function more than conditions is the default. A flat list of plain booleans is one condition. ValueError when
    the numbers do not fit.
    """
    x = _array_like(x, "piecewise")
    funclist = list(funclist)
    conditions = _conditions(condlist, x)
    n = len(conditions)
    if len(funclist) == n + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    elif len(funclist) != n:
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    y = zeros(x.shape, x.dtype)
    for condition, function in zip(conditions, funclist):
        if not callable(function):
            y[condition] = function
            continue
        chosen = x[condition]
        if chosen.size:
            y[condition] = function(chosen, *args, **kw)
    return y


def _conditions(condlist, x):
    """NumPy's reading of a condition list: one condition, or a sequence of them."""
    if isinstance(condlist, _SCALARS) or getattr(condlist, "ndim", 1) == 0:
        conditions = [condlist]
    elif isinstance(condlist[0], (list, tuple, np.ndarray)) or x.ndim == 0:
        conditions = list(condlist)
    elif isinstance(condlist[0], ndarray):
        several = not isinstance(condlist, ndarray) or condlist.ndim > 1
        conditions = list(condlist) if several else [condlist]
    else:
        conditions = [condlist]
    return [_condition(c).astype(np.bool_) for c in conditions]


# ---- diagonals ----


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A read-only view of the diagonals of the planes of two axes, along the last axis of the result."""
    return _treadle._diagonal(_own(a, "diagonal"), offset, axis1, axis2, False)


def _array_like(a, function):
    """An array; lists and numbers, which are written out in the program, become one."""
    return asarray(a) if isinstance(a, (list, tuple, *_SCALARS)) else _own(a, function)


def diag(v, k=0):
    """The ``k``-th diagonal of a matrix (a read-only view), or a matrix with the vector ``v`` on it."""
    v = _array_like(v, "diag")
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.size + abs(k)
    result = zeros((n, n), v.dtype)
    copyto(_treadle._diagonal(result, k, 0, 1, True), v)
    return result


def diagflat(v, k=0):
    """A matrix with the flattened ``v`` on its ``k``-th diagonal."""
    return diag(ravel(_array_like(v, "diagflat")), k)


def fill_diagonal(a, val, wrap=False):
    """Writes ``val`` to the elements with equal indices, in place; an array is repeated.

    More than two dimensions must be of equal length (ValueError). ``wrap`` goes on below a tall matrix's square.
    """
    a = _own(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    values = _stored(val, a.dtype)
    if a.ndim == 2 and wrap and a.shape[0] > a.shape[1]:
        step = a.shape[1] + 1
        places = arange(0, a.size, step)
        _treadle._put(a, places, values, "raise")
        return
    diagonals = _treadle._diagonal(a, 0, 0, 1, True)
    for _ in range(a.ndim - 2):
        diagonals = _treadle._diagonal(diagonals, 0, 0, diagonals.ndim - 1, True)
    if values.size not in (1, diagonals.size) and values.size and diagonals.size:
        values = _treadle._take(values, arange(diagonals.size), None, "wrap")
    if values.size and diagonals.size:
        diagonals[...] = values.reshape(-1)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """The sum along the diagonals of the planes of two axes."""
    return _treadle.sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


# ---- methods ----


def _method_scatter(function):
    return lambda self, indices, value: function(self, indices, value)


for _function in (take, put, choose, repeat, nonzero, diagonal, trace):
    setattr(ndarray, _function.__name__, _function)
ndarray.compress = lambda self, condition, axis=None, out=None: compress(condition, self, axis, out)
for _function in (scatter_add, scatter_max, scatter_min):
    setattr(ndarray, _function.__name__, _method_scatter(_function))
