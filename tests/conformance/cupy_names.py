"""A pytest plugin: within this process `import cupy` gives treadle, as CuPy's own tests want it.

What belongs to CuPy's inside can be imported; a test that uses it is skipped, with the name of what it asked for.
"""

import contextlib
import importlib
import importlib.abc
import importlib.util
import random
import sys
import types
import warnings

import numpy
import pytest
import treadle
import treadle.cuda.runtime
import treadle.exceptions
import treadle.profiler
import treadle.random
import treadle.testing
import treadle.texture


class Inside:
    """Something of CuPy's inside: to be called, subclassed or asked for a part is to be skipped."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        pytest.skip(f"asks for {self._name}, which is CuPy's inside")

    def __getattr__(self, part):
        if part.startswith("__"):
            raise AttributeError(part)
        return Inside(f"{self._name}.{part}")

    def __mro_entries__(self, bases):
        return (object,)

    def __enter__(self):
        self()

    def __exit__(self, *error):
        return False

    def __iter__(self):
        self()


def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    made.__path__ = []
    made.__getattr__ = lambda part: _part(name, part)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent and not (parent == "cupy" and hasattr(treadle, last)):  # treadle._indexing is ours
        setattr(sys.modules[parent], last, made)
    return made


def _part(name, part):
    if part.startswith("__"):
        raise AttributeError(part)
    return Inside(f"{name}.{part}")


class Aliases(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """cupy.x is the module treadle.x itself: loaded again under another name, its native part would spoil the first."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(("cupy.", "cupyx.", "cupy_backends")):
            return None
        if name.startswith("cupy.") and _own(name):
            return importlib.util.spec_from_loader(name, self)
        return importlib.util.spec_from_loader(name, Empty())

    def create_module(self, spec):
        module = importlib.import_module(spec.name.replace("cupy.", "treadle.", 1))
        self.spec = module.__spec__  # the machinery is about to replace it
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec


class Empty(importlib.abc.Loader):
    """A module of CuPy's inside."""

    def create_module(self, spec):
        return module(spec.name)

    def exec_module(self, module):
        pass


def _own(name):
    """Is there a module of treadle that stands for a public one of CuPy, or for a part of its testing package?"""
    private = name.split(".")[1].startswith("_") or (
        not name.startswith("cupy.testing.") and name.rpartition(".")[2].startswith("_")
    )
    if private:
        return False
    try:
        return importlib.util.find_spec(name.replace("cupy.", "treadle.", 1)) is not None
    except ImportError:
        return False


def _parts(owner, names):
    return {name: getattr(owner, name) for name in names.split()}


class FftConfig(types.ModuleType):
    """cupy.fft.config: a switch that CuPy deprecates, and says so; here it switches nothing."""

    use_multi_gpus = False
    _nd = True

    @property
    def enable_nd_planning(self):
        warnings.warn("enable_nd_planning is deprecated", DeprecationWarning, stacklevel=2)
        return self._nd

    @enable_nd_planning.setter
    def enable_nd_planning(self, value):
        warnings.warn("enable_nd_planning is deprecated", DeprecationWarning, stacklevel=2)
        self._nd = value


class Foreign:
    """An array of another library on an NVIDIA GPU, which the software device cannot read."""

    def __init__(self, *args):
        pytest.skip("needs memory of an NVIDIA GPU")


def install():
    sys.meta_path.insert(0, Aliases())
    sys.modules["cupy"] = treadle
    treadle.cuda.get_local_runtime_version = treadle.cuda.runtime.runtimeGetVersion
    for name in ("testing", "exceptions", "cuda", "random", "linalg", "fft"):
        sys.modules[f"cupy.{name}"] = importlib.import_module(f"treadle.{name}")
        setattr(treadle, name, sys.modules[f"cupy.{name}"])

    class PerformanceWarning(Warning):
        pass

    module("cupy._util", PerformanceWarning=PerformanceWarning, ENABLE_SLICE_COPY=False)
    switches = {f"{verb}_{what}_accelerators": list for verb in ("get", "set") for what in (
        "routine", "reduction", "elementwise")}  # fmt: skip
    module("cupy._core", ndarray=treadle.ndarray, **switches)
    module("cupy._core._accelerator", **switches)
    module("cupy._core.core", ndarray=treadle.ndarray)
    for name in ("cub", "cutensor"):
        module(f"cupy.cuda.{name}", available=False)
    for name in (
        "cupy.cuda.cufft", "cupy.cuda._compiler_cache", "cupy.cuda.nvrtc", "cupy.linalg._util", "cupy.fft._fft",
        "cupy.fft._cache", "cupy._environment", "cupy._core._scalar", "cupy._indexing.generate", "cupy.cublas",
    ):  # fmt: skip
        parent = name.rpartition(".")[0]
        if parent not in sys.modules:
            module(parent)
        module(name)
    sys.modules["cupy.cuda.texture"] = treadle.texture
    module(
        "cupy.testing._protocol_helpers",
        DummyObjectWithCuPyGetNDArray=Foreign, DummyObjectWithCudaArrayInterface=Foreign,
    )  # fmt: skip
    module(
        "cupy.random._generator",
        **_parts(treadle.random, "RandomState get_random_state set_random_state reset_states"),
    )
    module("cupy.random._bit_generator", **_parts(treadle.random, "BitGenerator Philox4x3210"))
    module("cupy.random._distributions", **_parts(treadle.random, " ".join(treadle.random.__all__)))
    sys.modules["cupy.fft.config"] = treadle.fft.config = FftConfig("cupy.fft.config")
    module("cupy_backends")
    module("cupy_backends.cuda")
    module("cupy_backends.cuda.api")
    for name in ("driver", "runtime"):
        sys.modules[f"cupy_backends.cuda.api.{name}"] = importlib.import_module(
            f"treadle.cuda.{name}"
        )
    module(
        "cupyx", scatter_add=treadle.scatter_add, scatter_max=treadle.scatter_max, scatter_min=treadle.scatter_min,
        errstate=lambda **kinds: contextlib.nullcontext(),
    )  # fmt: skip
    sys.modules["cupyx.profiler"] = treadle.profiler
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


def pytest_runtest_setup(item):
    """Tests that draw without a seed draw the same in every run."""
    random.seed(99)
    numpy.random.seed(100)
    treadle.random.seed(101)


install()
