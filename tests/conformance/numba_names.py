"""A pytest plugin: within this process numba.cuda is Treadle, and numba.cuda.tests is the folder of a checkout.

NUMBA_CUDA_TESTS names that folder. Of numba-cuda's own files only its tests are loaded; what they share, modules
numba.cuda.testing and numba.cuda.tests.support, is written anew here.
"""

import contextlib
import importlib
import importlib.abc
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pytest
from precise import PreciseEquality
from treadle import _aliases

TESTS = Path(os.environ["NUMBA_CUDA_TESTS"]).resolve()


class TestCase(PreciseEquality, unittest.TestCase):
    longMessage = True

    @property
    def random(self):
        """Numbers that are the same in every run."""
        if "_random" not in vars(self):
            self._random = np.random.RandomState(42)
        return self._random

    @contextlib.contextmanager
    def assertTypingError(self):
        from numba.core import errors

        with self.assertRaises(
            (errors.TypingError, errors.LoweringError, TypeError, NotImplementedError)
        ) as caught:
            yield caught

    def assertRefCount(self, *objects):
        return contextlib.nullcontext()

    def reset_module_warnings(self, module):
        vars(sys.modules[module] if isinstance(module, str) else module).pop(
            "__warningregistry__", None
        )

    @contextlib.contextmanager
    def check_warnings(self, messages, category=RuntimeWarning):
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        found = [str(w.message) for w in caught if issubclass(w.category, category)]
        for message in messages:
            self.assertTrue(any(message in text for text in found), (message, found))


class CUDATestCase(TestCase):
    FLOAT16_RTOL = np.finfo(np.float16).eps

    def setUp(self):
        from numba.cuda import config

        self._settings = config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY
        config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0

    def tearDown(self):
        from numba.cuda import config

        config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY = self._settings

    def __getattr__(self, name):
        if name.startswith("assertFileCheck"):
            return lambda *args, **options: pytest.skip(
                "compares LLVM text or assembly of Numba's compiler"
            )
        raise AttributeError(name)


class ForeignArray:
    """An array that another library owns."""

    def __init__(self, array):
        self._arr = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def _give_interfaces():
    """Arrays of the software device have no CUDA array interface, as their memory is not CUDA's. In these tests only
    Treadle reads what Treadle's arrays say, so here they have one, and the tests run on both kinds of device.
    """
    from treadle._treadle import _interface_facts, ndarray

    own = ndarray.__cuda_array_interface__
    ndarray.__cuda_array_interface__ = property(
        lambda array: _interface_facts(array) if array.device.is_software else own.__get__(array)
    )


def _device():
    from treadle import cuda

    return cuda.Device()


def _skip_unless(what, reason):
    return lambda test: unittest.skipUnless(what, reason)(test)


def _at_least(major, minor):
    found = tuple(int(part) for part in (_device().attribute(75), _device().attribute(76)))
    return found >= (major, minor)


def _testing(module):
    def keep(test):
        return test

    def reasoned(reason):
        return keep

    module.__dict__.update(
        TestCase=TestCase, CUDATestCase=CUDATestCase, unittest=unittest, ForeignArray=ForeignArray,
        numba_cuda_dir=TESTS.parent, test_data_dir=TESTS / "data", cc_X_or_above=_at_least,
        skip_unless_cudasim=lambda reason: unittest.skip(f"for Numba's simulator: {reason}"),
        skip_on_standalone_numba_cuda=unittest.skip("needs Numba's CPU compiler"),
        skip_unless_conda_cudatoolkit=lambda reason: unittest.skip(reason),
        skip_without_nvdisasm=lambda reason: unittest.skip(f"needs nvdisasm: {reason}"),
        skip_if_nvjitlink_missing=lambda reason: unittest.skip(f"needs nvJitLink: {reason}"),
        skip_with_nvdisasm=reasoned, xfail_unless_cudasim=unittest.expectedFailure,
        skip_if_cudadevrt_missing=keep,
    )  # fmt: skip
    for name in ("on_cudasim", "if_external_memmgr", "under_cuda_memcheck", "on_arm", "on_wsl2",
                 "on_nvjitlink_13_1_sm_120"):  # fmt: skip
        setattr(module, f"skip_{name}", reasoned)
    for name in ("cuda_includes", "curand_kernel"):
        setattr(module, f"skip_if_{name}_missing", keep)
    for major, minor in ((5, 0), (5, 3), (6, 0), (7, 5), (9, 0)):
        setattr(module, f"skip_unless_cc_{major}{minor}",
                _skip_unless(_at_least(major, minor), f"needs compute capability {major}.{minor}"))  # fmt: skip


