"""Arrays from host data, constants and ranges, and back to the host. All transfers are explicit."""

import numpy as np

from . import _treadle
from ._treadle import empty, eye, full, linspace, ndarray, ones, zeros

__all__ = [
    "arange", "array", "asarray", "ascontiguousarray", "asnumpy", "empty", "empty_like", "eye", "full", "full_like",
    "identity", "linspace", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip


def asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    """An array on the current device with the values of ``a``.

    ``a`` may be anything that ``numpy.asarray`` takes, or an array that is on the device already: that one is returned
    as it is, without any copy, unless ``dtype`` differs or ``copy`` is true. The host memory may be reused when the
    call returns; with ``blocking`` the data are also on the device by then.
    """
    if isinstance(a, ndarray):
        return _from_device(a, dtype, order, copy)
    if copy is False:
        raise ValueError("host data cannot be on the device without a copy; leave copy=None")
    host = np.asarray(a, dtype=dtype, order=order)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    if host.flags.f_contiguous and not host.flags.c_contiguous:
        return _treadle._upload(host.T, blocking).T
    return _treadle._upload(host, blocking)


def _from_device(a, dtype, order, copy):
    wrong_order = (order == "C" and not a.flags.c_contiguous) or (
        order == "F" and not a.flags.f_contiguous
    )
    same_type = dtype is None or np.dtype(dtype) == a.dtype
    if copy is False and (wrong_order or not same_type):
        raise ValueError("a copy is needed for this dtype or order; leave copy=None")
    result = a if same_type else a.astype(dtype)
    if wrong_order or (copy and result is a):
        result = result.copy(order or "K")
    return result


def array(a, dtype=None, copy=True, order="K", *, blocking=False):
    """As ``asarray``, but a new array unless ``copy`` is false."""
    order = None if order == "K" else order
    return asarray(a, dtype, order, copy=True if copy else None, blocking=blocking)


def ascontiguousarray(a, dtype=None):
    """``a`` itself when it is C-contiguous and of this dtype, else a C-contiguous copy."""
    return asarray(a, dtype, "C")


def asnumpy(a, out=None, *, order="C", stream=None, blocking=True):
    """The values of ``a`` as a NumPy array.

    ``out`` receives them in place (same shape and dtype, any strides). With ``blocking=False`` the copy is only
    enqueued: synchronise the stream before you read ``out``.
    """
    if not isinstance(a, ndarray):
        host = np.asarray(a)
        if out is None:
            return host
        np.copyto(out, host)
        return out
    if out is None:
        out = np.empty(a.shape, a.dtype, "F" if _wants_f(a, order) else "C")
    elif not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    if stream is None:
        _treadle._download(a, out, blocking)
    else:
        with stream:
            _treadle._download(a, out, blocking)
    return out


def _wants_f(a, order):
    return order == "F" or (
        order in ("K", "A") and a.flags.f_contiguous and not a.flags.c_contiguous
    )


def arange(start, stop=None, step=1, dtype=None):
    """Evenly spaced values in ``[start, stop)``, as ``numpy.arange``."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ZeroDivisionError("arange: step must not be zero")
    if dtype is None:
        dtype = np.result_type(
            *(type(x) if type(x) in (int, float) else np.asarray(x) for x in (start, stop, step))
        )
        if dtype.kind == "b":
            dtype = np.dtype(np.int64)
    return _treadle._arange(float(start), float(stop), float(step), dtype)


def identity(n, dtype=None):
    """The n x n identity matrix."""
    return eye(n, dtype=dtype)


def _like(a, dtype, order, shape):
    """What an array like ``a`` takes: shape, dtype, order."""
    if order in ("K", "A"):
        order = "F" if a.flags.f_contiguous and not a.flags.c_contiguous else "C"
    return a.shape if shape is None else shape, a.dtype if dtype is None else dtype, order


def empty_like(a, dtype=None, order="K", *, shape=None):
    """A new array of the shape and dtype of ``a``, not initialised."""
    return empty(*_like(a, dtype, order, shape))


def zeros_like(a, dtype=None, order="K", *, shape=None):
    """As ``empty_like``, filled with zeros."""
    return zeros(*_like(a, dtype, order, shape))


def ones_like(a, dtype=None, order="K", *, shape=None):
    """As ``empty_like``, filled with ones."""
    return ones(*_like(a, dtype, order, shape))


def full_like(a, fill_value, dtype=None, *, shape=None):
    """As ``empty_like``, filled with ``fill_value``."""
    shape, dtype, _ = _like(a, dtype, "C", shape)
    return full(shape, fill_value, dtype)
