"""Decorators that run a test's body with NumPy and with treadle and compare what it returns, or raises."""

import functools
import inspect
import unittest
import warnings

import numpy as np

import treadle

from . import _asserts

__all__ = [
    "numpy_cupy_allclose", "numpy_cupy_array_almost_equal", "numpy_cupy_array_almost_equal_nulp",
    "numpy_cupy_array_equal", "numpy_cupy_array_less", "numpy_cupy_array_list_equal", "numpy_cupy_array_max_ulp",
    "numpy_cupy_equal", "numpy_cupy_raises",
]  # fmt: skip


def without_arguments(wrapper, function, names):
    """Hides arguments that the decorator fills in from pytest, which would take them for fixtures."""
    parameters = inspect.signature(function).parameters.values()
    wrapper.__signature__ = inspect.Signature([p for p in parameters if p.name not in names])
    return wrapper


def _wraps_partial(wrapped, *names):
    """The decorator of a function that fills in the arguments ``names`` of ``wrapped`` itself."""

    def decorate(function):
        return without_arguments(functools.wraps(wrapped)(function), wrapped, set(names))

    return decorate


def _wraps_partial_xp(wrapped, name, sp_name=None, scipy_name=None):
    return _wraps_partial(wrapped, *(n for n in (name, sp_name, scipy_name) if n is not None))


def _skips():
    import pytest

    return (unittest.SkipTest, pytest.skip.Exception)


def _run(function, self, args, kwargs):
    """(result, error)."""
    try:
        return function(*self, *args, **kwargs), None
    except _skips():
        raise
    except Exception as error:
        return None, error


def _both(function, args, kwargs, name, sp_name, scipy_name):
    def extra(xp):
        return {**({name: xp} if name else {}), **({sp_name: None} if sp_name else {}),
                **({scipy_name: None} if scipy_name else {})}  # fmt: skip

    mine, my_error = _run(function, (), args, {**kwargs, **extra(treadle)})
    with np.errstate(all="ignore"):
        theirs, their_error = _run(function, (), args, {**kwargs, **extra(np)})
    return mine, my_error, theirs, their_error


def _accepted(error, accept_error):
    if accept_error is True:
        return True
    classes = () if accept_error is False else accept_error
    return isinstance(error, classes)


def _compare_errors(mine, theirs, accept_error):
    if mine is None:
        raise AssertionError(f"only NumPy raises: {type(theirs).__name__}: {theirs}") from theirs
    if theirs is None:
        raise AssertionError(f"only treadle raises: {type(mine).__name__}: {mine}") from mine
    if not (isinstance(mine, type(theirs)) or isinstance(theirs, type(mine)) or
            (_accepted(mine, accept_error) and _accepted(theirs, accept_error))):  # fmt: skip
        raise AssertionError(
            f"different errors: treadle {type(mine).__name__}: {mine}; NumPy {type(theirs).__name__}: {theirs}"
        ) from mine
    if not (_accepted(mine, accept_error) and _accepted(theirs, accept_error)):
        raise AssertionError(
            f"both raise, and the test does not expect it: {type(mine).__name__}: {mine}"
        ) from mine


def _pairs(mine, theirs):
    if isinstance(mine, (tuple, list)):
        if not isinstance(theirs, (tuple, list)) or len(mine) != len(theirs):
            raise AssertionError("results are sequences of different lengths")
        for a, b in zip(mine, theirs):
            yield from _pairs(a, b)
    elif isinstance(mine, treadle.poly1d) and isinstance(theirs, np.poly1d):
        if mine.variable != theirs.variable:
            raise AssertionError(f"variable {mine.variable!r}, NumPy's is {theirs.variable!r}")
        yield mine.coeffs, theirs.coeffs
    else:
        yield mine, theirs


def _check_kind(mine, theirs, type_check, contiguous_check):
    if type_check:
        if not isinstance(mine, (treadle.ndarray, np.ndarray, np.generic)):
            raise AssertionError(f"treadle's result is a {type(mine).__name__}, not an array")
        if not isinstance(theirs, (np.ndarray, np.generic)):
            raise AssertionError(f"NumPy's result is a {type(theirs).__name__}, not an array")
        if mine.dtype != theirs.dtype:
            raise AssertionError(f"dtype {mine.dtype}, NumPy's is {theirs.dtype}")
    if contiguous_check and isinstance(mine, treadle.ndarray) and isinstance(theirs, np.ndarray):
        for flag in ("c_contiguous", "f_contiguous"):
            if getattr(theirs.flags, flag) and not getattr(mine.flags, flag):
                raise AssertionError(f"NumPy's result is {flag}, treadle's is not")
    if np.shape(theirs) != getattr(mine, "shape", np.shape(theirs)):
        raise AssertionError(f"shape {mine.shape}, NumPy's is {np.shape(theirs)}")


