"""What ``Stream`` has besides order: host functions, and capture into a graph."""

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


Stream.launch_host_func = _launch_host_func
Stream.add_callback = _add_callback
Stream.begin_capture = _begin_capture
Stream.is_capturing = _is_capturing
Stream.end_capture = _end_capture
