"""Polynomials by their coefficients, the highest power first: ``poly1d`` and the functions around it.

Leading zeros are dropped, which waits for the values. Lists and numbers are coefficients that a program writes out;
NumPy arrays are refused as elsewhere, but ``poly1d`` makes an array of whatever it is given.
"""

import operator
import warnings

import numpy as np

from . import _treadle
from ._creation import arange, asarray, asnumpy, eye, ones, vander, zeros, zeros_like
from ._indexing import _array_like
from ._manipulation import concatenate, trim_zeros
from ._signal import convolve
from ._sorting import sort
from ._treadle import ndarray

__all__ = [
    "poly", "poly1d", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots",
]  # fmt: skip


def _coefficients(p, function):
    """The coefficients of a polynomial as an array of one dimension."""
    p = p.coeffs if isinstance(p, poly1d) else _array_like(p, function)
    if p.ndim > 1:
        raise ValueError(f"{function}: coefficients have one dimension, not {p.ndim}")
    return p.reshape(-1)


def _is_number(x):
    """A number or an array without dimensions: no sequence of coefficients."""
    return isinstance(x, (int, float, complex, np.generic)) or getattr(x, "ndim", 1) == 0


def _as_given(result, *given):
    """A poly1d when one of the arguments was one."""
    return poly1d(result) if any(isinstance(p, poly1d) for p in given) else result


def poly(seq_of_zeros):
    """The coefficients of the polynomial with these roots, or of the characteristic polynomial of a square matrix.

    Real where complex roots come in conjugate pairs. ValueError for anything but one dimension or a square matrix.
    """
    zeros_ = _array_like(seq_of_zeros, "poly")
    if zeros_.ndim == 2 and zeros_.shape[0] == zeros_.shape[1] and zeros_.size:
        from .linalg import eigvals

        zeros_ = eigvals(zeros_)
    elif zeros_.ndim == 1:
        if zeros_.dtype.char not in "fdFD":
            zeros_ = zeros_.astype(np.float64)
    elif zeros_.ndim == 0:
        raise TypeError("poly: a number is no sequence of roots; use treadle.poly([root])")
    else:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if zeros_.size == 0:
        return asarray(1.0)
    result = ones(1, zeros_.dtype)
    for k in range(zeros_.size):
        result = convolve(result, concatenate([ones(1, zeros_.dtype), -zeros_[k : k + 1]]))
    if result.dtype.kind == "c" and _in_pairs(zeros_):
        result = result.real.copy()
    return result


def _in_pairs(values):
    return bool(_treadle.all(sort(values) == sort(values.conj())))


def roots(p):
    """The roots of a polynomial, as the eigenvalues of its companion matrix; ValueError unless ``p`` is 1-D."""
    p = p.coeffs if isinstance(p, poly1d) else _array_like(p, "roots")
    if p.ndim == 0:
        raise TypeError("roots: coefficients have one dimension; use treadle.roots([number])")
    if p.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    places = asnumpy(_treadle._nonzero(p)[0])
    if places.size == 0:
        return zeros(0, np.float64)
    trailing = p.size - int(places[-1]) - 1
    p = p[int(places[0]) : int(places[-1]) + 1]
    if p.dtype.kind not in "fc":
        p = p.astype(np.float64)
    if p.size == 1:
        return zeros(trailing, np.float64)
    from .linalg import eigvals

    companion = eye(p.size - 1, k=-1, dtype=p.dtype)
    companion[0] = -p[1:] / p[0]
    found = eigvals(companion)
    if p.dtype.kind != "c" and found.dtype.kind == "c" and not bool(_treadle.any(found.imag)):
        found = found.real.copy()
    return concatenate([found, zeros(trailing, found.dtype)]) if trailing else found


# ---- arithmetic ----


def _aligned(a, b):
    """Two sequences of one length: zeros stand in front of the shorter."""
    n = max(a.size, b.size)
    return tuple(x if x.size == n else concatenate([zeros(n - x.size, x.dtype), x]) for x in (a, b))


def polyadd(a1, a2):
    """The sum of two polynomials."""
    a, b = _aligned(_coefficients(a1, "polyadd"), _coefficients(a2, "polyadd"))
    return _as_given(a + b, a1, a2)


def polysub(a1, a2):
    """The difference of two polynomials."""
    a, b = _aligned(_coefficients(a1, "polysub"), _coefficients(a2, "polysub"))
    return _as_given(a - b, a1, a2)