@contextlib.contextmanager
def override_config(name, value):
    from numba.cuda import config

    before = getattr(config, name)
    setattr(config, name, value)
    try:
        yield
    finally:
        setattr(config, name, before)


def run_in_subprocess(code, flags=(), env=None, timeout=60):
    """Standard output and error of a program that sees the same aliases."""
    command = [sys.executable, *flags, "-m", "treadle", "run", "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise AssertionError(f"the program ended with {done.returncode}:\n{done.stderr}")
    return done.stdout, done.stderr


def _support(module):
    module.__dict__.update(
        TestCase=TestCase, override_config=override_config, run_in_subprocess=run_in_subprocess,
        captured_stdout=lambda: contextlib.redirect_stdout(io.StringIO()),
        captured_stderr=lambda: contextlib.redirect_stderr(io.StringIO()),
        linux_only=lambda test: test, windows_only=unittest.skip("for Windows"), IS_NUMPY_2=True,
        skip_unless_cffi=_skip_unless(importlib.util.find_spec("cffi"), "needs cffi"),
        CheckWarningsMixin=type("CheckWarningsMixin", (), {}), MemoryLeakMixin=type("MemoryLeakMixin", (), {}),
        EnableNRTStatsMixin=type("EnableNRTStatsMixin", (), {}),
        temp_directory=lambda prefix: tempfile.mkdtemp(prefix=prefix), ignore_internal_warnings=lambda: None,
        import_dynamic=importlib.import_module,
    )  # fmt: skip


def _tests(module):
    module.load_testsuite = None
    module.__path__ = [str(TESTS)]


class Elsewhere:
    """Something of cuda.core or of Numba's inside: to use it in a test is to be skipped."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        pytest.skip(f"asks for {self._name}")

    def __getattr__(self, part):
        if part.startswith("__"):
            raise AttributeError(part)
        return Elsewhere(f"{self._name}.{part}")


def _elsewhere(*names, **own):
    def fill(module):
        vars(module).update({n: Elsewhere(f"{module.__name__}.{n}") for n in names}, **own)

    return fill


class _Core(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The package cuda of cuda-python, as far as the tests import it at their top."""

    def __init__(self):
        from treadle.errors import CUDAError

        self.table = {
            "cuda": _elsewhere(),
            "cuda.core": _elsewhere("Buffer", "Device", "LaunchConfig", "ObjectCode", "Stream", "launch"),
            "cuda.core.utils": _elsewhere("StridedMemoryView"), "cuda.core._utils": _elsewhere(),
            "cuda.core._utils.cuda_utils": _elsewhere("NVRTCError", CUDAError=CUDAError),
        }  # fmt: skip

    def find_spec(self, name, path=None, target=None):
        return (
            importlib.util.spec_from_loader(name, self, is_package=True)
            if name in self.table
            else None
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.table[module.__name__](module)


def _extensions(module):
    """Types that extensions of Numba's compiler make."""
    from treadle._jit import types as ty

    class StructModelType(ty.Type):
        def __init__(self):
            super().__init__("TestStructModelType")

    module.StructModelType, module.struct_model_type = StructModelType, StructModelType()
    module.MyStruct = Elsewhere("an extension of Numba's compiler")


class NumbaModule(pytest.Module):
    """A file of the checkout, under its name in numba.cuda.tests."""

    def _getobj(self):
        part = self.path.relative_to(TESTS).with_suffix("").as_posix().replace("/", ".")
        try:
            return importlib.import_module(f"numba.cuda.tests.{part}")
        except unittest.SkipTest as skipped:
            pytest.skip(str(skipped), allow_module_level=True)


def pytest_collect_directory(path, parent):
    """No folder is a package to pytest: the __init__.py of numba.cuda itself must not be loaded."""
    return pytest.Dir.from_parent(parent, path=path)


def pytest_pycollect_makemodule(module_path, parent):
    return NumbaModule.from_parent(parent, path=module_path)


def install():
    _aliases.install("numba", quiet=True)
    _give_interfaces()
    table = _aliases.finder("numba").table
    table["numba.cuda.testing"] = _testing
    table["numba.cuda.tests"] = _tests
    table["numba.cuda.tests.support"] = _support
    table["numba.cuda.tests.cudapy.extensions_usecases"] = _extensions
    if importlib.util.find_spec("cuda") is None:
        sys.meta_path.insert(0, _Core())


install()
