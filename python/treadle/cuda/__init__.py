"""Devices, streams, events, graphs and memory, by CuPy's names."""

import operator as _operator

from .. import _treadle, texture
from .._treadle import (
    Device,
    DevicePointer,
    Event,
    ExternalStream,
    Graph,
    Memory,
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    Stream,
    devices,
    get_current_stream,
    get_elapsed_time,
)
from . import (
    compiler,
    device,
    driver,
    graph,
    memory,
    memory_hooks,
    nvtx,
    pinned_memory,
    profiler,
    runtime,
    stream,
)
from .memory import (
    ManagedMemory,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    get_default_memory_pool,
    get_default_pinned_memory_pool,
    malloc_managed,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)
from .memory_hook import MemoryHook
from .profiler import profile

__all__ = [
    "Device",
    "DevicePointer",
    "Event",
    "ExternalStream",
    "Graph",
    "ManagedMemory",
    "Memory",
    "MemoryHook",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "Stream",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "compiler",
    "device",
    "devices",
    "driver",
    "get_allocator",
    "get_current_stream",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "get_device_id",
    "get_elapsed_time",
    "gpu_available",
    "graph",
    "is_available",
    "malloc_managed",
    "memory",
    "memory_hooks",
    "nvtx",
    "pinned_memory",
    "profile",
    "profiler",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "stream",
    "synchronize",
    "texture",
    "using_allocator",
]

# CUdevice_attribute: names as cudaDeviceGetAttribute prints them without the prefix, and numbers.
_ATTRIBUTES = {
    "MaxThreadsPerBlock": 1, "MaxBlockDimX": 2, "MaxBlockDimY": 3, "MaxBlockDimZ": 4, "MaxGridDimX": 5,
    "MaxGridDimY": 6, "MaxGridDimZ": 7, "MaxSharedMemoryPerBlock": 8, "TotalConstantMemory": 9, "WarpSize": 10,
    "MaxPitch": 11, "MaxRegistersPerBlock": 12, "ClockRate": 13, "TextureAlignment": 14, "MultiProcessorCount": 16,
    "KernelExecTimeout": 17, "Integrated": 18, "CanMapHostMemory": 19, "ComputeMode": 20, "ConcurrentKernels": 31,
    "EccEnabled": 32, "PciBusId": 33, "PciDeviceId": 34, "MemoryClockRate": 36, "GlobalMemoryBusWidth": 37,
    "L2CacheSize": 38, "MaxThreadsPerMultiProcessor": 39, "AsyncEngineCount": 40, "UnifiedAddressing": 41,
    "PciDomainId": 50, "ComputeCapabilityMajor": 75, "ComputeCapabilityMinor": 76, "StreamPrioritiesSupported": 78,
    "MaxSharedMemoryPerMultiprocessor": 81, "MaxRegistersPerMultiprocessor": 82, "ManagedMemory": 83,
    "ConcurrentManagedAccess": 89, "CooperativeLaunch": 95, "MaxSharedMemoryPerBlockOptin": 97,
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
Device.pci_bus_id = property(lambda self: _treadle._pci_bus_id(self), doc="The PCI bus id as text.")
Device.from_pci_id = Device.from_pci_bus_id = staticmethod(_treadle._device_from_pci_bus_id)


def _ordered(compare):
    def method(self, other):
        return compare(self.id, other.id) if isinstance(other, Device) else NotImplemented

    return method


for _name in ("lt", "le", "gt", "ge"):
    setattr(Device, f"__{_name}__", _ordered(getattr(_operator, _name)))


# Kernels written in Python: loaded when a program asks for them.
_JIT = {
    "jit": "dispatcher", "declare_device": "dispatcher",
    **dict.fromkeys((
        "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "grid", "gridsize", "shared",
        "local", "const", "atomic", "syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or",
        "syncwarp", "threadfence", "threadfence_block", "threadfence_system", "shfl_sync", "shfl_up_sync",
        "shfl_down_sync", "shfl_xor_sync", "all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync",
        "match_all_sync", "activemask", "lanemask_lt", "popc", "clz", "ffs", "brev", "fma", "cbrt", "selp",
        "nanosleep", "ldca", "ldcg", "ldcs", "ldlu", "ldcv", "stcg", "stcs", "stwb", "stwt", "literal_unroll",
    ), "stubs"),
    **dict.fromkeys(("In", "Out", "InOut"), "arguments"),
}  # fmt: skip


_VECTORS = {
    f"{sign}{kind}" for sign in ("", "u") for kind in ("char", "short", "int", "long", "longlong")
} | {"float", "double"} | {
    f"{kind}{bits}x" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
} | {"float32x", "float64x"}  # fmt: skip

# Numba's names of the host side.
_HOST = {
    name: module
    for module, names in {
        "cuda._devicearray": "to_device device_array device_array_like DeviceNDArray",
        "cuda._foreign": "as_cuda_array is_cuda_array from_cuda_array_interface",
        "cuda._host_arrays": "pinned_array pinned_array_like mapped_array mapped_array_like managed_array pinned "
        "mapped defer_cleanup open_ipc_array",
        "cuda._contexts": "gpus list_devices select_device get_current_device current_context require_context close "
        "detect",
        "cuda._streams": "default_stream legacy_default_stream per_thread_default_stream external_stream event "
        "event_elapsed_time profiling profile_start profile_stop",
        "cuda._memory_plugins": "BaseCUDAMemoryManager HostOnlyCUDAMemoryManager GetIpcHandleMixin MappedMemory "
        "PinnedMemory IpcHandle set_memory_manager",
        "cuda._driver_names": "MemoryInfo CudaSupportError cuda_error is_supported_version "
        "is_float16_supported is_bfloat16_supported is_fp8_supported",
        "_jit.report": "KernelRuntimeError",
        "occupancy": "occupancy",
        "_jit.compile_only": "compile compile_all compile_for_current_device compile_ptx compile_source "
        "compile_ptx_for_current_device",
        "_jit.ufuncs": "vectorize guvectorize",
        "_jit.reduction": "reduce Reduce",
        "_jit.linking": "LinkableCode PTXSource CUSource Cubin Fatbin Archive Object LTOIR",
    }.items()
    for name in names.split()
}  # fmt: skip


def __getattr__(name):
    import importlib

    if name == "types":
        found = importlib.import_module("treadle._jit.types")
    elif name in ("bf16", "cg", "libdevice", "random"):
        found = importlib.import_module(f"treadle.cuda.{name}")
    elif name == "bfloat16":
        found = importlib.import_module("treadle._jit.types").bfloat16
    elif name == "fp16":
        found = importlib.import_module("treadle._jit.half_calls").fp16
    elif name.rstrip("1234") in _VECTORS and name[-1] in "1234":
        found = importlib.import_module("treadle._jit.vector_types").CONSTRUCTORS[name]
    elif name in _JIT:
        found = getattr(importlib.import_module(f"treadle._jit.{_JIT[name]}"), name)
    elif name in _HOST:
        found = getattr(importlib.import_module(f"treadle.{_HOST[name]}"), name)
    else:
        raise AttributeError(f"module 'treadle.cuda' has no attribute '{name}'")
    globals()[name] = found
    return found


def synchronize():
    """Waits for all work on the current device; a fault of a kernel that ran is raised here."""
    Device().synchronize()


def get_device_id():
    """The number of the current device among those of its kind."""
    return Device().id


def is_available():
    """True when kernels can run here: on an NVIDIA GPU or on the software device. See also ``gpu_available``."""
    return bool(devices())


def gpu_available():
    """True when an NVIDIA GPU can be used."""
    return any(not device.is_software for device in devices())
