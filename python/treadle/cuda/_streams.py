"""Streams, events and profiling by Numba's names. The classes are those of ``treadle.cuda``."""

import contextlib

from .. import _treadle
from . import profiler
from .stream import Event, ExternalStream, Stream


def default_stream():
    """Stream 0 of the current device."""
    return Stream.null


def legacy_default_stream():
    """The default stream that waits for every other."""
    return ExternalStream(1)


def per_thread_default_stream():
    """The default stream of this thread."""
    return ExternalStream(2)


def external_stream(ptr):
    """A stream that somebody else made, by its address; an object with ``__cuda_stream__`` is taken as well."""
    return (
        Stream.from_external(ptr) if hasattr(ptr, "__cuda_stream__") else ExternalStream(int(ptr))
    )


def event(timing=True):
    """A new event; without ``timing`` it is cheaper."""
    return Event(disable_timing=not timing)


def event_elapsed_time(evtstart, evtend):
    """Milliseconds between two events."""
    return _treadle.get_elapsed_time(evtstart, evtend)


@contextlib.contextmanager
def profiling():
    """Tells a profiler that watches the process to look at this block only."""
    profiler.start()
    try:
        yield
    finally:
        profiler.stop()


profile_start, profile_stop = profiler.start, profiler.stop
