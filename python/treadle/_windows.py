"""Window functions, symmetric, of ``M`` samples in float64."""

import numpy as np

from . import _treadle
from ._creation import arange, asarray, ones, zeros
from ._elementwise import i0

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def _places(M):
    """1 - M, 3 - M … M - 1; or what a window of at most one sample is."""
    M = float(np.asarray(M))
    if M < 1:
        return None, zeros(0)
    if M == 1:
        return None, ones(1)
    return arange(1 - M, M, 2), M


def bartlett(M):
    """A triangle that is zero at both ends."""
    n, M = _places(M)
    if n is None:
        return M
    return _treadle.where(_treadle.less_equal(n, 0), 1 + n / (M - 1), 1 - n / (M - 1))


def hanning(M):
    """``0.5 + 0.5 cos(pi n / (M - 1))``."""
    n, M = _places(M)
    return M if n is None else 0.5 + 0.5 * _treadle.cos(np.pi * n / (M - 1))


def hamming(M):
    """``0.54 + 0.46 cos(pi n / (M - 1))``."""
    n, M = _places(M)
    return M if n is None else 0.54 + 0.46 * _treadle.cos(np.pi * n / (M - 1))


def blackman(M):
    """``0.42 + 0.5 cos(pi n / (M - 1)) + 0.08 cos(2 pi n / (M - 1))``."""
    n, M = _places(M)
    if n is None:
        return M
    turn = np.pi * n / (M - 1)
    return 0.42 + 0.5 * _treadle.cos(turn) + 0.08 * _treadle.cos(2 * turn)


def kaiser(M, beta):
    """``i0(beta sqrt(1 - (n / (M - 1))**2)) / i0(beta)``."""
    M = float(np.asarray(M))
    if M == 1:
        return ones(1)
    n = arange(0, M)
    alpha = (M - 1) / 2
    root = _treadle.sqrt(1 - ((n - alpha) / alpha) ** 2.0)
    return i0(float(beta) * root) / i0(asarray(float(beta)))
