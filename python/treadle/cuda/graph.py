"""``Graph``, where CuPy has it; ``Stream.end_capture`` makes one."""

from .._treadle import Graph

__all__ = ["Graph"]
