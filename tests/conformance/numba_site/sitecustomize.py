"""On the path of processes that numba-cuda's tests start: they too find Treadle under the name numba."""

from treadle import _aliases

_aliases.install("numba", quiet=True)
