"""Sets: arrays without repetitions, and what they have in common. Built on sorting."""

from typing import NamedTuple

import numpy as np

from . import _treadle
from ._creation import arange, empty, ones, zeros
from ._functions import _axis, _own, concatenate, moveaxis
from ._kinds import kind_of
from ._sorting import _scalar, lexsort, searchsorted
from ._treadle import ndarray

__all__ = [
    "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values",
]  # fmt: skip


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """The distinct elements of ``ar`` in order, or its distinct slices along ``axis``.

    With ``return_index`` also where each occurs first, with ``return_inverse`` the place in the result of every element
    (in the shape of ``ar`` when ``axis`` is None), with ``return_counts`` how often each occurs. NaNs are one element
    unless ``equal_nan`` is false; slices with NaN are always distinct. The result is sorted whatever ``sorted`` says.
    Waits for the number of elements.
    """
    ar = _own(ar, "unique")
    places = None
    if axis is None:
        flat = ar.reshape(-1)
        if return_index or return_inverse or return_counts:
            places = _treadle._argsort(flat, 0, False)
            values = _treadle._gather(flat, places)
        else:
            values = _treadle._sort(flat, 0, False)
        first = _first_of_run(values, equal_nan)
        result = values[first]
        shape = ar.shape
    else:
        axis = _axis(axis, ar.ndim)
        rows = moveaxis(ar, axis, 0)
        table = rows.reshape(rows.shape[0], int(np.prod(rows.shape[1:], dtype=np.int64)))
        if table.shape[1]:
            places = lexsort([table[:, k] for k in range(table.shape[1] - 1, -1, -1)])
        else:
            places = arange(table.shape[0])
        ordered = _take_rows(table, places)
        first = ones(table.shape[0], np.bool_)
        if table.shape[0] > 1:
            first[1:] = _treadle.any(ordered[1:] != ordered[:-1], axis=1)
        chosen = places[first]
        result = moveaxis(_take_rows(table, chosen).reshape(chosen.size, *rows.shape[1:]), 0, axis)
        shape = (ar.shape[axis],)
    results = [result]
    if return_index:
        results.append(places[first])
    if return_inverse:
        group = _treadle._scan("sum", first, 0) - 1
        results.append(_treadle._scatter(group, places).reshape(shape))
    if return_counts:
        starts = arange(first.size)[first]
        counts = empty(starts.size, np.int64)
        if starts.size:
            counts[:-1] = starts[1:] - starts[:-1]
            counts[-1:] = first.size - starts[-1:]
        results.append(counts)
    return results[0] if len(results) == 1 else tuple(results)


def _first_of_run(values, equal_nan):
    """True for each element of a sorted array that differs from the one in front of it."""
    first = ones(values.size, np.bool_)
    if values.size > 1:
        differs = values[1:] != values[:-1]
        if equal_nan and kind_of(values.dtype) in "fc":
            differs &= ~(_treadle.isnan(values[1:]) & _treadle.isnan(values[:-1]))
        first[1:] = differs
    return first


def _take_rows(table, places):
    """table[places] for a 2-D array."""
    width = table.shape[1]
    if width == 0:
        return table[: places.size]
    flat = places.reshape(-1, 1) * width + arange(width)
    return _treadle._gather(table.reshape(-1), flat.reshape(-1)).reshape(places.size, width)


