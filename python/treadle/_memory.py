"""Device memory by hand, and where arrays get theirs."""

import contextlib
import threading

import numpy as np

from . import _treadle
from ._treadle import (
    Memory,
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPointer,
    PinnedMemoryPool,
    ndarray,
)
from .errors import OutOfMemoryError

__all__ = [
    "ManagedMemory",
    "Memory",
    "MemoryPointer",
    "MemoryPool",
    "OutOfMemoryError",
    "PinnedMemoryPointer",
    "PinnedMemoryPool",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "get_allocator",
    "get_default_memory_pool",
    "get_default_pinned_memory_pool",
    "malloc_managed",
    "set_allocator",
    "set_pinned_memory_allocator",
    "using_allocator",
]


def ManagedMemory(size):
    """``size`` bytes that host and device share."""
    return _treadle._managed_memory(size)


def UnownedMemory(ptr, size, owner, device_id=-1):
    """Memory that somebody else made: ``size`` bytes at ``ptr``, alive as long as ``owner`` is.

    ``ndarray(shape, dtype, MemoryPointer(UnownedMemory(...), offset))`` is an array over it, without a copy.
    """
    return _treadle._unowned_memory(ptr, size, owner, device_id)


def from_cuda_array_interface(a, wait=True):
    """An array over the memory of an object with ``__cuda_array_interface__``, without a copy.

    The current stream of the memory's device waits for the stream that the object names, unless ``wait`` is false. A
    read-only object gives a read-only array.
    """
    face = a.__cuda_array_interface__
    if face.get("mask") is not None:
        raise TypeError("__cuda_array_interface__: an array with a mask is not supported")
    shape, dtype = tuple(face["shape"]), np.dtype(face["typestr"])
    strides, readonly = face.get("strides"), face["data"][1]
    if wait:
        wait_for_producer(face)
    if 0 in shape:
        return ndarray(shape, dtype)
    result = ndarray(shape, dtype, interface_memory(face, dtype.itemsize, a), strides)
    return result._broadcast_to(shape) if readonly else result


def device_of(face):
    """The number of the device whose memory a CUDA array interface describes; -1, the current one, if it is unknown."""
    found = _treadle._device_at(face["data"][0]) if 0 not in face["shape"] else None
    return -1 if found is None else found


def producer_of(face):
    """The stream that a CUDA array interface names, or None."""
    stream = face.get("stream")
    if stream == 0:
        raise ValueError(
            "__cuda_array_interface__: stream 0 is ambiguous; the object must name 1 or 2"
        )
    return None if stream is None else _treadle.ExternalStream(int(stream), device_of(face))


def wait_for_producer(face):
    """Work of the current stream waits for the stream that a CUDA array interface names."""
    stream = producer_of(face)
    if stream is not None:
        with stream.device:
            done = _treadle.Event(disable_timing=True)
            done.record(stream)
            _treadle.get_current_stream().wait_event(done)


def steps_of(face, itemsize):
    """The strides that a CUDA array interface states or, by stating none, those of C order."""
    strides = face.get("strides")
    if strides is not None:
        return tuple(strides)
    steps, step = [], itemsize
    for n in reversed(face["shape"]):
        steps.insert(0, step)
        step *= n
    return tuple(steps)


def interface_memory(face, itemsize, owner):
    """A pointer to the first element that a CUDA array interface describes, in memory that holds them all."""
    steps = steps_of(face, itemsize)
    reaches = [step * (n - 1) for step, n in zip(steps, face["shape"], strict=True)]
    low = sum(min(reach, 0) for reach in reaches)
    high = sum(max(reach, 0) for reach in reaches) + itemsize
    memory = UnownedMemory(face["data"][0] + low, high - low, owner, device_of(face))
    return MemoryPointer(memory, -low)


# ---- copies through a pointer ----


def _address(memory):
    """The address of an int, a ctypes pointer, a pointer of ours or something with a buffer's address."""
    value = getattr(memory, "value", memory)
    value = getattr(value, "ptr", value)
    return 0 if value is None else int(value)


def _on(stream):
    return contextlib.nullcontext() if stream is None else stream


def _check(self, size):
    if size < 0 or size > self.nbytes:
        raise ValueError(f"{size} bytes do not fit into the {self.nbytes} bytes behind the pointer")


def _copy_from(self, mem, size):
    """Copies ``size`` bytes from the device or the host; returns when they are there."""
    _check(self, size)
    _treadle._copy_memory(self.ptr, _address(mem), size, True)


def _copy_from_async(self, mem, size, stream=None):
    """Copies ``size`` bytes from the device or the host in the order of ``stream``."""
    _check(self, size)
    with _on(stream):
        _treadle._copy_memory(self.ptr, _address(mem), size, False)


