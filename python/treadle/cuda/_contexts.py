"""Devices and contexts by Numba's names. A context here is a device's primary context: the one that the driver
keeps."""

import collections
import functools
import threading

from .. import _treadle
from . import _memory_plugins

MemoryInfo = collections.namedtuple("MemoryInfo", "free total")

# CUdevice_attribute by the names that Numba's devices have.
_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1, "MAX_BLOCK_DIM_X": 2, "MAX_BLOCK_DIM_Y": 3, "MAX_BLOCK_DIM_Z": 4, "MAX_GRID_DIM_X": 5,
    "MAX_GRID_DIM_Y": 6, "MAX_GRID_DIM_Z": 7, "MAX_SHARED_MEMORY_PER_BLOCK": 8, "TOTAL_CONSTANT_MEMORY": 9,
    "WARP_SIZE": 10, "MAX_PITCH": 11, "MAX_REGISTERS_PER_BLOCK": 12, "CLOCK_RATE": 13, "TEXTURE_ALIGNMENT": 14,
    "GPU_OVERLAP": 15, "MULTIPROCESSOR_COUNT": 16, "MULTI_PROCESSOR_COUNT": 16, "KERNEL_EXEC_TIMEOUT": 17,
    "INTEGRATED": 18, "CAN_MAP_HOST_MEMORY": 19, "COMPUTE_MODE": 20, "CONCURRENT_KERNELS": 31, "ECC_ENABLED": 32,
    "PCI_BUS_ID": 33, "PCI_DEVICE_ID": 34, "TCC_DRIVER": 35, "MEMORY_CLOCK_RATE": 36, "GLOBAL_MEMORY_BUS_WIDTH": 37,
    "L2_CACHE_SIZE": 38, "MAX_THREADS_PER_MULTI_PROCESSOR": 39, "MAX_THREADS_PER_MULTIPROCESSOR": 39,
    "ASYNC_ENGINE_COUNT": 40, "UNIFIED_ADDRESSING": 41, "PCI_DOMAIN_ID": 50, "COMPUTE_CAPABILITY_MAJOR": 75,
    "COMPUTE_CAPABILITY_MINOR": 76, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 81, "MANAGED_MEMORY": 83,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 87, "CONCURRENT_MANAGED_ACCESS": 89, "COOPERATIVE_LAUNCH": 95,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97,
}  # fmt: skip


_held = threading.local()  # the device of a function with require_context


class GPU:
    """A device: ``id``, ``name``, ``compute_capability`` as a pair, and attributes by their names in CUDA, such as
    ``MULTIPROCESSOR_COUNT``."""

    def __init__(self, device):
        self._device = device
        self.id = device.id

    @property
    def name(self):
        return self._device.description

    @property
    def compute_capability(self):
        return self._device.attribute(75), self._device.attribute(76)

    @property
    def uuid(self):
        """A name of the device: its kind and PCI address."""
        return f"{self._device.name.partition(':')[0]}-{_treadle._pci_bus_id(self._device)}"

    supports_float16 = True

    @property
    def supports_bfloat16(self):
        return self.compute_capability >= (8, 0)

    @property
    def supports_fp8(self):
        return self.compute_capability >= (8, 9)

    def __getattr__(self, name):
        number = _ATTRIBUTES.get(name)
        if number is None:
            raise AttributeError(f"a device has no attribute '{name}'")
        return self._device.attribute(number)

    def get_primary_context(self):
        """The device's context."""
        return Context(self)

    def reset(self):
        """Gives back everything on the device."""
        self._device.reset()

    def release_primary_context(self):
        """As ``reset``."""
        self._device.reset()

    def __enter__(self):
        held = getattr(_held, "device", None)
        if held is not None and held != self._device:
            raise RuntimeError(
                f"Cannot switch CUDA-context. A function with @cuda.require_context runs on {held.name}"
            )
        self._device.__enter__()
        return Context(self)

    def __exit__(self, *error):
        return self._device.__exit__(*error)

    def __eq__(self, other):
        return isinstance(other, GPU) and self._device == other._device

    def __hash__(self):
        return hash(self._device)

    def __index__(self):
        return self.id

    def __repr__(self):
        return f"<CUDA device {self.id} {self.name!r}>"


