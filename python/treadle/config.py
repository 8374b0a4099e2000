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


class RuntimeInfo(dict):
    """Facts about this installation and its device; prints as a table."""

    def __str__(self):
        width = max(map(len, self))
        return "\n".join(f"{key:<{width}} : {value}" for key, value in self.items())


def get_runtime_info():
    """What a bug report needs: versions, the device, its driver and memory, libraries."""
    import platform

    import numpy

    device = _treadle.Device()
    free, total = device.mem_info
    return RuntimeInfo({
        "OS": platform.platform(),
        "Python Version": platform.python_version(),
        "Treadle Version": _treadle.__version__,
        "NumPy Version": numpy.__version__,
        "Extension": _treadle.__file__,
        "Device": device.name,
        "Device Name": device.description,
        "Kind of Device": device.evidence,
        "Compute Capability": device.compute_capability,
        "PCI Bus ID": device.pci_bus_id,
        "Driver Version": _treadle._driver_version(device),
        "Device Memory": f"{free} of {total} bytes free",
        "Devices": ", ".join(d.name for d in _treadle.devices()),
        "Environment": show()["environment"] or None,
        "Library Folders": ", ".join(_libraries.wheel_folders()) or None,
    })  # fmt: skip


def show_config():
    """Prints ``get_runtime_info()``."""
    print(get_runtime_info())
