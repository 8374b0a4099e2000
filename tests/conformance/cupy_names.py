"""A pytest plugin: within this process `import cupy` gives treadle, as CuPy's own tests want it.

Names of CuPy's inside that a test file imports, but that mean nothing here, are empty modules.
"""

import importlib
import sys
import types

import treadle
import treadle.exceptions
import treadle.testing


def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, made)
    return made


class Foreign:
    """An array of another library on an NVIDIA GPU, which the software device cannot read."""

    def __init__(self, *args):
        import pytest

        pytest.skip("needs memory of an NVIDIA GPU")


def install():
    sys.modules["cupy"] = treadle
    treadle.__dict__.setdefault("__path__", [])
    for name in ("testing", "exceptions", "cuda", "random", "linalg", "fft"):
        try:
            sys.modules[f"cupy.{name}"] = importlib.import_module(f"treadle.{name}")
        except ImportError:
            continue
        setattr(treadle, name, sys.modules[f"cupy.{name}"])

    class PerformanceWarning(Warning):
        pass

    module("cupy._util", PerformanceWarning=PerformanceWarning)
    module("cupy._core", set_routine_accelerators=list, get_routine_accelerators=list)
    for name in ("_accelerator", "core", "_routines_linalg", "_cub_reduction", "internal"):
        module(f"cupy._core.{name}")
    module("cupy.cuda.runtime", is_hip=False, getDeviceCount=lambda: len(treadle.cuda.devices()))
    for name in ("driver", "cub", "cutensor", "compiler"):
        module(f"cupy.cuda.{name}", available=False)
    module(
        "cupy.testing._protocol_helpers",
        DummyObjectWithCuPyGetNDArray=Foreign, DummyObjectWithCudaArrayInterface=Foreign,
    )  # fmt: skip
    module("cupyx")
    module("cupyx.scipy")
    module("cupyx.scipy.sparse", issparse=lambda x: False)


def pytest_configure(config):
    for marker in (
        "slow",
        "multi_gpu",
        "parallel_threads(n)",
        "iterations(n)",
        "thread_unsafe(reason)",
    ):
        config.addinivalue_line("markers", marker)


install()
