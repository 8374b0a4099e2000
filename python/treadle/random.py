"""Random numbers: Philox 4x32-10, the same numbers for the same seed on every device.

``default_rng`` gives a ``Generator`` with the methods of NumPy's. The functions of the module belong to one generator
of the process, and take ``size=`` and ``dtype=`` as cupy.random's do.
"""

import numpy as np

from ._bit_generator import BitGenerator, Philox4x3210
from ._random_generator import Generator

_SHARED = (
    "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric",
    "gumbel", "hypergeometric", "integers", "laplace", "logistic", "lognormal", "logseries", "multinomial",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto",
    "permutation", "permuted", "poisson", "power", "random", "rayleigh", "shuffle", "standard_cauchy",
    "standard_exponential", "standard_gamma", "standard_normal", "standard_t", "triangular", "uniform",
    "vonmises", "wald", "weibull", "zipf",
)  # fmt: skip

__all__ = [
    *(name for name in _SHARED if name not in ("integers", "permuted")), "Generator", "RandomState", "default_rng",
    "BitGenerator", "Philox4x3210", "get_random_state", "reset_states", "set_random_state", "rand", "randint", "randn",
    "random_integers", "random_sample", "ranf", "sample", "seed",
]  # fmt: skip


def default_rng(seed=None):
    """A new generator; the same seed gives the same numbers. A generator is returned as it is.

    ``seed`` is an integer, a sequence of integers, a BitGenerator, or None for one of the system's.
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


class RandomState(Generator):
    """The older interface: ``rand``, ``randn``, ``randint`` and ``random_sample`` beside the methods of Generator."""

    def __init__(self, seed=None, method=None):
        super().__init__(seed)

    def seed(self, seed=None):
        """Starts anew with another seed."""
        self.__init__(seed)

    def rand(self, *shape, dtype=np.float64):
        """Uniform in [0, 1), dimensions as arguments."""
        return self.random(shape, dtype)

    def randn(self, *shape, dtype=np.float64):
        """Standard normal, dimensions as arguments."""
        return self.standard_normal(shape, dtype)

    def randint(self, low, high=None, size=None, dtype=np.int64):
        """Uniform integers in [low, high)."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Uniform integers in [low, high], or [1, low]."""
        return self.integers(
            1 if high is None else low, low if high is None else high, size, endpoint=True
        )

    def tomaxint(self, size=None):
        """Uniform integers in [0, 2^63 - 1]."""
        return self.integers(0, np.iinfo(np.int64).max, size, endpoint=True)

    def random_sample(self, size=None, dtype=np.float64):
        """Uniform in [0, 1)."""
        return self.random(size, dtype)


_default = None


def get_random_state():
    """The generator behind the functions of this module."""
    global _default
    if _default is None:
        _default = RandomState()
    return _default


def set_random_state(rs):
    """Makes ``rs``, a RandomState, the generator behind the functions of this module."""
    global _default
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be a RandomState, not {type(rs).__name__}")
    _default = rs


def reset_states():
    """Forgets the generator behind the functions of this module; the next draw starts one with a new seed."""
    global _default
    _default = None


def seed(value=None):
    """Starts the process's generator anew."""
    global _default
    _default = RandomState(value)


def _function(name):
    method = getattr(RandomState, name)

    def function(*args, **kwargs):
        return getattr(get_random_state(), name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = method.__doc__
    function.__wrapped__ = method.__get__(object())  # for inspect.signature
    return function


for _name in _SHARED:
    globals()[_name] = _function(_name)
rand, randn, randint = _function("rand"), _function("randn"), _function("randint")
random_integers = _function("random_integers")
random_sample = ranf = sample = _function("random_sample")
