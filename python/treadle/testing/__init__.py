"""Helpers of tests: one body on NumPy and on treadle, its results compared; loops over dtypes; arrays to test with.

The names and their meaning are those of ``cupy.testing``, so that tests written for CuPy run by changing one import.
"""

from ._arrays import *  # noqa: F403
from ._asserts import *  # noqa: F403
from ._compare import *  # noqa: F403
from ._loops import *  # noqa: F403
from ._tools import *  # noqa: F403
