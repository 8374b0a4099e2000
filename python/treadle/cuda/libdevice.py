"""NVIDIA's libdevice functions for kernels written in Python: ``libdevice.rsqrt(x)``, ``libdevice.sincosf(x)`` …

The names are libdevice's without ``__nv_``. Results through pointers come back in a tuple: ``sin, cos = sincosf(x)``,
``mantissa, exponent = frexp(x)``. ``nan`` and ``nanf`` are left out: they take a string's address.
"""

from .._jit.libdevice import FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS)
__all__ = list(_FUNCTIONS)
