"""Tells a profiler that watches the process (Nsight) when to begin and when to end."""

import contextlib

from .. import _treadle

__all__ = ["profile", "start", "stop"]


def start():
    """cuProfilerStart of the current device; without a profiler it changes nothing."""
    _treadle._profiler_start(_treadle.Device())


def stop():
    """cuProfilerStop of the current device."""
    _treadle._profiler_stop(_treadle.Device())


@contextlib.contextmanager
def profile():
    """``start`` and ``stop`` around a block."""
    start()
    try:
        yield
    finally:
        stop()
