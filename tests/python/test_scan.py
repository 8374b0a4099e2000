"""Running sums, differences and integrals against NumPy: dtypes, layouts, axes, sizes around the kernels' edges."""

import numpy as np
import pytest
import treadle as td

LETTERS = "?bhiqBHIQefdFD"
SIZES = [0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 1023, 1024, 1025, 4097, 100_000]
LAYOUTS = {
    "C": lambda xp, x: x,
    "F": lambda xp, x: xp.asarray(x.T.copy()).T,
    "reversed": lambda xp, x: x[::-1, :, ::-1],
    "strided": lambda xp, x: x[:, ::2],
    "turned": lambda xp, x: xp.transpose(x, (1, 2, 0)),
    "repeated": lambda xp, x: xp.broadcast_to(x[:, :1], x.shape),
}
TOLERANCE = {2: 4e-3, 4: 2e-5, 8: 1e-12}


def values(letter, shape, seed=0):
    """Random values whose sums and products stay small."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(letter)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -3, 4, shape).astype(dtype)
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if dtype.kind == "c" else x).astype(dtype)


def compare(got, want, exact):
    """dtype, shape, and values: to the bit, or as close as the order of additions allows."""
    assert got.dtype == want.dtype and got.shape == want.shape
    host = td.asnumpy(got)
    if exact or want.dtype.kind not in "fc":
        np.testing.assert_array_equal(host, want)
    else:
        rtol = TOLERANCE[want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)]
        np.testing.assert_allclose(host, want, rtol=rtol, atol=rtol * 30)


def wide(x):
    """In a precision in which NumPy's own rounding does not matter."""
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_cumsum_layouts(letter, layout):
    host = values(letter, (5, 6, 40))
    x, y = LAYOUTS[layout](np, host), LAYOUTS[layout](td, td.asarray(host))
    for axis in (0, 1, 2, -1, None):
        want = np.cumsum(x, axis)
        got = td.cumsum(y, axis)
        compare(got, np.cumsum(wide(x), axis).astype(want.dtype), False)
        if layout != "repeated":
            assert got.strides == want.strides
        want = np.cumprod(wide(x), axis).astype(want.dtype)
        compare(td.cumprod(y, axis), want, False)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("letter", "?hqfDe")
def test_cumsum_sizes(letter, n):
    host = values(letter, n)
    want = np.cumsum(wide(host)).astype(np.cumsum(host).dtype)
    compare(td.cumsum(td.asarray(host)), want, False)
    rows = values(letter, (3, n))
    x = td.asarray(rows)
    compare(td.cumsum(x, 1), np.cumsum(wide(rows), 1).astype(want.dtype), False)
    compare(td.cumsum(td.asarray(rows.T.copy()), 0), np.cumsum(wide(rows.T), 0).astype(want.dtype), False)  # fmt: skip


def test_columns_in_chunks():
    host = values("d", (3000, 7, 2))
    compare(td.cumsum(td.asarray(host), 0), np.cumsum(host, 0), False)
    host = host.reshape(2, 3000, 7)
    compare(td.cumsum(td.asarray(host), 1), np.cumsum(host, 1), False)


@pytest.mark.parametrize("letter", LETTERS)
def test_accumulate(letter):
    host = values(letter, (4, 300))
    x = td.asarray(host)
    for ufunc in (np.minimum, np.maximum):
        for axis in (0, 1):
            compare(ufunc.accumulate(x, axis=axis), ufunc.accumulate(host, axis=axis), True)
    for ufunc, axis in ((np.add, 1), (np.multiply, 0)):
        want = ufunc.accumulate(wide(host), axis).astype(ufunc.accumulate(host, axis).dtype)
        compare(ufunc.accumulate(x, axis), want, False)


SPECIAL = [-0.0, -0.0, 0.0, 1.5, np.inf, 2.0, -np.inf, 1.0, np.nan, 3.0]


