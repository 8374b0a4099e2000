"""The Python array API standard's own functions: data types, devices, exchange of memory."""

import importlib

import numpy as np

from . import _treadle
from ._creation import asarray, on_device, transferred
from ._kinds import limits_of
from ._treadle import ndarray

__all__ = [
    "__array_namespace_info__", "can_cast", "common_type", "finfo", "from_dlpack", "iinfo", "isdtype",
    "issubdtype", "min_scalar_type", "promote_types", "result_type",
]  # fmt: skip

VERSION = "2025.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")

issubdtype, promote_types = np.issubdtype, np.promote_types


# ---- data types ----


def _dtype_of(x):
    return x.dtype if isinstance(x, ndarray) else x


def result_type(*arrays_and_dtypes):
    """NumPy's result_type, with treadle arrays standing for their dtypes."""
    return np.result_type(*(_dtype_of(a) for a in arrays_and_dtypes))


def can_cast(from_, to, casting="safe"):
    """True when a cast between the data types follows the rule ``casting``."""
    return np.can_cast(_dtype_of(from_), to, casting)


def isdtype(dtype, kind):
    """True when ``dtype`` is, or is of, the kind: a dtype, a name as ``"real floating"``, or a tuple of these."""
    return np.isdtype(np.dtype(_dtype_of(dtype)), kind)


def common_type(*arrays):
    """The floating or complex dtype that all arrays can be converted to."""
    return np.common_type(*(np.empty(0, a.dtype) for a in arrays))


def min_scalar_type(a):
    """For a number the smallest dtype that holds it, for an array its dtype."""
    return a.dtype if isinstance(a, ndarray) and a.ndim else np.min_scalar_type(
        a.item() if isinstance(a, ndarray) else a
    )  # fmt: skip


class finfo:
    """Limits of a floating-point dtype: bits, eps, max, min, smallest_normal as Python floats, and dtype.

    What else ``numpy.finfo`` knows is there too.
    """

    def __init__(self, dtype):
        dtype = np.dtype(_dtype_of(dtype))
        self._limits = limits_of(dtype)
        self.bits = int(self._limits.bits)
        self.dtype = self._limits.dtype
        for name in ("eps", "max", "min", "smallest_normal", "smallest_subnormal", "resolution"):
            setattr(self, name, float(getattr(self._limits, name)))
        self.tiny = self.smallest_normal

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._limits, name)

    def __repr__(self):
        return repr(self._limits)


def iinfo(type, /):
    """Limits of an integer dtype: bits, max, min, dtype."""
    type = _dtype_of(type)
    if not isinstance(type, (int, np.integer)):
        type = np.dtype(type)
    return np.iinfo(type)


# ---- the namespace and its devices ----


class _Info:
    """What ``__array_namespace_info__`` returns."""

    def capabilities(self):
        """Facts about the namespace as a dictionary."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The current device."""
        return _treadle.Device()

    def default_dtypes(self, *, device=None):
        """The dtypes of Python numbers."""
        names = {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        return {kind: np.dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device=None, kind=None):
        """{name: dtype} of a kind, or of all that the standard names."""
        found = {d.name: d for d in _treadle.dtypes if d != np.float16}
        if kind is None:
            return found
        return {name: d for name, d in found.items() if np.isdtype(d, kind)}

    def devices(self):
        """Every device that arrays can be on."""
        return tuple(_treadle.devices())


def __array_namespace_info__():
    """Facts about the namespace: capabilities, devices, data types."""
    return _Info()


def array_namespace(self, /, *, api_version=None):
    """The module ``treadle``; ValueError for a version of the standard that it does not have."""
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"the array API standard's version {api_version!r} is not supported; those are {', '.join(_VERSIONS)}"
        )
    return importlib.import_module("treadle")


def to_device(self, device, /, *, stream=None):
    """The array on ``device``: itself when it is there already, else a copy."""
    target = on_device(device)
    if target == self.device:
        return self
    return transferred(self, target)


# ---- DLPack ----

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule of the array.

    ``stream`` is the consumer's CUDA stream, which then waits for the array. ``dl_device=(1, 0)`` asks for host memory.
    BufferError where ``copy=False`` and a copy is needed.
    """
    here = _treadle._dlpack_device(self)
    if dl_device is not None and tuple(map(int, dl_device)) != here:
        if tuple(map(int, dl_device)) != (_CPU, 0):
            raise BufferError(
                f"__dlpack__: the array is on device {here}, not {tuple(dl_device)}; use x.to_device first"
            )
        if copy is False:
            raise BufferError("__dlpack__: host memory is a copy; leave copy=None")
        return self.get().__dlpack__(max_version=max_version)
    if here[0] == _CPU and stream is not None:
        raise ValueError("__dlpack__: stream must be None for memory of the host")
    if copy:
        self = self.copy("K")
    if not self.flags.writeable and (max_version is None or max_version[0] < 1):
        raise BufferError(
            "__dlpack__: the array is read-only, which only DLPack 1.0 can say; pass max_version=(1, 0) or a copy"
        )
    return _treadle._dlpack(self, max_version=max_version)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of another library's array, where the current kind of device can read it, else a copy.

    Memory of an NVIDIA GPU is shared when treadle runs on that GPU. Host memory is copied to the device: BufferError
    with ``copy=False``.
    """
    if isinstance(x, ndarray):
        if device is not None and on_device(device) != x.device:
            if copy is False:
                raise BufferError("from_dlpack: another device means a copy; leave copy=None")
            return x.to_device(device)
        return x.copy("K") if copy else x[...]
    kind, number = x.__dlpack_device__()
    if kind in (_CPU, _CUDA_HOST):
        if copy is False:
            raise BufferError(
                "from_dlpack: host memory becomes a device array by a copy; leave copy=None"
            )
        return asarray(np.from_dlpack(x), device=device)
    if kind not in (_CUDA, _CUDA_MANAGED):
        raise BufferError(
            f"from_dlpack: memory of DLPack's device type {int(kind)} is not supported"
        )
    owner = _treadle.Device(f"cuda:{number}")
    with owner:
        stream = _treadle.get_current_stream().ptr
        try:
            capsule = x.__dlpack__(stream=stream or 1, max_version=(1, 1))
        except TypeError:
            capsule = x.__dlpack__(stream=stream or 1)
        result = _treadle._from_capsule(capsule, owner)
    return asarray(result, device=device, copy=copy)
