"""NumPy arrays whose memory kernels reach as well: page-locked, mapped and managed."""

import contextlib
import ctypes

import numpy as np

from .. import _memory, _treadle
from .._treadle import MemoryPointer, ndarray
from ._devicearray import _shape, like, plain
from ._structured import StructuredArray


def managed_buffer(bytesize):
    """Memory that host and device share, as an array of bytes of ctypes; ``ptr`` is its address."""
    kind = type("ManagedBuffer", (ctypes.c_char * int(bytesize),), {"__cuda_memory__": True})
    memory = _treadle._managed_memory(max(int(bytesize), 1))
    found = kind.from_address(memory.ptr)
    found.memory, found.ptr = memory, memory.ptr
    found.device_ctypes_pointer = ctypes.c_size_t(memory.ptr)
    return found


class _HostArray(np.ndarray):
    """A NumPy array over memory of the device's address space."""

    _keep, stream = None, 0

    def __array_finalize__(self, obj):
        self._keep, self.stream = getattr(obj, "_keep", None), getattr(obj, "stream", 0)

    def __treadle_view__(self):
        """The same memory as a device array."""
        return device_view(self, self._keep)

    @property
    def __cuda_array_interface__(self):
        return self.__treadle_view__().bind(self.stream).__cuda_array_interface__

    def copy_to_host(self, ary=None, stream=0):
        """The values as another NumPy array; waits for the device."""
        _wait(stream)
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary, stream=0):
        """Copies values into the array; waits for the device."""
        _wait(stream)
        self[...] = ary.copy_to_host() if hasattr(ary, "copy_to_host") else ary


class MappedNDArray(_HostArray):
    """Page-locked host memory that kernels read and write directly."""


class ManagedNDArray(_HostArray):
    """Memory that moves between host and device as it is used."""


def _wait(stream):
    if stream:
        stream.synchronize()
    else:
        _treadle.Device().synchronize()


def extent(host):
    """(first byte, size, place of the first element behind it) of the memory of a NumPy array."""
    address = host.__array_interface__["data"][0]
    if not host.size:
        return address, 0, 0
    low = sum(min(0, s * (n - 1)) for n, s in zip(host.shape, host.strides))
    high = sum(max(0, s * (n - 1)) for n, s in zip(host.shape, host.strides))
    return address + low, high - low + host.dtype.itemsize, -low


def device_view(host, owner, address=None):
    """A device array over host memory that the device reaches at ``address``, or at the host's own."""
    begin, size, place = extent(host)
    if not size:
        return _treadle.empty(host.shape, host.dtype)
    memory = _memory.UnownedMemory(begin if address is None else address, size, (owner, host))
    if plain(host.dtype):
        return ndarray(host.shape, host.dtype, MemoryPointer(memory, place), host.strides)
    raw = ndarray((size,), np.uint8, MemoryPointer(memory, 0))
    return StructuredArray(host.shape, host.strides, host.dtype, raw, place)


def _over(buffer, cls, shape, dtype, strides, order, stream=0):
    array = np.ndarray(_shape(shape), dtype, buffer, strides=strides, order=order)
    if cls is not np.ndarray:
        array = array.view(cls)
        array._keep, array.stream = buffer, stream
    return array


def _bytes(shape, dtype, strides):
    dtype, shape = np.dtype(dtype), _shape(shape)
    if strides is None or 0 in shape:
        return max(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize, 1)
    return sum(abs(s) * (n - 1) for n, s in zip(shape, strides)) + dtype.itemsize


def pinned_array(shape, dtype=np.float64, strides=None, order="C"):
    """A NumPy array in page-locked memory, not initialised."""
    buffer = _memory.alloc_pinned_memory(_bytes(shape, dtype, strides))
    return _over(buffer, np.ndarray, shape, dtype, strides, order)


def mapped_array(
    shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False
):
    """A NumPy array in page-locked memory that kernels reach without a copy, not initialised."""
    buffer = _memory.alloc_pinned_memory(_bytes(shape, dtype, strides))
    return _over(buffer, MappedNDArray, shape, dtype, strides, order, stream)


def managed_array(shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True):
    """A NumPy array in memory that host and device share, not initialised."""
    buffer = managed_buffer(_bytes(shape, dtype, strides))
    return _over(buffer, ManagedNDArray, shape, dtype, strides, order, stream)


pinned_array_like, mapped_array_like = like(pinned_array), like(mapped_array)


@contextlib.contextmanager
def pinned(*arylist):
    """Page-locks NumPy arrays for a block, so that copies of them are faster."""
    with contextlib.ExitStack() as stack:
        for array in arylist:
            stack.enter_context(_Registered(array))
        yield


class _Registered:
    """A NumPy array whose memory is page-locked."""

    def __init__(self, array):
        self.array = array

    def __enter__(self):
        begin, size, _ = extent(self.array)
        self.lock = _treadle._LockedPages(begin, size) if size else None
        return self

    def __exit__(self, *error):
        _treadle.Device().synchronize()
        if self.lock is not None:
            self.lock.release()


@contextlib.contextmanager
def mapped(*arylist, stream=0):
    """Page-locks NumPy arrays for a block and gives device arrays over their memory."""
    from ._devicearray import wrap

    with contextlib.ExitStack() as stack:
        found = []
        for array in arylist:
            lock = stack.enter_context(_Registered(array)).lock
            view = device_view(array, lock, lock and lock.device_address)
            found.append(wrap(view, stream) if isinstance(view, ndarray) else view)
        yield found[0] if len(found) == 1 else found


@contextlib.contextmanager
def defer_cleanup():
    """A block in which no memory is given back to the driver. Treadle's pool never does so while it has work."""
    yield


def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    """Not there: memory of another process."""
    raise NotImplementedError(
        "open_ipc_array: arrays of other processes cannot be opened yet; send the values through host memory"
    )
