"""The methods of ``ndarray`` that are Python's business: printing, protocols, pickling, and NumPy's conveniences."""

import importlib
import pickle
from collections import namedtuple

import numpy as np

from . import _array_api, _elementwise, _functions, _manipulation, _printing, _products, _treadle
from ._creation import asarray, asnumpy
from ._flat import flatiter
from ._treadle import ndarray
from ._ufunc import ufunc


class Flags(namedtuple("Flags", "c_contiguous f_contiguous writeable owndata")):
    """Facts about the memory layout of an array; read as attributes or by NumPy's keys."""

    __slots__ = ()
    _KEYS = {
        "C": 0, "C_CONTIGUOUS": 0, "CONTIGUOUS": 0, "F": 1, "F_CONTIGUOUS": 1, "FORTRAN": 1, "W": 2, "WRITEABLE": 2,
        "O": 3, "OWNDATA": 3,
    }  # fmt: skip

    def __getitem__(self, key):
        return tuple.__getitem__(self, self._KEYS[key] if isinstance(key, str) else key)

    @property
    def forc(self):
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self):
        return self.f_contiguous and not self.c_contiguous


# ---- conversions ----


def _array(self, dtype=None, copy=None):
    raise TypeError(
        "a treadle array does not turn into a NumPy array by itself, because that copies from the device; "
        "write treadle.asnumpy(x) or x.get()"
    )


def _get(self, stream=None, order="C", out=None, blocking=True):
    """The values as a NumPy array; see ``treadle.asnumpy``."""
    return asnumpy(self, out, order=order, stream=stream, blocking=blocking)


def _set(self, host):
    """Copies host data of the same shape into the array."""
    if np.shape(host) != self.shape:
        raise ValueError(f"the data have shape {np.shape(host)}, the array {self.shape}")
    _treadle._copy_into(self, asarray(host))


def _iter(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(self.shape[0]))


def _reduce(self):
    return asarray, (asnumpy(self, order="K"),)


# ---- protocols ----


def _array_ufunc(self, ufunc_, method, *inputs, **options):
    """np.add(x, y) on treadle arrays runs treadle.add on the device; so do its methods."""
    import treadle

    operands = inputs
    if method in ("at", "reduceat"):  # the second input is an index
        operands = inputs[:1] + inputs[2:]
    if any(
        not isinstance(x, (ndarray, np.ndarray, np.generic, bool, int, float, complex))
        for x in operands
    ):
        return NotImplemented
    own = getattr(treadle, ufunc_.__name__, None)
    if own is None:
        raise NotImplementedError(
            f"numpy.{ufunc_.__name__} is not supported for treadle arrays yet"
        )
    options.pop("subok", None)
    inputs = [x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in inputs]
    if method == "__call__":
        return own(*inputs, **options)
    if not isinstance(own, ufunc) or not hasattr(own, method):
        raise NotImplementedError(
            f"numpy.{ufunc_.__name__}.{method} is not supported for treadle arrays"
        )
    return getattr(own, method)(*inputs, **options)


def _array_function(self, function, types, args, kwargs):
    """np.concatenate([x, y]) on treadle arrays runs treadle.concatenate on the device."""
    if not all(issubclass(t, (ndarray, np.generic)) for t in types):
        return NotImplemented
    places = {"numpy": "treadle", "numpy.linalg": "treadle.linalg", "numpy.fft": "treadle.fft"}
    place = places.get(function.__module__)
    own = place and getattr(importlib.import_module(place), function.__name__, None)
    if own is None:
        raise NotImplementedError(
            f"{function.__module__}.{function.__name__} is not supported for treadle arrays yet"
        )
    return own(*args, **kwargs)


# ---- methods ----


