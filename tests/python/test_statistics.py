"""Reductions with where= and initial=, order statistics, averages and covariance against NumPy."""

# ruff: noqa: B023  (lambdas are called where they stand)

import warnings

import numpy as np
import pytest
import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
LETTERS = "?bhiqBHIQefdFD"
FEW = "?bQefD"  # one of each kind, where every combination is a kernel
TOLERANCE = {2: 4e-3, 4: 3e-6, 8: 1e-12}


def values(letter, shape, nan=0.0, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(letter)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -4, 5, shape).astype(dtype)
    x = rng.uniform(-2, 2, shape)
    x = (x + 1j * rng.uniform(-1, 1, shape) if dtype.kind == "c" else x).astype(dtype)
    x[rng.random(shape) < nan] = np.nan
    return x


def compare(got, want, exact=False):
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    if exact or want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got.get(), want)
        return
    rtol = TOLERANCE[want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)]
    np.testing.assert_allclose(got.get(), want, rtol=rtol, atol=rtol * 4)


def both(call, *hosts, exact=False):
    """The same call on NumPy and on Treadle: equal results, or the same class of error."""
    devices = [td.asarray(x) for x in hosts]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = call(np, *hosts)
    except Exception as error:
        with pytest.raises(type(error)):
            call(td, *devices)
        return
    got = call(td, *devices)
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            compare(g, w, exact)
    else:
        compare(got, want, exact)


# ---- where= and initial= ----

AXES = [None, 1, (0, 2), ()]


@pytest.mark.parametrize("letter", FEW)
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "any", "all", "var", "std"])
def test_where(name, letter):
    host, mask = values(letter, (3, 5, 4)), values("?", (3, 5, 4), seed=1)
    mask[1] = False
    host[:, 0] = host[0, 0]
    start = {"initial": 3} if name in ("min", "max") else {}
    for axis in AXES:
        both(lambda xp, x, m: getattr(xp, name)(x, axis=axis, where=m, **start), host, mask)
        some = mask[:, :1]
        both(
            lambda xp, x, m: getattr(xp, name)(x, axis=axis, where=m, keepdims=True, **start),
            host,
            some,
        )
    both(lambda xp, x: getattr(xp, name)(x, where=True, **start), host)
    both(lambda xp, x: getattr(xp, name)(x, where=False, **start), host)
    both(lambda xp, x, m: getattr(x.T, name)(axis=1, where=m.T, **start), host, mask)


@pytest.mark.parametrize("letter", "?bQeD")
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
def test_initial(name, letter):
    for shape in [(3, 4), (0, 4), (3, 0), (0,)]:
        for initial in (2, 2.5, True, np.float64(1.5), -1, 300):
            for axis in (None, 0, -1):
                both(
                    lambda xp, x: getattr(xp, name)(x, axis=axis, initial=initial),
                    values(letter, shape),
                )


@pytest.mark.parametrize("name", ["min", "max", "nanmin", "nanmax"])
def test_where_with_nan(name):
    host = np.array([[np.nan, 1, -np.inf], [np.inf, np.nan, 2], [np.nan] * 3])
    for mask in (np.isnan(host), ~np.isnan(host), host > 0):
        for initial in (np.inf, -np.inf, 0.5):
            both(
                lambda xp, x, m: getattr(xp, name)(x, axis=1, where=m, initial=initial), host, mask
            )
    both(lambda xp, x: getattr(xp, name)(x, where=x > 0), host)


def test_reduce_of_a_ufunc():
    host, mask = values("d", (3, 4)), values("?", (3, 4))
    x, m = td.asarray(host), td.asarray(mask)
    compare(np.add.reduce(x, axis=1, where=m), np.add.reduce(host, axis=1, where=mask))
    compare(np.maximum.reduce(x, axis=0, initial=0.5), np.maximum.reduce(host, axis=0, initial=0.5))


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.min(x, where=x > 0),
        lambda xp, x: xp.max(x[0], where=x > 0),
        lambda xp, x: xp.sum(x[0], where=x > 0),
        lambda xp, x: xp.sum(x, where=x[:, :2] > 0),
        lambda xp, x: xp.max(x.astype("i1"), initial=300),
        lambda xp, x: xp.sum(x, initial=x),
        lambda xp, x: xp.mean(x, initial=1),
        lambda xp, x: xp.var(x, ddof=1, correction=1),
    ],
)
def test_errors_of_where_and_initial(call):
    both(call, values("d", (3, 4)))


# ---- cases 1 and 8 of the reports: infinities, empty axes ----


