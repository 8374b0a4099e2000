"""``numba.config``: the settings of Numba that mean something here, and those that programs read."""

import os
import sys
import types

from .. import _treadle

ENABLE_CUDASIM = 0
DISABLE_JIT = 0
DISABLE_PERFORMANCE_WARNINGS = 0
# A launch with host arrays warns; so does, when it is asked for, one with fewer blocks than two per multiprocessor.
CUDA_WARN_ON_IMPLICIT_COPY = int(os.environ.get("NUMBA_CUDA_WARN_ON_IMPLICIT_COPY", "1"))
CUDA_LOW_OCCUPANCY_WARNINGS = int(os.environ.get("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0"))
CUDA_ARRAY_INTERFACE_SYNC = int(os.environ.get("NUMBA_CUDA_ARRAY_INTERFACE_SYNC", "1"))
CUDA_DEBUGINFO_DEFAULT = int(os.environ.get("NUMBA_CUDA_DEBUGINFO", "0"))
CUDA_DEFAULT_PTX_CC = (7, 5)
CUDA_USE_NVIDIA_BINDING = 1
CUDA_ENABLE_NRT = 0
CUDA_DEALLOCS_COUNT, CUDA_DEALLOCS_RATIO = 10, 0.2
CUDA_DEBUG_POLY = CUDA_DEBUG_POLY_USE_TYPED_CONST = 0
CUDA_NVRTC_EXTRA_SEARCH_PATHS = ""
CUDA_FORTRAN_ORDER_ARRAYS = 0
DUMP_ASSEMBLY = int(os.environ.get("NUMBA_DUMP_ASSEMBLY", "0"))  # the PTX of what is compiled
DUMP_BYTECODE = DUMP_CFG = DUMP_IR = DUMP_LLVM = 0
HTML = None
IS_WIN32, IS_OSX = False, False
NUM_THREADS = NUMBA_NUM_THREADS = os.cpu_count() or 1


class _Settings(types.ModuleType):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "CUDA_LOW_OCCUPANCY_WARNINGS":
            _treadle._watch_configurations(bool(value))


sys.modules[__name__].__class__ = _Settings
if CUDA_LOW_OCCUPANCY_WARNINGS:
    _treadle._watch_configurations(True)
