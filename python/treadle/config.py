"""What the environment asks of Treadle, and what this process uses."""

import os

from . import _libraries, _treadle


def show():
    """A dictionary of settings and facts, for bug reports."""
    names = ("TREADLE_DEVICE", "TREADLE_CACHE_DIR", "TREADLE_LIBCUDA", "TREADLE_LIBRARY_PATH", "TREADLE_CC",
             "TREADLE_SOFT_DEVICES", "CUDA_PATH", "CUDA_VISIBLE_DEVICES")  # fmt: skip
    return {
        "version": _treadle.__version__,
        "extension": _treadle.__file__,
        "environment": {name: os.environ[name] for name in names if name in os.environ},
        "library folders": _libraries.wheel_folders(),
    }
