"""numpy.pad: one new array, its middle copied, its edges written axis by axis."""

import builtins

import numpy as np

from . import _treadle
from ._creation import arange, asarray, empty
from ._manipulation import own

__all__ = ["pad"]

_OPTIONS = {
    "constant": {"constant_values"}, "edge": set(), "linear_ramp": {"end_values"}, "maximum": {"stat_length"},
    "mean": {"stat_length"}, "median": {"stat_length"}, "minimum": {"stat_length"}, "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"}, "wrap": set(), "empty": set(),
}  # fmt: skip


def _as_pairs(x, ndim, index=False):
    """((before, after), ...) per axis from a number, a pair, or pairs."""
    if x is None:
        return ((None, None),) * ndim
    host = np.asarray(x)
    if index:
        host = np.round(host).astype(np.intp, copy=False)
        if host.size and host.min() < 0:
            raise ValueError("index can't contain negative values")
    return tuple(tuple(pair) for pair in np.broadcast_to(host, (ndim, 2)).tolist())


def _width_pairs(pad_width, ndim):
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = tuple(width) if isinstance(width, tuple) else (width, width)
        pad_width = pairs
    host = np.asarray(pad_width)
    if host.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    return _as_pairs(host, ndim, index=True)


def _part(ndim, axis, start, stop, step=None):
    return (slice(None),) * axis + (slice(start, stop, step),) + (slice(None),) * (ndim - axis - 1)


def pad(array, pad_width, mode="constant", **kwargs):
    """``array`` with ``pad_width`` elements before and after it along each axis, filled by ``mode``.

    Modes: constant, edge, linear_ramp, maximum, mean, median, minimum, reflect, symmetric, wrap, empty, or a function
    of (vector, (before, after), axis, options) that fills each 1-D part in place.
    """
    array = own(array, "pad")
    widths = _width_pairs(pad_width, array.ndim)
    shape = [b + n + a for n, (b, a) in zip(array.shape, widths)]
    padded = empty(
        shape,
        array.dtype,
        "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C",
    )
    middle = tuple(slice(b, b + n) for n, (b, a) in zip(array.shape, widths))
    if callable(mode):
        return _by_function(array, padded, middle, widths, mode, kwargs)
    if mode not in _OPTIONS:
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - _OPTIONS[mode]
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    padded[middle] = array
    if mode == "empty":
        return padded
    if array.size == 0 and mode != "constant":
        for k, (n, width) in enumerate(zip(array.shape, widths)):
            if n == 0 and builtins.any(width):
                raise ValueError(
                    f"can't extend empty axis {k} using modes other than 'constant' or 'empty'"
                )
    fill = {
        "constant": _constant, "edge": _edge, "linear_ramp": _ramp, "reflect": _mirrored, "symmetric": _mirrored,
        "wrap": _wrapped,
    }.get(mode, _statistic)  # fmt: skip
    # Corners are filled by later axes from what earlier ones have written.
    for axis, width in enumerate(widths):
        if builtins.any(width):
            area = tuple(slice(None) if k <= axis else middle[k] for k in range(array.ndim))
            fill(padded[area], axis, width, array.shape[axis], mode, kwargs)
    return padded


def _by_function(array, padded, middle, widths, function, options):
    padded[...] = 0
    padded[middle] = array
    for axis in range(array.ndim):
        lines = padded.transpose([k for k in range(array.ndim) if k != axis] + [axis])
        for index in np.ndindex(lines.shape[:-1]):
            function(lines[index], widths[axis], axis, options)
    return padded


def _sides(view, axis, width, n):
    """(where to write, is it the front) for both sides that have a width."""
    before, after = width
    if before:
        yield _part(view.ndim, axis, 0, before), True
    if after:
        yield _part(view.ndim, axis, before + n, before + n + after), False


def _constant(view, axis, width, n, mode, options):
    values = _as_pairs(options.get("constant_values", 0), view.ndim)[axis]
    for where, front in _sides(view, axis, width, n):
        value = values[0 if front else 1]
        view[where] = asarray(np.asarray(value).astype(view.dtype))