@pytest.mark.parametrize("letter", "efdFD")
@pytest.mark.parametrize("copies", [1, 7, 30])
def test_special_values(letter, copies):
    for first in range(len(SPECIAL)):
        host = np.array(SPECIAL[first:] + SPECIAL[:first] * copies, dtype=letter)
        x = td.asarray(host)
        for name in ("cumsum", "cumprod"):
            with np.errstate(all="ignore"):
                want = getattr(np, name)(host)
            got = td.asnumpy(getattr(td, name)(x))
            if letter in "FD":
                np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
            else:
                np.testing.assert_array_equal(got, want)
                number = ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
        if letter not in "FD":
            np.testing.assert_array_equal(np.maximum.accumulate(x).get(), np.maximum.accumulate(host))  # fmt: skip
        np.testing.assert_allclose(td.nancumsum(x[:4]).get(), np.nancumsum(host[:4]))
    host = np.array([1, np.nan, 2, np.nan, 3], letter)
    compare(td.nancumsum(td.asarray(host)), np.nancumsum(host), False)
    compare(td.nancumprod(td.asarray(host)), np.nancumprod(host), False)


def test_the_input_stays():
    a = td.ones((2, 3))
    b = td.cumsum(a, axis=1)
    assert td.array_equal(a, td.ones((2, 3)))
    assert np.array_equal(b.get(), [[1, 2, 3], [1, 2, 3]])
    for big in (td.ones(100_000, np.float32), td.ones((1000, 100), np.int32)):
        total = big.cumsum(axis=0)
        assert bool((big == 1).all()) and total.shape == big.shape


def test_results_repeat():
    host = values("f", 300_001)
    first = td.cumsum(td.asarray(host)).get()
    assert np.array_equal(first, td.cumsum(td.asarray(host)).get())
    shifted = td.empty(300_002, np.float32)[1:]
    shifted[...] = td.asarray(host)
    assert np.array_equal(first, td.cumsum(shifted).get())


def test_out_and_dtype():
    host = values("i", (3, 50))
    x = td.asarray(host)
    out = td.empty((3, 50), np.float32)
    assert td.cumsum(x, 1, out=out) is out
    assert np.array_equal(out.get(), np.cumsum(host, 1))
    compare(x.cumsum(0, np.float32), host.cumsum(0, np.float32), True)
    compare(x.cumprod(dtype=np.int8), host.cumprod(dtype=np.int8), True)
    y = td.asarray(host.astype(float))
    y.cumsum(1, out=y)
    assert np.array_equal(y.get(), np.cumsum(host, 1))
    with pytest.raises(ValueError):
        td.cumsum(x, 1, out=td.empty((3, 4)))
    turned, real = (
        host * (1 + 1j),
        td.empty((3, 50)),
    )  # NumPy drops the imaginary part, with a warning
    assert np.array_equal(td.cumsum(td.asarray(turned), 1, out=real).get(), turned.cumsum(1).real)


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("letter", LETTERS)
def test_cumulative(letter, include):
    host = values(letter, (4, 9))
    x = td.asarray(host)
    for axis in (0, 1, -1):
        for name in ("cumulative_sum", "cumulative_prod"):
            want = getattr(np, name)(wide(host), axis=axis, include_initial=include)
            want = want.astype(getattr(np, name)(host, axis=axis).dtype)
            compare(getattr(td, name)(x, axis=axis, include_initial=include), want, False)
    compare(
        td.cumulative_sum(x[0], dtype=np.float64, include_initial=include),
        np.cumulative_sum(host[0], dtype=np.float64, include_initial=include),
        False,
    )