@pytest.mark.parametrize("letter", "efd")
@pytest.mark.parametrize("n", [1, 2, 40, 300, 5000])
def test_infinities_are_no_identities(letter, n):
    for value in (np.inf, -np.inf):
        for shape, axis in [((n,), None), ((n, 3), 0), ((3, n), 1)]:
            host = np.full(shape, value, letter)
            for name in ("argmin", "argmax", "min", "max", "nanmin", "nanmax", "nanargmin"):
                both(lambda xp, x: getattr(xp, name)(x, axis=axis), host, exact=True)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    "name",
    [
        "min",
        "max",
        "argmin",
        "argmax",
        "sum",
        "prod",
        "any",
        "all",
        "mean",
        "ptp",
        "median",
        "var",
        "count_nonzero",
        "nanmin",
        "nanmean",
        "cumsum",
        "sort",
        "argsort",
    ],
)
def test_empty_axes(name, letter):
    for shape in [(0, 2), (2, 0), (0,), (0, 0), (3, 0, 2)]:
        for axis in (0, 1, -1, None):
            both(lambda xp, x: getattr(xp, name)(x, axis=axis), np.empty(shape, letter))


# ---- order statistics ----

ALONG = [
    "median", "nanmedian", "ptp", "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd", "nanargmin",
    "nanargmax",
]  # fmt: skip

METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]


@pytest.mark.parametrize("letter", "?hQefdD")
@pytest.mark.parametrize("name", ALONG)
def test_along_axes(name, letter):
    if name in ("nanargmin", "nanargmax"):
        axes = [None, 0, 2]
    else:
        axes = [None, 0, -1, (0, 2), (0, 1, 2)]
    for nan in (0.0, 0.3):
        host = values(letter, (4, 7, 5), nan)
        if nan and letter in "efdFD" and "arg" not in name:
            host[2] = np.nan
        if letter in "FD":
            host = np.where(np.isnan(host), np.nan, host).astype(letter)
        for axis in axes:
            both(lambda xp, x: getattr(xp, name)(x, axis=axis), host)
            if name != "ptp":
                both(lambda xp, x: getattr(xp, name)(x.T, axis=axis, keepdims=True), host)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("letter", "?ief")
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantile_methods(name, method, letter):
    for nan in (0.0, 0.4):
        for n in (1, 2, 7):
            host = values(letter, (n, 4), nan)
            if nan and letter in "efd" and name == "nanquantile":
                host[:, 1] = np.nan
            for q in (
                0.3,
                0,
                1,
                [0.0, 0.25, 0.5, 0.77, 1.0],
                [[0.1, 0.9], [0.5, 0.4]],
                np.float32(0.4),
            ):
                both(lambda xp, x: getattr(xp, name)(x, q, axis=0, method=method), host)


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile", "nanpercentile"])
def test_quantile_axes(name):
    host = values("f", (3, 4, 5), 0.1)
    for q in (0.5, [0.25, 1.0], [0, 1]):
        for axis in (None, 1, (0, 2), (2, 0)):
            for keepdims in (False, True):
                both(lambda xp, x: getattr(xp, name)(x, q, axis=axis, keepdims=keepdims), host)
    device = td.asarray(host)
    q = np.array([0.2, 0.4])
    compare(getattr(td, name)(device, td.asarray(q)), getattr(np, name)(host, q))
    out = td.empty((4, 5), np.float64)
    assert getattr(td, name)(device, 0.5, axis=0, out=out) is out


@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile"])
def test_quantile_weights(name):
    host = values("d", (12, 3), 0.2 if name == "nanquantile" else 0.0)
    weights = np.abs(values("i", (12, 3), seed=4)).astype(float)
    weights[0] = 1
    for q in (0.5, [0.0, 0.3, 1.0]):
        both(
            lambda xp, x, w: getattr(xp, name)(x, q, axis=0, weights=w, method="inverted_cdf"),
            host,
            weights,
        )
        if name != "nanquantile":  # NumPy's fails with an IndexError
            both(
                lambda xp, x, w: getattr(xp, name)(
                    x, q, axis=0, weights=w[:, 0], method="inverted_cdf"
                ),
                host,
                weights,
            )


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile", "nanquantile"])
def test_overwrite_input(name):
    host = values("d", (5, 7), 0.1)
    arguments = () if "median" in name else ([0.2, 0.7],)
    for axis in (None, 0, 1, (0, 1)):
        x = td.asarray(host)
        got = getattr(td, name)(x, *arguments, axis=axis, overwrite_input=True)
        compare(got, getattr(np, name)(host, *arguments, axis=axis))
        assert got.flags.c_contiguous
        np.testing.assert_array_equal(np.sort(x.get(), None), np.sort(host, None))


