"""The methods of ``ndarray`` that are Python's business: printing, protocols, pickling, and NumPy's conveniences."""

from collections import namedtuple

import numpy as np

from . import _functions, _printing, _scans, _treadle
from ._creation import asarray, asnumpy
from ._treadle import ndarray


class Flags(namedtuple("Flags", "c_contiguous f_contiguous writeable")):
    """Facts about the memory layout of an array; read as attributes or by NumPy's keys."""

    __slots__ = ()
    _KEYS = {
        "C": 0, "C_CONTIGUOUS": 0, "CONTIGUOUS": 0, "F": 1, "F_CONTIGUOUS": 1, "FORTRAN": 1, "W": 2, "WRITEABLE": 2,
    }  # fmt: skip

    def __getitem__(self, key):
        return tuple.__getitem__(self, self._KEYS[key] if isinstance(key, str) else key)

    @property
    def forc(self):
        return self.c_contiguous or self.f_contiguous


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

_UFUNC_NAMES = {"bitwise_count": None}


def _array_ufunc(self, ufunc, method, *inputs, out=None, dtype=None, **options):
    """np.add(x, y) on treadle arrays runs treadle.add on the device."""
    function = getattr(_treadle, ufunc.__name__, None) if ufunc.nout == 1 else None
    if any(
        not isinstance(x, (ndarray, np.ndarray, np.generic, bool, int, float, complex))
        for x in inputs
    ):
        return NotImplemented
    if method == "reduce" and ufunc.__name__ in _REDUCE:
        options.pop("initial", None), options.pop("where", None)
        return _REDUCE[ufunc.__name__](
            inputs[0], options.get("axis", 0), keepdims=options.get("keepdims", False)
        )
    if method == "accumulate" and ufunc.__name__ in _ACCUMULATE:
        axis = inputs[1] if len(inputs) > 1 else options.get("axis", 0)
        return _scans.accumulate(_ACCUMULATE[ufunc.__name__], inputs[0], axis, dtype, out)
    if function is None or method != "__call__":
        raise NotImplementedError(
            f"numpy.{ufunc.__name__}.{method} is not supported for treadle arrays yet"
        )
    if options.keys() - {"casting", "order", "subok"}:
        raise NotImplementedError(
            f"numpy.{ufunc.__name__}: {', '.join(sorted(options))} is not supported yet"
        )
    out = out[0] if out else None
    return function(*inputs, out=out) if dtype is None else function(*inputs, out=out, dtype=dtype)


_REDUCE = {
    "add": _treadle.sum, "multiply": _treadle.prod, "minimum": _treadle.min, "maximum": _treadle.max,
    "logical_and": _treadle.all, "logical_or": _treadle.any,
}  # fmt: skip


_ACCUMULATE = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}


def _array_function(self, function, types, args, kwargs):
    """np.concatenate([x, y]) on treadle arrays runs treadle.concatenate on the device."""
    import treadle

    if not all(issubclass(t, (ndarray, np.generic)) for t in types):
        return NotImplemented
    own = (
        getattr(treadle, function.__name__, None)
        if (function.__module__ or "") == "numpy"
        else None
    )
    if own is None:
        raise NotImplementedError(
            f"{function.__module__}.{function.__name__} is not supported for treadle arrays yet"
        )
    return own(*args, **kwargs)


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    options = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    return _treadle._dlpack(
        self, **{key: value for key, value in options.items() if value is not None}
    )


def _install():
    """Gives the class its methods. Functions of _functions.py whose first argument is the array serve as they are."""
    for name in ("ravel", "squeeze", "swapaxes", "clip", "dot", "var", "std"):
        setattr(ndarray, name, getattr(_functions, name))
    for name in ("conj", "conjugate"):
        setattr(ndarray, name, getattr(_treadle, name))
    methods = {
        "__array__": _array, "__array_ufunc__": _array_ufunc, "__array_function__": _array_function,
        "__dlpack__": _dlpack, "__dlpack_device__": lambda self: _treadle._dlpack_device(self),
        "__iter__": _iter, "__reduce__": _reduce, "__array_priority__": 100,
        "__copy__": lambda self: self.copy(), "__deepcopy__": lambda self, memo: self.copy(),
        "__repr__": _printing.array_repr, "__str__": _printing.array_str, "__format__": _printing.array_format,
        "__round__": lambda self, n=0: _functions.around(self, n), "round": lambda self, decimals=0, out=None:
        _functions.around(self, decimals, out),
        "conj": lambda self: _treadle.conjugate(self), "conjugate": lambda self: _treadle.conjugate(self),
        "real": property(lambda self: _treadle.real(self)), "imag": property(lambda self: _treadle.imag(self)),
        "mT": property(lambda self: self.swapaxes(-1, -2)),
        "flatten": lambda self, order="C": _functions.ravel(self.copy(), order),
        "tolist": lambda self: asnumpy(self).tolist(), "get": _get, "set": _set,
        "base": property(lambda self: None),
    }  # fmt: skip
    for name, method in methods.items():
        setattr(ndarray, name, method)


_install()
