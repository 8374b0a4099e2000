"""Devices, streams, events and memory, by CuPy's names."""

from . import _treadle, texture
from ._treadle import (
    Device,
    DevicePointer,
    Event,
    MemoryPool,
    Stream,
    devices,
    get_current_stream,
    get_elapsed_time,
)

__all__ = [
    "Device",
    "DevicePointer",
    "Event",
    "MemoryPool",
    "Stream",
    "devices",
    "get_current_stream",
    "get_default_memory_pool",
    "get_device_id",
    "get_elapsed_time",
    "gpu_available",
    "is_available",
    "synchronize",
    "texture",
]

# CUdevice_attribute: names as cudaDeviceGetAttribute prints them without the prefix, and numbers.
_ATTRIBUTES = {
    "MaxThreadsPerBlock": 1, "MaxBlockDimX": 2, "MaxBlockDimY": 3, "MaxBlockDimZ": 4, "MaxGridDimX": 5,
    "MaxGridDimY": 6, "MaxGridDimZ": 7, "MaxSharedMemoryPerBlock": 8, "TotalConstantMemory": 9, "WarpSize": 10,
    "MaxRegistersPerBlock": 12, "ClockRate": 13, "MultiProcessorCount": 16, "MemoryClockRate": 36,
    "GlobalMemoryBusWidth": 37, "L2CacheSize": 38, "MaxThreadsPerMultiProcessor": 39, "ComputeCapabilityMajor": 75,
    "ComputeCapabilityMinor": 76, "MaxSharedMemoryPerMultiprocessor": 81, "MaxRegistersPerMultiprocessor": 82,
    "MaxSharedMemoryPerBlockOptin": 97,
}  # fmt: skip


def _attributes(self):
    """The device's limits and sizes by name."""
    found = {}
    for name, number in _ATTRIBUTES.items():
        try:
            found[name] = self.attribute(number)
        except RuntimeError:
            continue  # a device need not know every attribute
    return found


Device.attributes = property(_attributes)


def synchronize():
    """Waits for all work on the current device; a fault of a kernel that ran is raised here."""
    Device().synchronize()


def get_device_id():
    """The number of the current device among those of its kind."""
    return Device().id


def get_default_memory_pool():
    """The memory pool of the current device."""
    return _treadle.get_default_memory_pool()


def is_available():
    """True when kernels can run here: on an NVIDIA GPU or on the software device. See also ``gpu_available``."""
    return bool(devices())


def gpu_available():
    """True when an NVIDIA GPU can be used."""
    return any(not device.is_software for device in devices())
