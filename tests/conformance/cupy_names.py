"""A pytest plugin: within this process `import cupy` gives treadle, as CuPy's own tests want it.

Names of CuPy's inside that a test file imports, but that mean nothing here, are empty modules.
"""

import importlib
import importlib.abc
import importlib.util
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


class Aliases(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """cupy.x is the module treadle.x itself: loaded again under another name, its native part would spoil the first."""

    def find_spec(self, name, path=None, target=None):
        own = name.replace("cupy.", "treadle.", 1)
        if not name.startswith("cupy.") or importlib.util.find_spec(own) is None:
            return None
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        module = importlib.import_module(spec.name.replace("cupy.", "treadle.", 1))
        self.spec = module.__spec__  # the machinery is about to replace it
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec


class Foreign:
    """An array of another library on an NVIDIA GPU, which the software device cannot read."""

    def __init__(self, *args):
        import pytest

        pytest.skip("needs memory of an NVIDIA GPU")


def install():
    sys.meta_path.insert(0, Aliases())
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