def _ends(view, axis, width, n):
    """The first and the last slice of the old array."""
    first = _part(view.ndim, axis, width[0], width[0] + 1)
    last = _part(view.ndim, axis, width[0] + n - 1, width[0] + n)
    return view[first], view[last]


def _edge(view, axis, width, n, mode, options):
    ends = _ends(view, axis, width, n)
    for where, front in _sides(view, axis, width, n):
        view[where] = ends[0 if front else 1]


def _ramp(view, axis, width, n, mode, options):
    targets = _as_pairs(options.get("end_values", 0), view.ndim)[axis]
    ends = _ends(view, axis, width, n)
    for where, front in _sides(view, axis, width, n):
        count = width[0 if front else 1]
        edge, target = ends[0 if front else 1], targets[0 if front else 1]
        kind = np.result_type(view.dtype, np.float64) if view.dtype.kind in "iub" else view.dtype
        line = [1] * view.ndim
        line[axis] = count
        steps = arange(count, dtype=kind).reshape(line)
        edge = edge.astype(kind)
        ramp = target + steps * ((edge - target) / count)
        if view.dtype.kind in "iu":
            ramp = _treadle.floor(ramp)
        if not front:
            ramp = ramp[_part(view.ndim, axis, None, None, -1)]
        view[where] = ramp.astype(view.dtype)


def _statistic(view, axis, width, n, mode, options):
    lengths = _as_pairs(
        options.get("stat_length"), view.ndim, index=options.get("stat_length") is not None
    )[axis]
    start = width[0]
    for where, front in _sides(view, axis, width, n):
        length = lengths[0 if front else 1]
        length = n if length is None or length > n else length
        if length == 0 and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        begin = start if front else start + n - length
        chunk = view[_part(view.ndim, axis, begin, begin + length)]
        if mode == "median":
            import treadle

            value = treadle.median(chunk, axis=axis, keepdims=True)
        else:
            function = {"maximum": _treadle.max, "minimum": _treadle.min, "mean": _treadle.mean}[
                mode
            ]
            value = function(chunk, axis, keepdims=True)
        if view.dtype.kind in "iu" and mode in ("mean", "median"):
            value = _treadle.rint(value)
        view[where] = value.astype(view.dtype)


def _mirrored(view, axis, width, n, mode, options):
    """Grows the filled part by reflections until both sides are full."""
    odd = options.get("reflect_type", "even") == "odd"
    edge = mode == "reflect"
    if n == 1 and edge:
        return _edge(view, axis, width, n, mode, options)
    low, high = width[0], width[0] + n
    total = view.shape[axis]
    while low > 0 or high < total:
        length = (high - low - edge) // (n - edge) * (n - edge)
        if low > 0:
            count = builtins.min(length, low)
            source = _part(view.ndim, axis, low + edge, low + edge + count)
            chunk = view[source][_part(view.ndim, axis, None, None, -1)]
            if odd:
                chunk = 2 * view[_part(view.ndim, axis, low, low + 1)] - chunk
            new_low, front = low - count, chunk
        else:
            new_low, front = low, None
        if high < total:
            count = builtins.min(length, total - high)
            source = _part(view.ndim, axis, high - edge - count, high - edge)
            chunk = view[source][_part(view.ndim, axis, None, None, -1)]
            if odd:
                chunk = 2 * view[_part(view.ndim, axis, high - 1, high)] - chunk
            view[_part(view.ndim, axis, high, high + count)] = chunk
            new_high = high + count
        else:
            new_high = high
        if front is not None:
            view[_part(view.ndim, axis, new_low, low)] = front
        low, high = new_low, new_high
    return None


def _wrapped(view, axis, width, n, mode, options):
    before = width[0]
    done = before
    while done > 0:
        count = builtins.min(n, done)
        view[_part(view.ndim, axis, done - count, done)] = view[
            _part(view.ndim, axis, done - count + n, done + n)
        ]
        done -= count
    done = before + n
    total = view.shape[axis]
    while done < total:
        count = builtins.min(n, total - done)
        view[_part(view.ndim, axis, done, done + count)] = view[
            _part(view.ndim, axis, done - n, done - n + count)
        ]
        done += count
