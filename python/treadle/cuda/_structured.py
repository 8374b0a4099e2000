"""Device arrays of records, dates and characters, and single records: bytes with a dtype.

Views are computed by NumPy on an array of the same shape and strides at an address that is never read.
"""

import numpy as np

from .. import _treadle
from .._creation import asnumpy


class _Address:
    """Something that NumPy makes an array at a made-up address of."""

    BASE = 1 << 40

    def __init__(self, dtype, shape, strides):
        self.__array_interface__ = {
            "shape": shape, "strides": strides, "typestr": f"|V{dtype.itemsize}",
            "data": (self.BASE, False), "version": 3,
        }  # fmt: skip


def _stand_in(dtype, shape, strides):
    return np.asarray(_Address(dtype, shape, strides))


class _OnDevice:
    """What arrays and records share: ``memory`` (a Treadle array of bytes), ``offset`` of the first element,
    ``dtype``."""

    __cuda_memory__ = True

    def bytes_at(self, shape, strides, dtype=np.uint8, offset=0):
        """A Treadle array over these bytes."""
        return _treadle._strided_view(
            self.memory, list(shape), list(strides), self.offset + offset, np.dtype(dtype), True
        )

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    @property
    def gpu_data(self):
        return self.memory.data + self.offset

    @property
    def device_ctypes_pointer(self):
        import ctypes

        return ctypes.c_void_p(self.address)

    @property
    def address(self):
        """Of the first element."""
        return self.memory.data.ptr + self.offset if self.memory.size else 0

    @property
    def device(self):
        return self.memory.device

    @property
    def __cuda_array_interface__(self):
        from ._foreign import interface

        face = self.memory.__cuda_array_interface__
        face |= {
            "shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
            "data": (self.address, False),
        }  # fmt: skip
        if self.dtype.names:
            face["descr"] = self.dtype.descr
        return interface(face, self)

    def _packed(self, words):
        from .._jit.arguments import Packed

        packed = Packed(
            repr(self.__treadle_type__), np.asarray(words, np.int64).tobytes(), len(words)
        )
        packed.type, packed.keep = self.__treadle_type__, self
        return packed

    @property
    def _numba_type_(self):
        return self.__treadle_type__


