"""Sorting and searching. Every sort is stable; NaN stands last, complex numbers go by real, then imaginary part."""

import numpy as np

from . import _treadle
from ._creation import asarray
from ._functions import _axis, _own, moveaxis
from ._treadle import ndarray

__all__ = [
    "argpartition", "argsort", "lexsort", "partition", "searchsorted", "sort", "sort_complex",
]  # fmt: skip

_KINDS = ("quick", "merge", "heap", "stable")


def _check_kind(kind, order, stable):
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None:
        if stable is not None:
            raise ValueError(
                "`kind` and keyword parameters can't be provided at the same time. Use only one of them."
            )
        if not isinstance(kind, str) or not kind.lower().startswith(
            tuple(name[0] for name in _KINDS)
        ):
            raise ValueError(
                f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
            )


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """A sorted copy of ``a`` along ``axis`` (of the flattened array when None).

    Always stable, whatever ``kind`` and ``stable`` ask for, with ``descending`` too; NaN stands last, and first when
    descending. AxisError for an array without dimensions.
    """
    a = _own(a, "sort")
    _check_kind(kind, order, stable)
    if axis is None:
        a, axis = a.reshape(-1), 0
    return _treadle._sort(a, axis, bool(descending))


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """The places (int64) along ``axis`` that ``sort`` would take its elements from; equal elements keep their order."""
    a = _own(a, "argsort")
    _check_kind(kind, order, stable)
    if axis is None:
        a, axis = a.reshape(-1), 0
    elif a.ndim == 0:
        axis = _axis(axis, 1)
        a = a.reshape(1)
    return _treadle._argsort(a, axis, bool(descending))


def _sort_in_place(self, axis=-1, kind=None, order=None, *, stable=None):
    """Sorts the array in place along ``axis``. ValueError when it is read-only."""
    if not self.flags.writeable:
        raise ValueError("sort array is read-only")
    _treadle._copy_into(self, sort(self, axis, kind, order, stable=stable))


def sort_complex(a):
    """A sorted copy along the last axis, as complex numbers."""
    a = sort(_own(a, "sort_complex"))
    if a.dtype.kind == "c":
        return a
    narrow = a.dtype.kind in "iu" and a.dtype.itemsize <= 2
    return a.astype(np.complex64 if narrow else np.complex128)


def lexsort(keys, axis=-1):
    """The places that sort by several keys: the last key first, then the one before it where that is equal.

    ``keys`` is a sequence of arrays of one shape, or an array whose rows are the keys. TypeError without any key.
    """
    if isinstance(keys, ndarray):
        keys = [keys] if keys.ndim == 0 else list(keys)
    keys = [_own(key, "lexsort") for key in keys]
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    if any(key.shape != keys[0].shape for key in keys):
        raise ValueError("all keys need to be the same shape")
    if keys[0].ndim == 0:
        return asarray(0)
    axis = _axis(axis, keys[0].ndim)
    places = None
    for key in keys:
        key = moveaxis(key, axis, -1)
        if places is None:
            places = _treadle._argsort(key, -1, False)
        elif key.ndim == 1:
            places = _treadle._gather(
                places, _treadle._argsort(_treadle._gather(key, places), -1, False)
            )
        else:
            order = _treadle._argsort(_rows(key, places), -1, False)
            places = _rows(places, order)
    return moveaxis(places, -1, axis).copy()


def _rows(x, places):
    """x[..., places[..., k]] for equal leading shapes."""
    return _treadle._gather(x, places)


def _check_kth(kth, n, size):
    """The place that ``kth`` names; None where it names several, or there is nothing to place."""
    if isinstance(kth, ndarray):
        raise TypeError("kth must be numbers on the host; use kth.get() first")
    places = np.atleast_1d(np.asarray(kth))
    if places.dtype.kind not in "iu":
        raise TypeError("Partition index must be integer")
    if size == 0:
        return None
    for place in places.ravel():
        if not -n <= place < n:
            raise ValueError(f"kth(={place + n if place < 0 else place}) out of bounds ({n})")
    return int(places.flat[0]) % n if places.size == 1 else None


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy of ``a`` whose ``kth`` elements along ``axis`` stand where sorting puts them.

    One place of a long 1-D array is selected, which waits for counts; what is more is sorted whole. ValueError when
    ``kth`` is out of bounds.
    """
    a = _own(a, "partition")
    if axis is None:
        a, axis = a.reshape(-1), 0
    place = _check_kth(kth, a.shape[_axis(axis, a.ndim)], a.size)
    if order is None and place is not None and a.ndim == 1:
        return _treadle._partition(a, place, False)
    return sort(a, axis, None, order)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The places that ``partition`` would take its elements from."""
    a = _own(a, "argpartition")
    if axis is None or a.ndim == 0:
        a, axis = a.reshape(-1), 0
    place = _check_kth(kth, a.shape[_axis(axis, a.ndim)], a.size)
    if order is None and place is not None and a.ndim == 1:
        return _treadle._partition(a, place, True)
    return argsort(a, axis, None, order)


def _partition_in_place(self, kth, axis=-1, kind="introselect", order=None):
    """Partitions the array in place; see ``treadle.partition``."""
    _treadle._copy_into(self, partition(self, kth, axis, kind, order))


def searchsorted(a, v, side="left", sorter=None):
    """Where each of ``v`` belongs in ascending 1-D ``a``: the first place that keeps order (side "right": the last).

    ``v`` is an array or a number. ``sorter`` holds places that sort ``a``; ValueError when one is out of range.
    """
    a = _own(a, "searchsorted")
    v = v if isinstance(v, ndarray) else _scalar(v, "searchsorted")
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    common = np.promote_types(a.dtype, v.dtype)
    if sorter is not None:
        sorter = _own(sorter, "searchsorted")
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.shape != a.shape:
            raise ValueError("sorter.size must equal a.size")
        sorter = sorter.astype(np.int64, copy=False)
        if a.size and bool(_treadle.any((sorter < 0) | (sorter >= a.size))):
            raise ValueError(f"Sorter index out of range: its places must be below {a.size}")
    return _treadle._searchsorted(
        a.astype(common, copy=False), v.astype(common, copy=False), side == "right", sorter
    )


def _scalar(value, function):
    """A number as an array; host arrays and lists are refused with the cure."""
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return asarray(value)
    return _own(value, function)


ndarray.sort = _sort_in_place
ndarray.partition = _partition_in_place
ndarray.argsort = argsort
ndarray.argpartition = argpartition
ndarray.searchsorted = searchsorted
