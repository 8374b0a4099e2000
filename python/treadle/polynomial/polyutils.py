"""Coefficients as arrays of one dimension and one dtype, without trailing zeros. Trimming waits for the values."""

import numpy as np

from .. import _treadle
from .._creation import zeros
from .._indexing import _array_like

__all__ = ["as_series", "trimcoef", "trimseq"]


def _length(significant):
    """One more than the place of the last coefficient that counts."""
    places = _treadle._nonzero(significant)[0]
    return int(places[-1]) + 1 if places.size else 0


def trimseq(seq):
    """``seq`` without trailing zeros; one element stays. A view."""
    seq = _array_like(seq, "trimseq")
    if seq.ndim == 0:
        raise TypeError("trimseq: a number is no sequence; use treadle.asarray([number])")
    if seq.ndim != 1:
        raise ValueError("trimseq: the sequence must have one dimension")
    return seq[: max(1, _length(seq))] if seq.size else seq


def as_series(alist, trim=True):
    """The coefficients as 1-D arrays of one floating-point or complex dtype, trimmed with ``trim``.

    ValueError for one that is empty or has more dimensions, or where no dtype holds all.
    """
    if isinstance(alist, _treadle.ndarray) and alist.ndim == 0:
        raise TypeError("as_series takes a sequence of coefficient arrays")
    arrays = [_array_like(a, "as_series") for a in alist]
    arrays = [a.reshape(1) if a.ndim == 0 else a for a in arrays]
    for a in arrays:
        if a.size == 0:
            raise ValueError("Coefficient array is empty")
        if a.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
    if trim:
        arrays = [trimseq(a) for a in arrays]
    kinds = {a.dtype for a in arrays}
    if any(t.kind == "b" for t in kinds):
        raise ValueError("Coefficient arrays have no common type")
    common = np.result_type(
        np.float16 if all(t.kind in "fc" for t in kinds) else np.float64, *kinds
    )
    return [a.astype(common) for a in arrays]


def trimcoef(c, tol=0):
    """The coefficients without trailing ones of magnitude ``tol`` or less; a zero where none is left."""
    if tol < 0:
        raise ValueError("tol must be non-negative")
    (c,) = as_series([c], trim=False)
    length = _length(_treadle.absolute(c) > tol)
    return c[:length].copy() if length else zeros(1, c.dtype)
