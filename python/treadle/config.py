"""Settings of this process, what the environment asks of Treadle, and facts for bug reports.

``fusion`` (True): whether operations on arrays wait and are fused. ``treadle.config.fusion = False`` switches
it off for the process, ``with treadle.config.set(fusion=False):`` for a block, ``TREADLE_FUSION=0`` from the start:
every operation is then launched by itself, at once. Values are the same either way, but for the rounding of
reductions whose kernel has another shape.

``background_compiles`` (True): whether a fused element-wise kernel that is not compiled yet is compiled by a thread of
low priority, while its operations are launched one by one on kernels that are at hand. Values have the same bits
either way. ``False``, or ``TREADLE_BACKGROUND_COMPILES=0`` from the start: the call waits for the compiler, and what is
launched depends on nothing but the expression. ``wait_for_compiles()`` waits for what is under way.

``tf32`` (False): whether a GPU may round the operands of float32 and complex64 matrix products to TF32 (10 bits of
fraction), which is several times faster. ``TREADLE_TF32=1`` sets it from the start. The software device never rounds.

``strided_arguments`` (``"error"``): what a call of a ``RawKernel`` does with a view that is not C-contiguous where it
does not say ``strided=True``: refuses it; ``"warn"`` passes its plain data pointer, as CuPy does, with a
``RuntimeWarning``; ``"pass"`` says nothing. ``treadle run`` sets ``"warn"`` for programs that import ``cupy``.
"""

import os
import sys
import types

from . import _libraries, _treadle


class _Module(types.ModuleType):
    @property
    def fusion(self):
        return _treadle._fusion()

    @fusion.setter
    def fusion(self, on):
        _treadle._set_fusion(bool(on))

    @property
    def background_compiles(self):
        return _treadle._background_compiles()

    @background_compiles.setter
    def background_compiles(self, on):
        _treadle._set_background_compiles(bool(on))

    @property
    def tf32(self):
        return _treadle._tf32()

    @tf32.setter
    def tf32(self, on):
        _treadle._set_tf32(bool(on))

    @property
    def strided_arguments(self):
        return _treadle._strided_arguments()

    @strided_arguments.setter
    def strided_arguments(self, rule):
        _treadle._set_strided_arguments(rule)


sys.modules[__name__].__class__ = _Module
_SETTINGS = ("fusion", "background_compiles", "tf32", "strided_arguments")


class set:
    """Changes settings at once; as a context manager, until the end of the block.

    >>> with treadle.config.set(fusion=False):
    ...     y = x + 1  # launched here
    """

    def __init__(self, **settings):
        unknown = [name for name in settings if name not in _SETTINGS]
        if unknown:
            raise TypeError(f"no setting {unknown[0]!r}; there are: {', '.join(_SETTINGS)}")
        module = sys.modules[__name__]
        self._before = {name: getattr(module, name) for name in settings}
        for name, value in settings.items():
            setattr(module, name, value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name, value in self._before.items():
            setattr(sys.modules[__name__], name, value)


def show():
    """A dictionary of settings and facts, for bug reports."""
    names = ("TREADLE_DEVICE", "TREADLE_CACHE_DIR", "TREADLE_READY_DIR", "TREADLE_LIBCUDA", "TREADLE_LIBRARY_PATH",
             "TREADLE_CC", "TREADLE_FUSION", "TREADLE_BACKGROUND_COMPILES", "TREADLE_SOFT_DEVICES", "CUDA_PATH",
             "CUDA_VISIBLE_DEVICES")  # fmt: skip
    return {
        "version": _treadle.__version__,
        "extension": _treadle.__file__,
        "fusion": _treadle._fusion(),
        "background_compiles": _treadle._background_compiles(),
        "tf32": _treadle._tf32(),
        "strided_arguments": _treadle._strided_arguments(),
        "environment": {name: os.environ[name] for name in names if name in os.environ},
        "library folders": _libraries.wheel_folders(),
    }


def compile_counts():
    """How the kernels of this process came to be, so far.

    ``{"sources": {"compiled": 0, "cached": 0, "ready": 2}, "objects": {…}}``: sources are CUDA C++ that became an
    image, objects are images that became code of this processor (software device only). Each was ``compiled`` in
    this process, in the foreground or the background, found in the disk cache (``cached``), or made with the package
    (``ready``). What the process has in memory already is not counted again.
    """
    return _treadle._compile_counts()


def wait_for_compiles():
    """Waits until nothing is left to compile in the background.

    That is: fused kernels whose operations run one by one meanwhile (``background_compiles``), and the software
    device's better code for kernels that run a lot. What was compiled is used from the next launch on, so what is
    to be timed or counted is called once, waited for, and called again:

    >>> y = td.sqrt(x * x + 1)
    >>> y.flush()
    >>> td.config.wait_for_compiles()
    >>> y = td.sqrt(x * x + 1)  # the fused kernel
    """
    _treadle._wait_for_compiles()


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
