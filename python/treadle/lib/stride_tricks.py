"""Views laid out by hand. Unlike NumPy's they are checked: no element of a view lies outside of its memory."""

import numpy as np

from .. import _treadle
from .._manipulation import axis_of, own

__all__ = ["as_strided", "sliding_window_view"]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view of the memory of ``x`` with this shape and these strides in bytes, from its first element on.

    ValueError when an element would lie outside of the memory. Elements may share memory; writing to them is then up
    to you.
    """
    x = own(x, "as_strided")
    shape = x.shape if shape is None else shape
    strides = x.strides if strides is None else strides
    return _treadle._strided_view(x, shape, strides, 0, x.dtype, writeable and x.flags.writeable)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """A view of every window of this shape that fits into ``x``: the windows' axes stand last, read-only by default.

    ``axis`` names the axes that the window slides along, all of them when None. ValueError for a window that is
    larger than the array, or numbers of axes that differ.
    """
    x = own(x, "sliding_window_view")
    window = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    if any(n < 0 for n in window):
        raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        axes = tuple(range(x.ndim))
        if len(window) != len(axes):
            raise ValueError(
                "Since axis is `None`, must provide window_shape for all dimensions of `x`; got "
                f"{len(window)} window_shape elements and `x.ndim` is {x.ndim}."
            )
    else:
        axes = tuple(axis_of(a, x.ndim) for a in (axis if np.iterable(axis) else (axis,)))
        if len(window) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(window)} and {len(axes)}."
            )
    shape = list(x.shape)
    for a, n in zip(axes, window):
        if shape[a] < n:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[a] -= n - 1
    strides = x.strides + tuple(x.strides[a] for a in axes)
    return _treadle._strided_view(
        x, (*shape, *window), strides, 0, x.dtype, writeable and x.flags.writeable
    )
