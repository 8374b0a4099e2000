"""Elements by place of rows that are selected or searched, not sorted, against NumPy's sort."""

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st

LONG = 1 << 16  # from here on rows are selected; see src/math/order_statistics.cpp


def data(kind, n, dtype, seed):
    rng = np.random.default_rng(seed)
    x = {
        "normal": lambda: rng.normal(size=n) * 1000,
        "few values": lambda: rng.integers(0, 5, n),
        "one value": lambda: np.full(n, 7),
        "mostly zero": lambda: np.where(rng.random(n) < 0.7, 0, rng.normal(size=n) * 100),
        "sorted": lambda: np.arange(n),
        "backwards": lambda: np.arange(n)[::-1],
        "periodic": lambda: np.arange(n) % 41,  # the step of the sample for n = 65536 is 41
        "steps": lambda: np.where(np.arange(n) < n // 2, 0, 1000),
        "far apart": lambda: np.exp(rng.normal(size=n) * 4),
        "a spike": lambda: np.where(rng.random(n) < 0.4, 3, rng.normal(size=n) * 10),
    }[kind]()
    if np.dtype(dtype).kind == "u":
        x = np.abs(x)
    with np.errstate(over="ignore", invalid="ignore"):
        return x.astype(dtype)


KINDS = ["normal", "few values", "one value", "mostly zero", "sorted", "backwards", "periodic", "steps", "far apart",
         "a spike"]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KINDS), st.sampled_from(["f4", "f8", "i4", "i8", "u4", "f2", "i1"]), st.integers(0, 999),
    st.lists(st.floats(0, 1), min_size=1, max_size=5), st.sampled_from([LONG, LONG + 1, 100003]),
)  # fmt: skip
def test_places(kind, dtype, seed, shares, n):
    host = data(kind, n, dtype, seed)
    places = [min(int(share * n), n - 1) for share in shares]
    got = td._treadle._sorted_elements(td.asarray(host), places)
    np.testing.assert_array_equal(td.asnumpy(got), np.sort(host)[places])


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(KINDS), st.sampled_from(["f4", "f8", "i4", "i8", "u4", "u8"]), st.integers(0, 999),
    st.lists(st.floats(0, 1), min_size=1, max_size=4), st.integers(250, 3000), st.integers(1, 9), st.booleans(),
)  # fmt: skip
def test_places_of_many_rows(kind, dtype, seed, shares, n, rows, nan):
    host = data(kind, n * rows, dtype, seed).reshape(rows, n)
    if nan and host.dtype.kind == "f":
        host[0, :: max(1, seed % 7)] = np.nan
    places = [min(int(share * n), n - 1) for share in shares]
    places += [min(places[0] + 1, n - 1)]  # neighbours, as of a median
    for x in (td.asarray(host), td.asarray(host.T.copy()).T):
        got = td._treadle._sorted_elements(x, places)
        np.testing.assert_array_equal(td.asnumpy(got), np.sort(host, -1)[:, places])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.9, 1])
def test_partition(kind, share):
    host = data(kind, LONG + 5, "f4", 1)
    k = int(share * (LONG + 4))
    for x in (td.asarray(host), td.asarray(np.repeat(host, 2))[::2]):
        parts = td.asnumpy(td.partition(x, k))
        places = td.asnumpy(td.argpartition(x, k))
        assert np.array_equal(np.sort(places), np.arange(host.size))
        for values in (parts, host[places]):
            assert values[k] == np.sort(host)[k]
            assert (values[:k] <= values[k]).all() and (values[k:] >= values[k]).all()
            assert np.array_equal(np.sort(values), np.sort(host))


@pytest.mark.parametrize("share", [0.0001, 0.3, 0.6, 1])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_not_a_number(share, dtype):
    rng = np.random.default_rng(3)
    host = rng.normal(size=LONG + 3).astype(dtype)
    host[rng.random(host.size) < share] = np.nan
    host[::1000] = -np.inf
    x = td.asarray(host)
    places = [0, 10, host.size // 2, host.size - 1]
    np.testing.assert_array_equal(
        td.asnumpy(td._treadle._sorted_elements(x, places)), np.sort(host)[places]
    )
    assert np.isnan(float(td.median(x))) and np.isnan(float(td.percentile(x, 30)))
    np.testing.assert_array_equal(
        td.asnumpy(td.partition(x, host.size - 5))[-5:], np.sort(host)[-5:]
    )
    np.testing.assert_allclose(float(td.nanmedian(x)), np.nanmedian(host), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("method", ["linear", "nearest", "hazen", "inverted_cdf"])
def test_quantiles_along_axes(axis, method):
    host = np.random.default_rng(0).normal(size=(3, LONG)).astype("f8")
    host = host if axis != 0 else host.T.copy()
    for q in (0.5, [0.05, 0.95], [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8], np.linspace(0, 1, 50)):
        want = np.quantile(host, q, axis=axis, method=method)
        got = td.quantile(td.asarray(host), q, axis=axis, method=method)
        np.testing.assert_allclose(td.asnumpy(got), want, rtol=1e-12)
    np.testing.assert_array_equal(
        td.asnumpy(td.median(td.asarray(host), axis=axis)), np.median(host, axis=axis)
    )


def test_places_out_of_bounds():
    with pytest.raises(IndexError, match="place 3 is out of bounds for rows of 3"):
        td._treadle._sorted_elements(td.zeros((2, 3)), [3])
