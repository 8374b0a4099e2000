"""Files of arrays, in NumPy's formats, by NumPy on the host; and objects that build arrays from slices."""

import numpy as np

from ._creation import array, asarray, asnumpy, slice_samples
from ._manipulation import concatenate
from ._treadle import _may_share_memory, ndarray

__all__ = [
    "byte_bounds", "c_", "genfromtxt", "get_array_wrap", "index_exp", "load", "loadtxt", "may_share_memory", "r_", "s_",
    "save", "savetxt", "savez", "savez_compressed", "shares_memory",
]  # fmt: skip

s_, index_exp = np.s_, np.index_exp


# ---- files ----


def save(file, arr, allow_pickle=True):
    """Writes one array to a ``.npy`` file."""
    np.save(file, asnumpy(arr), allow_pickle=allow_pickle)


def savez(file, *args, **kwds):
    """Writes several arrays to an uncompressed ``.npz`` file."""
    np.savez(file, *map(asnumpy, args), **{key: asnumpy(a) for key, a in kwds.items()})


def savez_compressed(file, *args, **kwds):
    """Writes several arrays to a compressed ``.npz`` file."""
    np.savez_compressed(file, *map(asnumpy, args), **{key: asnumpy(a) for key, a in kwds.items()})


class NpzFile:
    """The arrays of a ``.npz`` file by name, each read and copied to the device when it is asked for."""

    def __init__(self, npz):
        self._npz = npz
        self.files = npz.files

    def __getitem__(self, key):
        return asarray(self._npz[key])

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, key):
        return key in self.files

    def keys(self):
        return self.files

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        self._npz.close()


def load(file, mmap_mode=None, allow_pickle=False):
    """An array from a ``.npy`` file, or the arrays of a ``.npz`` file by name."""
    found = np.load(file, mmap_mode=mmap_mode, allow_pickle=allow_pickle)
    return NpzFile(found) if hasattr(found, "files") else asarray(found)


def loadtxt(*args, **kwargs):
    """An array from a text file, read by ``numpy.loadtxt``."""
    return asarray(np.loadtxt(*args, **kwargs))


def genfromtxt(*args, **kwargs):
    """An array from a text file with gaps, read by ``numpy.genfromtxt``."""
    return asarray(np.genfromtxt(*args, **kwargs))


def savetxt(fname, X, *args, **kwargs):
    """Writes an array to a text file by ``numpy.savetxt``."""
    np.savetxt(fname, asnumpy(X), *args, **kwargs)


# ---- memory ----


def may_share_memory(a, b, max_work=None):
    """True when the memory bounds of two arrays overlap; no guarantee that an element does."""
    return isinstance(a, ndarray) and isinstance(b, ndarray) and _may_share_memory(a, b)


def shares_memory(a, b, max_work=None):
    """True when two arrays have an element's memory in common."""
    if not may_share_memory(a, b):
        return False
    # NumPy solves the exact problem on views of the same strides over no memory at all.
    low = min(byte_bounds(a)[0], byte_bounds(b)[0])
    views = []
    for x in (a, b):
        interface = {
            "version": 3, "shape": x.shape, "strides": x.strides, "typestr": x.dtype.str,
            "data": (int(x.data.ptr) - low + 4096, True),
        }  # fmt: skip
        views.append(np.asarray(type("Layout", (), {"__array_interface__": interface})()))
    return bool(np.shares_memory(*views, max_work=max_work))


def byte_bounds(a):
    """The first address of an array and the one after its last; twice the same for an array of no elements."""
    low = high = int(a.data.ptr)
    if a.size == 0:
        return low, high
    for n, step in zip(a.shape, a.strides):
        low, high = low + min(0, (n - 1) * step), high + max(0, (n - 1) * step)
    return low, high + a.itemsize


def get_array_wrap(*args):
    """The ``__array_wrap__`` of the argument with the highest priority, or None."""
    found = [
        (getattr(x, "__array_priority__", 0), x.__array_wrap__)
        for x in args
        if hasattr(x, "__array_wrap__")
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


# ---- arrays from slices ----


class _Joiner:
    """``r_[a, 0:3, 7]``: slices and numbers become vectors, and all are joined along an axis."""

    def __init__(self, axis, ndmin, trans1d):
        self._defaults = axis, ndmin, trans1d

    def __getitem__(self, key):
        axis, ndmin, trans1d = self._defaults
        items = list(key) if isinstance(key, tuple) else [key]
        if items and isinstance(items[0], str):
            numbers = [int(x) for x in items.pop(0).split(",")]
            axis, ndmin, trans1d = [*numbers, *(axis, ndmin, trans1d)[len(numbers) :]]
        parts, scalars = [], []
        for item in items:
            if isinstance(item, str):
                raise ValueError("special directives must be the first entry.")
            if isinstance(item, slice):
                parts.append(self._lifted(slice_samples(item), ndmin, trans1d))
            elif np.isscalar(item):
                scalars.append(len(parts))
                parts.append(item)
            else:
                parts.append(self._lifted(asarray(item), ndmin, trans1d))
        kinds = [x.dtype for x in parts if isinstance(x, ndarray)]
        common = np.result_type(*kinds, *(parts[k] for k in scalars))
        parts = [
            x.astype(common, copy=False)
            if isinstance(x, ndarray)
            else array(x, dtype=common, ndmin=max(ndmin, 1))
            for x in parts
        ]
        return concatenate(parts, axis)

    @staticmethod
    def _lifted(a, ndmin, trans1d):
        if a.ndim >= ndmin:
            return a.reshape(1) if a.ndim == 0 else a
        missing = ndmin - a.ndim
        lifted = a.reshape((1,) * missing + a.shape)
        if trans1d == -1:
            return lifted
        place = trans1d + (missing + 1 if trans1d < 0 else 0)
        order = list(range(missing))
        order[place:place] = range(missing, ndmin)
        return lifted.transpose(order)


r_ = _Joiner(0, 1, -1)
c_ = _Joiner(-1, 2, 0)
