"""Shapes, joining, splitting and rearranging: views where NumPy gives views, else one copy."""

import builtins
import itertools
import operator

import numpy as np

from . import _treadle
from ._creation import asarray, axis_order, empty, empty_like, empty_ordered, order_of
from ._treadle import ndarray

__all__ = [
    "append", "array_split", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "block", "broadcast",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "column_stack", "concat", "concatenate", "copy", "copyto",
    "delete", "dsplit", "dstack", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "insert",
    "matrix_transpose", "moveaxis", "ndim", "permute_dims", "ravel", "require", "reshape", "resize", "roll",
    "rollaxis", "rot90", "shape", "size", "split", "squeeze", "stack", "swapaxes", "tile", "transpose", "trim_zeros",
    "unstack", "vsplit", "vstack",
]  # fmt: skip


def own(a, function):
    """``a`` if it is a treadle array; otherwise TypeError with the cure."""
    if isinstance(a, ndarray):
        return a
    raise TypeError(
        f"{function} takes treadle arrays, not {type(a).__name__}; use treadle.asarray(x) first"
    )


def own_all(arrays, function):
    if isinstance(arrays, ndarray):
        return [own(a, function) for a in arrays]
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(
            f'{function}: arrays to stack must be passed as a "sequence" type such as list or tuple.'
        )
    return [own(a, function) for a in arrays]


# ---- shape ----


def shape(a):
    """The shape of an array."""
    return a.shape if hasattr(a, "shape") else np.shape(a)


def ndim(a):
    """The number of dimensions of an array."""
    return len(shape(a))


def size(a, axis=None):
    """The number of elements, or the length of one axis or of several together."""
    dims = shape(a)
    axes = range(len(dims)) if axis is None else axes_of(axis, len(dims))
    count = 1
    for k in axes:
        count *= dims[k]
    return count


def reshape(a, /, shape=None, order="C", *, newshape=None, copy=None):
    """``a`` in another shape; a view where one exists.

    With ``copy`` true always a copy; with ``copy=False`` ValueError where there is no view.
    """
    a = own(a, "reshape")
    if (shape is None) == (newshape is None):
        raise TypeError("reshape() takes one argument 'shape'")
    shape = newshape if shape is None else shape
    if order in ("K", "k"):
        raise ValueError("order 'K' is not permitted for reshaping; use 'C', 'F' or 'A'")
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy'; use True, False or None")
    order = order_of(order, "CFA")
    if order == "A":
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    if isinstance(shape, (tuple, list)) and len(shape) > 64:
        raise ValueError(
            f"maximum supported dimension for an ndarray is currently 64, found {len(shape)}"
        )
    if order == "F":
        dims = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        result = a.T._reshape(dims[::-1]).T
    else:
        result = a._reshape(shape)
    if copy is None:
        return result
    shared = a.size == 0 or _treadle._may_share_memory(a, result)
    if copy:
        return result.copy("C" if order == "C" else "F") if shared else result
    if not shared:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return result


def _reshape_method(self, *shape, order="C", copy=None):
    """``a.reshape(2, 3)``, ``a.reshape((2, 3))``; see ``treadle.reshape``."""
    if not shape:
        raise TypeError("reshape() takes a shape")
    dims = shape[0] if len(shape) == 1 else shape
    if order == "C" and copy is None:
        return self._reshape(dims)
    return reshape(self, dims, order, copy=copy)


def ravel(a, order="C"):
    """``a`` in one dimension; a view where its elements stand in that order without gaps, else a copy.

    ``order="K"`` takes the elements as they stand in memory.
    """
    a = own(a, "ravel")
    order = order_of(order)
    if order == "A":
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    if order == "K":
        axes = axis_order([a])
        turned = a.transpose(axes) if axes else a
        return turned._reshape(-1) if turned.flags.c_contiguous else turned.copy("C")._reshape(-1)
    if order == "C":
        return a._reshape(-1) if a.flags.c_contiguous else a.copy("C")._reshape(-1)
    return a.T._reshape(-1) if a.flags.f_contiguous else a.T.copy("C")._reshape(-1)


def flatten(a, order="C"):
    """A copy of ``a`` in one dimension."""
    flat = ravel(a, order)
    return flat.copy() if _treadle._may_share_memory(a, flat) else flat


