"""Element-wise functions made of several operations; each runs as one fused kernel."""

import builtins

import numpy as np

from . import _treadle
from ._creation import asarray, empty, ones_like, zeros, zeros_like
from ._functions import copied
from ._kinds import is_half, kind_of, limits_of
from ._manipulation import axis_of, concatenate, copyto, moveaxis, own
from ._treadle import ndarray

__all__ = [
    "angle", "bitwise_count", "divmod", "fix", "frexp", "i0", "imag", "iscomplex", "iscomplexobj", "isfortran",
    "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "modf", "nan_to_num", "packbits", "real",
    "real_if_close", "sinc", "spacing", "unpackbits", "unwrap",
]  # fmt: skip


def _where_out(result, out):
    if out is None:
        return result
    copyto(out, result)
    return out


# ---- parts of numbers ----


def _array_of(val, function):
    return asarray(val) if isinstance(val, (int, float, complex)) else own(val, function)


def real(val):
    """The real part: a view of a complex array, a real array itself; of a number, a 0-d array."""
    val = _array_of(val, "real")
    return _treadle._real_part(val) if val.dtype.kind == "c" else val


def imag(val):
    """The imaginary part: a view of a complex array, read-only zeros for a real one; of a number, a 0-d array."""
    val = _array_of(val, "imag")
    if val.dtype.kind == "c":
        return _treadle._imag_part(val)
    nothing = zeros_like(val)
    return _treadle._strided_view(nothing, val.shape, nothing.strides, 0, val.dtype, False)


def angle(z, deg=False):
    """The angle of complex numbers in radians, or in degrees; of negative real numbers pi."""
    z = own(z, "angle")
    if z.dtype.kind == "c":
        result = _treadle.arctan2(imag(z), real(z))
    else:
        zero = _treadle.zeros((), z.dtype if z.dtype.kind != "b" else np.int64)
        result = _treadle.arctan2(zero, z)
    return result * (180 / np.pi) if deg else result


def modf(x, out1=None, out2=None, /, *, out=(None, None)):
    """The fractional and the whole part of real numbers, both with the sign of ``x``."""
    first, second = (out1 if out1 is not None else out[0]), (out2 if out2 is not None else out[1])
    x = _floating(x, "modf")
    whole = _treadle.trunc(x)
    part = _treadle.where(_treadle.isinf(x), 0, x - whole)
    return _where_out(_treadle.copysign(part, x), first), _where_out(whole, second)


def _floating(x, name):
    """``x`` in the dtype in which a floating-point operation computes it; TypeError for complex numbers."""
    x = own(x, name)
    if x.dtype.kind == "c":
        raise TypeError(
            f"ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any "
            "supported types according to the casting rule ''safe''"
        )
    return x if kind_of(x.dtype) == "f" else x.astype(np.fabs(np.empty(0, x.dtype)).dtype)


def frexp(x, out1=None, out2=None, /, *, out=(None, None)):
    """Mantissas in (-1, -0.5] and [0.5, 1), and exponents of two (int32), with ``x = mantissa * 2**exponent``."""
    first, second = (out1 if out1 is not None else out[0]), (out2 if out2 is not None else out[1])
    x = _floating(x, "frexp")
    wide = x.astype(np.float32) if is_half(x.dtype) else x
    integer, bits, bias = (np.int64, 52, 1022) if wide.dtype == np.float64 else (np.int32, 23, 126)
    tiny = _treadle.less(_treadle.absolute(wide), float(limits_of(wide.dtype).tiny))
    scaled = _treadle.where(tiny, wide * 2.0**bits, wide)
    plain = _treadle.isfinite(wide) & _treadle.not_equal(wide, 0)
    word = _bits_of(scaled, integer)
    field = (word >> bits) & (2 * bias + 3)
    exponent = field - bias - _treadle.where(tiny, bits, 0)
    exponent = _treadle.where(plain, exponent, 0).astype(np.int32)
    half = _bits_of((word & ~((2 * bias + 3) << bits)) | (bias << bits), wide.dtype)
    mantissa = _treadle.where(plain, half, wide).astype(x.dtype, copy=False)
    return _where_out(mantissa, first), _where_out(exponent, second)


def _bits_of(x, dtype):
    """The memory of ``x`` read as a dtype of the same size."""
    x = x if x.flags.c_contiguous else x.copy("C")
    return _treadle._strided_view(x, x.shape, x.strides, 0, dtype)


def divmod(x1, x2, out1=None, out2=None, /, *, out=(None, None)):
    """``(x1 // x2, x1 % x2)``."""
    first, second = (out1 if out1 is not None else out[0]), (out2 if out2 is not None else out[1])
    quotient, rest = _treadle.floor_divide(x1, x2), _treadle.remainder(x1, x2)
    return _where_out(quotient, first), _where_out(rest, second)


def fix(x, out=None):
    """Rounded towards zero."""
    return _treadle.trunc(x, out)


