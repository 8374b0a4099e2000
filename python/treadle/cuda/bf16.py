"""bfloat16 in kernels written in Python: the type, and functions of it by Numba's names.

``bfloat16(x)`` converts a number and is a dtype of ``shared.array`` and ``local.array``; ``hadd``, ``hfma``, ``hexp`` …
compute with one rounding, ``float32_to_bfloat16_rz`` … and ``bfloat16_to_int32_ru`` … round to a side.
"""

from .._jit.bfloat16_calls import FUNCTIONS as _FUNCTIONS
from .._jit.types import bfloat16

globals().update(_FUNCTIONS)
__all__ = ["bfloat16", *_FUNCTIONS]