class UniqueAllResult(NamedTuple):
    """Distinct values, where they occur first, the place of every element among them, how often they occur."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """Distinct values and how often they occur."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """Distinct values and the place of every element among them."""

    values: ndarray
    inverse_indices: ndarray


def unique_all(x, /):
    """Distinct values with first places, inverse and counts (array API); every NaN is distinct."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x, /):
    """Distinct values with counts (array API); every NaN is distinct."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """Distinct values with the place of every element among them (array API); every NaN is distinct."""
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x, /):
    """Distinct values (array API); every NaN is distinct."""
    return unique(x, equal_nan=False)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """For each of ``element``, whether it is among ``test_elements``; either may be a number. NaN is in nothing.

    ``kind``: "table" marks integers in a table of their range, for which it waits; "sort" searches; None takes the
    table where it is small.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    element, test = _scalar(element, "isin"), _scalar(test_elements, "isin").reshape(-1)
    if test.size == 0:
        found = _treadle.not_equal(element, element) & False
    else:
        common = np.promote_types(element.dtype, test.dtype)
        found = None if kind == "sort" else _isin_by_table(element, test, common, kind == "table")
        if found is not None:
            return ~found if invert else found
        element = element.astype(common, copy=False)
        test = _treadle._sort(test.astype(common, copy=False), 0, False)
        place = _treadle.minimum(searchsorted(test, element), test.size - 1)
        near = _treadle._gather(test, place.reshape(-1)).reshape(place.shape)
        found = near == element
    return ~found if invert else found


def _isin_by_table(element, test, common, wanted):
    """The answer from a table with a mark for each value of ``test``; None where there should not be one."""
    if element.dtype.kind not in "iub" or test.dtype.kind not in "iub" or common.kind not in "iub":
        if wanted:
            raise ValueError(
                "The 'table' method is only supported for boolean or integer arrays. "
                "Please select 'sort' or None for kind."
            )
        return None
    if common.kind == "u" and common.itemsize == 8:
        return None  # differences of these do not fit into int64
    if not wanted and min(element.size, test.size) < 4096:
        return None
    low, high = int(_treadle.min(test)), int(_treadle.max(test))
    if high - low > (2**31 if wanted else 6 * (element.size + test.size)):
        return None
    table = zeros(high - low + 2, bool)  # the last stands for every value that is out of range
    table[test.astype(np.int64) - low] = True
    element = element.astype(np.int64)
    inside = (element >= low) & (element <= high)
    return _treadle._take(
        table, _treadle.where(inside, element - low, high - low + 1), None, "wrap"
    )


def _two(ar1, ar2, function, assume_unique):
    arrays = [_own(x, function).reshape(-1) for x in (ar1, ar2)]
    return arrays if assume_unique else [unique(x) for x in arrays]


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The sorted distinct values that are in both arrays; with ``return_indices`` also their first places."""
    ar1, ar2 = (_own(x, "intersect1d") for x in (ar1, ar2))
    first = second = None
    if not assume_unique:
        if return_indices:
            ar1, first = unique(ar1, return_index=True)
            ar2, second = unique(ar2, return_index=True)
        else:
            ar1, ar2 = unique(ar1), unique(ar2)
    ar1, ar2 = ar1.reshape(-1), ar2.reshape(-1)
    both = concatenate([ar1, ar2])
    places = _treadle._argsort(both, 0, False)
    both = _treadle._gather(both, places)
    pair = both[1:] == both[:-1]
    result = both[:-1][pair]
    if not return_indices:
        return result
    in_first = places[:-1][pair]
    in_second = places[1:][pair] - ar1.size
    if not assume_unique:
        in_first = _treadle._gather(first, in_first)
        in_second = _treadle._gather(second, in_second)
    return result, in_first, in_second


def union1d(ar1, ar2):
    """The sorted distinct values that are in either array."""
    return unique(concatenate([_own(x, "union1d").reshape(-1) for x in (ar1, ar2)]))


def setdiff1d(ar1, ar2, assume_unique=False):
    """The values of ``ar1`` that are not in ``ar2``: sorted and distinct, or in their order with ``assume_unique``."""
    ar1, ar2 = _two(ar1, ar2, "setdiff1d", assume_unique)
    return ar1[isin(ar1, ar2, invert=True)]


def setxor1d(ar1, ar2, assume_unique=False):
    """The sorted distinct values that are in exactly one of the arrays."""
    both = concatenate(_two(ar1, ar2, "setxor1d", assume_unique))
    both = _treadle._sort(both, 0, False)
    edge = ones(both.size + 1, np.bool_)
    if both.size:
        edge[1:-1] = both[1:] != both[:-1]
    return both[edge[1:] & edge[:-1]]
