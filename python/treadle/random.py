"""Random numbers: Philox 4x32-10, the same numbers for the same seed on every device."""

import secrets

import numpy as np

from . import _treadle

__all__ = [
    "Generator",
    "default_rng",
    "normal",
    "rand",
    "randint",
    "randn",
    "random",
    "seed",
    "standard_normal",
    "uniform",
]


def _size(size):
    return () if size is None else size


class Generator:
    """A stream of random arrays, by the names of ``numpy.random.Generator``."""

    def __init__(self, seed=None):
        self._core = _treadle.Generator(
            secrets.randbits(64) if seed is None else int(seed) & (2**64 - 1)
        )

    def random(self, size=None, dtype=np.float64):
        """Uniform in [0, 1)."""
        return self._core.random(_size(size), dtype)

    def standard_normal(self, size=None, dtype=np.float64):
        """Normal with mean 0 and variance 1."""
        return self._core.standard_normal(_size(size), dtype)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Uniform integers in [low, high), or [0, low) when ``high`` is None."""
        if high is None:
            low, high = 0, low
        return self._core.integers(low, high + 1 if endpoint else high, _size(size), dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=np.float64):
        """Uniform in [low, high)."""
        return low + (high - low) * self.random(size, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=np.float64):
        """Normal with mean ``loc`` and deviation ``scale``."""
        return loc + scale * self.standard_normal(size, dtype)


def default_rng(seed=None):
    """A new generator; the same seed gives the same numbers."""
    return Generator(seed)


# ---- the old interface: one generator for the process ----

_default = None


def _generator():
    global _default
    if _default is None:
        _default = Generator()
    return _default


def seed(value=None):
    """Starts the process's generator anew."""
    global _default
    _default = Generator(value)


def random(size=None, dtype=np.float64):
    """Uniform in [0, 1)."""
    return _generator().random(size, dtype)


def rand(*shape, dtype=np.float64):
    """Uniform in [0, 1), dimensions as arguments."""
    return random(shape, dtype)


def randn(*shape, dtype=np.float64):
    """Standard normal, dimensions as arguments."""
    return _generator().standard_normal(shape, dtype)


def standard_normal(size=None, dtype=np.float64):
    """Normal with mean 0 and variance 1."""
    return _generator().standard_normal(size, dtype)


def uniform(low=0.0, high=1.0, size=None, dtype=np.float64):
    """Uniform in [low, high)."""
    return _generator().uniform(low, high, size, dtype)


def normal(loc=0.0, scale=1.0, size=None, dtype=np.float64):
    """Normal with mean ``loc`` and deviation ``scale``."""
    return _generator().normal(loc, scale, size, dtype)


def randint(low, high=None, size=None, dtype=np.int64):
    """Uniform integers in [low, high)."""
    return _generator().integers(low, high, size, dtype)
