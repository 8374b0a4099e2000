"""``mgrid`` and ``ogrid``, and the rules for the number of a histogram's bins, against NumPy."""

import numpy as np
import pytest
import treadle as td


def same(actual, expected, rtol=0):
    if isinstance(expected, (tuple, list)):
        for a, e in zip(actual, expected, strict=True):
            same(a, e)
        return
    actual = td.asnumpy(actual)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol)


KEYS = [
    np.s_[0:5], np.s_[0:5, 0:3], np.s_[1:5:2, 0:1:0.25], np.s_[0:1:5j], np.s_[-1:1:5j, 0:3], np.s_[0:1:1j],
    np.s_[:4], np.s_[5:0:-1, 0:2], np.s_[0:5, 0:0], np.s_[0:np.float32(2):3j, 0:2],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_grids(name, key):
    same(getattr(td, name)[key], getattr(np, name)[key])


@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_grids_between_arrays(name):
    h, d = getattr(np, name), getattr(td, name)
    a, b = np.zeros(10)[:, None], np.ones(10)[:, None]
    x, y = td.asarray(a), td.asarray(b)
    same(d[x:y:10j], h[a:b:10j])
    same(d[x:y:10j, x:y:10j], h[a:b:10j, a:b:10j])
    same(d[td.asarray(1) : td.asarray(4)], h[1:4])


RULES = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", ["d", "f", "i", "B", "?"])
def test_numbers_of_bins(rule, dtype):
    rng = np.random.default_rng(1)
    for sample in (
        rng.normal(50, 9, 1000),
        rng.exponential(9, 77),
        np.full(9, 3),
        np.arange(5),
        np.arange(1),
    ):
        host = sample.astype(dtype)
        x = td.asarray(host)
        same(td.histogram_bin_edges(x, rule), np.histogram_bin_edges(host, rule), rtol=1e-6)
        for limits in ((20.0, 70), (-3, 500), (5, 5.5)):
            with np.errstate(all="ignore"):
                want = np.histogram(host, rule, limits)
            got = td.histogram(x, rule, limits)
            same(got[1], want[1], rtol=1e-6)
            np.testing.assert_array_equal(td.asnumpy(got[0]), want[0])


def test_rules_are_checked():
    with pytest.raises(ValueError, match="not a valid estimator"):
        td.histogram(td.arange(3), "best")
    with pytest.raises(TypeError, match="weighted"):
        td.histogram(td.arange(3), "auto", weights=td.ones(3))
    assert td.histogram(td.zeros(0), "auto")[0].shape == (1,)
