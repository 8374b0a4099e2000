"""Device arrays by Numba's names and rules.

``DeviceNDArray`` is a Treadle array whose elements come to the host when they are indexed, as Numba's do; everything
else
that Treadle arrays can do it can do as well. ``StructuredArray`` is an array of records, dates or characters: dtypes
that
Treadle's own operations do not have, but kernels read and write.
"""

import functools
import math

import numpy as np

from .. import _manipulation, _treadle
from .._creation import asnumpy
from .._treadle import ndarray
from . import _foreign, _memory_plugins, _structured
from ._structured import DeviceRecord, StructuredArray

errmsg_contiguous_buffer = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. Please ensure "
    "contiguous buffer with numpy .ascontiguousarray()"
)


def plain(dtype):
    """True when Treadle's arrays have the dtype."""
    return _is_plain(np.dtype(dtype))


@functools.cache
def _is_plain(dtype):
    try:
        _treadle.empty((0,), dtype.newbyteorder("="))
    except TypeError:
        return False
    return True


def on(stream):
    """A context in which operations go to a stream; 0 and None stand for the current one."""
    from .._jit.dispatcher import to_stream

    found = to_stream(stream)
    return _Nothing() if found is None else found


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


# ---- what every device array of Numba's has ----


def array_core(array):
    """One copy of what a broadcast array repeats."""
    if not array.strides or not array.size:
        return array
    return array[tuple(0 if step == 0 else slice(None) for step in array.strides)]


def is_contiguous(array):
    """C order, not counting repeated axes and those of length 1."""
    size = array.dtype.itemsize
    for n, step in zip(reversed(array.shape), reversed(array.strides)):
        if n > 1 and step != 0:
            if size != step:
                return False
            size *= n
    return True


def check_array_compatibility(a, b):
    """ValueError or TypeError unless a copy of bytes between two arrays is a copy of elements."""
    if a.dtype != b.dtype:
        raise TypeError(f"incompatible dtype: {a.dtype} vs. {b.dtype}")
    first = tuple((n, s) for n, s in zip(a.shape, a.strides) if n != 1)
    second = tuple((n, s) for n, s in zip(b.shape, b.strides) if n != 1)
    if [n for n, _ in first] != [n for n, _ in second]:
        raise ValueError(f"incompatible shape: {a.shape} vs. {b.shape}")
    if a.size and first != second:
        raise ValueError(f"incompatible strides: {a.strides} vs. {b.strides}")


def _contiguous_core(array):
    core = _plain_core(array)
    if not (core.flags["C_CONTIGUOUS"] or core.flags["F_CONTIGUOUS"]):
        raise ValueError(errmsg_contiguous_buffer)
    return core


def _plain_core(array):
    return array_core(_as_plain(array))


def _as_plain(array):
    """The same array without Numba's indexing."""
    return ndarray.__getitem__(array, ...) if isinstance(array, DeviceNDArray) else array


def copy_to_host(self, ary=None, stream=0):
    """The values as a NumPy array, or in ``ary``. With a stream the copy is in its order and may end later."""
    stream = stream or getattr(self, "stream", 0)
    if ary is None:
        order = "F" if self.flags["F_CONTIGUOUS"] and not self.flags["C_CONTIGUOUS"] else "C"
        ary = np.empty(self.shape, self.dtype, order)
    else:
        if ary.dtype != self.dtype:
            raise TypeError(f"incompatible dtype: {self.dtype} vs. {ary.dtype}")
        if _lengths(ary.shape) != _lengths(self.shape):
            raise ValueError(f"incompatible shape: {self.shape} vs. {ary.shape}")
    if not self.size:
        return ary
    source = _as_plain(self)
    if source.shape != ary.shape:
        source = source._reshape(*ary.shape)
    with on(stream):
        asnumpy(source, ary, blocking=not stream)
    return ary


def _lengths(shape):
    return [n for n in shape if n != 1]


