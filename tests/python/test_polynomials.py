"""Polynomials against NumPy's."""

import operator

import numpy as np
import pytest
import treadle as td
from numpy.polynomial import polynomial as np_series
from numpy.polynomial import polyutils as np_utils
from treadle.polynomial import polynomial as series
from treadle.polynomial import polyutils as utils

DTYPES = "BifdFD"


def close(actual, expected, rtol=1e-5, atol=1e-6):
    if isinstance(expected, tuple):
        for a, e in zip(actual, expected, strict=True):
            close(a, e, rtol, atol)
        return
    actual = actual.coeffs if isinstance(actual, td.poly1d) else actual
    expected = np.asarray(expected.coeffs if isinstance(expected, np.poly1d) else expected)
    actual = td.asnumpy(actual)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol, atol)


def coefficients(dtype, n=5, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, n).astype(dtype)
    return values + (1j * rng.integers(0, 3, n)).astype(dtype) if dtype in "FD" else values


BINARY = ["polyadd", "polysub", "polymul", "polydiv"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (1, 1), (4, 4)])
def test_arithmetic(name, dtype, sizes):
    if name == "polysub" and dtype == "B":
        dtype = "h"
    a, b = (coefficients(dtype, n, seed=n + k) for k, n in enumerate(sizes))
    close(getattr(td, name)(td.asarray(a), td.asarray(b)), getattr(np, name)(a, b))
    mixed = getattr(td, name)(td.poly1d(a), td.asarray(b))
    assert all(isinstance(p, td.poly1d) for p in (mixed if isinstance(mixed, tuple) else (mixed,)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype):
    p = coefficients(dtype)
    for x in (np.arange(6).reshape(2, 3), np.linspace(-1, 1, 5), np.array(2.0)):
        close(td.polyval(td.asarray(p), td.asarray(x)), np.polyval(p, x))
    close(td.polyval([1, 2, 3], 2.0), np.polyval([1, 2, 3], 2.0))
    close(td.poly1d(p)(td.arange(4)), np.poly1d(p)(np.arange(4)))
    close(td.polyval(td.asarray(p), td.poly1d([1, 2])), np.polyval(p, np.poly1d([1, 2])))


@pytest.mark.parametrize("dtype", "ifdD")
def test_derivatives(dtype):
    p = coefficients(dtype)
    for m in range(4):
        close(td.polyder(td.asarray(p), m), np.polyder(p, m))
        close(td.polyint(td.asarray(p), m), np.polyint(p, m))
    close(td.polyint(td.asarray(p), 2, [3, 4]), np.polyint(p, 2, [3, 4]))
    close(td.poly1d(p).deriv().integ(k=2), np.poly1d(p).deriv().integ(k=2))
    for f in (td.polyder, td.polyint):
        with pytest.raises(ValueError, match="positive"):
            f(td.asarray(p), -1)


@pytest.mark.parametrize(
    "p", [[1, -6, 11, -6], [0, 0, 2, 4, 0, 0], [1, 0, 1], [3], [0, 0], [], [1j, 2, 1], [1, 2 + 1j]]
)
def test_roots(p):
    p = np.asarray(p)
    got, want = td.asnumpy(td.roots(td.asarray(p))), np.roots(p)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(np.sort_complex(got), np.sort_complex(want), atol=1e-9)


@pytest.mark.parametrize(
    "zeros",
    [[1, 2, 3], [0.5], [1 + 1j, 1 - 1j, 2], [1j, 2], [], [[2.0, 1], [1, 3]], [[0.0, 1], [-1, 0]]],
)
def test_coefficients_from_roots(zeros):
    got, want = td.asnumpy(td.poly(td.asarray(np.asarray(zeros)))), np.asarray(np.poly(zeros))
    np.testing.assert_allclose(got, want, atol=1e-12)
    if np.ndim(zeros) == 1:
        assert got.dtype == want.dtype
    for bad in (td.zeros((2, 3)), td.zeros((2, 2, 2))):
        with pytest.raises(ValueError, match="square"):
            td.poly(bad)


# ---- the class ----


@pytest.mark.parametrize("dtype", DTYPES)
def test_poly1d(dtype):
    host = np.concatenate([np.zeros(2, dtype), coefficients(dtype)])
    p, q = td.poly1d(td.asarray(host)), np.poly1d(host)
    close(p, q)
    assert (p.order, len(p), p.variable, str(p), repr(p)) == (q.order, len(q), "x", str(q), repr(q))
    for k in (-1, 0, 2, 9):
        close(p[k], np.asarray(q[k], q.coeffs.dtype))
    p[7], q[7] = 3, 3
    close(p, q)
    with pytest.raises(ValueError, match="negative powers"):
        p[-1] = 2
    assert p == td.poly1d(td.asarray(q.coeffs))
    assert p != td.poly1d([1, 2])
    assert p.get() == q
    r = td.poly1d([0])
    r.set(q)
    close(r, q)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_poly1d_operators(op):
    p, q = td.poly1d([1, 2, 3]), np.poly1d([1, 2, 3])
    for other in ([2, 5], 3, 2.5):
        close(op(p, other), op(q, other))
        close(op(other, p), op(other, q))
    close(op(p, td.poly1d([1, 1])), op(q, np.poly1d([1, 1])))
    close(-p, -q)
    close(p**3, q**3)
    close(p**0, q**0)
    for bad in (-1, 2.5, [1]):
        with pytest.raises(ValueError, match="non-negative"):
            p**bad


def test_poly1d_from_roots():
    close(td.poly1d([1, 2], True), np.poly1d([1, 2], True))
    assert str(td.poly1d([1, 2], variable="t")) == str(np.poly1d([1, 2], variable="t"))
    close(td.poly1d([1, -3, 2]).r, np.poly1d([1, -3, 2]).r)


# ---- fits ----


@pytest.mark.parametrize("dtype", "fdD")
@pytest.mark.parametrize("columns", [(), (2,)])
def test_polyfit(dtype, columns):
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 20).astype(dtype)
    y = rng.standard_normal((20, *columns)).astype(dtype)
    w = rng.uniform(0.5, 1, 20).astype(x.real.dtype)
    dx, dy, dw = td.asarray(x), td.asarray(y), td.asarray(w)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype == "f" else {"rtol": 1e-7, "atol": 1e-8}
    for options, mine in (({}, {}), ({"w": w}, {"w": dw}), ({"cov": True}, {"cov": True}),
                          ({"w": w, "cov": "unscaled"}, {"w": dw, "cov": "unscaled"})):  # fmt: skip
        got, want = td.polyfit(dx, dy, 3, **mine), np.polyfit(x, y, 3, **options)
        for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got, want)), strict=True):
            np.testing.assert_allclose(td.asnumpy(a), b, **tolerance)
    full = td.polyfit(dx, dy, 3, full=True)
    assert int(full[2]) == 4
    assert len(full) == 5