def transpose(a, axes=None):
    """``a`` with its axes permuted: reversed when ``axes`` is None."""
    a = own(a, "transpose")
    if axes is None:
        return a.transpose()
    if not len(axes) and a.ndim:
        raise ValueError("axes don't match array")
    return a.transpose(tuple(axes)) if len(axes) else a


def permute_dims(a, axes=None):
    """``a`` with its axes permuted: reversed when ``axes`` is None."""
    return transpose(a, axes)


def matrix_transpose(x, /):
    """``x`` with its last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError(
            f"matrix transpose with ndim < 2 is undefined; the array must be at least 2-dimensional, but it is {x.ndim}"
        )
    return swapaxes(x, -1, -2)


def axis_of(axis, n):
    """``axis`` as a number in ``[0, n)``; AxisError."""
    axis = operator.index(axis)
    if not -n <= axis < n:
        raise np.exceptions.AxisError(axis, n)
    return axis + n if axis < 0 else axis


def axes_of(axes, n):
    """Axes as a tuple of distinct, non-negative numbers; AxisError or ValueError."""
    axes = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)
    result = tuple(axis_of(axis, n) for axis in axes)
    if len(set(result)) != len(result):
        raise ValueError("repeated axis")
    return result


def swapaxes(a, axis1, axis2):
    """``a`` with two axes exchanged."""
    a = own(a, "swapaxes")
    order = list(range(a.ndim))
    i, j = axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return a.transpose(order)


def moveaxis(a, source, destination):
    """``a`` with some axes moved to new places."""
    a = own(a, "moveaxis")
    source, destination = axes_of(source, a.ndim), axes_of(destination, a.ndim)
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [axis for axis in range(a.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return a.transpose(order) if order else a


def rollaxis(a, axis, start=0):
    """``a`` with ``axis`` moved before the axis ``start``."""
    n = a.ndim
    axis = axis_of(axis, n)
    if not -n <= start <= n:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in"
        )
    start += n if start < 0 else 0
    start -= axis < start
    return a[...] if axis == start else moveaxis(a, axis, start)


def expand_dims(a, /, axis):
    """``a`` with axes of length one put in."""
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    n = own(a, "expand_dims").ndim + len(axes)
    new = axes_of(axes, n)
    return a[tuple(None if i in new else slice(None) for i in range(n))]


def squeeze(a, axis=None):
    """``a`` without its axes of length one."""
    a = own(a, "squeeze")
    if axis is None:
        drop = tuple(i for i, n in enumerate(a.shape) if n == 1)
    else:
        drop = axes_of(axis, a.ndim) if a.ndim or axis not in (0, -1) else ()
        if builtins.any(a.shape[i] != 1 for i in drop):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a[tuple(0 if i in drop else slice(None) for i in range(a.ndim))] if drop else a[...]


def atleast_1d(*arrays):
    """Arrays with at least one dimension."""
    return _at_least(arrays, lambda a: a._reshape((1,)) if a.ndim == 0 else a)


def atleast_2d(*arrays):
    """Arrays with at least two dimensions; new ones come first."""
    return _at_least(
        arrays, lambda a: a[None, :] if a.ndim == 1 else a._reshape((1, 1)) if a.ndim == 0 else a
    )


def atleast_3d(*arrays):
    """Arrays with at least three dimensions: a vector lies along the second one."""

    def three(a):
        if a.ndim == 0:
            return a._reshape((1, 1, 1))
        return a[None, :, None] if a.ndim == 1 else a[:, :, None] if a.ndim == 2 else a

    return _at_least(arrays, three)


def _at_least(arrays, function):
    results = tuple(function(asarray(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


# ---- reversed and rolled ----


def flip(a, /, axis=None):
    """``a`` with the order of elements reversed along some axes."""
    a = own(a, "flip")
    axes = range(a.ndim) if axis is None else axes_of(axis, a.ndim)
    return a[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(a.ndim))]


def fliplr(a):
    """``a`` reversed along its second axis."""
    if a.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return a[:, ::-1]


def flipud(a):
    """``a`` reversed along its first axis."""
    if a.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return a[::-1, ...]


def rot90(a, k=1, axes=(0, 1)):
    """``a`` turned by 90 degrees ``k`` times in the plane of two axes, from the first towards the second."""
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    a = own(a, "rot90")
    if axes[0] == axes[1] or builtins.abs(axes[0] - axes[1]) == a.ndim:
        raise ValueError("Axes must be different.")
    if not builtins.all(-a.ndim <= x < a.ndim for x in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={a.ndim}.")
    k %= 4
    if k == 0:
        return a[:]
    if k == 2:
        return flip(flip(a, axes[0]), axes[1])
    if k == 1:
        return swapaxes(flip(a, axes[1]), *axes)
    return flip(swapaxes(a, *axes), axes[1])


def roll(a, /, shift, axis=None):
    """``a`` with its elements shifted cyclically along axes, or along the flattened array."""
    a = own(a, "roll")
    if axis is None:
        if isinstance(shift, (ndarray, np.ndarray)) and shift.ndim:
            shift = shift.ravel().tolist()
        if isinstance(shift, (tuple, list)):
            shift = builtins.sum(map(int, shift))
        return roll(ravel(a), shift, 0)._reshape(a.shape)
    axes = tuple(axis_of(x, a.ndim) for x in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if isinstance(shift, (ndarray, np.ndarray)):
        shift = shift.ravel().tolist() if shift.ndim else int(shift)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    if len(shifts) != len(axes):
        if 1 not in (len(shifts), len(axes)):
            raise ValueError("shape mismatch: 'shift' and 'axis' must have as many entries")
        longest = builtins.max(len(shifts), len(axes))
        shifts, axes = (shifts * longest)[:longest], (axes * longest)[:longest]
    total = {}
    for s, x in zip(shifts, axes):
        total[x] = total.get(x, 0) + int(s)
    result = empty_like(a)
    pairs = [((), ())]
    for k, n in enumerate(a.shape):
        s = total.get(k, 0) % n if n else 0
        pieces = [(slice(None), slice(None))]
        if s:
            pieces = [(slice(0, n - s), slice(s, n)), (slice(n - s, n), slice(0, s))]
        pairs = [(src + (p,), dst + (q,)) for src, dst in pairs for p, q in pieces]
    for source, target in pairs:
        result[target] = a[source]
    return result


# ---- broadcasting ----


class broadcast:
    """Several arrays in their common shape: ``shape``, ``size``, ``ndim`` and the views ``values``."""

    def __init__(self, *arrays):
        self.shape = np.broadcast_shapes(*(shape(a) for a in arrays))
        self.ndim = self.nd = len(self.shape)
        self.size = size(self)
        self.values = tuple(
            a._broadcast_to(self.shape) if isinstance(a, ndarray) and a.shape != self.shape else a
            for a in arrays
        )


def broadcast_to(array, /, shape, subok=False):
    """A read-only view of ``array`` in a shape that it broadcasts to."""
    return own(array, "broadcast_to")._broadcast_to(shape)


def broadcast_shapes(*shapes):
    """The shape that all shapes broadcast to; ValueError when there is none."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays, subok=False):
    """Views of all arrays in their common shape."""
    common = np.broadcast_shapes(*(own(a, "broadcast_arrays").shape for a in arrays))
    return tuple(a if a.shape == common else broadcast_to(a, common) for a in arrays)