def polymul(a1, a2):
    """The product of two polynomials."""
    a, b = (trim_zeros(_coefficients(p, "polymul"), "f") for p in (a1, a2))
    a, b = (x if x.size else zeros(1, x.dtype) for x in (a, b))
    return _as_given(convolve(a, b), a1, a2)


def polydiv(u, v):
    """Quotient and remainder of two polynomials."""
    a, b = (_coefficients(p, "polydiv") + 0.0 for p in (u, v))
    dtype = np.promote_types(a.dtype, b.dtype)
    m, n = a.size - 1, b.size - 1
    scale = 1.0 / b[0]
    quotient = zeros(max(m - n + 1, 1), dtype)
    rest = a.astype(dtype)
    for k in range(m - n + 1):
        quotient[k] = scale * rest[k]
        rest[k : k + n + 1] -= quotient[k] * b
    host = asnumpy(rest)
    first = 0
    while first < host.size - 1 and np.isclose(host[first], 0, rtol=1e-14):
        first += 1
    return _as_given(quotient, u, v), _as_given(rest[first:], u, v)


def polyval(p, x):
    """The value of a polynomial at ``x``, by Horner's rule: one fused kernel. ``x`` may be a polynomial."""
    coefficients = p.coeffs if isinstance(p, poly1d) else _array_like(p, "polyval")
    if coefficients.ndim == 0:
        raise TypeError(
            "polyval: coefficients have one dimension at least; use treadle.asarray([number])"
        )
    if isinstance(x, poly1d):
        value = poly1d([0])
        for k in range(len(coefficients)):
            value = value * x + coefficients[k]
        return value
    x = _array_like(x, "polyval")
    value = zeros_like(x)
    for k in range(len(coefficients)):
        value = value * x + coefficients[k]
    return value