def copy_to_device(self, ary, stream=0):
    """Copies the values of a host array, or of a device array of the same layout, into this one."""
    ary = _stored(ary)
    if ary.size == 0:
        return
    stream = stream or getattr(self, "stream", 0)
    core = _contiguous_core(self)
    with self.device, on(stream):
        if isinstance(ary, ndarray):
            source = _contiguous_core(ary)
            if source.device != core.device:
                source = source.to_device(core.device)
            check_array_compatibility(core, source)
            _treadle._copy_into(core, source)
            return
        source = array_core(ary)
        if core.dtype != source.dtype:
            raise TypeError(f"incompatible dtype: {core.dtype} vs. {source.dtype}")
        if _lengths(core.shape) != _lengths(source.shape):
            raise ValueError(f"incompatible shape: {core.shape} vs. {source.shape}")
        order = "C" if core.flags["C_CONTIGUOUS"] else "F"
        source = np.asarray(source.reshape(core.shape), order=order)
        _treadle._copy_into(core, _treadle._upload(source, False))
        core.flush()


def _stored(values):
    """What is stored into an array: a device array, or a NumPy array."""
    if isinstance(values, ndarray):
        return values
    return _foreign.as_cuda_array(values) if _foreign.is_foreign(values) else np.asarray(values)


def split(self, section, stream=0):
    """Parts of ``section`` elements of a 1-D array; the last may be shorter."""
    if self.ndim != 1:
        raise ValueError("only support 1d array")
    if self.strides[0] != self.dtype.itemsize:
        raise ValueError("only support unit stride")
    for i in range(math.ceil(self.size / section)):
        part = self[i * section : (i + 1) * section]
        yield part.bind(stream) if stream else part


def bind(self, stream=0):
    """The same memory as an array whose copies use ``stream``."""
    return wrap(self, stream)


def _ipc(self):
    from ._contexts import current_context

    return _memory_plugins.IpcArrayHandle(current_context().get_ipc_handle(self.data), self)


_METHODS = {
    "copy_to_host": copy_to_host, "copy_to_device": copy_to_device, "split": split, "bind": bind,
    "get_ipc_handle": _ipc,
    "is_c_contiguous": lambda self: self.flags["C_CONTIGUOUS"],
    "is_f_contiguous": lambda self: self.flags["F_CONTIGUOUS"],
    "alloc_size": property(lambda self: extent(self)),
    "gpu_data": property(lambda self: self.data),
    "device_ctypes_pointer": property(lambda self: _pointer(self)),
    "_numba_type_": property(lambda self: _type_of(self)),
    "__cuda_memory__": True,
}  # fmt: skip


def _type_of(array):
    from .._jit.arguments import typeof

    found = typeof(array)
    if array.size and 0 in array.strides:
        found = found.with_layout("A")
    return found


def _pointer(array):
    import ctypes

    return ctypes.c_void_p(array.data.ptr if array.size else 0)


def extent(array):
    """Bytes from the first to the last element."""
    if not array.size:
        return 0
    return sum(abs(s) * (n - 1) for n, s in zip(array.shape, array.strides)) + array.dtype.itemsize


for _name, _value in _METHODS.items():
    setattr(ndarray, _name, _value)


# ---- Numba's own array ----


def wrap(array, stream=0, cls=None):
    """The same memory as a DeviceNDArray."""
    result = _treadle._as_class(cls or DeviceNDArray, array)
    result.stream = stream
    return result