class StructuredArray(_OnDevice):
    """A device array of a dtype that Treadle's operations do not have."""

    def __init__(self, shape, strides, dtype, memory, offset=0, stream=0):
        self.shape, self.strides, self.dtype = tuple(shape), tuple(strides), np.dtype(dtype)
        self.memory, self.offset, self.stream = memory, offset, stream
        self.ndim = len(self.shape)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self._stand_in = _stand_in(self.dtype, self.shape, self.strides)

    @property
    def flags(self):
        from .._array import Flags

        own = self._stand_in.flags
        return Flags(own.c_contiguous, own.f_contiguous, True, False)

    @property
    def alloc_size(self):
        from ._devicearray import extent

        return extent(self)

    def is_c_contiguous(self):
        """True for C order."""
        return self.flags.c_contiguous

    def is_f_contiguous(self):
        """True for F order."""
        return self.flags.f_contiguous

    def __len__(self):
        return self.shape[0]

    @property
    def __treadle_type__(self):
        from .._jit import types

        layout = types.layout_of(self._stand_in)
        return types.Array(types.from_dtype(self.dtype), self.ndim, layout)

    def __treadle_pack__(self):
        if not self.ndim:
            return self._packed([self.address, 1, 0])
        return self._packed([self.address, *self.shape, *self.strides])

    def _of(self, stand_in, stream=0):
        offset = self.offset + stand_in.__array_interface__["data"][0] - _Address.BASE
        return StructuredArray(
            stand_in.shape, stand_in.strides, self.dtype, self.memory, offset, stream or self.stream
        )

    def field(self, name):
        """The values of one field, as a view."""
        from ._devicearray import plain, wrap

        dtype, offset = self.dtype.fields[name][:2]
        shape, strides = self.shape, self.strides
        if dtype.subdtype:
            dtype, inner = dtype.subdtype
            shape, strides = shape + inner, strides + _steps(inner, dtype.itemsize)
        # Treadle's arrays hold elements at multiples of their size only.
        places = (self.offset + offset, *strides)
        if plain(dtype) and not any(place % dtype.itemsize for place in places):
            return wrap(self.bytes_at(shape, strides, dtype, offset), self.stream)
        return StructuredArray(
            shape, strides, dtype, self.memory, self.offset + offset, self.stream
        )

    def __getitem__(self, item):
        return self.getitem(item)

    def getitem(self, item, stream=0):
        """A view; of one element a DeviceRecord, or its value when it is no record."""
        if isinstance(item, str):
            return self.field(item)
        items = item if isinstance(item, tuple) else (item,)
        whole = sum(i is not np.newaxis for i in items) == self.ndim and not any(
            i is Ellipsis or isinstance(i, slice) for i in items
        )
        part = self._of(
            self._stand_in[
                items if Ellipsis in [type(i) for i in items] or whole is False else (*items, ...)
            ]
        )
        if not whole:
            return part
        record = DeviceRecord(self.dtype, stream or self.stream, part.memory, part.offset)
        return record if self.dtype.names else record.copy_to_host(stream=stream)

    def __setitem__(self, key, value):
        self.setitem(key, value)

    def setitem(self, key, value, stream=0):
        """Stores host values of the dtype."""
        if isinstance(key, str):
            self.field(key)[...] = value
            return
        items = key if isinstance(key, tuple) else (key,)
        part = self._of(self._stand_in[(*items, ...) if Ellipsis not in items else items])
        value = value.copy_to_host() if isinstance(value, _OnDevice) else value
        host = np.broadcast_to(np.asarray(value, self.dtype), part.shape)
        part._write(np.ascontiguousarray(host), stream)

    def _write(self, host, stream):
        from ._devicearray import on

        if not self.size:
            return
        width = self.dtype.itemsize
        raw = np.frombuffer(host.tobytes(), np.uint8).reshape(*self.shape, width)
        with on(stream or self.stream):
            target = self.bytes_at((*self.shape, width), (*self.strides, 1))
            _treadle._copy_into(target, _treadle._upload(raw, False))
            target.flush()

    def copy_to_host(self, ary=None, stream=0):
        """The values as a NumPy array, or in ``ary``."""
        from ._devicearray import on

        if ary is None:
            order = "F" if self.flags.f_contiguous and not self.flags.c_contiguous else "C"
            ary = np.empty(self.shape, self.dtype, order)
        elif ary.dtype != self.dtype:
            raise TypeError(f"incompatible dtype: {self.dtype} vs. {ary.dtype}")
        elif ary.shape != self.shape:
            raise ValueError(f"incompatible shape: {self.shape} vs. {ary.shape}")
        if self.size:
            width = self.dtype.itemsize
            with on(stream or self.stream):
                raw = asnumpy(self.bytes_at((*self.shape, width), (*self.strides, 1)))
            ary[...] = np.frombuffer(raw.tobytes(), self.dtype).reshape(self.shape)
        return ary

    def copy_to_device(self, ary, stream=0):
        """Copies the values of a host array of the same dtype, or of a device array."""
        host = ary.copy_to_host() if isinstance(ary, _OnDevice) else np.asarray(ary)
        if host.dtype != self.dtype:
            raise TypeError(f"incompatible dtype: {self.dtype} vs. {host.dtype}")
        if host.shape != self.shape:
            raise ValueError(f"incompatible shape: {self.shape} vs. {host.shape}")
        self._write(host, stream)

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("`copy=False` is not supported. A copy is always created.")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def bind(self, stream=0):
        """The same memory as an array whose copies use ``stream``."""
        return StructuredArray(
            self.shape, self.strides, self.dtype, self.memory, self.offset, stream
        )

    def reshape(self, *newshape, order="C"):
        """The same memory with another shape; NotImplementedError when the elements would have to move."""
        flags = self._stand_in.flags
        # NumPy would copy, from an address that must not be read.
        if self.size and not (flags.f_contiguous if order == "F" else flags.c_contiguous):
            raise NotImplementedError("operation requires copying")
        return self._of(self._stand_in.reshape(*newshape, order=order))

    def ravel(self, order="C", stream=0):
        """A 1-D view."""
        if order == "A":
            order = "F" if self.is_f_contiguous() else "C"
        return self.reshape(-1, order=order)

    def view(self, dtype):
        """The same bytes as another dtype of the same size."""
        from ._devicearray import plain, wrap

        dtype = np.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise ValueError("view of a structured array: the dtype must have the same size")
        if plain(dtype):
            return wrap(self.bytes_at(self.shape, self.strides, dtype), self.stream)
        return StructuredArray(
            self.shape, self.strides, dtype, self.memory, self.offset, self.stream
        )

    @property
    def T(self):
        return self._of(self._stand_in.T)

    def __reduce__(self):
        from ._devicearray import to_device as make

        return make, (self.copy_to_host(),)

    def __repr__(self):
        return f"<StructuredArray of shape {self.shape} and dtype {self.dtype}>"


