"""Discrete Fourier transforms by the names of ``numpy.fft``.

float32, complex64, float16 and bfloat16 are computed in single precision, everything else in double. ``norm``:
"backward" (default) divides the inverse transforms by the number of points, "forward" the forward ones, "ortho" both
by its square root. ``n`` and ``s`` cut or pad with zeros. ``out`` receives the result.
"""

import operator
import warnings

import numpy as np

from . import _functions as _f
from . import _treadle
from ._creation import arange, empty_like
from ._kinds import is_half
from ._treadle import ndarray

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

_NORMS = (None, "backward", "ortho", "forward")
_OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _own(a, function):
    return _f._own(a, f"fft.{function}")


def _scaled(result, points, norm, inverse, out, dtype=None):
    """The result with its factor, in `out` when given."""
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    factor = 1.0
    if norm == "ortho":
        factor = points**-0.5
    elif inverse == (norm in (None, "backward")):
        factor = 1.0 / points
    if factor != 1.0:
        result = result * factor
    if dtype is not None:
        result = result.astype(dtype, copy=False)
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError(f"out must be a treadle array, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ValueError("output array has wrong shape.")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"out has dtype {out.dtype}, which cannot take {result.dtype}")
    _f.copyto(out, result)
    return out


def _check_axis(a, axis):
    axis = operator.index(axis)
    if not -a.ndim <= axis < a.ndim:
        raise np.exceptions.AxisError(axis, a.ndim)
    return axis % a.ndim


def _deprecated(what, callers):
    """``callers`` functions up is what the user called."""
    warnings.warn(
        f"{what} (deprecated since NumPy 2.0)", DeprecationWarning, stacklevel=callers + 2
    )


def _lengths(a, s, axes, invreal=False, callers=2):
    """Points and axes of a transform of several axes; the last length of an inverse real one may be derived."""
    if s is None:
        derived = invreal
        axes = range(a.ndim) if axes is None else axes
        axes = [_check_axis(a, axis) for axis in axes]
        s = [a.shape[axis] for axis in axes]
    else:
        derived = False
        s = [n if n is None else operator.index(n) for n in s]
        if axes is None:
            _deprecated("s without axes: name the axes that it is for", callers)
            axes = range(a.ndim - len(s), a.ndim)
        axes = list(axes)
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        axes = [_check_axis(a, axis) for axis in axes]
        if None in s:
            _deprecated("None in s: pass -1 for the length of the axis", callers)
        s = [a.shape[axis] if n in (-1, None) else n for n, axis in zip(s, axes)]
    if derived and s:
        s[-1] = 2 * (a.shape[axes[-1]] - 1)
    return s, axes


def _complex(a, s, axes, inverse):
    """Unnormalised, over axes that may be named twice."""
    if len(set(axes)) == len(axes):
        for n, axis in zip(s, axes):
            a = _treadle._fft_resized(a, n, axis)
        return _treadle._fft_c2c(a, axes, inverse)
    for n, axis in reversed(list(zip(s, axes))):
        a = _treadle._fft_c2c(_treadle._fft_resized(a, n, axis), [axis], inverse)
    return a


def _points(s):
    total = 1
    for n in s:
        total *= n
    return total


def _one(a, n, axis, norm, out, inverse, function):
    axis = _check_axis(_own(a, function), axis)
    n = a.shape[axis] if n is None else operator.index(n)
    return _scaled(_complex(a, [n], [axis], inverse), n, norm, inverse, out)


def _many(a, s, axes, norm, out, inverse, function):
    s, axes = _lengths(_own(a, function), s, axes, callers=3)
    if not axes and out is None:
        return a  # as NumPy, which has nothing to do
    return _scaled(_complex(a, s, axes, inverse), _points(s), norm, inverse, out)


def fft(a, n=None, axis=-1, norm=None, out=None):
    """The transform along one axis, of ``n`` points. ValueError when there are none."""
    return _one(a, n, axis, norm, out, False, "fft")


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of ``fft``."""
    return _one(a, n, axis, norm, out, True, "ifft")


def fftn(a, s=None, axes=None, norm=None, out=None):
    """The transform over several axes (default: all), of the lengths ``s``; -1 keeps a length."""
    return _many(a, s, axes, norm, out, False, "fftn")


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of ``fftn``."""
    return _many(a, s, axes, norm, out, True, "ifftn")


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """``fftn`` over the last two axes."""
    return _many(a, s, axes, norm, out, False, "fft2")


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of ``fft2``."""
    return _many(a, s, axes, norm, out, True, "ifft2")


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """``fftn`` of real input: of the last axis in ``axes`` only the n // 2 + 1 points that the others follow from."""
    s, axes = _lengths(_own(a, "rfftn"), s, axes)
    if not axes:
        raise IndexError("rfftn: at least one axis is needed")
    result = _treadle._fft_r2c(_treadle._fft_resized(a, s[-1], axes[-1]), axes[-1])
    if len(axes) > 1:
        result = _complex(result, s[:-1], axes[:-1], False)
    return _scaled(result, _points(s), norm, False, out)


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of ``rfftn``: real output. The last length is 2 * (m - 1) unless ``s`` gives it."""
    s, axes = _lengths(_own(a, "irfftn"), s, axes, invreal=True)
    if not axes:
        raise IndexError("irfftn: at least one axis is needed")
    if len(axes) > 1:
        a_complex = _complex(a, s[:-1], axes[:-1], True)
    else:
        a_complex = a
    result = _treadle._fft_c2r(a_complex, s[-1], axes[-1])
    return _scaled(result, _points(s), norm, True, out, _half(a))


def _half(a):
    """NumPy gives real results of float16 input back as float16; bfloat16 does likewise."""
    return a.dtype if is_half(a.dtype) else None


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """``rfftn`` over the last two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of ``rfft2``."""
    return irfftn(a, s, axes, norm, out)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The first n // 2 + 1 points of the transform of real input. TypeError for complex input."""
    axis = _check_axis(_own(a, "rfft"), axis)
    n = a.shape[axis] if n is None else operator.index(n)
    result = _treadle._fft_r2c(_treadle._fft_resized(a, n, axis), axis)
    return _scaled(result, n, norm, False, out)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of ``rfft``: ``n`` real points, by default 2 * (m - 1)."""
    axis = _check_axis(_own(a, "irfft"), axis)
    n = 2 * (a.shape[axis] - 1) if n is None else operator.index(n)
    return _scaled(_treadle._fft_c2r(a, n, axis), n, norm, True, out, _half(a))


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """The transform of a signal with Hermitian symmetry, of which ``a`` is one half: real output."""
    axis = _check_axis(_own(a, "hfft"), axis)
    n = 2 * (a.shape[axis] - 1) if n is None else operator.index(n)
    if norm not in _OTHER_WAY:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    half = _treadle.conjugate(a) if a.dtype.kind == "c" else a
    return irfft(half, n, axis, _OTHER_WAY[norm], out)


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of ``hfft``: n // 2 + 1 points."""
    _own(a, "ihfft")
    if norm not in _OTHER_WAY:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    result = _treadle.conjugate(rfft(a, n, axis, _OTHER_WAY[norm]))
    return _scaled(result, 1, None, False, out)


# ---- helpers ----


def _length_of(n, function):
    try:
        return operator.index(n)
    except TypeError as error:
        raise ValueError(f"{function}: n should be an integer") from error


def fftfreq(n, d=1.0, device=None, *, dtype=None):
    """The frequencies of the points of ``fft``: [0, 1, …, -2, -1] / (n * d)."""
    n = _length_of(n, "fftfreq")
    half = (n + 1) // 2
    steps = arange(n)
    steps = _treadle.where(steps < half, steps, steps - n)
    return (steps * (1.0 / (n * d))).astype(np.float64 if dtype is None else dtype, copy=False)


def rfftfreq(n, d=1.0, device=None, *, dtype=None):
    """The frequencies of the points of ``rfft``: [0, 1, …, n // 2] / (n * d)."""
    n = _length_of(n, "rfftfreq")
    steps = arange(n // 2 + 1)
    return (steps * (1.0 / (n * d))).astype(np.float64 if dtype is None else dtype, copy=False)


def _rolled(x, axes, amount):
    """Rolled along each axis by `amount(length)` elements."""
    if axes is None:
        axes = range(x.ndim)
    elif not hasattr(axes, "__iter__"):
        axes = (axes,)
    for axis in _f._axes(tuple(axes), x.ndim):
        n = x.shape[axis]
        shift = amount(n) % n if n else 0
        if not shift:
            continue
        lead = (slice(None),) * axis
        rolled = empty_like(x)
        rolled[(*lead, slice(shift, None))] = x[(*lead, slice(None, n - shift))]
        rolled[(*lead, slice(None, shift))] = x[(*lead, slice(n - shift, None))]
        x = rolled
    return x


def fftshift(x, axes=None):
    """The zero frequency moved to the middle, along all axes or some."""
    return _rolled(_own(x, "fftshift").copy(), axes, lambda n: n // 2)


def ifftshift(x, axes=None):
    """The inverse of ``fftshift``."""
    return _rolled(_own(x, "ifftshift").copy(), axes, lambda n: -(n // 2))
