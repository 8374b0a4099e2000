"""NumPy arrays in page-locked memory, which the device copies faster."""

import numpy as np

from ._memory import alloc_pinned_memory

__all__ = ["empty_like_pinned", "empty_pinned", "zeros_like_pinned", "zeros_pinned"]


def empty_pinned(shape, dtype=float, order="C"):
    """A NumPy array in page-locked memory, not initialised; arguments as ``numpy.empty``."""
    dtype = np.dtype(dtype)
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    count = int(np.prod(shape, dtype=np.int64))
    memory = alloc_pinned_memory(max(count * dtype.itemsize, 1))
    return np.ndarray(shape, dtype, memory, order=order)


def zeros_pinned(shape, dtype=float, order="C"):
    """A NumPy array of zeros in page-locked memory."""
    array = empty_pinned(shape, dtype, order)
    array[...] = 0
    return array


def _like(make, array, dtype, order, shape):
    if order in ("K", "A"):
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return make(
        array.shape if shape is None else shape, array.dtype if dtype is None else dtype, order
    )


def empty_like_pinned(array, dtype=None, order="K", subok=None, shape=None):
    """As ``empty_pinned``, with the shape and dtype of an array of the host or the device."""
    return _like(empty_pinned, array, dtype, order, shape)


def zeros_like_pinned(array, dtype=None, order="K", subok=None, shape=None):
    """As ``zeros_pinned``, with the shape and dtype of an array of the host or the device."""
    return _like(zeros_pinned, array, dtype, order, shape)
