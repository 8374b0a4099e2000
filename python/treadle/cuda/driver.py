"""What programs ask of the driver itself."""

from .. import _treadle
from ..errors import CUDAError as CUDADriverError

__all__ = ["CUDADriverError", "get_build_version", "get_version"]


def get_version():
    """The CUDA version of the current device's driver: 13000 for 13.0."""
    return _treadle._driver_version(_treadle.Device())


def get_build_version():
    """The CUDA version whose driver API Treadle was written for: 13000."""
    return 13000