# ---- joining and copying ----


def copy(a, order="K"):
    """A new array with the values of ``a``."""
    return own(a, "copy").copy(order)


def astype(x, dtype, /, *, copy=True, device=None):
    """``x`` in another dtype; a new array unless ``copy`` is false and nothing changes."""
    x = own(x, "astype")
    result = x.astype(dtype, copy=copy)
    return result if device is None else asarray(result, device=device)


def copyto(dst, src, casting="same_kind", where=None):
    """``dst[...] = src``, only where ``where`` is true if it is given.

    ``src`` may be a NumPy array, which is copied to the device of ``dst``. TypeError when ``casting`` does not allow
    the cast, ValueError when ``src`` does not broadcast to ``dst``.
    """
    own(dst, "copyto")
    if isinstance(src, np.ndarray):
        src = src[()] if src.ndim == 0 else asarray(src, device=dst.device)
    if type(src) in (bool, int, float, complex):
        np.copyto(np.empty((), dst.dtype), src, casting)  # NumPy's rule, and its errors
    elif isinstance(src, (ndarray, np.generic)) and not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {src.dtype!r} to {dst.dtype!r} according to the rule '{casting}'"
        )
    if where is None or where is True:
        _treadle._copy_into(dst, src)
        return
    if isinstance(where, (ndarray, np.generic)) and where.dtype != bool:
        raise TypeError(
            f"Cannot cast array data from {where.dtype!r} to dtype('bool') according to the rule 'safe'"
        )
    if isinstance(src, ndarray):
        src = src.astype(dst.dtype, copy=False)
        while src.ndim > dst.ndim and src.shape[0] == 1:
            src = src[0]
    elif isinstance(src, np.generic):
        src = src.astype(dst.dtype)
    _treadle.where(where, src, dst, out=dst)


