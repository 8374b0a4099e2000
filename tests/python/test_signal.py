"""Convolution, correlation and interpolation against NumPy."""

import numpy as np
import pytest
import treadle as td

TOLERANCE = {2: 4e-3, 4: 1e-5, 8: 1e-12}


def values(letter, n, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(letter)
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0, 9, n).astype(dtype)
    x = rng.uniform(-1, 1, n)
    return (x + 1j * rng.uniform(-1, 1, n) if dtype.kind == "c" else x).astype(dtype)


def compare(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    width = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
    rtol = TOLERANCE[width] if want.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got.get(), want, rtol=rtol, atol=4 * rtol)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("letter", "?bHqefdFD")
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_sequences(name, letter, mode):
    for n, m in [(1, 1), (9, 4), (9, 5), (4, 9), (5, 9), (7, 7), (300, 40), (3, 700)]:
        a, v = values(letter, n, 1), values(letter, m, 2)
        compare(
            getattr(td, name)(td.asarray(a), td.asarray(v), mode), getattr(np, name)(a, v, mode)
        )
        x = td.asarray(np.repeat(a, 2))[::-2]
        compare(getattr(td, name)(x, td.asarray(v), mode), getattr(np, name)(a[::-1], v, mode))


def test_sequences_promote():
    a, v = values("b", 9, 1), values("D", 4, 2)
    for name in ("convolve", "correlate"):
        compare(getattr(td, name)(td.asarray(a), td.asarray(v)), getattr(np, name)(a, v))
    compare(td.convolve(td.asarray(a), 3), np.convolve(a, np.int64(3)))


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.convolve(x, x[:0]),
        lambda xp, x: xp.correlate(x[:0], x),
        lambda xp, x: xp.correlate(x, xp.asarray(2.0)),
        lambda xp, x: xp.convolve(x.reshape(2, 3), x),
        lambda xp, x: xp.convolve(x, x, "foo"),
        lambda xp, x: xp.interp(x, x, x[:2]),
        lambda xp, x: xp.interp(x, x[:0], x[:0]),
        lambda xp, x: xp.interp(x, x, x, period=0),
    ],
)
def test_errors(call):
    with pytest.raises(Exception) as theirs:
        call(np, np.arange(6.0))
    with pytest.raises(type(theirs.value)):
        call(td, td.arange(6.0))


POINTS = [-2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 1.5, 2.0, 3.0, 3.5, np.nan, np.inf, -np.inf]


@pytest.mark.parametrize(
    "options", [{}, {"left": -9, "right": 7.5}, {"period": 2.5}, {"period": -4}]
)
@pytest.mark.parametrize("letter", "ifdD")
def test_interp(letter, options):
    xp = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])
    fp = values(letter, 5, 3)
    x = np.array(POINTS[: -3 if "period" in options else None]).reshape(-1, 1)
    want = np.interp(x, xp, fp, **options)
    compare(td.interp(td.asarray(x), td.asarray(xp), td.asarray(fp), **options), want)
    one = td.interp(0.25, td.asarray(xp), td.asarray(fp), **options)
    compare(one, np.interp(0.25, xp, fp, **options))


def test_interp_of_special_points():
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0])
    for xp, fp in [
        ([0.0, 1.0, 2.0], [np.inf, np.inf, 1.0]),
        ([0.0, 1.0, 1.0, 2.0], [1.0, 2.0, 5.0, 6.0]),
        ([1.0], [4.0]),
        ([0.0, 1.0, 2.0], [1.0, np.nan, 2.0]),
        ([-np.inf, 0.0, 1.0], [3.0, 3.0, 4.0]),
    ]:
        want = np.interp(x, xp, fp)
        compare(td.interp(td.asarray(x), td.asarray(xp), td.asarray(fp)), want)