def spacing(x, /, out=None):
    """The distance to the next number that is larger in magnitude, with the sign of ``x``."""
    x = _floating(x, "spacing")
    far = _treadle.full((), np.inf, x.dtype)
    if x.dtype != np.float16:  # NumPy's of float16 always goes up
        far = _treadle.copysign(far, x)
    distance = _treadle.nextafter(x, far) - x
    return _where_out(_treadle.where(_treadle.isinf(x), np.nan, distance), out)


def bitwise_count(x, /, out=None):
    """The number of one bits of the absolute value, as uint8."""
    x = own(x, "bitwise_count")
    if x.dtype.kind not in "iub":
        raise TypeError(
            f"ufunc 'bitwise_count' not supported for dtype {x.dtype}; integers and bool are"
        )
    if x.dtype.kind == "b":
        return _where_out(x.astype(np.uint8), out)
    bits = 8 * x.dtype.itemsize
    kind = np.dtype(f"u{x.dtype.itemsize}")
    v = (_treadle.absolute(x) if x.dtype.kind == "i" else x).astype(kind)
    ones = (1 << bits) - 1
    v = v - ((v >> 1) & (ones // 3))
    v = (v & (ones // 5)) + ((v >> 2) & (ones // 5))
    v = (v + (v >> 4)) & (ones // 17)
    v = (v * (ones // 255)) >> (bits - 8)
    return _where_out(v.astype(np.uint8), out)


# ---- tests of numbers ----


def isposinf(x, out=None):
    """Is it positive infinity? TypeError for complex numbers."""
    return _signed_infinity(x, out, "isposinf", False)


def isneginf(x, out=None):
    """Is it negative infinity? TypeError for complex numbers."""
    return _signed_infinity(x, out, "isneginf", True)


def _signed_infinity(x, out, name, negative):
    if own(x, name).dtype.kind == "c":
        raise TypeError(
            f"This operation is not supported for {x.dtype} values because it would be ambiguous."
        )
    if kind_of(x.dtype) != "f":
        return _where_out(zeros_like(x, bool), out)
    return _treadle.equal(x, -np.inf if negative else np.inf, out)


def iscomplex(x):
    """Is the imaginary part not zero?"""
    x = asarray(x)
    return _treadle.not_equal(imag(x), 0) if x.dtype.kind == "c" else zeros(x.shape, bool)


def isreal(x):
    """Is the imaginary part zero?"""
    x = asarray(x)
    return _treadle.equal(imag(x), 0) if x.dtype.kind == "c" else ones_like(x, bool)


def iscomplexobj(x):
    """Is the dtype complex?"""
    return x.dtype.kind == "c" if isinstance(x, ndarray) else np.iscomplexobj(x)


def isrealobj(x):
    """Is the dtype not complex?"""
    return not iscomplexobj(x)


def isscalar(element):
    """Is it a number or a string of the host, not an array?"""
    return not isinstance(element, ndarray) and np.isscalar(element)


def isfortran(a):
    """Is the array F-contiguous and not C-contiguous?"""
    return a.flags.f_contiguous and not a.flags.c_contiguous


def real_if_close(a, tol=100):
    """The real part of a complex array whose imaginary parts all are within ``tol``; waits for the values.

    ``tol`` counts machine epsilons above 1 and is absolute below.
    """
    a = asarray(a)
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = float(limits_of(a.dtype).eps) * tol
    return real(a) if bool(_treadle.all(_treadle.less(_treadle.absolute(imag(a)), tol))) else a


# ---- values replaced ----


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN replaced by ``nan``, infinities by the largest finite numbers or the numbers given."""
    x = asarray(x)
    if kind_of(x.dtype) not in "fc":
        return copied(x, None) if copy else x
    limits = limits_of(x.dtype)
    posinf = float(limits.max) if posinf is None else posinf
    neginf = float(limits.min) if neginf is None else neginf

    def mended(v):
        v = _treadle.where(_treadle.isnan(v), nan, v)
        v = _treadle.where(_treadle.equal(v, np.inf), posinf, v)
        return _treadle.where(_treadle.equal(v, -np.inf), neginf, v)

    result = x.copy("K") if copy else x
    if x.dtype.kind == "c":
        for part in (real(result), imag(result)):
            _treadle._copy_into(part, mended(part))
    else:
        _treadle._copy_into(result, mended(x))
    return result


def sinc(x):
    """``sin(pi x) / (pi x)``, 1 at zero."""
    x = asarray(x)
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    y = np.pi * x
    y = _treadle.where(_treadle.equal(x, 0), 1.0 if x.dtype == np.float16 else y + 1e-20, y)
    return _treadle.where(_treadle.equal(x, 0), 1.0, _treadle.sin(y) / y)


def _chebyshev(x, coefficients):
    """Clenshaw's sum of a Chebyshev series at ``x / 2``, highest coefficient first."""
    b0 = b1 = b2 = 0.0
    for c in coefficients:
        b2, b1 = b1, b0
        b0 = x * b1 - b2 + c
    return 0.5 * (b0 - b2)


def _i0_coefficients():
    """The two series, computed once in double precision from the integral of the definition."""
    global _I0
    if _I0 is None:
        theta = (np.arange(4000) + 0.5) * (np.pi / 4000)

        def scaled(x):  # exp(-x) I0(x) = mean of exp(x (cos t - 1))
            return np.exp(np.multiply.outer(x, np.cos(theta) - 1)).mean(axis=-1)

        def series(function, count):
            nodes = np.cos((np.arange(64) + 0.5) * (np.pi / 64))
            values = function(nodes)
            k = np.arange(count)[:, None]
            c = 2 / 64 * (np.cos(k * np.arccos(nodes)[None, :]) * values).sum(axis=1)
            return [float(v) for v in c[::-1]]

        near = series(lambda u: scaled(4 * (u + 1)), 30)
        far = series(lambda u: scaled(16 / (u + 1)) * np.sqrt(16 / (u + 1)), 25)
        _I0 = near, far
    return _I0


_I0 = None


def i0(x):
    """The modified Bessel function of the first kind, order 0; TypeError for complex numbers."""
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    if x.dtype.kind in "iub":
        x = x.astype(np.float64)
    near, far = _i0_coefficients()
    wide = _treadle.absolute(x if x.dtype == np.float64 else x.astype(np.float64))
    small = _treadle.exp(wide) * _chebyshev(wide / 2 - 2, near)
    large_x = _treadle.maximum(wide, 8)
    large = _treadle.exp(wide) * _chebyshev(32 / large_x - 2, far) / _treadle.sqrt(large_x)
    return _treadle.where(_treadle.less_equal(wide, 8), small, large).astype(x.dtype, copy=False)


def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    """``p`` with multiples of ``period`` added so that neighbours differ by at most half a period."""
    from ._ufunc import ufunc

    p = asarray(p)
    axis = axis_of(axis, p.ndim)
    p = moveaxis(p, axis, -1)
    steps = p[..., 1:] - p[..., :-1]
    discont = period / 2 if discont is None else discont
    dtype = np.result_type(steps.dtype, period)
    if dtype.kind in "iu":
        high, rest = builtins.divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    turned = _treadle.remainder(steps - low, period) + low
    if ambiguous:
        turned = _treadle.where(
            _treadle.equal(turned, low) & _treadle.greater(steps, 0), high, turned
        )
    correct = _treadle.where(_treadle.less(_treadle.absolute(steps), discont), 0, turned - steps)
    result = p.astype(dtype)
    add = ufunc("add", _treadle.add, np.add, "")
    result[..., 1:] = p[..., 1:] + add.accumulate(correct, axis=-1)
    return moveaxis(result, -1, axis)


# ---- bits ----


def packbits(a, /, axis=None, bitorder="big"):
    """Elements that are not zero as bits of uint8, eight along an axis in each."""
    _check_order(bitorder)
    a = own(a, "packbits")
    if a.dtype.kind not in "iub":
        raise TypeError("Expected an input array of integer or boolean data type")
    if axis is None:
        a, axis = a.ravel(), 0
    axis = axis_of(axis, a.ndim)
    bits = moveaxis(a if a.dtype == bool else _treadle.not_equal(a, 0), axis, -1)
    n = bits.shape[-1]
    if n % 8:
        bits = concatenate([bits, zeros((*bits.shape[:-1], 8 - n % 8), bool)], -1)
    if bits.size == 0:
        return moveaxis(empty((*bits.shape[:-1], -(-n // 8)), np.uint8), -1, axis)
    # Eight bytes at once: the product brings the bit of every byte to its place among the highest eight, and no two
    # of its terms meet.
    words = bits.copy("C").view(np.uint64)
    gather = 0x8040201008040201 if bitorder == "big" else 0x0102040810204080
    result = (words * np.uint64(gather) >> np.uint64(56)).astype(np.uint8)
    return moveaxis(result, -1, axis)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    """The bits of uint8 as elements 0 and 1 along an axis; ``count`` of them, negative to leave some off."""
    _check_order(bitorder)
    a = own(a, "unpackbits")
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        a, axis = a.ravel(), 0
    axis = axis_of(axis, a.ndim)
    lines = moveaxis(a, axis, -1)
    words = lines.astype(np.uint64, "C")
    if bitorder == "big":  # the highest bit of byte k becomes bit 7 - k
        words = words * np.uint64(0x8040201008040201)
    else:  # byte k keeps bit k; adding 127 brings it to the byte's highest bit
        words = (words * np.uint64(0x0101010101010101) & np.uint64(0x8040201008040201)) + np.uint64(
            0x7F7F7F7F7F7F7F7F
        )
    words = words >> np.uint64(7) & np.uint64(0x0101010101010101)
    if words.size:
        bits = words.view(np.uint8)
    else:
        bits = zeros((*words.shape[:-1], 8 * words.shape[-1]), np.uint8)
    if count is not None:
        n = bits.shape[-1]
        if count < 0 and -count > n:
            raise ValueError(f"-count={-count} is larger than the number of bits, {n}")
        if count > n:
            bits = concatenate([bits, zeros((*bits.shape[:-1], count - n), np.uint8)], -1)
        bits = bits[..., :count]
    return moveaxis(bits, -1, axis)


def _check_order(bitorder):
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
