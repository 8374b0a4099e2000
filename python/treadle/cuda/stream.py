"""What ``Stream`` and ``Event`` have besides order: host functions, capture into a graph, Numba's names.

The module can be called: ``cuda.stream()`` is a new stream.
"""

import contextlib
import sys
import types

from .. import _treadle
from .._treadle import Event, ExternalStream, Graph, Stream, get_current_stream, get_elapsed_time

__all__ = ["Event", "ExternalStream", "Graph", "Stream", "get_current_stream", "get_elapsed_time"]

# cudaStreamCaptureMode
_MODES = (0, 1, 2)
_RELAXED = 2


def _launch_host_func(self, callback, arg=None):
    """Calls ``callback(arg)`` on a thread of the driver when the work in front of it has finished.

    Later work waits for its return. The callback must not use the device. Its errors are printed, not raised.
    """
    if not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    self._launch_host_func(callback, arg)


def _add_callback(self, callback, arg=None):
    """Calls ``callback(stream, status, arg)`` as ``launch_host_func`` does; the status is 0."""
    if not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    self._launch_host_func(lambda a: callback(self, 0, a), arg)


def _begin_capture(self, mode=None):
    """Notes the stream's work instead of running it, until ``end_capture``.

    ``mode`` is one of ``runtime.streamCaptureModeGlobal``, ``…ThreadLocal`` and ``…Relaxed`` (the default). Memory
    that arrays get on the stream meanwhile belongs to the graph as long as it lives. Results of the captured
    operations have no values before the graph is launched.
    """
    mode = _RELAXED if mode is None else mode
    if mode not in _MODES:
        raise ValueError(f"mode is {mode}; it must be one of {_MODES}")
    _treadle._begin_capture(self, mode)


def _is_capturing(self):
    """True between ``begin_capture`` and ``end_capture``."""
    return _treadle._is_capturing(self)


def _end_capture(self):
    """Ends the capture; the ``Graph`` of the noted work. CUDAError when something spoilt it."""
    return _treadle._end_capture(self)


def _from_external(obj):
    """A stream that another library made, by the protocol ``__cuda_stream__``; it keeps ``obj`` alive."""
    protocol = getattr(obj, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(f"a {type(obj).__name__} has no __cuda_stream__, so it is not a stream")
    answer = protocol()
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise TypeError(f"__cuda_stream__ must return a 2-tuple, not {answer!r}")
    if not all(isinstance(number, int) for number in answer):
        raise TypeError(f"__cuda_stream__ must return (int, int), not {answer!r}")
    if answer[0] != 0:
        raise TypeError(
            f"__cuda_stream__ of an unsupported version: {answer[0]}; version 0 is known"
        )
    return ExternalStream(answer[1], _owner=obj)


# ---- Numba's names ----


@contextlib.contextmanager
def _auto_synchronize(self):
    """A block that waits for the stream at its end."""
    yield self
    self.synchronize()


def _async_done(self):
    """An awaitable that ends when the work in front of it has finished, with the stream as its result."""
    import asyncio

    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def resolve():
        if not future.done():
            future.set_result(self)

    self._launch_host_func(lambda _: loop.call_soon_threadsafe(resolve), None)
    return future


def _which(stream):
    if stream is None or (isinstance(stream, int) and stream == 0):
        return None
    return stream if isinstance(stream, Stream) else _from_external(stream)


_record_event = Event.record


def _record(self, stream=None):
    """Marks the present end of the work of a stream; None and 0: of the current one."""
    _record_event(self, _which(stream))


def _wait(self, stream=0):
    """Later work of a stream waits for the event."""
    (_which(stream) or get_current_stream()).wait_event(self)


def _elapsed_time(self, evtend):
    """Milliseconds from this event to another."""
    return get_elapsed_time(self, evtend)


Stream.auto_synchronize, Stream.async_done = _auto_synchronize, _async_done
Stream.handle = property(lambda self: self.ptr, doc="The address of the CUstream.")
Stream.external = property(
    lambda self: isinstance(self, ExternalStream), doc="True when another library made the stream."
)
Stream.__int__ = lambda self: self.ptr
Event.record, Event.wait, Event.elapsed_time = _record, _wait, _elapsed_time
Event.query = lambda self: self.done
Event.handle = property(lambda self: self.ptr, doc="The address of the CUevent.")


class _Callable(types.ModuleType):
    def __call__(self):
        """A new stream."""
        return Stream()


sys.modules[__name__].__class__ = _Callable

Stream.from_external = staticmethod(_from_external)
Stream.is_non_blocking = property(lambda self: self.non_blocking)
Stream.launch_host_func = _launch_host_func
Stream.add_callback = _add_callback
Stream.begin_capture = _begin_capture
Stream.is_capturing = _is_capturing
Stream.end_capture = _end_capture