def require(a, dtype=None, requirements=None, *, like=None):
    """``a`` as an array with the layout that ``requirements`` ("C", "F", "W", "O") name."""
    known = {
        "C": "C", "C_CONTIGUOUS": "C", "CONTIGUOUS": "C", "F": "F", "F_CONTIGUOUS": "F", "FORTRAN": "F", "A": "A",
        "ALIGNED": "A", "W": "W", "WRITEABLE": "W", "O": "O", "OWNDATA": "O", "E": "E", "ENSUREARRAY": "E",
    }  # fmt: skip
    requirements = [str(r).upper() for r in requirements or ()]
    for r in requirements:
        if r not in known:
            raise ValueError(f"require: {r!r} is not a requirement; those are {', '.join(known)}")
    wanted = {known[r] for r in requirements}
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "F" in wanted else "C" if "C" in wanted else None
    result = asarray(a, dtype, order)
    poor = ("W" in wanted and not result.flags.writeable) or (
        "O" in wanted and not result.flags.owndata
    )
    return result.copy("K") if poor else result


def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays one after the other along an axis that exists; flattened when ``axis`` is None."""
    arrays = own_all(arrays, "concatenate")
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [a.ravel() for a in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = axis_of(axis, first.ndim)
    rest = first.shape[:axis] + first.shape[axis + 1 :]
    for k, a in enumerate(arrays):
        if a.ndim != first.ndim:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has "
                f"{first.ndim} dimension(s) and the array at index {k} has {a.ndim} dimension(s)"
            )
        if a.shape[:axis] + a.shape[axis + 1 :] != rest:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but the "
                f"shapes are {first.shape} and, at index {k}, {a.shape}; the axis is {axis}"
            )
    if out is not None and dtype is not None:
        raise TypeError(
            "concatenate() only takes `out` or `dtype` as an argument, but both were provided."
        )
    dims = list(first.shape)
    dims[axis] = builtins.sum(a.shape[axis] for a in arrays)
    if out is None:
        kind = np.result_type(*(a.dtype for a in arrays)) if dtype is None else np.dtype(dtype)
        out = empty_ordered(dims, kind, axis_order(arrays))
    elif tuple(dims) != out.shape:
        raise ValueError("Output array is the wrong shape")
    for a in arrays:
        if not np.can_cast(a.dtype, out.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {a.dtype!r} to {out.dtype!r} according to the rule '{casting}'"
            )
    start = 0
    for a in arrays:
        stop = start + a.shape[axis]
        if stop > start:
            out[(slice(None),) * axis + (slice(start, stop),)] = a
        start = stop
    return out


def concat(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The array API standard's name of ``concatenate``."""
    return concatenate(arrays, axis, out, dtype=dtype, casting=casting)


