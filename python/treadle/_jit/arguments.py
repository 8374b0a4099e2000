"""Arguments of launches: their types, and what is not a device array yet."""

import contextlib
import enum
import sys
import warnings

import numpy as np

from .. import _treadle
from ..cuda import _foreign
from . import settings
from . import types as ty
from .errors import TypingError
from .special_values import argument, pack_word
from .values import type_of_number


class NumbaWarning(Warning):
    """A warning about a kernel or its launch."""


class NumbaPerformanceWarning(NumbaWarning):
    """Something that makes a launch slow."""


def warn(text):
    """A NumbaPerformanceWarning at the program's own line."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith("treadle."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, NumbaPerformanceWarning, stacklevel=level)


def typeof(value):
    """The type that a kernel sees for an argument."""
    if isinstance(value, _treadle.ndarray):
        dtype = ty.from_dtype(value.dtype)
        return ty.Array(dtype, value.ndim, ty.layout_of(value), not value.flags.writeable)
    number = type_of_number(value)
    if number is not None:
        return number
    if value is None:
        return ty.none
    if isinstance(value, tuple):
        cls = type(value) if hasattr(value, "_fields") else None
        return ty.Tuple([typeof(v) for v in value], cls)
    found = getattr(value, "__treadle_type__", None)
    if found is not None:
        return found
    if isinstance(value, Packed):
        return value.type
    if isinstance(value, np.void) and value.dtype.names:
        return ty.Record(value.dtype)
    if isinstance(value, ArgHint):
        return typeof(value.value)
    special = argument(value)
    if special is not None:
        return special[0]
    if isinstance(value, np.ndarray):
        dtype = ty.from_dtype(value.dtype)
        return ty.Array(dtype, value.ndim, ty.layout_of(value), not value.flags.writeable)
    if _foreign.is_foreign(value):
        return _foreign.type_of(value)
    raise TypingError(f"a kernel cannot take a {type(value).__name__}: {value!r:.80}")


class Packed(_treadle._PackedValue):
    """The bytes of a parameter that Python has put together; ``type`` is its type, ``keep`` what its addresses need."""


class Adapted:
    """Arguments as the launcher takes them. Host arrays are copied to the device, and back at the end."""

    def __init__(self, args, dispatcher, launch):
        self.args, self.dispatcher, self.stream = args, dispatcher, launch.stream
        self.back, self.retrieve = [], []

    def __enter__(self):
        with self.stream or contextlib.nullcontext():
            return tuple(self.adapt(a, True) for a in self.args)

    def __exit__(self, kind, value, trace):
        if kind is None:
            with self.stream or contextlib.nullcontext():
                for host, device in self.back:
                    if host.size:
                        device.copy_to_host(host)
                for action in self.retrieve:
                    action()

    def adapt(self, value, outermost=False):
        for extension in self.dispatcher.extensions[::-1] if outermost else ():
            stream = self.stream or 0
            _, value = extension.prepare_args(
                typeof_or_none(value), value, stream=stream, retr=self.retrieve
            )
        if isinstance(value, (In, Out, InOut)):
            return value.stage(self)
        if isinstance(value, np.void):
            return self.stage(value, True, True)
        if isinstance(value, Packed) or value is None or type_of_number(value) is not None:
            return value if not isinstance(value, enum.Enum) else value.value
        if hasattr(value, "__treadle_view__"):
            value = value.__treadle_view__()
        if isinstance(value, _treadle.ndarray):
            return value
        if hasattr(value, "__treadle_pack__"):
            return value.__treadle_pack__()
        if isinstance(value, np.ndarray):
            if settings.CUDA_WARN_ON_IMPLICIT_COPY and not settings.DISABLE_PERFORMANCE_WARNINGS:
                warn(
                    f"kernel '{self.dispatcher.py_func.__name__}': Host array used in CUDA kernel will incur copy "
                    f"overhead to/from device."
                )
            return self.stage(value, True, True)
        if isinstance(value, tuple):
            items = [self.adapt(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        special = argument(value)
        if special is not None:
            return pack_word(*special)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value)
        if hasattr(value, "__dlpack__") or _foreign.interface_of(value) is not None:
            if _foreign.on_host(value):  # another library's array in host memory: as NumPy's own
                return self.adapt(np.from_dlpack(value))
            return self.adapt(_foreign.argument_of(value))
        raise TypingError(
            f"kernel '{self.dispatcher.py_func.__name__}' cannot take a {type(value).__name__}; pass arrays, "
            f"numbers, tuples of them or records"
        )

    def stage(self, host, upload, download):
        from .._creation import asarray
        from ..cuda import _devicearray as arrays

        if isinstance(host, np.void):
            device = arrays.to_device(host)
        elif upload:
            plain = arrays.plain(host.dtype)
            device = asarray(host) if plain else arrays.to_device(host)
        else:
            device = arrays.device_array(host.shape, host.dtype)
        if download and host.flags.writeable:
            self.back.append((host, device))
        return self.adapt(device)


def typeof_or_none(value):
    try:
        return typeof(value)
    except TypeError:
        return None


class ArgHint:
    """What a kernel does with a host array or record; other values pass as they are."""

    upload = download = True

    def __init__(self, value):
        self.value = value

    def stage(self, adapted):
        host = isinstance(self.value, (np.ndarray, np.void)) and not hasattr(
            self.value, "__treadle_view__"
        )
        return (
            adapted.stage(self.value, self.upload, self.download)
            if host
            else adapted.adapt(self.value)
        )


class In(ArgHint):
    """A host array that a kernel only reads."""

    download = False


class Out(ArgHint):
    """A host array that a kernel only writes."""

    upload = False


class InOut(ArgHint):
    """A host array that a kernel reads and writes."""


def wrap_arg(value, default=InOut):
    """The value with a hint: its own, or ``default``."""
    return value if isinstance(value, ArgHint) else default(value)
