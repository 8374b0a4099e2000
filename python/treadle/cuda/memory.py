"""Device memory by hand, and where arrays get theirs."""

from .._memory import *  # noqa: F403
from .._memory import __all__ as __all__