def _astype(self, dtype, order="K", casting="unsafe", subok=None, copy=True):
    """The values in another dtype; a new array unless ``copy`` is false and nothing changes.

    TypeError when ``casting`` does not allow the cast.
    """
    if casting != "unsafe" and not np.can_cast(self.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} according to the rule '{casting}'"
        )
    if (
        not copy
        and self.dtype == dtype
        and (
            order in ("K", None)
            or (self.flags.f_contiguous if order == "F" else self.flags.c_contiguous)
            or (order == "A" and self.flags.forc)
        )
    ):
        return self
    result = self._astype(dtype, copy)
    if order == "K" or order is None:
        return result
    if order not in ("C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    good = result.flags.f_contiguous if order == "F" else result.flags.c_contiguous
    return result if good or (order == "A" and result.flags.forc) else result.copy(order)


def _view(self, dtype=None):
    """The same memory as a new array, read as another dtype.

    A dtype of another size changes the length of the last axis, whose elements must then stand next to each other.
    """
    if dtype is None:
        return self[...]
    dtype = np.dtype(dtype)
    shape, strides = list(self.shape), list(self.strides)
    old, new = self.dtype.itemsize, dtype.itemsize
    if old != new:
        if not shape:
            raise ValueError(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
            )
        if shape[-1] != 1 and self.size and strides[-1] != old:
            raise ValueError(
                "To change to a dtype of a different size, the last axis must be contiguous"
            )
        if shape[-1] * old % new:
            raise ValueError(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last "
                "axis of the array."
            )
        shape[-1], strides[-1] = shape[-1] * old // new, new
    return _treadle._strided_view(self, shape, strides, 0, dtype, self.flags.writeable)


def _set_flat(self, values):
    flatiter(self)[...] = values


def _set_part(part):
    def assign(self, value):
        if self.dtype.kind == "c":
            part(self)[...] = value
        elif part is _treadle._real_part:
            self[...] = value
        else:
            raise TypeError("cannot set the imaginary part of an array of real numbers")

    return assign


def _byteswap(self, inplace=False):
    """The bytes of every number (of both parts of a complex one) reversed, in a new array or in place."""
    values = self.copy("C")
    part = self.dtype.itemsize // (2 if self.dtype.kind == "c" else 1)
    swapped = values.reshape(-1).view(np.uint8).reshape(-1, part)[:, ::-1].copy()
    swapped = swapped.reshape(-1).view(self.dtype).reshape(self.shape)
    if not inplace:
        return swapped
    self[...] = swapped
    return self


def _conjugate(self):
    """The complex conjugate; an array of real numbers is returned as it is."""
    return _treadle.conjugate(self) if self.dtype.kind == "c" else self


def _to_bytes(self, order="C"):
    """The values as a bytes object of the host."""
    return asnumpy(self).tobytes(order)


def _dump(self, file):
    """Writes a pickle of the array to a file, given by name or open for writing."""
    if hasattr(file, "write"):
        pickle.dump(self, file)
    else:
        with open(file, "wb") as stream:
            pickle.dump(self, stream)


def _item(self, *args):
    """One element as a Python number: of an array with one element, or at a flat position or an index."""
    if not args:
        if self.size != 1:
            raise ValueError(
                f"can only convert an array of size 1 to a Python scalar; this one has {self.size}, give an index"
            )
        return self._item()
    index = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if len(index) == 1 and self.ndim != 1:
        flat = index[0] + (self.size if index[0] < 0 else 0)
        if not 0 <= flat < self.size:
            raise IndexError(f"index {index[0]} is out of bounds for size {self.size}")
        index = np.unravel_index(flat, self.shape)
    if len(index) != self.ndim:
        raise ValueError("incorrect number of indices for array")
    return self[tuple(int(i) for i in index)]._item()


def _install():
    """Gives the class its methods. Functions whose first argument is the array serve as they are."""
    for module, names in {
        _functions: "clip",
        _manipulation: "ravel squeeze swapaxes flatten",
        _products: "dot",
        _array_api: "to_device",
    }.items():
        for name in names.split():
            setattr(ndarray, name, getattr(module, name))
    methods = {
        "__array__": _array, "__array_ufunc__": _array_ufunc, "__array_function__": _array_function,
        "__array_namespace__": _array_api.array_namespace,
        "__dlpack__": _array_api.dlpack, "__dlpack_device__": lambda self: _treadle._dlpack_device(self),
        "__iter__": _iter, "__reduce__": _reduce, "__array_priority__": 100,
        "__contains__": lambda self, value: bool((self == value).any()),
        "__copy__": lambda self: self.copy("K"), "__deepcopy__": lambda self, memo: self.copy("K"),
        "__repr__": lambda self: _printing.array_repr(self),
        "__str__": lambda self: _printing.array_str(self), "__format__": _printing.array_format,
        "__round__": lambda self, n=0: _functions.around(self, n),
        "__divmod__": lambda self, other: _elementwise.divmod(self, other),
        "__rdivmod__": lambda self, other: _elementwise.divmod(other, self),
        "round": lambda self, decimals=0, out=None: _functions.around(self, decimals, out),
        "real": property(_elementwise.real, _set_part(_treadle._real_part)),
        "imag": property(_elementwise.imag, _set_part(_treadle._imag_part)),
        "conj": _conjugate, "conjugate": _conjugate, "byteswap": _byteswap, "__bytes__": _to_bytes,
        "mT": property(_manipulation.matrix_transpose), "reshape": _manipulation._reshape_method,
        "astype": _astype, "view": _view, "item": _item, "tobytes": _to_bytes,
        "tolist": lambda self: asnumpy(self).tolist(), "get": _get, "set": _set,
        "dump": _dump, "dumps": lambda self: pickle.dumps(self),
        "flat": property(flatiter, _set_flat),
    }  # fmt: skip
    for name, method in methods.items():
        setattr(ndarray, name, method)


_install()