class Context:
    """The context of a device."""

    def __init__(self, device):
        self.device = device

    @property
    def handle(self):
        return self.device.id

    def push(self):
        """Makes the device current."""
        self.device.__enter__()

    def pop(self):
        """Makes the device current that was so before ``push``."""
        self.device.__exit__(None, None, None)

    def synchronize(self):
        """Waits for all work of the device."""
        self.device._device.synchronize()

    def reset(self):
        """Waits for all work, and gives cached memory back. Arrays and modules stay valid."""
        self.synchronize()
        if self._manager is not None:
            self._manager.reset()

    def get_memory_info(self):
        """(free, total) bytes."""
        if self._manager is not None:
            return self._manager.get_memory_info()
        return MemoryInfo(*self.device._device.mem_info)

    def create_stream(self):
        """A new stream."""
        return _treadle.Stream()

    def create_external_stream(self, ptr):
        """A stream that somebody else made, by its address."""
        return _treadle.ExternalStream(int(ptr))

    def get_default_stream(self):
        """Stream 0."""
        return _treadle.Stream.null

    def get_legacy_default_stream(self):
        """The default stream that waits for every other."""
        return _treadle.ExternalStream(1)

    def get_per_thread_default_stream(self):
        """The default stream of this thread."""
        return _treadle.ExternalStream(2)

    def create_event(self, timing=True):
        """A new event."""
        return _treadle.Event(disable_timing=not timing)

    def memalloc(self, bytesize):
        """A pointer to device memory."""
        if self._manager is not None:
            return self._manager.memalloc(bytesize)
        return _treadle.MemoryPointer(_treadle.Memory(bytesize), 0)

    def get_ipc_handle(self, memory):
        """A handle of device memory for other processes, from the plug-in that the memory comes from.

        NotImplementedError for Treadle's own memory.
        """
        if self._manager is not None:
            return self._manager.get_ipc_handle(memory)
        raise _memory_plugins.no_ipc_handle()

    def memhostalloc(self, bytesize, mapped=False, portable=False, wc=False):
        """Page-locked host memory."""
        from .._memory import alloc_pinned_memory

        return alloc_pinned_memory(bytesize)

    def _memhostalloc(self, size):
        return self.memhostalloc(size)

    def _mempin(self, owner, pointer, size):
        return self.mempin(owner, pointer, size)

    def memallocmanaged(self, bytesize, attach_global=True):
        """Memory that host and device share."""
        from ._host_arrays import managed_buffer

        return managed_buffer(bytesize)

    def mempin(self, owner, pointer, size, mapped=False):
        """Page-locks host memory as long as the answer lives."""
        lock = _treadle._LockedPages(int(pointer), int(size))
        lock_owner = (lock, owner)
        return _treadle.MemoryPointer(
            _treadle._unowned_memory(int(pointer), int(size), lock_owner, -1), 0
        )

    def can_access_peer(self, peer_context):
        """True when kernels here can reach the memory of another device."""
        peer = getattr(peer_context, "device", peer_context)
        other = peer._device if isinstance(peer, GPU) else _treadle.Device(int(peer))
        return bool(_treadle._can_access_peer(self.device._device, other))

    def enable_peer_access(self, peer_context, flags=0):
        """Does nothing: access is switched on when it is needed."""

    @property
    def _manager(self):
        return _memory_plugins.manager_of(self.device)

    @property
    def memory_manager(self):
        """The plug-in that the device's memory comes from (``cuda.set_memory_manager``), else Treadle's own pool."""
        from .. import _memory

        return self._manager or _memory.get_default_memory_pool()

    @memory_manager.setter
    def memory_manager(self, manager):
        own = isinstance(manager, _treadle.MemoryPool)
        _memory_plugins.use(self.device, None if own else manager)

    def __enter__(self):
        self.push()
        return self

    def __exit__(self, *error):
        self.pop()

    def __eq__(self, other):
        return isinstance(other, Context) and self.device == other.device

    def __hash__(self):
        return hash(self.device)

    def __repr__(self):
        return f"<CUDA context of {self.device!r}>"


class _GPUs:
    """``cuda.gpus``: the devices of the current kind, as a list; ``current`` is the current one."""

    def _all(self):
        current = _treadle.Device()
        return [GPU(d) for d in _treadle.devices() if d.is_software == current.is_software]

    @property
    def lst(self):
        return self._all()

    @property
    def current(self):
        return get_current_device()

    def __getitem__(self, index):
        return self._all()[index]

    def __len__(self):
        return len(self._all())

    def __iter__(self):
        return iter(self._all())

    def __str__(self):
        return ", ".join(map(str, self._all()))


gpus = _GPUs()


def get_current_device():
    """The current device."""
    return GPU(_treadle.Device())


def current_context(devnum=None):
    """The context of the current device, or of one by its number, which becomes current."""
    if devnum is not None:
        return select_device(devnum).get_primary_context()
    return Context(get_current_device())


get_context = current_context


def select_device(device_id):
    """Makes a device current; the device."""
    device = _treadle.Device(int(device_id))
    device.use()
    return GPU(device)


def list_devices():
    """All devices of the current kind."""
    return gpus


def require_context(function):
    """A decorator for functions that stay on one device: inside, ``with cuda.gpus[other]`` is a RuntimeError."""

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        before = getattr(_held, "device", None)
        _held.device = _treadle.Device()
        try:
            return function(*args, **kwargs)
        finally:
            _held.device = before

    return wrapped


def close():
    """Waits for all work of the current device. Its memory is given back when its arrays die."""
    _treadle.Device().synchronize()


reset = close


def detect():
    """Prints the devices; True when there is one."""
    found = list(gpus)
    print(f"Found {len(found)} CUDA devices")
    for device in found:
        facts = {
            "Compute Capability": "{}.{}".format(*device.compute_capability),
            "PCI Device ID": device.PCI_DEVICE_ID, "PCI Bus ID": device.PCI_BUS_ID, "UUID": device.uuid,
            "Kind": device._device.evidence,
        }  # fmt: skip
        print(f"id {device.id}    {device.name!r}                              [SUPPORTED]")
        for name, fact in facts.items():
            print(f"{name:>40}: {fact}")
    print("Summary:")
    print(f"\t{len(found)}/{len(found)} devices are supported")
    return bool(found)
