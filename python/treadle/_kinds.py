"""What kind of numbers a dtype holds, for NumPy's dtypes and for bfloat16, whose own ``kind`` says "V"."""

import numpy as np


def kind_of(dtype):
    """``dtype.kind``: b, i, u, f or c; "f" for bfloat16."""
    kind = dtype.kind
    return "f" if kind == "V" and dtype.name == "bfloat16" else kind


def is_half(dtype):
    """float16 and bfloat16: what is computed in float32 and rounded once."""
    return dtype.itemsize == 2 and kind_of(dtype) == "f"


def limits_of(dtype):
    """``numpy.finfo``, for bfloat16 that of ml_dtypes."""
    if dtype.kind != "V":
        return np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)
