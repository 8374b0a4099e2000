"""A function of vectors or of axes, applied along an array's axes."""

import numpy as np

from ._creation import asarray
from ._manipulation import axes_of, axis_of, expand_dims, moveaxis, own, stack

__all__ = ["apply_along_axis", "apply_over_axes"]


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """``func1d`` of every 1-D slice along an axis; its results stand along that axis."""
    arr = own(arr, "apply_along_axis")
    axis = axis_of(axis, arr.ndim)
    lines = moveaxis(arr, axis, -1)
    outer = lines.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [asarray(func1d(lines[index], *args, **kwargs)) for index in np.ndindex(outer)]
    inner = results[0].shape
    joined = stack(results)._reshape(outer + inner)
    ends = range(len(outer), len(outer) + len(inner))
    return moveaxis(joined, tuple(ends), tuple(range(axis, axis + len(inner)))) if inner else joined


def apply_over_axes(func, a, axes):
    """``func(a, axis)`` over several axes, one after the other; dimensions are kept."""
    a = asarray(a)
    for axis in axes_of(axes, a.ndim):
        result = func(a, axis)
        if result.ndim == a.ndim - 1:
            result = expand_dims(result, axis)
        if result.ndim != a.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        a = result
    return a
