"""Assertions of numpy.testing on arrays of either kind."""

import numpy as np

import treadle

__all__ = [
    "assert_allclose", "assert_array_almost_equal", "assert_array_almost_equal_nulp", "assert_array_equal",
    "assert_array_less", "assert_array_list_equal", "assert_array_max_ulp", "assert_warns",
]  # fmt: skip


def _host(x):
    return treadle.asnumpy(x)


def assert_allclose(actual, desired, rtol=1e-7, atol=0, err_msg="", verbose=True):
    """Values are equal within tolerances."""
    np.testing.assert_allclose(
        _host(actual), _host(desired), rtol=rtol, atol=atol, err_msg=err_msg, verbose=verbose
    )


def assert_array_almost_equal(x, y, decimal=6, err_msg="", verbose=True):
    """Values are equal to so many decimals."""
    np.testing.assert_array_almost_equal(
        _host(x), _host(y), decimal=decimal, err_msg=err_msg, verbose=verbose
    )


def assert_array_almost_equal_nulp(x, y, nulp=1):
    """Values differ by at most ``nulp`` spacings."""
    np.testing.assert_array_almost_equal_nulp(_host(x), _host(y), nulp=nulp)


def assert_array_max_ulp(a, b, maxulp=1, dtype=None):
    """Values differ by at most ``maxulp`` units in the last place."""
    np.testing.assert_array_max_ulp(_host(a), _host(b), maxulp=maxulp, dtype=dtype)


def assert_array_equal(x, y, err_msg="", verbose=True, *, strides_check=False, **options):
    """Shapes and values are equal."""
    np.testing.assert_array_equal(_host(x), _host(y), err_msg=err_msg, verbose=verbose, **options)
    if strides_check and x.strides != y.strides:
        raise AssertionError(f"strides {x.strides} and {y.strides} differ. {err_msg}")


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True):
    """Two sequences of arrays are equal, one by one."""
    if type(xlist) is not type(ylist):
        raise AssertionError(f"{type(xlist)} and {type(ylist)} are different types. {err_msg}")
    if len(xlist) != len(ylist):
        raise AssertionError(f"{len(xlist)} and {len(ylist)} arrays. {err_msg}")
    for x, y in zip(xlist, ylist):
        assert_array_equal(x, y, err_msg, verbose)


def assert_array_less(x, y, err_msg="", verbose=True):
    """Every value of ``x`` is less than that of ``y``."""
    np.testing.assert_array_less(_host(x), _host(y), err_msg=err_msg, verbose=verbose)


def assert_warns(warning_class, *args, **kwargs):
    """The call gives the warning; without a call, a context manager."""
    import pytest

    if not args:
        return pytest.warns(warning_class)
    with pytest.warns(warning_class):
        return args[0](*args[1:], **kwargs)
