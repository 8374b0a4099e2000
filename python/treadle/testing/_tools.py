"""Parameters of test classes, requirements, random seeds."""

import importlib.metadata
import inspect
import itertools
import os
import random
import sys
import unittest

import numpy as np

__all__ = [
    "AssertFunctionIsCalled", "NumpyAliasBasicTestBase", "NumpyAliasValuesTestBase", "fix_random", "generate_seed",
    "installed", "multi_gpu", "numpy_satisfies", "parameterize", "product", "product_dict", "slow", "with_requires",
]  # fmt: skip


def product(parameters):
    """[{name: value}] of every combination, from {name: values}, or from a list of such dictionaries."""
    if isinstance(parameters, dict):
        keys = sorted(parameters)
        return [dict(zip(keys, v)) for v in itertools.product(*(parameters[k] for k in keys))]
    return [d for part in parameters for d in product(part)]


def product_dict(*parameters):
    """The union of one dictionary of each list, in every combination."""
    return [{k: v for d in parts for k, v in d.items()} for parts in itertools.product(*parameters)]


def _chosen(params):
    params = list(params)
    if os.environ.get("CUPY_TEST_RANDOM_SUBSAMPLE", "0") in ("0", "") or len(params) < 3:
        return list(enumerate(params))
    count = max(2, len(params) // 15)
    return sorted(
        random.Random(len(params)).sample(list(enumerate(params)), count), key=lambda p: p[0]
    )


def parameterize(*params, _ids=True):
    """A test class becomes one class for each dictionary of attributes.

    The classes are numbered, so ``_ids``, which asks for no names made of attributes, changes nothing.
    """

    def decorate(cls):
        module = sys.modules[cls.__module__]
        for number, attributes in _chosen(params):
            name = f"{cls.__name__}_param_{number}"
            shown = {
                "__module__": cls.__module__,
                "__test__": True,
                "__qualname__": name,
                **attributes,
            }
            setattr(module, name, type(cls)(name, (cls,), shown))
        cls.__test__ = False
        return cls

    return decorate


def _satisfied(requirement):
    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    try:
        version = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return wanted.specifier.contains(version, prereleases=True)


def installed(*specifiers):
    """Are packages installed that meet all requirements, as "numpy>=2.0"?"""
    return all(map(_satisfied, specifiers))


def numpy_satisfies(version_range):
    """Is the NumPy that is installed in the range, as ">=2.0"?"""
    return installed(f"numpy{version_range}")


def with_requires(*requirements):
    """Skips the test unless packages are installed that meet the requirements."""
    import pytest

    return pytest.mark.skipif(
        not installed(*requirements), reason=f"requires {', '.join(requirements)}"
    )


def multi_gpu(gpu_num):
    """Skips the test unless there are so many devices of the current kind."""
    import pytest

    import treadle

    kind = treadle.cuda.Device().name.partition(":")[0]
    count = sum(d.name.partition(":")[0] == kind for d in treadle.cuda.devices())
    return pytest.mark.skipif(count < gpu_num, reason=f"{gpu_num} devices are needed")


def slow(function):
    """Marks a test that needs much time or memory; it runs with TREADLE_TEST_SLOW=1."""
    import pytest

    return pytest.mark.skipif(os.environ.get("TREADLE_TEST_SLOW", "0") in ("0", ""), reason="slow")(
        function
    )


class AssertFunctionIsCalled:
    """Tests that ask which private function of CuPy ran are skipped."""

    def __init__(self, *args, **kwargs):
        import pytest

        pytest.skip("asks which private function of another library ran")


def generate_seed():
    """A seed; the same in every run."""
    return random.Random(os.environ.get("PYTEST_CURRENT_TEST", "")).randrange(0x7FFFFFFF)


def fix_random():
    """The random numbers of NumPy, and of Python, repeat in the tests of a function or class."""

    def decorate(target):
        if isinstance(target, type):
            before = getattr(target, "setUp", getattr(target, "setup_method", None))
            name = "setUp" if hasattr(target, "setUp") else "setup_method"

            def set_up(self, *args):
                _seed()
                if before is not None:
                    before(self, *args[: before.__code__.co_argcount - 1])

            setattr(target, name, set_up)
            return target
        import functools

        @functools.wraps(target)
        def test(*args, **kwargs):
            _seed()
            return target(*args, **kwargs)

        return test

    return decorate


def _seed():
    np.random.seed(0)
    random.seed(0)


class NumpyAliasBasicTestBase(unittest.TestCase):
    """For a class attribute ``func``: the function has a docstring and takes NumPy's positional arguments."""

    func = None

    def setUp(self):
        if self.func is None:
            self.skipTest("a base class")

    def test_argspec(self):
        import treadle

        mine, theirs = (
            inspect.signature(getattr(xp, self.func)).parameters.values() for xp in (treadle, np)
        )
        keyword = inspect.Parameter.KEYWORD_ONLY
        assert [p.name for p in mine if p.kind != keyword] == [
            p.name for p in theirs if p.kind != keyword
        ]

    def test_docstring(self):
        import treadle

        assert getattr(treadle, self.func).__doc__


class NumpyAliasValuesTestBase(unittest.TestCase):
    """For class attributes ``func`` and ``args``: the results are equal."""

    func = None
    args = ()

    def setUp(self):
        if self.func is None:
            self.skipTest("a base class")

    def test_values(self):
        import treadle

        assert np.all(getattr(np, self.func)(*self.args) == getattr(treadle, self.func)(*self.args))
