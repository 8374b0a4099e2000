"""Cooperative groups for kernels written in Python: ``cg.this_grid().sync()``."""

from .._jit.cooperative import this_grid

__all__ = ["this_grid"]