DIFFERENCES = {
    "diff": lambda xp, x: xp.diff(x),
    "diff axis": lambda xp, x: xp.diff(x, axis=0),
    "diff twice": lambda xp, x: xp.diff(x, 2),
    "diff edges": lambda xp, x: xp.diff(x, prepend=0, append=x[:, :2]),
    "diff too often": lambda xp, x: xp.diff(x, 20),
    "ediff1d": lambda xp, x: xp.ediff1d(x),
    "ediff1d ends": lambda xp, x: xp.ediff1d(x, to_begin=x[0, :2], to_end=x[1]),
    "gradient": lambda xp, x: xp.gradient(x),
    "gradient axis": lambda xp, x: xp.gradient(x, 2.0, axis=1),
    "gradient edges": lambda xp, x: xp.gradient(x, edge_order=2),
    "gradient places": lambda xp, x: xp.gradient(
        x, xp.cumsum(xp.asarray([1.0, 2, 3, 1, 4])), axis=0
    ),
    "gradient places, edges": lambda xp, x: xp.gradient(
        x, xp.cumsum(xp.asarray([1, 2, 3, 1, 4])), axis=0, edge_order=2
    ),
    "gradient two": lambda xp, x: xp.gradient(x, 0.5, 3, axis=(1, 0)),
    "trapezoid": lambda xp, x: xp.trapezoid(x),
    "trapezoid dx": lambda xp, x: xp.trapezoid(x, dx=0.5, axis=0),
    "trapezoid x": lambda xp, x: xp.trapezoid(x, x=xp.asarray([1.0, 2, 4, 7, 8]), axis=0),
    "trapezoid x 2-D": lambda xp, x: xp.trapezoid(x, x=x * 2),
}


@pytest.mark.parametrize("name", DIFFERENCES)
@pytest.mark.parametrize("letter", "iIfdD")
def test_differences(name, letter):
    host = values(letter, (5, 7))
    want, got = DIFFERENCES[name](np, host), DIFFERENCES[name](td, td.asarray(host))
    want, got = (x if isinstance(x, tuple) else (x,) for x in (want, got))
    assert len(want) == len(got)
    for w, g in zip(want, got):
        compare(g, np.asarray(w), False)


def test_differences_of_booleans():
    host = values("?", (3, 8))
    compare(td.diff(td.asarray(host)), np.diff(host), True)


X = np.ones((3, 4))


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.cumsum(x, axis=2),
        lambda xp, x: xp.cumsum(x, axis=-3),
        lambda xp, x: xp.cumsum(x.reshape(12)[0].reshape(()), axis=1),
        lambda xp, x: xp.cumulative_sum(x),
        lambda xp, x: xp.diff(x, -1),
        lambda xp, x: xp.diff(x.reshape(12)[0].reshape(())),
        lambda xp, x: xp.gradient(x[:1]),
        lambda xp, x: xp.gradient(x, 1, 2, 3),
        lambda xp, x: xp.gradient(x, edge_order=3),
        lambda xp, x: xp.gradient(x, xp.asarray([1.0, 2.0]), axis=0),
        lambda xp, x: np.maximum.accumulate(x.reshape(12)[0].reshape(())),
        lambda xp, x: np.maximum.accumulate(x, axis=5),
        lambda xp, x: xp.ediff1d(x.astype(int), to_end=xp.asarray([1.5])),
    ],
)
def test_errors_are_numpys(call):
    with pytest.raises(Exception) as theirs:
        call(np, X.copy())
    with pytest.raises(type(theirs.value)):
        call(td, td.asarray(X))


def test_host_arrays_are_refused():
    with pytest.raises(TypeError, match="asarray"):
        td.cumsum(X)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("order", ["C", "F"])
def test_gradient_keeps_the_memory_order(axis, order):
    host = np.asarray(np.random.default_rng(0).normal(size=(3, 4, 5)), order=order)
    want, got = np.gradient(host, axis=axis), td.gradient(td.asarray(host), axis=axis)
    assert got.strides == want.strides
    np.testing.assert_allclose(td.asnumpy(got), want)
    with pytest.raises(TypeError):
        td.gradient(td.asarray(host) > 0)