class DeviceNDArray(ndarray):
    """An array that ``to_device`` and ``device_array`` make.

    It is a Treadle array. An index that names one element gives its value on the host, NumPy's conversions copy to
    the host,
    and ``stream`` is the stream of its copies (0: the current one).
    """

    def __init__(self, shape, strides=None, dtype=np.float64, stream=0, gpu_data=None):
        shape = _shape(shape)
        strides = (strides,) if isinstance(strides, int) else strides
        if strides is not None and len(strides) != len(shape):
            raise ValueError("strides not match ndim")
        if gpu_data is None:
            itemsize = np.dtype(dtype).itemsize
            steps = [itemsize] * len(shape) if strides is None else list(strides)
            if strides is None:
                for k in reversed(range(len(shape) - 1)):
                    steps[k] = steps[k + 1] * shape[k + 1]
            low = sum(min(0, s * (n - 1)) for n, s in zip(shape, steps)) if 0 not in shape else 0
            high = sum(max(0, s * (n - 1)) for n, s in zip(shape, steps)) if 0 not in shape else 0
            storage = _treadle.empty((high - low + itemsize,), np.uint8)
            gpu_data = storage.data - low if low else storage.data
            strides = steps
        super().__init__(shape, dtype, gpu_data, strides)
        self.stream = stream

    @property
    def __cuda_array_interface__(self):
        return _foreign.interface(super().__cuda_array_interface__, self)

    def _again(self, array, stream=0):
        return wrap(array, stream or self.stream)

    def __getitem__(self, item):
        return self.getitem(item)

    def getitem(self, item, stream=0):
        """``self[item]`` in the order of a stream."""
        stream = stream or self.stream
        with on(stream):
            part = super().__getitem__(item)
            if part.ndim == 0 and not _keeps_axes(item):
                return asnumpy(part)[()]
        return self._again(part, stream)

    def __setitem__(self, key, value):
        self.setitem(key, value)

    def setitem(self, key, value, stream=0):
        """``self[key] = value`` in the order of a stream; without any it is done when the call returns."""
        stream = stream or self.stream
        value = _stored(value)
        with on(stream):
            if value.ndim:
                _check_store(super().__getitem__(key), value)
            super().__setitem__(
                key, value.astype(self.dtype) if isinstance(value, np.ndarray) else value
            )
            self.flush()
            if not stream:
                _treadle.get_current_stream().synchronize()

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def reshape(self, *newshape, order="C"):
        """The same memory with another shape; NotImplementedError when the elements would have to move."""
        changed = super().reshape(*newshape, order=order)
        return self._again(self._same_memory(changed))

    def ravel(self, order="C", stream=0):
        """A 1-D view; NotImplementedError when the elements would have to move."""
        flags = self.flags
        good = {"C": flags["C_CONTIGUOUS"], "F": flags["F_CONTIGUOUS"]}.get(order, flags.forc)
        if not good:
            raise NotImplementedError("operation requires copying")
        return self._again(_manipulation.ravel(_as_plain(self), order), stream)

    def _same_memory(self, changed):
        if self.size and not _treadle._may_share_memory(self, changed):
            raise NotImplementedError("operation requires copying")
        return changed

    def view(self, dtype=None):
        """The same bytes as another dtype."""
        return self._again(super().view(dtype))

    def squeeze(self, axis=None, stream=0):
        """A view without axes of length 1."""
        return self._again(super().squeeze(axis), stream)

    def transpose(self, *axes):
        """A view with the axes in another order."""
        return self._again(super().transpose(*axes))

    @property
    def T(self):
        return self._again(super().T)

    def __reduce__(self):
        return to_device, (self.copy_to_host(),)


def transpose(a, b=None):
    """The transposed 2-D array as a new array in C order, or in ``b``."""
    if b is None:
        return wrap(_as_plain(a).T.copy("C"))
    b[...] = _as_plain(a).T
    return b


def _keeps_axes(item):
    items = item if isinstance(item, tuple) else (item,)
    return any(i is Ellipsis or isinstance(i, slice) for i in items) and len(items) == 1


def _check_store(part, value):
    if value.ndim > part.ndim:
        raise ValueError(f"Can't assign {value.ndim}-D array to {part.ndim}-D self")
    for i, (n, m) in enumerate(zip(part.shape[part.ndim - value.ndim :], value.shape)):
        if m not in (1, n):
            raise ValueError(
                f"Can't copy sequence with size {m} to array axis {part.ndim - value.ndim + i} with dimension {n}"
            )


def _shape(shape):
    """A shape as a tuple of ints; TypeError for anything else."""
    if isinstance(shape, (int, np.integer)):
        return (int(shape),)
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if isinstance(shape, float):
        raise TypeError(f"shape must be an integer or a sequence of integers, got {shape}")
    shape = tuple(shape)
    for n in shape:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise TypeError(f"shape elements must be integers, got {type(n).__name__}")
    return tuple(int(n) for n in shape)