def stack(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays, all of one shape, one after the other along a new axis."""
    arrays = own_all(arrays, "stack")
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    axis = axis_of(axis, arrays[0].ndim + 1)
    parts = [expand_dims(a, axis) for a in arrays]
    return concatenate(parts, axis, out, dtype=dtype, casting=casting)


def unstack(x, /, *, axis=0):
    """The parts of ``x`` along an axis, as a tuple of views."""
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


def vstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays as rows."""
    rows = [atleast_2d(a) for a in own_all(tup, "vstack")]
    return concatenate(rows, 0, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    """The arrays side by side: along the second axis, vectors along the first."""
    arrays = [atleast_1d(a) for a in own_all(tup, "hstack")]
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    return concatenate(arrays, axis, dtype=dtype, casting=casting)


def dstack(tup):
    """The arrays along the third axis."""
    return concatenate([atleast_3d(a) for a in own_all(tup, "dstack")], 2)


def column_stack(tup):
    """Vectors as the columns of a matrix, matrices side by side."""
    columns = [a if a.ndim >= 2 else a._reshape((-1, 1)) for a in own_all(tup, "column_stack")]
    return concatenate(columns, 1)


def block(arrays):
    """An array from nested lists of blocks: the innermost lists are joined along the last axis."""

    def depth(x):
        if not isinstance(x, list):
            if isinstance(x, tuple):
                raise TypeError("block: nested lists hold the blocks, not tuples")
            return 0
        if not x:
            raise ValueError("List at arrays cannot be empty")
        depths = {depth(y) for y in x}
        if len(depths) != 1:
            raise ValueError("List depths are mismatched in the argument of block")
        return depths.pop() + 1

    levels = depth(arrays)

    def leaves(x):
        return [leaf for y in x for leaf in leaves(y)] if isinstance(x, list) else [asarray(x)]

    n = builtins.max(levels, *(a.ndim for a in leaves(arrays))) if levels else asarray(arrays).ndim

    def join(x, level):
        if not isinstance(x, list):
            a = asarray(x)
            return a._reshape((1,) * (n - a.ndim) + a.shape) if a.ndim < n else a
        return concatenate([join(y, level + 1) for y in x], n - levels + level)

    result = join(arrays, 0)
    return result.copy() if levels == 0 else result


# ---- splitting ----


def array_split(ary, indices_or_sections, axis=0):
    """Views of the parts of an array; sections need not divide its length."""
    own(ary, "array_split")
    axis = axis_of(axis, ary.ndim)
    n = ary.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)) or (
        isinstance(indices_or_sections, ndarray) and indices_or_sections.ndim == 0
    ):
        sections = operator.index(indices_or_sections)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(n, sections)
        bounds = [0]
        for k in range(sections):
            bounds.append(bounds[-1] + each + (k < extra))
    else:
        points = (
            indices_or_sections.tolist()
            if isinstance(indices_or_sections, (ndarray, np.ndarray))
            else list(indices_or_sections)
        )
        bounds = [0, *points, n]
    before = (slice(None),) * axis
    return [ary[before + (slice(i, j),)] for i, j in itertools.pairwise(bounds)]


def split(ary, indices_or_sections, axis=0):
    """As ``array_split``; ValueError when sections do not divide the length."""
    if isinstance(indices_or_sections, (int, np.integer)):
        n = own(ary, "split").shape[axis_of(axis, ary.ndim)]
        if indices_or_sections and n % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    """Split along the second axis, vectors along the first."""
    if own(ary, "hsplit").ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Split along the first axis."""
    if own(ary, "vsplit").ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Split along the third axis."""
    if own(ary, "dsplit").ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


# ---- repeated, grown and cut ----


def tile(A, reps, /):
    """``A`` repeated ``reps`` times along each axis."""
    A = asarray(A)
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    reps = tuple(operator.index(r) for r in reps)
    if builtins.any(r < 0 for r in reps):
        raise ValueError("negative dimensions are not allowed")
    n = builtins.max(A.ndim, len(reps))
    reps = (1,) * (n - len(reps)) + reps
    dims = (1,) * (n - A.ndim) + A.shape
    if builtins.all(r == 1 for r in reps):
        return A._reshape(dims).copy("C")
    a = A._reshape([x for d in dims for x in (1, d)])
    spread = a._broadcast_to([x for r, d in zip(reps, dims) for x in (r, d)])
    return spread.copy("C")._reshape([r * d for r, d in zip(reps, dims)])


def resize(a, new_shape):
    """The elements of ``a`` repeated, in C order, to fill ``new_shape``."""
    dims = tuple(new_shape) if isinstance(new_shape, (tuple, list)) else (new_shape,)
    if builtins.any(d < 0 for d in dims):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = ravel(asarray(a))
    count = 1
    for d in dims:
        count *= d
    if flat.size == 0 or count == 0:
        from ._creation import zeros

        return zeros(dims, flat.dtype)
    times = -(-count // flat.size)
    return tile(flat, times)[:count].reshape(dims)


def append(arr, values, axis=None):
    """``values`` behind ``arr``, along an axis or flattened."""
    arr, values = asarray(arr), asarray(values)
    if axis is None:
        arr, values, axis = ravel(arr), ravel(values), 0
    return concatenate([arr, values], axis)


def _positions(obj, n, what):
    """The places along an axis of length ``n`` that an int, slice, mask or sequence names, on the host."""
    if isinstance(obj, slice):
        return np.arange(n)[obj]
    places = obj.get() if isinstance(obj, ndarray) else np.asarray(obj)
    if places.size == 0 and places.dtype != bool:
        places = places.astype(np.intp)
    if places.dtype == bool:
        if places.shape != (n,):
            raise ValueError(
                f"boolean array argument obj to {what} must be one dimensional and match the axis length of {n}"
            )
        return np.flatnonzero(places)
    if places.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return places


_FEW_RUNS = 8  # of neighbouring places: these are copied one by one, more are taken by index


def _runs(kept):
    """Consecutive numbers of an ascending list as (first, one past the last)."""
    breaks = np.flatnonzero(np.diff(kept) != 1) + 1
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(kept, breaks) if run.size]


