"""assertPreciseEqual: equal in kind, dtype, layout and value, to a number of units in the last place."""

import cmath
import enum
import math

import numpy as np

_BITS = {"single": 24, "double": 53}


def _kind(value):
    if isinstance(value, np.ndarray):
        return "array"
    if isinstance(value, enum.Enum):
        return "enum"
    if isinstance(value, (tuple, list)):
        return "sequence"
    if isinstance(value, (bool, np.bool_, int, str, np.integer, bytes)):
        return "exact"
    if isinstance(value, (complex, np.complexfloating)):
        return "complex"
    if isinstance(value, (float, np.floating)):
        return "float"
    return "other"


class PreciseEquality:
    def assertPreciseEqual(self, first, second, prec="exact", ulps=1, msg=None, ignore_sign_on_zero=False,
                           abs_tol=None):  # fmt: skip
        options = (prec, ulps, msg, ignore_sign_on_zero, abs_tol)
        kind = _kind(first)
        self.assertEqual(kind, _kind(second), msg)
        if kind == "array":
            self.assertEqual((first.dtype, first.shape), (second.dtype, second.shape), msg)
            self.assertEqual(_steps(first), _steps(second), msg)
            pairs = zip(first.flat, second.flat)
        elif kind == "sequence":
            self.assertEqual(len(first), len(second), msg)
            pairs = zip(first, second)
        elif kind == "enum":
            self.assertIs(type(first), type(second))
            pairs = [(first.value, second.value)]
        else:
            self._same_value(kind, first, second, *options)
            return
        for a, b in pairs:
            self.assertPreciseEqual(a, b, *options)

    def _same_value(self, kind, first, second, prec, ulps, msg, ignore_sign_on_zero, abs_tol):
        if kind == "other":
            self.assertIs(type(first), type(second))
        if hasattr(first, "dtype") and hasattr(second, "dtype"):
            self.assertEqual(first.dtype, second.dtype, msg)
        self.assertEqual(
            isinstance(first, (bool, np.bool_)), isinstance(second, (bool, np.bool_)), msg
        )
        if kind in ("complex", "float") and cmath.isnan(first) and cmath.isnan(second):
            return
        if (
            isinstance(first, (np.datetime64, np.timedelta64))
            and np.isnat(first)
            and np.isnat(second)
        ):
            return
        if abs_tol is not None:
            bound = np.finfo(type(first)).eps if abs_tol == "eps" else abs_tol
            if abs(first - second) < bound:
                return
        delta = None
        if prec != "exact" and kind in ("complex", "float"):
            delta = 2.0 ** (ulps - _BITS[prec] - 1) * (abs(first) + abs(second))
        if kind == "complex":
            self._close(first.real, second.real, delta, msg, ignore_sign_on_zero)
            self._close(first.imag, second.imag, delta, msg, ignore_sign_on_zero)
        else:
            self._close(first, second, delta, msg, ignore_sign_on_zero)

    def _close(self, first, second, delta, msg, ignore_sign_on_zero):
        if isinstance(first, (float, np.floating)) and math.isnan(first) and math.isnan(second):
            return
        if delta is not None and first != second and math.isfinite(first) and math.isfinite(second):
            self.assertAlmostEqual(first, second, delta=delta, msg=msg)
            return
        self.assertEqual(first, second, msg)
        if isinstance(first, (float, np.floating)) and not ignore_sign_on_zero:
            self.assertEqual(math.copysign(1, first), math.copysign(1, second), msg)


def _steps(array):
    return (
        [step // array.itemsize for step, n in zip(array.strides, array.shape) if n > 1]
        if array.size
        else None
    )
