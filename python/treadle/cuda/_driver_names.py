"""Names of Numba's driver module that programs use, and errors for what Treadle does otherwise."""

import ctypes

import numpy as np

from .. import _treadle
from .._treadle import Event, PinnedMemoryPointer, Stream, ndarray
from ..errors import CUDAError
from ._contexts import Context, MemoryInfo, current_context
from ._memory_plugins import (  # noqa: F401  Numba's names
    AutoFreePointer,
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    IpcHandle,
    MappedMemory,
    MemoryPointer,
    PinnedMemory,
    set_memory_manager,
)
from ._streams import event_elapsed_time

CudaAPIError = CudaDriverError = CUDAError
DeviceMemory = _treadle.MemoryPointer


class CudaSupportError(ImportError):
    """No device can be used."""


class CudaRuntimeError(RuntimeError):
    """An error of the driver."""


def cuda_error():
    """None when a device can be used, else why not."""
    return None if _treadle.devices() else "no device was found"


def is_supported_version():
    """True: Treadle asks the driver for what it needs."""
    return True


def is_float16_supported():
    """True: float16 is always there."""
    return True


def is_bfloat16_supported():
    """True from compute capability 8.0 on."""
    return current_context().device.supports_bfloat16


def is_fp8_supported():
    """True from compute capability 8.9 on."""
    return current_context().device.supports_fp8


# ---- copies by address ----


def _address(obj):
    if isinstance(obj, np.ndarray):
        return obj.__array_interface__["data"][0]
    if isinstance(obj, ndarray):
        return obj.data.ptr
    pointer = getattr(obj, "gpu_data", obj)
    return int(getattr(pointer, "ptr", pointer))


def _copy(dst, src, size, stream):
    from ._devicearray import on

    with on(stream):
        _treadle._copy_memory(_address(dst), _address(src), size, not stream)


def host_to_device(dst, src, size, stream=0):
    """Copies bytes of the host to the device."""
    _copy(dst, src, size, stream)


def device_to_host(dst, src, size, stream=0):
    """Copies bytes of the device to the host."""
    _copy(dst, src, size, stream)


def device_to_device(dst, src, size, stream=0):
    """Copies bytes of the device."""
    _copy(dst, src, size, stream)


def device_memset(dst, val, size, stream=0):
    """Fills bytes of the device, or of host memory that it reaches."""
    from ._devicearray import on

    with on(stream):
        _treadle._fill_memory(_address(dst), val & 255, size, not stream)


def device_memory_size(obj):
    """Bytes that an array spans in device memory."""
    return getattr(obj, "alloc_size", None) or obj.nbytes


def host_memory_size(obj):
    """Bytes that a NumPy array or an object of ctypes spans."""
    low, high = host_memory_extents(obj)
    return high - low


def host_pointer(obj):
    """The address of a NumPy array."""
    return _address(obj)


def is_device_memory(obj):
    """True for what lies on the device, or in memory that it reaches."""
    kinds = (DeviceMemory, PinnedMemoryPointer)
    return isinstance(obj, kinds) or bool(getattr(obj, "__cuda_memory__", False))


def require_device_memory(obj):
    """TypeError unless something lies on the device."""
    if not is_device_memory(obj):
        raise TypeError(f"a {type(obj).__name__} is not in device memory")


def device_pointer(obj):
    """The address as a ctypes pointer."""
    return ctypes.c_void_p(_address(obj))


class _Driver:
    """The driver as an object; ``is_available`` and ``get_version`` are what programs ask."""

    is_available = True
    initialization_error = None

    def get_version(self):
        """(major, minor) of the CUDA version of the driver."""
        number = _treadle._driver_version(_treadle.Device())
        return number // 1000, number % 1000 // 10

    def get_device_count(self):
        """Devices of the current kind."""
        from ._contexts import gpus

        return len(gpus)

    def get_device(self, number=0):
        """A device by its number."""
        from ._contexts import gpus

        return gpus[number]

    def cuMemGetInfo(self):
        """(free, total) bytes."""
        return _treadle.Device().mem_info


driver = _Driver()


class LinkerError(RuntimeError):
    """Linked code that does not fit together."""


def _have_nvjitlink():
    return False


def host_memory_extents(obj):
    """(first address, address after the last byte) of a NumPy array."""
    try:
        low = high = obj.__array_interface__["data"][0]
    except AttributeError:
        import ctypes

        low = ctypes.addressof(obj)
        return low, low + ctypes.sizeof(obj)
    if not obj.size:
        return low, low
    for n, step in zip(obj.shape, obj.strides):
        low += min(0, step * (n - 1))
        high += max(0, step * (n - 1))
    return low, high + obj.itemsize


def memory_size_from_info(shape, strides, itemsize):
    """Bytes from the first to the last element."""
    if 0 in shape:
        return 0
    return sum(abs(s) * (n - 1) for n, s in zip(shape, strides)) + itemsize


__all__ = ["Context", "Event", "MemoryInfo", "Stream", "event_elapsed_time"]
