"""How arrays print: as NumPy prints them, with the device named. Only what is printed is copied from the device."""

import numpy as np

from ._creation import asnumpy

get_printoptions, printoptions, set_printoptions = (
    np.get_printoptions,
    np.printoptions,
    np.set_printoptions,
)


def _head_and_tail(a):
    """``a`` on the host; of a long axis only the ends and one element between, which NumPy prints as dots."""
    edge = np.get_printoptions()["edgeitems"]
    picked = a
    pieces = []
    for n in a.shape:
        pieces.append(
            [slice(None)] if n <= 2 * edge + 1 else [slice(0, edge + 1), slice(n - edge, n)]
        )
    shape = tuple(min(n, 2 * edge + 1) for n in a.shape)
    host = np.empty(shape, a.dtype)
    for source, target in _blocks(pieces, shape):
        host[target] = asnumpy(picked[source])
    return host


def _blocks(pieces, shape):
    """Pairs of (index into the array, index into the small copy) for each combination of ends."""
    blocks = [((), ())]
    for axis, slices in enumerate(pieces):
        grown = []
        for source, target in blocks:
            for piece in slices:
                length = shape[axis] if piece.stop is None else piece.stop - piece.start
                tail = piece.stop is not None and piece.start > 0
                place = slice(shape[axis] - length, shape[axis]) if tail else slice(0, length)
                grown.append((source + (piece,), target + (place,)))
        blocks = grown
    return blocks


def _body(a, prefix, suffix=""):
    options = np.get_printoptions()
    if a.size <= options["threshold"]:
        return np.array2string(asnumpy(a), separator=", ", prefix=prefix, suffix=suffix)
    return np.array2string(
        _head_and_tail(a), separator=", ", prefix=prefix, suffix=suffix, threshold=0
    )


def _scalar(x):
    return asnumpy(x) if hasattr(x, "device") else x


def base_repr(number, base=2, padding=0):
    """As ``numpy.base_repr``."""
    return np.base_repr(number, base, padding)


def binary_repr(num, width=None):
    """As ``numpy.binary_repr``."""
    return np.binary_repr(num, width)


def format_float_positional(x, *args, **kwargs):
    """As ``numpy.format_float_positional``; a 0-d array is copied from the device."""
    return np.format_float_positional(_scalar(x), *args, **kwargs)


def format_float_scientific(x, *args, **kwargs):
    """As ``numpy.format_float_scientific``; a 0-d array is copied from the device."""
    return np.format_float_scientific(_scalar(x), *args, **kwargs)


def array2string(a, *args, **kwargs):
    """As ``numpy.array2string`` of a host copy."""
    return np.array2string(asnumpy(a), *args, **kwargs)


def array_repr(a, max_line_width=None, precision=None, suppress_small=None):
    """``array([1., 2.], dtype=float32, device='soft:0')``."""
    if (max_line_width, precision, suppress_small) != (None, None, None):
        return np.array_repr(asnumpy(a), max_line_width, precision, suppress_small)
    body = _body(a, "array(", ", ") if a.size else f"[], shape={a.shape}"
    return f"array({body}, dtype={a.dtype.name}, device='{a.device.name}')"


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The values alone."""
    if (max_line_width, precision, suppress_small) != (None, None, None):
        return np.array_str(asnumpy(a), max_line_width, precision, suppress_small)
    if a.size <= np.get_printoptions()["threshold"]:
        return str(asnumpy(a))
    return np.array2string(_head_and_tail(a), threshold=0)


def array_format(a, spec):
    return format(a.item(), spec) if a.ndim == 0 else format(array_str(a), spec)
