"""Functions by the names of CUDA's runtime API, for programs that call them directly.

Device numbers are those of the current kind of device: GPUs, or software devices. A failing call raises
``CUDARuntimeError``.
"""

from .. import _treadle
from .. import texture as _texture
from ..errors import CUDAError as CUDARuntimeError

is_hip = False

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = (
    range(5)
)
streamDefault, streamNonBlocking = 0, 1
streamLegacy, streamPerThread = 1, 2
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
memAttachGlobal, memAttachHost, memAttachSingle = 1, 2, 4
streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = range(3)
streamCaptureStatusNone, streamCaptureStatusActive, streamCaptureStatusInvalidated = range(3)
cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize = range(3)
(
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount,
    cudaLimitMaxL2FetchGranularity,
) = range(3, 6)
cudaLimitPersistingL2CacheSize = 6
errorInvalidValue, errorMemoryAllocation, errorPeerAccessAlreadyEnabled = 1, 2, 704
cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor = 75, 76
cudaDevAttrMultiProcessorCount, cudaDevAttrWarpSize, cudaDevAttrMaxThreadsPerBlock = 16, 10, 1
cudaDevAttrMaxSharedMemoryPerBlock, cudaDevAttrMaxSharedMemoryPerBlockOptin = 8, 97
cudaDevAttrCooperativeLaunch, cudaDevAttrConcurrentManagedAccess, cudaDevAttrManagedMemory = (
    95,
    89,
    83,
)

# ---- devices ----


def _device(number=None):
    return _treadle.Device() if number is None else _treadle.Device(number)


def getDeviceCount():
    """How many devices of the current kind there are."""
    current = _device()
    return sum(device.is_software == current.is_software for device in _treadle.devices())


def getDevice():
    """The number of the current device."""
    return _device().id


def setDevice(device):
    """Makes a device the current one of this thread."""
    _device(device).use()


def deviceSynchronize():
    """Waits for all work of the current device."""
    _device().synchronize()


def deviceGetAttribute(attrib, device):
    """A cudaDeviceAttr (the numbers are those of CUdevice_attribute)."""
    return _device(device).attribute(attrib)


def deviceGetLimit(limit):
    """A limit of the current device: ``cudaLimitStackSize`` and others."""
    return _device().limit(limit)


def deviceSetLimit(limit, value):
    """Sets a limit of the current device, such as the stack of each thread: ``cudaLimitStackSize``, in bytes."""
    _device().set_limit(limit, value)


def deviceCanAccessPeer(device, peerDevice):
    """1 when kernels on one device can reach the memory of the other."""
    return int(_treadle._can_access_peer(_device(device), _device(peerDevice)))


def deviceGetPCIBusId(device):
    """The PCI bus id as text."""
    return _treadle._pci_bus_id(_device(device))


def deviceGetByPCIBusId(pciBusId):
    """The number of the device with this PCI bus id."""
    return _treadle._device_from_pci_bus_id(pciBusId).id


_PROPERTIES = {
    "sharedMemPerBlock": 8, "regsPerBlock": 12, "warpSize": 10, "maxThreadsPerBlock": 1, "clockRate": 13,
    "totalConstMem": 9, "major": 75, "minor": 76, "textureAlignment": 14, "multiProcessorCount": 16,
    "kernelExecTimeoutEnabled": 17, "integrated": 18, "canMapHostMemory": 19, "computeMode": 20,
    "concurrentKernels": 31, "ECCEnabled": 32, "pciBusID": 33, "pciDeviceID": 34, "pciDomainID": 50, "memPitch": 11,
    "memoryClockRate": 36, "memoryBusWidth": 37, "l2CacheSize": 38, "maxThreadsPerMultiProcessor": 39,
    "asyncEngineCount": 40, "unifiedAddressing": 41, "streamPrioritiesSupported": 78,
    "sharedMemPerMultiprocessor": 81, "regsPerMultiprocessor": 82, "managedMemory": 83, "cooperativeLaunch": 95,
    "concurrentManagedAccess": 89, "sharedMemPerBlockOptin": 97,
}  # fmt: skip


def getDeviceProperties(device):
    """Facts about a device as a dictionary, by the names of cudaDeviceProp; the name is bytes."""
    found = _device(device)
    facts = {"name": found.description.encode(), "totalGlobalMem": found.mem_info[1]}
    for name, number in _PROPERTIES.items():
        try:
            facts[name] = found.attribute(number)
        except CUDARuntimeError:
            continue  # a device need not know every attribute
    facts["maxThreadsDim"] = tuple(found.attribute(n) for n in (2, 3, 4))
    facts["maxGridSize"] = tuple(found.attribute(n) for n in (5, 6, 7))
    return facts


def driverGetVersion():
    """The CUDA version of the driver: 13000 for 13.0."""
    return _treadle._driver_version(_device())


