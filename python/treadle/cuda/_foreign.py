"""Arrays that pass between Numba's device arrays and other libraries: the CUDA array interface and DLPack.

Order. An interface names a stream whose work must be done before the memory is used, or None when there is nothing to
wait for. A device array with a stream names it, and what the current stream holds is put in front. One without a
stream says None, as Numba's do, when the work of the current stream is done: some libraries wait for nothing and some
for the whole stream, and both are right about that. Inside of a capture, where nothing can be waited for, the captured
stream is named.
"""

from collections.abc import Mapping

import numpy as np

from .. import _memory, _treadle
from .._treadle import ndarray
from ._structured import DeviceRecord, StructuredArray

_DLPACK_CPU = 1
_DLPACK_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged


# ---- ours for others ----


def interface(face, array):
    """A CUDA array interface for work of the current stream, as that of a device array with a stream of its own."""
    with array.device:
        return {**face, "stream": _named(array.stream)}


def _named(stream):
    from .._jit.dispatcher import to_stream

    current, stream = _treadle.get_current_stream(), to_stream(stream)
    if current.ptr and _treadle._is_capturing(current):
        return current.ptr
    if stream is None:
        current.synchronize()
        return None
    if stream != current:
        done = _treadle.Event(disable_timing=True)
        done.record(current)
        stream.wait_event(done)
    return stream.ptr or 1


# ---- others' for us ----


def interface_of(obj):
    """The CUDA array interface of an object, or None: a class, or an object that answers any name, has none."""
    face = getattr(obj, "__cuda_array_interface__", None)
    return face if isinstance(face, Mapping) else None


def on_host(obj):
    """True for an array of another library whose memory DLPack says is the host's."""
    return _dlpack_kind(obj) == _DLPACK_CPU


def _dlpack_kind(obj):
    return int(obj.__dlpack_device__()[0]) if hasattr(type(obj), "__dlpack_device__") else None


def is_foreign(obj):
    """True for an array of another library in device memory."""
    if isinstance(obj, (np.ndarray, np.generic, ndarray, StructuredArray, DeviceRecord)):
        return False
    return interface_of(obj) is not None or _dlpack_kind(obj) in _DLPACK_CUDA


def is_cuda_array(obj):
    """True for an object with the CUDA array interface, and for Treadle arrays wherever they are."""
    return is_captured(obj) or interface_of(obj) is not None


def is_captured(obj):
    """True for what kernels take from the program by address: device arrays, whoever made them."""
    if isinstance(obj, type):
        return False
    ours = isinstance(obj, (ndarray, StructuredArray)) or hasattr(type(obj), "__treadle_view__")
    return ours or is_foreign(obj)


def from_cuda_array_interface(desc, owner=None, sync=True):
    """A device array over the memory that a CUDA array interface describes; ``owner`` stays alive with it.

    Its stream is the one that the interface names. With ``sync`` the host waits for that stream, unless
    ``config.CUDA_ARRAY_INTERFACE_SYNC`` is 0.
    """
    from .._jit import settings

    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    stream = _memory.producer_of(desc)
    array = _over(desc, owner, stream or 0)
    if stream and sync and settings.CUDA_ARRAY_INTERFACE_SYNC:
        stream.synchronize()
    return array


class _Described:
    """An object with an interface that somebody else stated."""

    def __init__(self, face, owner):
        self.__cuda_array_interface__, self.owner = face, owner


def _over(face, owner, stream):
    """The array that an interface describes; nothing is waited for."""
    from ._devicearray import plain, wrap

    dtype = dtype_of(face)
    described = _Described(face, owner)
    if plain(dtype):
        return wrap(_memory.from_cuda_array_interface(described, wait=False), stream)
    shape, strides = tuple(face["shape"]), _memory.steps_of(face, dtype.itemsize)
    if 0 in shape:
        return StructuredArray(shape, strides, dtype, _treadle.empty((0,), np.uint8), 0, stream)
    first = _memory.interface_memory(face, dtype.itemsize, described)
    whole = _treadle.MemoryPointer(first.mem, 0)
    raw = ndarray((first.mem.size,), np.uint8, whole)
    return StructuredArray(shape, strides, dtype, raw, first.ptr - whole.ptr, stream)


def dtype_of(face):
    """The dtype that an interface states: of records by its ``descr``, where that is given."""
    dtype, fields = np.dtype(face["typestr"]), face.get("descr")
    if dtype.kind != "V" or not fields:
        return dtype
    found = np.lib.format.descr_to_dtype(fields)
    return found if found.itemsize == dtype.itemsize else dtype


def as_cuda_array(obj, sync=True):
    """A device array over the memory of another library's array, without a copy.

    On a GPU by the CUDA array interface or DLPack, on the software device by DLPack.
    """
    from ._devicearray import DeviceNDArray, wrap

    if isinstance(obj, (DeviceNDArray, StructuredArray)):
        return obj
    if isinstance(obj, ndarray):
        return wrap(obj)
    if hasattr(type(obj), "__treadle_view__"):
        return obj.__treadle_view__().bind(obj.stream)
    face = interface_of(obj)
    if face is not None:
        return from_cuda_array_interface(face, obj, sync)
    if hasattr(type(obj), "__dlpack__") and not isinstance(obj, np.ndarray):
        from .._array_api import from_dlpack

        if not on_host(obj):
            return wrap(from_dlpack(obj))
        raise TypeError(
            f"this {type(obj).__name__} doesn't implement the cuda array interface: its memory is the host's; copy "
            f"it with to_device"
        )
    raise TypeError("*obj* doesn't implement the cuda array interface.")


def argument_of(obj):
    """A foreign array as a kernel's argument. The current stream waits for the array's; the host does not."""
    from .._array_api import from_dlpack
    from .._jit import settings

    face = interface_of(obj)
    if hasattr(type(obj), "__dlpack__") and (face is None or _dlpack_kind(obj) in _DLPACK_CUDA):
        return from_dlpack(obj)
    if settings.CUDA_ARRAY_INTERFACE_SYNC:
        _memory.wait_for_producer(face)
    return from_cuda_array_interface(face, obj, sync=False)


def type_of(obj):
    """The type that a kernel sees for a foreign array."""
    from .._jit.arguments import typeof

    return typeof(as_cuda_array(obj, sync=False))