def test_percentile_is_monotone():
    m = -1.00795396e08
    q = td.percentile(td.asarray([m, 1.2, m, 2.1, 3.5]), np.linspace(0, 100, 21)).get()
    assert (np.diff(q) >= 0).all() and q[0] == q[1] == m


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.quantile(x, 1.5),
        lambda xp, x: xp.percentile(x, -1),
        lambda xp, x: xp.quantile(x, float("nan")),
        lambda xp, x: xp.quantile(x, [[[0.5]]]),
        lambda xp, x: xp.quantile(x, 0.5, method="foo"),
        lambda xp, x: xp.quantile(x, 0.5, weights=x),
        lambda xp, x: xp.quantile(x, 0.5, weights=-x, method="inverted_cdf"),
        lambda xp, x: xp.quantile(x, 0.5, weights=x[0], method="inverted_cdf"),
        lambda xp, x: xp.quantile(x * 1j, 0.5),
        lambda xp, x: xp.quantile(x, 0.5, axis=2),
        lambda xp, x: xp.quantile(x[:0], 0.5, axis=0),
        lambda xp, x: xp.median(x, axis=(0, 0)),
        lambda xp, x: xp.nanargmin(x * float("nan"), axis=1),
        lambda xp, x: xp.nanargmax(x * float("nan")),
        lambda xp, x: xp.average(x, weights=x[0]),
        lambda xp, x: xp.average(x, axis=0, weights=x[0, :2]),
        lambda xp, x: xp.average(x, weights=x * 0),
        lambda xp, x: xp.cov(x, ddof=1.5),
        lambda xp, x: xp.cov(x, fweights=x[0] + 0.5),
        lambda xp, x: xp.cov(x, aweights=-x[0]),
        lambda xp, x: xp.cov(x, aweights=x[0, :2]),
        lambda xp, x: xp.cov(x.reshape(1, 3, 4)),
    ],
)
def test_errors(call):
    both(call, np.arange(1.0, 13).reshape(3, 4))


# ---- averages, variances, covariance ----


@pytest.mark.parametrize("letter", FEW)
def test_average(letter):
    host, weights = values(letter, (3, 4, 2)), np.arange(1.0, 25).reshape(3, 4, 2)
    for axis in (None, 0, (1, 2)):
        for returned in (False, True):
            both(lambda xp, x, w: xp.average(x, axis, w, returned), host, weights)
            both(lambda xp, x: xp.average(x, axis, None, returned, keepdims=True), host)
    both(lambda xp, x, w: xp.average(x, 1, w[0, :, 0], True), host, weights)
    both(lambda xp, x, w: xp.average(x, (1, 0), w[:, :, 0].T), host, weights)


@pytest.mark.parametrize("letter", "?iefD")
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_variance(name, letter):
    host = values(letter, (4, 6), 0.2 if "nan" in name else 0.0)
    for axis in (None, 0, 1):
        for ddof in (0, 1, 5):
            both(lambda xp, x: getattr(xp, name)(x, axis, ddof=ddof, keepdims=True), host)
            both(lambda xp, x: getattr(xp, name)(x, axis, correction=ddof), host)
    if "nan" not in name:
        both(lambda xp, x: getattr(xp, name)(x, 1, mean=xp.mean(x, 1, keepdims=True)), host)


@pytest.mark.parametrize("letter", "?ifdFD")
def test_cov(letter):
    host, other = values(letter, (3, 8)), values(letter, (2, 8), seed=2)
    counts, weights = np.arange(1, 9), np.linspace(0.5, 2, 8)
    both(lambda xp, x: xp.cov(x), host)
    both(lambda xp, x: xp.cov(x[0]), host)
    both(lambda xp, x, y: xp.cov(x, y), host, other)
    both(lambda xp, x: xp.cov(x, rowvar=False, bias=True), host)
    both(lambda xp, x: xp.cov(x, dtype=xp.complex64 if letter in "FD" else xp.float32), host)
    both(lambda xp, x, f, a: xp.cov(x, fweights=f, aweights=a), host, counts, weights)
    both(lambda xp, x, f: xp.cov(x, fweights=f, ddof=0), host, counts)
    both(lambda xp, x, a: xp.cov(x, aweights=a), host, weights)
    both(lambda xp, x, y: xp.corrcoef(x, y), host, other)
    both(lambda xp, x, y: xp.cov(x, y[:1, :3], rowvar=False), host, other)
    both(lambda xp, x, y: xp.cov(x.T, y[:1], rowvar=False), host, other)
    table = host[:, :4] if letter != "?" else values("i", (5, 4))
    both(lambda xp, x: xp.corrcoef(x, rowvar=False)[:2, :2], table)
    both(lambda xp, x: xp.corrcoef(x[0]), host)


def test_cov_in_integers_is_refused():
    with pytest.raises(TypeError, match="floating"):
        td.cov(td.asarray(np.arange(6.0).reshape(2, 3)), dtype="i4")


def test_host_arrays_are_refused():
    for name in ("median", "average", "nansum", "var", "cov"):
        with pytest.raises(TypeError, match="asarray"):
            getattr(td, name)(np.ones(3))
    with pytest.raises(TypeError):
        td.sum(td.ones(3), where=np.ones(3, bool))
