"""``ufunc.reduceat`` and ``ufunc.at``: an operation applied within segments of an axis, and at places.

Both are one kernel with the body of the operation's row in tables/ops.def. In ``at`` one thread applies all values of
an element in their order, so the result is NumPy's whatever the operation is; a sort brings them together. In
``reduceat`` an operation whose order does not matter is applied to pairs within the segments, a level at a time, so
long segments are as fast as many short ones; any other is applied by one thread in each segment.
"""

import functools

import numpy as np

from . import _treadle
from ._creation import arange, asarray, asnumpy, empty
from ._manipulation import axis_of, copyto, moveaxis
from ._row_code import MARKER, cast, cuda_name, inner, is_compiled, outer, row_function, ufunc_of
from ._treadle import ndarray
from ._user_kernels import ElementwiseKernel

_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}

# ---- reduceat ----


def reduceat(operation, associative, array, indices, axis, dtype):
    """The reductions of ``array[indices[i]:indices[i + 1]]``; where the second is not larger, one element."""
    axis = axis_of(axis, array.ndim)
    length = array.shape[axis]
    if operation.__name__ in _COMPARISONS and array.dtype != bool:
        raise TypeError(
            f"{operation.__name__}.reduceat: the result of a comparison cannot be compared further"
        )
    starts = asnumpy(indices) if isinstance(indices, ndarray) else np.asarray(indices)
    if starts.ndim != 1:
        raise ValueError("reduceat: indices must have one dimension")
    if starts.size and starts.dtype.kind not in "iu":
        raise TypeError(f"reduceat: indices must be integers, not {starts.dtype}")
    starts = starts.astype(np.int64)
    for i in starts[(starts < 0) | (starts >= length)]:
        raise IndexError(f"index {i} out-of-bounds in {operation.__name__}.reduceat [0, {length})")
    ends = np.append(starts[1:], length) if starts.size else starts
    lengths = np.where(ends > starts, ends - starts, 1)
    result_dtype = dtype or _reduced_dtype(operation, array.dtype)
    lines = moveaxis(array, axis, 0).astype(result_dtype, copy=False)
    if starts.size == 0:
        result = empty((0, *lines.shape[1:]), result_dtype)
    elif associative:
        result = _by_pairs(operation, lines, starts, lengths)
    else:
        result = _in_order(operation, lines, starts, lengths)
    result = moveaxis(result.astype(result_dtype, copy=False), 0, axis)
    return result if result.flags.c_contiguous else result.copy()


def _reduced_dtype(operation, dtype):
    """The dtype that ``operation.reduce`` of one element has."""
    one = _treadle.zeros((1,), dtype)
    return (
        operation.reduce(one).dtype
        if operation.__name__ in ("add", "multiply")
        else operation(one, one).dtype
    )


def _by_pairs(operation, lines, starts, lengths):
    """Neighbours within each segment are joined until one element is left of each."""
    lines = _rows(lines, _places(starts, lengths))
    while (most := int(lengths.max())) > 1:
        half = (lengths + 1) // 2
        first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        left = _places(first, half, 2)
        offset = _places(np.zeros_like(half), half)
        paired = 2 * offset + 1 < _repeated(lengths, half)
        single = paired.reshape((-1,) + (1,) * (lines.ndim - 1))
        a = _rows(lines, left)
        b = _rows(lines, left + paired.astype(np.int64))
        lines = (
            _treadle.where(single, operation(a, b), a)
            if most % 2 or lengths.min() != most
            else operation(a, b)
        )
        lengths = half
    return lines


def _rows(lines, places):
    return _treadle._take(lines, places, 0, "raise")


def _repeated(values, counts):
    """Each value as often as its count says, on the device."""
    from ._indexing import repeat

    return repeat(asarray(values), asarray(counts) if values.size > 1 else int(counts[0]))


def _places(starts, lengths, step=1):
    """The places start, start + step, … of each segment, one after the other."""
    before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return arange(int(lengths.sum())) * step + _repeated(starts - step * before, lengths)