def polyder(p, m=1):
    """The ``m``-th derivative. ValueError for a negative order."""
    m = operator.index(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    result = _coefficients(p, "polyder")
    for _ in range(m):
        n = result.size - 1
        result = result[:-1] * arange(n, 0, -1)
    return _as_given(result if m else result.copy(), p)


def polyint(p, m=1, k=None):
    """The ``m``-th antiderivative; ``k`` are the constants of integration, 0 when None."""
    m = operator.index(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = (
        np.zeros(m) if k is None else np.atleast_1d(asnumpy(k) if isinstance(k, ndarray) else k)
    )
    if constants.size == 1 and m > 1:
        constants = np.full(m, constants[0])
    if constants.size < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    result = _coefficients(p, "polyint")
    for c in constants[:m]:
        result = concatenate([result / arange(result.size, 0, -1), asarray([c])])
    return _as_given(result, p)


# ---- fits ----


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The coefficients of the polynomial of degree ``deg`` with the least squared error at points (x, y).

    ``y`` may have several columns. ``w`` weighs the errors; ``full`` returns also residuals, rank, singular values
    and ``rcond``; ``cov`` (True, or "unscaled") the covariance. A fit of deficient rank gives a RankWarning.
    """
    order = int(deg) + 1
    x, y = (_array_like(v, "polyfit") + 0.0 for v in (x, y))
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = x.size * np.finfo(x.dtype).eps
    left, right = vander(x, order), y
    if w is not None:
        w = _array_like(w, "polyfit") + 0.0
        if w.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise TypeError("expected w and y to have the same length")
        left *= w[:, None]
        right *= w[:, None] if right.ndim == 2 else w
    if right.dtype == np.float16:
        raise TypeError("polyfit: float16 is unsupported in linalg; convert y to float32")
    from .linalg import inv, lstsq

    scale = _treadle.sqrt(_treadle.sum(left * left, axis=0))
    left = left / scale
    solution, residuals, rank, singular = lstsq(left, right, rcond)
    solution = (solution.T / scale).T
    if int(rank) != order and not full:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if full:
        return solution, residuals, rank, singular, rcond
    if not cov:
        return solution
    base = inv(left.T @ left) / (scale[:, None] * scale)
    factor = 1
    if cov != "unscaled":
        if x.size <= order:
            raise ValueError(
                "the number of data points must exceed order to scale the covariance matrix"
            )
        factor = residuals / (x.size - order)
    return solution, base * factor if y.ndim == 1 else base[:, :, None] * factor


# ---- the class ----


class poly1d:
    """A polynomial of one variable: ``poly1d([1, 2, 3])`` is x² + 2x + 3, ``poly1d([1, 2], True)`` has roots 1 and 2.

    It is added, subtracted, multiplied, divided, raised to integer powers, compared and called; ``p[k]`` is the
    coefficient of the k-th power. ``p.get()`` is NumPy's polynomial of the same values.
    """

    __hash__ = None
    __array_ufunc__ = None

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, (poly1d, np.poly1d)):
            self._variable = c_or_r.variable
            self._coeffs = asarray(c_or_r.coeffs)
        else:
            coefficients = asarray(c_or_r)
            if r:
                coefficients = poly(
                    coefficients.reshape(-1) if coefficients.ndim == 0 else coefficients
                )
            if coefficients.ndim > 1:
                raise ValueError("Polynomial must be 1d only.")
            coefficients = trim_zeros(coefficients.reshape(-1), "f")
            self._coeffs = coefficients if coefficients.size else zeros(1, coefficients.dtype)
            self._variable = "x"
        if variable is not None:
            self._variable = variable

    @property
    def coeffs(self):
        """The coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value):
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs
    variable = property(lambda self: self._variable, doc="The name of the variable.")
    order = o = property(lambda self: self._coeffs.size - 1, doc="The degree.")
    roots = r = property(lambda self: roots(self._coeffs), doc="The roots.")

    def get(self, stream=None, out=None):
        """NumPy's polynomial of the same coefficients; ``out``, another one, receives them."""
        host = self._coeffs.get(stream)
        if out is None:
            return np.poly1d(host, variable=self.variable)
        if not isinstance(out, np.poly1d):
            raise TypeError(f"out must be a numpy.poly1d, not {type(out).__name__}")
        out._coeffs, out._variable = host, self.variable
        return out

    def set(self, polyin, stream=None):
        """Takes the coefficients of NumPy's polynomial."""
        if not isinstance(polyin, np.poly1d):
            raise TypeError(f"polyin must be a numpy.poly1d, not {type(polyin).__name__}")
        self._coeffs, self._variable = asarray(polyin.coeffs), polyin.variable

    def __str__(self):
        return str(self.get())

    def __repr__(self):
        return repr(self.get())

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self._coeffs)

    def __call__(self, val):
        return polyval(self, val)

    def __neg__(self):
        return poly1d(-self._coeffs)

    def __pos__(self):
        return self

    def _other(self, other):
        return poly1d(other)

    def __add__(self, other):
        return polyadd(self, self._other(other))

    def __radd__(self, other):
        return polyadd(self._other(other), self)

    def __sub__(self, other):
        return polysub(self, self._other(other))

    def __rsub__(self, other):
        return polysub(self._other(other), self)

    def __mul__(self, other):
        if _is_number(other):
            return poly1d(self._coeffs * other)
        return polymul(self, self._other(other))

    def __rmul__(self, other):
        if _is_number(other):
            return poly1d(other * self._coeffs)
        return polymul(self._other(other), self)

    def __truediv__(self, other):
        if _is_number(other):
            return poly1d(self._coeffs / other)
        return polydiv(self, self._other(other))

    def __rtruediv__(self, other):
        if _is_number(other):
            return poly1d(other / self._coeffs)
        return polydiv(self._other(other), self)

    def __pow__(self, val):
        if not np.isscalar(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        n, result = operator.index(val), poly1d(ones(1, np.int64))
        square = self
        while n:
            if n & 1:
                result = result * square
            n >>= 1
            square = square * square if n else square
        return result

    def __eq__(self, other):
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other._coeffs.shape and bool(
            _treadle.all(self._coeffs == other._coeffs)
        )

    def __ne__(self, other):
        return NotImplemented if not isinstance(other, poly1d) else not self == other

    def __getitem__(self, val):
        place = self.order - val
        if val > self.order or val < 0:
            return zeros((), self._coeffs.dtype)
        return self._coeffs[place]

    def __setitem__(self, key, val):
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key > self.order:
            front = zeros(key - self.order, self._coeffs.dtype)
            self._coeffs = concatenate([front, self._coeffs])
        self._coeffs[self.order - key] = val

    def integ(self, m=1, k=0):
        """The antiderivative; see ``polyint``."""
        return polyint(self, m, k)

    def deriv(self, m=1):
        """The derivative; see ``polyder``."""
        return polyder(self, m)
