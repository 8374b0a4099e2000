"""``Device``, where CuPy has it."""

from .._treadle import Device

__all__ = ["Device", "get_compute_capability", "get_device_id"]


def get_device_id():
    """The number of the current device among those of its kind."""
    return Device().id


def get_compute_capability():
    """The compute capability of the current device: "90" for 9.0."""
    return Device().compute_capability
