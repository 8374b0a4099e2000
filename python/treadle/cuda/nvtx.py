"""Ranges and marks for a profiler's time line, by the names of NVTX.

They do nothing: no library is loaded for them. The functions exist so that annotated programs run.
"""

import contextlib

__all__ = ["Mark", "MarkC", "RangePop", "RangePush", "RangePushC", "available", "mark", "range"]

available = False


def Mark(message, id_color=-1):
    """Does nothing."""


def MarkC(message, color=0):
    """Does nothing."""


def RangePush(message, id_color=-1):
    """Does nothing."""


def RangePushC(message, color=0):
    """Does nothing."""


def RangePop():
    """Does nothing."""


mark = Mark


@contextlib.contextmanager
def range(message, id_color=-1):
    """A range that does nothing."""
    yield