# ---- making them ----


def to_device(obj, stream=0, copy=True, to=None):
    """A DeviceNDArray with the values of a host array, or ``to`` with them.

    ``copy=False`` only allocates. An array that is on the device already is returned as it is.
    """
    if to is not None:
        if copy:
            to.copy_to_device(
                np.asarray(obj) if not isinstance(obj, ndarray) else obj, stream=stream
            )
        return to
    if isinstance(obj, (ndarray, StructuredArray, DeviceRecord)):
        return obj
    if _foreign.is_foreign(obj):
        return _foreign.as_cuda_array(obj)
    if isinstance(obj, np.void):
        return _structured.record_to_device(obj, stream, copy)
    host = np.asanyarray(obj)
    core = array_core(host)
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise ValueError(errmsg_contiguous_buffer)
    if not plain(host.dtype):
        return _structured.to_device(host, stream, copy)
    with on(stream):
        if copy and core is host:
            return wrap(_treadle._upload(_native(host), False), stream)
        result = DeviceNDArray(host.shape, host.strides, host.dtype, stream)
        if copy:
            result.copy_to_device(host, stream)
        return result


def _native(host):
    return host if host.dtype.isnative else host.astype(host.dtype.newbyteorder("="))


def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
    """A DeviceNDArray that is not initialised."""
    shape = _shape(shape)
    if not plain(dtype):
        return _structured.empty(shape, dtype, strides, order, stream)
    with on(stream):
        if strides is not None:
            return DeviceNDArray(shape, strides, dtype, stream)
        array = _treadle.empty(shape, dtype, order)
        if _memory_plugins.active():
            array.data  # noqa: B018  a plug-in is asked for memory at once, as Numba does it
        return wrap(array, stream)


def _strides_like(array):
    """Strides of a contiguous array in the same order of axes, or None where C or F order will do."""
    if array.flags["C_CONTIGUOUS"] or array.flags["F_CONTIGUOUS"] or array.ndim <= 1:
        return None
    strides, step = [0] * array.ndim, array.dtype.itemsize
    for axis in sorted(range(array.ndim), key=lambda k: array.strides[k]):
        strides[axis] = step
        step *= array.shape[axis]
    return tuple(strides)


def _order_like(array):
    return "F" if array.flags["F_CONTIGUOUS"] and not array.flags["C_CONTIGUOUS"] else "C"


def like(make):
    """The ``_like`` function of a function that makes arrays."""

    @functools.wraps(make)
    def function(ary, **options):
        return make(
            ary.shape, ary.dtype, strides=_strides_like(ary), order=_order_like(ary), **options
        )

    function.__name__ = function.__qualname__ = f"{make.__name__}_like"
    function.__doc__ = f"``{make.__name__}`` with the shape, dtype and order of an array of the host or the device."
    return function


def device_array_like(ary, stream=0):
    """``device_array`` with the shape, dtype and order of an array of the host or the device."""
    return device_array(ary.shape, ary.dtype, _strides_like(ary), _order_like(ary), stream)


def verify_cuda_ndarray_interface(obj):
    """TypeError unless an object is a device array."""
    if not isinstance(obj, (ndarray, StructuredArray)):
        raise TypeError(f"a {type(obj).__name__} is no device array")


def auto_device(obj, stream=0, copy=True, user_explicit=False):
    """(device array, True when it was made here)."""
    on_device = isinstance(obj, (ndarray, StructuredArray, DeviceRecord))
    return (obj, False) if on_device else (to_device(obj, stream, copy), True)


def from_array_like(ary, stream=0, gpu_data=None):
    """A DeviceNDArray with the shape, strides and dtype of another array."""
    return DeviceNDArray(ary.shape, ary.strides, ary.dtype, stream, gpu_data)


def from_record_like(rec, stream=0, gpu_data=None):
    """A DeviceRecord with the dtype of a record."""
    return _structured.record_to_device(rec, stream, False)


DeviceNDArrayBase = DeviceNDArray
