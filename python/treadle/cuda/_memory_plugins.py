"""Numba's interface for memory managers of other libraries (EMM, version 1): a class whose ``memalloc(size)`` answers
a MemoryPointer. ``set_memory_manager(cls)`` makes all arrays of the process take their memory from it.

Where only a function is to be given, ``treadle.cuda.set_allocator`` is shorter.
"""

import abc
import contextlib
import ctypes
import weakref

from .. import _memory, _treadle


def _view(self, start, stop=None):
    """The pointer ``start`` bytes further on."""
    return self + start


for _class in (_treadle.MemoryPointer, _treadle.PinnedMemoryPointer):
    _class.device_ctypes_pointer = property(lambda self: ctypes.c_size_t(self.ptr))
    for _name in ("handle", "device_pointer", "device_pointer_value"):
        setattr(_class, _name, property(lambda self: self.ptr))
_treadle.MemoryPointer.size = property(lambda self: self.nbytes)  # CuPy's pinned memory has size()
_treadle.MemoryPointer.view = _view

VERSION = 1
_managers = {}  # device -> its manager; empty: memory comes from Treadle's own pools
_state = {"class": None, "before": None}


class _Kept:
    """What must live as long as a piece of memory; ``finalizer`` runs when nothing holds it any more."""

    def __init__(self, owner, finalizer):
        self.owner = owner
        if finalizer is not None:
            weakref.finalize(self, finalizer).atexit = False


class MemoryPointer(_treadle.MemoryPointer):
    """Device memory that somebody else made: ``size`` bytes at ``pointer`` (an integer or an object of ctypes).

    ``finalizer()`` is called when no array and no pointer uses the memory any more. ``owner`` is kept alive.
    """

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        address = getattr(pointer, "value", pointer)
        kept = _Kept(owner, finalizer)
        super().__init__(_treadle._unowned_memory(int(address or 0), int(size), kept, -1), 0)
        self.context, self.owner = context, owner

    def own(self):
        """Another pointer to the same memory, which keeps it as this one does."""
        return self + 0


class AutoFreePointer(MemoryPointer):
    """The same: memory is always given back when the last user goes."""


class MappedMemory(MemoryPointer):
    """Page-locked host memory that the device reaches."""


class PinnedMemory(MemoryPointer):
    """Page-locked host memory."""


class IpcHandle:
    """What a manager's ``get_ipc_handle`` answers; other processes' memory cannot be opened here yet."""

    def __init__(self, base, handle, size, source_info=None, offset=0):
        self.base, self.handle, self.size = base, handle, size
        self.source_info, self.offset = source_info, offset


class IpcArrayHandle:
    """A manager's handle of an array's memory, with what describes the array."""

    def __init__(self, ipc_handle, array):
        self._ipc_handle = ipc_handle
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype

    def open(self):
        raise NotImplementedError("arrays of other processes cannot be opened yet")


class BaseCUDAMemoryManager(abc.ABC):
    """What a manager must have."""

    def __init__(self, *args, **kwargs):
        if "context" not in kwargs:
            raise RuntimeError("Memory manager requires a context")
        self.context = kwargs.pop("context")

    @abc.abstractmethod
    def memalloc(self, size):
        """A MemoryPointer to ``size`` bytes."""

    @abc.abstractmethod
    def memhostalloc(self, size, mapped, portable, wc):
        """Page-locked host memory."""

    @abc.abstractmethod
    def mempin(self, owner, pointer, size, mapped):
        """Page-locks host memory."""

    @abc.abstractmethod
    def initialize(self):
        """Called before the first memory is asked for."""

    @abc.abstractmethod
    def get_ipc_handle(self, memory):
        """A handle for other processes."""

    @abc.abstractmethod
    def get_memory_info(self):
        """A MemoryInfo (free, total), in bytes."""

    @abc.abstractmethod
    def reset(self):
        """Called when a context is reset."""

    @abc.abstractmethod
    def defer_cleanup(self):
        """A context in which no memory is given back."""

    @property
    @abc.abstractmethod
    def interface_version(self):
        """1."""


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """A manager of which only the device's memory is to be written: host memory is page-locked by Treadle."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        return self.context._memhostalloc(size)

    def mempin(self, owner, pointer, size, mapped=False):
        return self.context._mempin(owner, pointer, size)

    def reset(self):
        pass

    def defer_cleanup(self):
        return contextlib.nullcontext()


class GetIpcHandleMixin:
    """``get_ipc_handle`` of a manager whose memory the driver made."""

    def get_ipc_handle(self, memory):
        raise no_ipc_handle()


def no_ipc_handle():
    """The error that memory of the driver has no handle for other processes here."""
    return NotImplementedError(
        "get_ipc_handle: arrays cannot be shared with other processes yet; copy through host memory"
    )


def manager_of(device):
    """The manager that a plug-in made for a device, or None."""
    return _managers.get(device)


def active():
    """True when plug-ins give the memory."""
    return _state["before"] is not None


def use(device, manager):
    """Makes arrays of a device take their memory from a manager; None: from where they did before."""
    if manager is None:
        _managers.pop(device, None)
    else:
        manager.initialize()
        _managers[device] = manager
    _switch()


def _switch():
    wanted = bool(_managers) or _state["class"] is not None
    if wanted and _state["before"] is None:
        _state["before"] = _memory.get_allocator()
        _memory.set_allocator(_allocate)
    elif not wanted and _state["before"] is not None:
        _memory.set_allocator(_state["before"])
        _state["before"] = None


def _allocate(size):
    from ._contexts import current_context

    context = current_context()
    manager = _managers.get(context.device)
    if manager is None and _state["class"] is not None:
        manager = _managers[context.device] = _state["class"](context=context)
        manager.initialize()
    return manager.memalloc(size) if manager is not None else _state["before"](size)


def set_memory_manager(mm_plugin):
    """Arrays take their memory from ``mm_plugin(context=…)``, one for each device, from now on.

    RuntimeError: its ``interface_version`` is not 1. TypeError: it is no class. Memory that arrays have already stays
    where it is.
    """
    if not isinstance(mm_plugin, type):
        raise TypeError(f"set_memory_manager takes a class of managers, not {mm_plugin!r}")
    found = mm_plugin(context=None).interface_version
    if found != VERSION:
        raise RuntimeError(f"EMM Plugin interface has version {found} - version {VERSION} required")
    _managers.clear()
    _state["class"] = mm_plugin
    _switch()