class DeviceRecord(_OnDevice):
    """One record, or one element that is no number, in device memory."""

    shape, strides, ndim, size = (), (), 0, 1

    def __init__(self, dtype, stream=0, memory=None, offset=0):
        self.dtype, self.stream, self.offset = np.dtype(dtype), stream, offset
        self.memory = _treadle.empty((self.dtype.itemsize,), np.uint8) if memory is None else memory

    @property
    def alloc_size(self):
        return self.dtype.itemsize

    @property
    def __treadle_type__(self):
        from .._jit import types

        return types.from_dtype(self.dtype)

    def __treadle_pack__(self):
        return self._packed([self.address])

    def _as_array(self):
        return StructuredArray((), (), self.dtype, self.memory, self.offset, self.stream)

    def copy_to_host(self, ary=None, stream=0):
        """The record on the host, or in ``ary``."""
        found = self._as_array().copy_to_host(stream=stream)
        if ary is None:
            return found[()]
        if isinstance(ary, np.void):
            for name in self.dtype.names:
                ary[name] = found[name]
        else:
            ary[()] = found
        return ary

    def copy_to_device(self, ary, stream=0):
        """Copies a record of the same dtype from the host or the device."""
        host = ary.copy_to_host() if isinstance(ary, _OnDevice) else ary
        self._as_array()._write(np.asarray(host), stream)

    def __getitem__(self, item):
        return self.getitem(item)

    def getitem(self, item, stream=0):
        """The value of a field; a view when it is an array or a record."""
        dtype = self.dtype.fields[item][0]
        part = self._as_array().field(item)
        if dtype.subdtype:
            return part
        if dtype.names:
            return DeviceRecord(dtype, stream or self.stream, part.memory, part.offset)
        return part.copy_to_host(stream=stream)[()]

    def __setitem__(self, key, value):
        self.setitem(key, value)

    def setitem(self, key, value, stream=0):
        """Stores the value of a field."""
        part = self._as_array().field(key)
        if isinstance(part, StructuredArray):
            part.setitem(..., value, stream)
        else:
            part.setitem(..., value, stream)

    def __repr__(self):
        return f"<DeviceRecord of dtype {self.dtype}>"


def _steps(shape, itemsize):
    """Strides of C order."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.insert(0, step)
        step *= n
    return tuple(strides)


def empty(shape, dtype, strides=None, order="C", stream=0):
    """An array that is not initialised."""
    dtype = np.dtype(dtype)
    if strides is None:
        strides = (
            _steps(shape, dtype.itemsize)
            if order == "C"
            else _steps(shape[::-1], dtype.itemsize)[::-1]
        )
    size = (
        sum(abs(s) * (n - 1) for n, s in zip(shape, strides)) + dtype.itemsize
        if 0 not in shape
        else 0
    )
    memory = _treadle.empty((size,), np.uint8)
    low = sum(min(0, s * (n - 1)) for n, s in zip(shape, strides)) if size else 0
    return StructuredArray(shape, strides, dtype, memory, -low, stream)


def to_device(host, stream=0, copy=True):
    """The array with the values of a host array."""
    strides = host.strides if host.size else None
    result = empty(host.shape, host.dtype, strides, "C", stream)
    if copy:
        result._write(host, stream)
    return result


def record_to_device(record, stream=0, copy=True):
    """The record in device memory."""
    result = DeviceRecord(record.dtype, stream)
    if copy:
        result.copy_to_device(record)
    return result
