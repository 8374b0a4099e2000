"""On the path of processes that numba-cuda's tests start: they too find Treadle under the name numba."""

import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import numba_names  # noqa: F401
