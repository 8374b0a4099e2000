"""``x.flat``: the elements of an array in C order, whatever its layout, to be read, written and gone through."""

import operator

import numpy as np

from . import _treadle
from ._creation import arange, asarray, empty
from ._treadle import ndarray

__all__ = ["flatiter"]


class flatiter:
    """The elements of an array in C order; ``x.flat`` makes one.

    ``x.flat[index]`` is a copy, ``x.flat[index] = values`` writes to ``x``. An index is an integer, a slice, ``...``,
    integers (an array or a list) or a mask of the flattened array; more or fewer values than places are cut or
    repeated, as NumPy does it. IndexError for anything else, and for an integer that is out of bounds.
    """

    __array_ufunc__ = None  # np.add(x.flat, y) is a TypeError
    __hash__ = None

    def __init__(self, a):
        if not isinstance(a, ndarray):
            raise TypeError(f"flatiter takes a treadle array, not {type(a).__name__}")
        self.base, self.index = a, 0

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    @property
    def coords(self):
        """The index of the element that comes next."""
        return tuple(int(i) for i in np.unravel_index(self.index, self.base.shape))

    def copy(self):
        """All elements, in a new 1-D array."""
        return self.base.flatten()

    def _read(self, index):
        """What the index asks for: ("one", place), ("range", start, stop, step) or ("places", array)."""
        if isinstance(index, tuple) and len(index) == 1:
            index = index[0]
        if index is Ellipsis or (isinstance(index, tuple) and not index):
            index = slice(None)
        if isinstance(index, slice):
            return ("range", *index.indices(self.base.size))
        if isinstance(index, (list, np.ndarray, ndarray)):
            return "places", _places_of(index, self.base.size)
        if index is None or isinstance(index, (bool, np.bool_, tuple)):
            raise IndexError(f"unsupported iterator index: {index!r}")
        try:
            place = operator.index(index)
        except TypeError:
            raise IndexError(f"unsupported iterator index: {index!r}") from None
        size = self.base.size
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for size {size}")
        return "one", place % size

    def _flat(self):
        """The elements as a view, or None where the layout has none."""
        a = self.base
        return a._reshape(-1) if a.flags.c_contiguous else None

    def __getitem__(self, index):
        kind, *where = self._read(index)
        if kind == "one":
            return self.base[_coordinates(where[0], self.base.shape)].copy()
        flat = self._flat()
        if kind == "range":
            if flat is not None:
                return flat[_slice(*where)].copy()
            where = [arange(*where)]
        return _treadle._take(self.base, where[0], None, "raise")

    def __setitem__(self, index, values):
        kind, *where = self._read(index)
        if kind == "one":
            self.base[_coordinates(where[0], self.base.shape)] = values
            return
        values = asarray(values, device=self.base.device).reshape(-1)
        count = len(range(*where)) if kind == "range" else where[0].size
        if count == 0:
            return
        if values.size == 0:
            raise ValueError("cannot assign no values to elements")
        values = _resized(values, count)
        flat = self._flat()
        if kind == "range" and flat is not None:
            flat[_slice(*where)] = values
            return
        _treadle._put(self.base, arange(*where) if kind == "range" else where[0], values, "raise")

    def __repr__(self):
        return f"<treadle.flatiter of {self.base.size} elements, at {self.index}>"


def _compared(name):
    def compare(self, other):
        other = other.copy() if isinstance(other, flatiter) else other
        return getattr(self.copy(), name)(other)

    compare.__name__ = name
    return compare


for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(flatiter, _name, _compared(_name))


def _places_of(index, size):
    """Integers or a mask as places (int64) of the flattened array."""
    if not isinstance(index, ndarray):
        host = np.asarray(index)
        index = asarray(
            host.astype(np.int64) if host.size == 0 and host.dtype.kind == "f" else host
        )
    if index.dtype == np.bool_:
        if index.ndim != 1 or index.size != size:
            raise IndexError(
                f"boolean index did not match indexed array: its shape is {index.shape}, not ({size},)"
            )
        return _treadle._nonzero(index)[0]
    if index.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return index


def _coordinates(place, shape):
    return tuple(int(i) for i in np.unravel_index(place, shape)) if shape else ()


def _slice(start, stop, step):
    return slice(start, None if stop < 0 else stop, step)


def _resized(values, count):
    """``count`` values, from the start again when they are used up."""
    if values.size == count or values.size == 1:
        return values
    if values.size > count:
        return values[:count]
    whole = -(-count // values.size)
    wide = empty((whole, values.size), values.dtype)
    wide[...] = values
    return wide.reshape(-1)[:count]