def test_polyfit_refuses():
    x = td.arange(4.0)
    with pytest.raises(ValueError, match="deg"):
        td.polyfit(x, x, -1)
    for bad in ((x.reshape(2, 2), x), (x, x[:3]), (x[:0], x[:0]), (x, td.zeros((4, 1, 1)))):
        with pytest.raises(TypeError, match="expected"):
            td.polyfit(*bad, 1)
    with pytest.raises(TypeError, match="float16"):
        td.polyfit(x, x.astype("f2"), 1)
    with pytest.raises(ValueError, match="exceed"):
        td.polyfit(x, x, 3, cov=True)
    with pytest.warns(np.exceptions.RankWarning):
        td.polyfit(td.ones(5), td.arange(5.0), 2)


# ---- series ----


@pytest.mark.parametrize("dtype", DTYPES)
def test_series(dtype):
    c, x = coefficients(dtype), np.arange(6.0).reshape(2, 3)
    close(series.polyval(td.asarray(x), td.asarray(c)), np_series.polyval(x, c))
    close(series.polyvalfromroots(td.asarray(x), td.asarray(c)), np_series.polyvalfromroots(x, c))
    close(series.polyvander(td.asarray(c), 4), np_series.polyvander(c, 4))
    close(series.polycompanion(td.asarray(c)), np_series.polycompanion(c))
    wide = np.stack([c, c + c])
    close(series.polyval(td.asarray(x[0, :2]), td.asarray(wide.T[:3]), tensor=False),
          np_series.polyval(x[0, :2], wide.T[:3], tensor=False))  # fmt: skip
    with pytest.raises(ValueError, match="non-negative"):
        series.polyvander(td.asarray(c), -1)
    with pytest.raises(ValueError, match="at least 1"):
        series.polycompanion(td.asarray(c[:1]))
    padded = np.concatenate([c, np.zeros(3, dtype)])
    close(utils.trimseq(td.asarray(padded)), np_utils.trimseq(padded))
    close(utils.trimcoef(td.asarray(padded), 2), np_utils.trimcoef(padded, 2))
    for a, b in zip(
        utils.as_series([td.asarray(padded), [1, 2]]), np_utils.as_series([padded, [1, 2]])
    ):
        close(a, b)


# ---- windows ----


def test_windows_and_strides():
    from treadle.lib.stride_tricks import as_strided, sliding_window_view

    h = np.arange(24.0).reshape(4, 6)
    x = td.asarray(h)
    for window, axis in (((2, 3), None), (2, 0), ((2, 2), (1, 1)), (6, 1), (0, 0)):
        got, want = (
            sliding_window_view(x, window, axis),
            np.lib.stride_tricks.sliding_window_view(h, window, axis),
        )
        np.testing.assert_array_equal(td.asnumpy(got), want)
        assert got.base is x
        assert not got.flags.writeable
    np.testing.assert_array_equal(
        td.asnumpy(as_strided(x, (3, 3), (8, 16))),
        np.lib.stride_tricks.as_strided(h, (3, 3), (8, 16)),
    )
    with pytest.raises(ValueError, match="bytes"):
        as_strided(x, (5, 6), (48, 8))
    with pytest.raises(ValueError, match="larger"):
        sliding_window_view(x, (5, 1))
