"""Where random bits come from: Philox 4x32-10, by its key."""

import itertools
import operator
import secrets

import numpy as np

from . import _treadle

__all__ = ["BitGenerator", "Philox4x3210"]


class BitGenerator:
    """What a Generator draws from. ``Philox4x3210`` is the one there is.

    It counts the draws: of two generators over the same one, each goes on where the other stopped.
    """

    def __init__(self, seed=None):
        if type(self) is BitGenerator:
            raise TypeError("BitGenerator is a base class; use Philox4x3210")
        self.key = _key(seed)
        self._core = _treadle.Generator(self.key)
        self._draws = itertools.count()
        self._children = itertools.count()


class Philox4x3210(BitGenerator):
    """Philox 4x32 with ten rounds. ``seed`` is an integer, a sequence of integers (they are mixed as NumPy's
    SeedSequence mixes them), or None for a seed of the system's."""

    def __init__(self, seed=None, *, size=-1):
        super().__init__(seed)

    def random_raw(self, size=None):
        """64 random bits for each element, as uint64."""
        shape = () if size is None else tuple(np.atleast_1d(size).tolist())
        words = self._core.integers(0, 2**32, (*shape, 2), np.dtype(np.uint64))
        return words[..., 0] << np.uint64(32) | words[..., 1]


def _key(seed):
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, (list, tuple, np.ndarray)) and np.ndim(seed):
        if np.asarray(seed).dtype.kind not in "iu":
            raise TypeError("a seed is an integer or a sequence of integers")
        return int(
            np.random.SeedSequence(np.asarray(seed).tolist()).generate_state(1, np.uint64)[0]
        )
    return operator.index(seed) & (2**64 - 1)