def _copy_to(self, mem, size):
    """Copies ``size`` bytes to the host; returns when they are there."""
    _check(self, size)
    _treadle._copy_memory(_address(mem), self.ptr, size, True)


def _copy_to_async(self, mem, size, stream=None):
    """Copies ``size`` bytes to the host in the order of ``stream``."""
    _check(self, size)
    with _on(stream):
        _treadle._copy_memory(_address(mem), self.ptr, size, False)


def _memset(self, value, size):
    """Fills ``size`` bytes."""
    _check(self, size)
    _treadle._fill_memory(self.ptr, value & 255, size, True)


def _memset_async(self, value, size, stream=None):
    """Fills ``size`` bytes in the order of ``stream``."""
    _check(self, size)
    with _on(stream):
        _treadle._fill_memory(self.ptr, value & 255, size, False)


for _name in ("copy_from", "copy_from_device", "copy_from_host"):
    setattr(MemoryPointer, _name, _copy_from)
    setattr(MemoryPointer, f"{_name}_async", _copy_from_async)
MemoryPointer.copy_to_host, MemoryPointer.copy_to_host_async = _copy_to, _copy_to_async
MemoryPointer.memset, MemoryPointer.memset_async = _memset, _memset_async

# ---- pools and allocators ----


def _set_limit(self, size=None, fraction=None):
    """The most bytes that the pool may hold, in use and cached: a size, or a fraction of the device's memory.

    0, or nothing at all, lifts the limit.
    """
    if (size is None) == (fraction is None):
        if size is not None:
            raise ValueError("size and fraction cannot be given together")
        size = 0
    if fraction is not None:
        if not 0 <= fraction <= 1:
            raise ValueError(f"fraction is {fraction}; it must be from 0 to 1")
        size = int(fraction * _treadle.Device().mem_info[1])
    if size < 0:
        raise ValueError(f"size is {size}; it must not be negative")
    self._set_limit(size)


def _free_all_blocks(self, stream=None):
    """Gives cached memory back to the driver. Blocks of every stream go, whatever ``stream`` is."""
    self._free_all_blocks()


MemoryPool.set_limit = _set_limit
MemoryPool.free_all_blocks = _free_all_blocks
_default_pool = _treadle._standard_pools()
MemoryPool._is_default = property(lambda self: self is _default_pool)


def get_default_memory_pool():
    """The pool that arrays use by default; its numbers are those of the current device."""
    return _default_pool


def alloc(size):
    """``size`` bytes from the allocator that arrays use; a MemoryPointer."""
    return get_allocator()(size)


def malloc_managed(size):
    """``size`` bytes that host and device share; a MemoryPointer. An allocator, and one for ``MemoryPool``."""
    return MemoryPointer(_treadle._managed_memory(size), 0)


malloc_managed._treadle_source = "managed"


def _malloc(size):
    """``size`` bytes straight from the driver."""
    return MemoryPointer(Memory(size), 0)


_current = _default_pool.malloc
_stack = threading.local()


def set_allocator(allocator=None):
    """Where arrays of the process get their memory from now on.

    ``pool.malloc``, ``malloc_managed``, or a function of a size that returns a MemoryPointer. None means the driver
    itself, without a pool. ``get_default_memory_pool().malloc`` is the state at the beginning.
    """
    global _current
    if getattr(_stack, "list", None):
        raise ValueError("set_allocator cannot be called inside of using_allocator")
    _treadle._set_allocator(allocator)
    _current = _malloc if allocator is None else allocator


def get_allocator():
    """The allocator that arrays of this thread use."""
    stack = getattr(_stack, "list", None)
    return stack[-1] if stack else _current


@contextlib.contextmanager
def using_allocator(allocator=None):
    """Arrays that this thread makes inside get their memory from ``allocator``; see ``set_allocator``."""
    _treadle._push_allocator(allocator)
    if not hasattr(_stack, "list"):
        _stack.list = []
    _stack.list.append(_malloc if allocator is None else allocator)
    try:
        yield
    finally:
        _stack.list.pop()
        _treadle._pop_allocator()


# ---- pinned memory ----

_default_pinned_pool = _treadle._standard_pinned_pool()
_pinned_allocator = _default_pinned_pool.malloc


def get_default_pinned_memory_pool():
    """The pool of ``alloc_pinned_memory``."""
    return _default_pinned_pool


def set_pinned_memory_allocator(allocator=None):
    """Where ``alloc_pinned_memory`` takes memory: a function of a size. None means the driver itself."""
    global _pinned_allocator
    _pinned_allocator = _treadle._pinned_memory if allocator is None else allocator


def alloc_pinned_memory(size):
    """``size`` bytes of page-locked host memory, which the device copies faster; it has a buffer for NumPy.

    ``numpy.frombuffer(mem, dtype, count)`` is an array over it.
    """
    return _pinned_allocator(size)