def _decorator(check, name, type_check, contiguous_check, accept_error, sp_name, scipy_name):
    def decorate(function):
        @functools.wraps(function)
        def test(*args, **kwargs):
            mine, my_error, theirs, their_error = _both(
                function, args, kwargs, name, sp_name, scipy_name
            )
            if my_error is not None or their_error is not None:
                _compare_errors(my_error, their_error, accept_error)
                return
            for a, b in _pairs(mine, theirs):
                _check_kind(a, b, type_check, contiguous_check)
                check(a, b)

        return without_arguments(test, function, {name, sp_name, scipy_name})

    return decorate


def _tolerance(value, dtype):
    if not isinstance(value, dict):
        return value
    for kind, number in value.items():
        if kind != "default" and np.dtype(kind) == dtype:
            return number
    return value["default"]


def numpy_cupy_allclose(
    rtol=1e-7, atol=0, err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None,
    scipy_name=None, contiguous_check=True, **_,
):  # fmt: skip
    """Results are close. Tolerances may be dictionaries by dtype with a "default"."""

    def check(mine, theirs):
        dtype = getattr(theirs, "dtype", None)
        _asserts.assert_allclose(
            mine, theirs, _tolerance(rtol, dtype), _tolerance(atol, dtype), err_msg, verbose
        )

    return _decorator(check, name, type_check, contiguous_check, accept_error, sp_name, scipy_name)


def numpy_cupy_array_almost_equal(
    decimal=6, err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None,
):  # fmt: skip
    """Results are equal to so many decimals."""

    def check(mine, theirs):
        _asserts.assert_array_almost_equal(mine, theirs, decimal, err_msg, verbose)

    return _decorator(check, name, type_check, False, accept_error, sp_name, scipy_name)


def numpy_cupy_array_almost_equal_nulp(
    nulp=1, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None
):
    """Results differ by at most ``nulp`` spacings."""

    def check(mine, theirs):
        _asserts.assert_array_almost_equal_nulp(mine, theirs, nulp)

    return _decorator(check, name, type_check, False, accept_error, sp_name, scipy_name)


def numpy_cupy_array_max_ulp(
    maxulp=1,
    dtype=None,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
):
    """Results differ by at most ``maxulp`` units in the last place."""

    def check(mine, theirs):
        _asserts.assert_array_max_ulp(mine, theirs, maxulp, dtype)

    return _decorator(check, name, type_check, False, accept_error, sp_name, scipy_name)


def numpy_cupy_array_equal(
    err_msg="", verbose=True, name="xp", type_check=True, accept_error=False, sp_name=None, scipy_name=None,
    strides_check=False,
):  # fmt: skip
    """Results are equal."""

    def check(mine, theirs):
        _asserts.assert_array_equal(mine, theirs, err_msg, verbose, strides_check=strides_check)

    return _decorator(check, name, type_check, False, accept_error, sp_name, scipy_name)


def numpy_cupy_array_less(
    err_msg="",
    verbose=True,
    name="xp",
    type_check=True,
    accept_error=False,
    sp_name=None,
    scipy_name=None,
):
    """Every value of treadle's result is less than NumPy's."""

    def check(mine, theirs):
        _asserts.assert_array_less(mine, theirs, err_msg, verbose)

    return _decorator(check, name, type_check, False, accept_error, sp_name, scipy_name)


def numpy_cupy_array_list_equal(err_msg="", verbose=True, name="xp", sp_name=None, scipy_name=None):
    """Results are equal lists of arrays."""
    warnings.warn("use numpy_cupy_array_equal, which takes lists", DeprecationWarning, stacklevel=2)
    return numpy_cupy_array_equal(err_msg, verbose, name, False, False, sp_name, scipy_name)


def numpy_cupy_equal(name="xp", sp_name=None, scipy_name=None):
    """Results are equal by ``==``."""

    def decorate(function):
        @functools.wraps(function)
        def test(*args, **kwargs):
            mine, my_error, theirs, their_error = _both(
                function, args, kwargs, name, sp_name, scipy_name
            )
            for error in (my_error, their_error):
                if error is not None:
                    raise error
            if isinstance(mine, treadle.ndarray):
                mine = mine.get()
            if not np.all(np.asarray(mine == theirs)):
                raise AssertionError(f"results differ: treadle {mine!r}, NumPy {theirs!r}")

        return without_arguments(test, function, {name, sp_name, scipy_name})

    return decorate


def numpy_cupy_raises(name="xp", sp_name=None, scipy_name=None, accept_error=Exception):
    """Both raise the same kind of error."""
    warnings.warn("use pytest.raises for each module instead", DeprecationWarning, stacklevel=2)

    def decorate(function):
        @functools.wraps(function)
        def test(*args, **kwargs):
            _, my_error, _, their_error = _both(function, args, kwargs, name, sp_name, scipy_name)
            if my_error is None and their_error is None:
                raise AssertionError("neither raises")
            _compare_errors(my_error, their_error, accept_error)

        return without_arguments(test, function, {name, sp_name, scipy_name})

    return decorate