def delete(arr, obj, axis=None):
    """``arr`` without the places along an axis that an int, slice, sequence or mask names."""
    arr = asarray(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = axis_of(axis, arr.ndim)
    n = arr.shape[axis]
    places = _positions(obj, n, "delete")
    bad = (places < -n) | (places >= n)
    if bad.any():
        raise IndexError(
            f"index {int(places[bad].flat[0])} is out of bounds for axis {axis} with size {n}"
        )
    keep = np.ones(n, bool)
    keep[places] = False
    kept = np.flatnonzero(keep)
    if np.count_nonzero(np.diff(kept) != 1) >= _FEW_RUNS:
        return _treadle._take(arr, asarray(kept), axis, "raise")
    before = (slice(None),) * axis
    parts = [arr[before + (slice(i, j),)] for i, j in _runs(kept)]
    if not parts:
        return arr[before + (slice(0, 0),)].copy()
    return concatenate(parts, axis)


def insert(arr, obj, values, axis=None):
    """``arr`` with ``values`` put in before the places along an axis that ``obj`` names."""
    arr = asarray(arr)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = axis_of(axis, arr.ndim)
    n = arr.shape[axis]
    places = _positions(obj, n, "insert")
    values = asarray(values).astype(arr.dtype, copy=False)
    single = places.ndim == 0 and not isinstance(obj, slice)
    if places.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    bad = (places < -n) | (places > n)
    if bad.any():
        raise IndexError(
            f"index {int(np.asarray(places)[bad].flat[0])} is out of bounds for axis {axis} with size {n}"
        )
    places = np.where(places < 0, places + n, places)
    if single or places.size == 1:
        if values.ndim < arr.ndim:
            values = values._reshape((1,) * (arr.ndim - values.ndim) + values.shape)
        if single:
            values = moveaxis(values, 0, axis)
        places = np.full(values.shape[axis], int(places.reshape(-1)[0]))
    targets = places.astype(np.intp)
    order = targets.argsort(kind="stable")
    targets[order] += np.arange(len(targets))
    dims = list(arr.shape)
    dims[axis] += len(targets)
    result = empty(
        dims, arr.dtype, "F" if arr.flags.f_contiguous and not arr.flags.c_contiguous else "C"
    )
    old = np.ones(dims[axis], bool)
    old[targets] = False
    before = (slice(None),) * axis
    shown = list(dims)
    shown[axis] = len(targets)
    spread = values._broadcast_to(shown)
    if len(targets) >= _FEW_RUNS:
        places = np.empty(dims[axis], np.intp)
        places[old], places[targets] = np.arange(n), n + np.arange(len(targets))
        _treadle._copy_into(
            result,
            _treadle._take(concatenate([arr, spread], axis), asarray(places), axis, "raise"),
        )
        return result
    taken = 0
    for i, j in _runs(np.flatnonzero(old)):
        result[before + (slice(i, j),)] = arr[before + (slice(taken, taken + j - i),)]
        taken += j - i
    for k, target in enumerate(targets):
        result[before + (int(target),)] = spread[before + (k,)]
    return result


def trim_zeros(filt, trim="fb", axis=None):
    """``filt`` without the zeros at its front ("f") and back ("b"). Waits for the values."""
    filt = own(filt, "trim_zeros")
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = range(filt.ndim) if axis is None else axes_of(axis, filt.ndim)
    key = [slice(None)] * filt.ndim
    used = _treadle.not_equal(filt, 0)
    for k in axes:
        others = tuple(j for j in range(filt.ndim) if j != k)
        line = np.flatnonzero(_treadle.any(used, axis=others).get() if others else used.get())
        if not line.size:
            key[k] = slice(0, 0) if "f" in trim or "b" in trim else slice(None)
            continue
        first = int(line[0]) if "f" in trim else 0
        last = int(line[-1]) + 1 if "b" in trim else filt.shape[k]
        key[k] = slice(first, last)
    return filt[tuple(key)]