def _in_order(operation, lines, starts, lengths):
    """One thread goes through each segment."""
    flat = lines.reshape(lines.shape[0], -1)
    kernel = _fold_kernel(operation.__name__, flat.dtype)
    result = empty((starts.size, flat.shape[1]), flat.dtype)
    if result.size:
        begin, count = (asarray(x).reshape(-1, 1) for x in (starts, lengths))
        kernel(flat, begin, count, np.int64(flat.shape[1]), arange(flat.shape[1]), result)
    return result.reshape(starts.size, *lines.shape[1:])


# ---- at ----


def at(operation, array, indices, values):
    """``array[indices] = operation(array[indices], values)``, every one of repeated indices in order."""
    places = _flat_places(array, indices)
    count = places.size
    if values is None:
        values = _treadle.zeros((), np.bool_)
    elif not isinstance(values, ndarray):
        values = _treadle.full((), values, operation.resolve(array.dtype, values))
    kernel = _at_kernel(operation.__name__, operation.nin, array.dtype, values.dtype)
    if count == 0:
        return
    values = values._broadcast_to(places.shape).reshape(-1)
    from ._sorting import argsort

    places = places.reshape(-1)
    order = argsort(places)
    flat = array if array.flags.c_contiguous else array.copy()
    kernel(places[order], order, values, np.int64(count), flat.reshape(-1), size=count)
    if flat is not array:
        copyto(array, flat)


def _flat_places(array, indices):
    """The flat place (C order) of every element that ``array[indices]`` is, in its shape."""
    return arange(array.size).reshape(array.shape)[indices]


# ---- kernels ----


def _step(name, nin, target, given):
    """(the kernel's preamble, text that applies the operation to ``acc`` of dtype ``target`` and ``v``)."""
    for dtype in (target, given):
        if not is_compiled(dtype):
            raise TypeError(f"{name}: {dtype} is not supported here; convert the array first")
    *loop, result = ufunc_of(name).resolve_dtypes((*(target, given)[:nin], None))
    arguments = ", ".join(
        cast(code, have, t) for code, have, t in zip(("acc", "v"), (target, given), loop)
    )
    step = cast(f"td_row({arguments})", result, target)
    return MARKER + row_function("td_row", name, loop, result), f"acc = {step};"


@functools.cache
def _fold_kernel(name, dtype):
    preamble, step = _step(name, 2, dtype, dtype)
    kind = cuda_name(dtype)
    return ElementwiseKernel(
        f"raw {dtype.name} lines, int64 begin, int64 count, int64 width, int64 column", f"{dtype.name} out",
        f"{kind} acc = {inner('lines[begin * width + column]', dtype)};\n"
        f"for (long long k = 1; k < count; ++k) {{\n"
        f"  const {kind} v = {inner('lines[(begin + k) * width + column]', dtype)};\n  {step}\n}}\n"
        f"out = {outer('acc', dtype, dtype)};",
        "td_reduceat", preamble=preamble, options=("--fmad=false",),
    )  # fmt: skip


@functools.cache
def _at_kernel(name, nin, target, given):
    preamble, step = _step(name, nin, target, given)
    read = f"const {cuda_name(given)} v = {inner('values[order[k]]', given)};\n" if nin == 2 else ""
    return ElementwiseKernel(
        f"raw int64 places, raw int64 order, raw {given.name} values, int64 count", f"raw {target.name} a",
        "const long long place = places[i];\n"
        "if (i == 0 || places[i - 1] != place) {\n"
        f"  {cuda_name(target)} acc = {inner('a[place]', target)};\n"
        "  for (long long k = i; k < count && places[k] == place; ++k) {\n"
        f"    {read}    {step}\n  }}\n"
        f"  a[place] = {outer('acc', target, target)};\n}}",
        "td_at", preamble=preamble, options=("--fmad=false",),
    )  # fmt: skip