def runtimeGetVersion():
    """The CUDA version that programs can count on. No runtime library is loaded, so it is the driver's."""
    return driverGetVersion()


def memGetInfo():
    """Free and total bytes of the current device."""
    return _device().mem_info


# ---- memory ----

_owned = {}


def malloc(size):
    """The address of ``size`` bytes of device memory; ``free`` gives them back."""
    memory = _treadle.Memory(size)
    _owned[memory.ptr] = memory
    return memory.ptr


def mallocManaged(size, flags=memAttachGlobal):
    """The address of ``size`` bytes that host and device share."""
    memory = _treadle._managed_memory(size)
    _owned[memory.ptr] = memory
    return memory.ptr


def free(ptr):
    """Gives back what ``malloc`` or ``mallocManaged`` answered. 0 is allowed."""
    if ptr and _owned.pop(ptr, None) is None:
        raise ValueError(f"runtime.free: 0x{ptr:x} is not an address that runtime.malloc answered")


def hostAlloc(size, flags=0):
    """The address of ``size`` bytes of page-locked host memory; ``freeHost`` gives them back."""
    memory = _treadle._pinned_memory(size)
    _owned[memory.ptr] = memory
    return memory.ptr


freeHost = free


def memcpy(dst, src, size, kind=memcpyDefault):
    """Copies bytes between addresses of host and device; returns when they are there."""
    _treadle._copy_memory(dst, src, size, True)


def memcpyAsync(dst, src, size, kind, stream):
    """Copies bytes in the order of a stream, given by its address."""
    with _treadle.ExternalStream(stream):
        _treadle._copy_memory(dst, src, size, False)


def memset(ptr, value, size):
    """Fills bytes."""
    _treadle._fill_memory(ptr, value & 255, size, True)


def memsetAsync(ptr, value, size, stream):
    """Fills bytes in the order of a stream, given by its address."""
    with _treadle.ExternalStream(stream):
        _treadle._fill_memory(ptr, value & 255, size, False)


# ---- streams and events, by their addresses ----


def _keep(handle):
    _owned[handle.ptr] = handle
    return handle.ptr


def _stream(ptr):
    return _owned.get(ptr) or _treadle.ExternalStream(ptr)


def streamCreate():
    """The address of a new stream."""
    return _keep(_treadle.Stream())


def streamCreateWithFlags(flags):
    """The address of a new stream; ``streamNonBlocking`` does not wait for the default stream."""
    return _keep(_treadle.Stream(non_blocking=bool(flags & streamNonBlocking)))


def streamDestroy(stream):
    """Ends a stream that ``streamCreate`` made."""
    if _owned.pop(stream, None) is None:
        raise ValueError(f"runtime.streamDestroy: 0x{stream:x} is not a stream of streamCreate")


def streamSynchronize(stream):
    """Waits for the work of a stream."""
    _stream(stream).synchronize()


def streamQuery(stream):
    """0 when all work of a stream has finished, 600 (cudaErrorNotReady) otherwise."""
    return 0 if _stream(stream).done else 600


def streamWaitEvent(stream, event, flags=0):
    """Later work of a stream waits for an event."""
    _stream(stream).wait_event(_owned[event])


def streamBeginCapture(stream, mode=streamCaptureModeRelaxed):
    """Notes a stream's work instead of running it."""
    _treadle._begin_capture(_stream(stream), mode)


def streamIsCapturing(stream):
    """True while a stream is captured."""
    return _treadle._is_capturing(_stream(stream))


def eventCreate():
    """The address of a new event."""
    return _keep(_treadle.Event())


def eventCreateWithFlags(flags):
    """The address of a new event; ``eventDisableTiming`` makes it cheaper."""
    return _keep(_treadle.Event(disable_timing=bool(flags & eventDisableTiming)))


def eventDestroy(event):
    """Ends an event that ``eventCreate`` made."""
    if _owned.pop(event, None) is None:
        raise ValueError(f"runtime.eventDestroy: 0x{event:x} is not an event of eventCreate")


def eventRecord(event, stream):
    """Marks the present end of a stream's work."""
    _owned[event].record(_stream(stream))


def eventQuery(event):
    """0 when an event has been reached, 600 (cudaErrorNotReady) otherwise."""
    return 0 if _owned[event].done else 600


def eventSynchronize(event):
    """Waits for an event."""
    _owned[event].synchronize()


def eventElapsedTime(start, end):
    """Milliseconds between two events."""
    return _treadle.get_elapsed_time(_owned[start], _owned[end])


def profilerStart():
    """See ``treadle.cuda.profiler.start``."""
    _treadle._profiler_start(_device())


def profilerStop():
    """See ``treadle.cuda.profiler.stop``."""
    _treadle._profiler_stop(_device())


# The constants of textures stand in treadle.texture.
globals().update({key: value for key, value in vars(_texture).items() if key.startswith("cuda")})
