"""Sorting, searching and sets against NumPy: dtypes, special values, layouts, axes, sizes around the kernels' edges."""

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st
from treadle import _treadle, cuda

LETTERS = "?bhiqBHIQefdFD"
SIZES = [0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 100_000]
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.nan, -np.nan, np.inf, -np.inf, 0.5, -2.5, 5e-324, 1e300]
)


def values(letter, shape, seed=0):
    """Random values with many repetitions, and every special one."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(letter)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        few = rng.integers(-5 if dtype.kind == "i" else 0, 6, shape).astype(dtype)
        return np.where(rng.random(shape) < 0.5, x, few)

    def real():
        x = rng.standard_normal(shape)
        return np.where(rng.random(shape) < 0.5, x, SPECIAL[rng.integers(0, len(SPECIAL), shape)])

    with np.errstate(over="ignore"):
        if dtype.kind == "c":
            x = np.empty(shape, dtype)
            x.real, x.imag = real(), real()
            return x
        return real().astype(dtype)


def same_bits(got, want):
    """Equal to the bit, signs of zero included (NaN payloads are kept, too)."""
    assert got.dtype == want.dtype and got.shape == want.shape
    assert td.asnumpy(got).tobytes() == np.ascontiguousarray(want).tobytes()


def check(host, axis=-1):
    x = td.asarray(host)
    places = np.argsort(host, axis, kind="stable")
    same_bits(td.argsort(x, axis), places)
    same_bits(td.sort(x, axis), np.take_along_axis(host, places, axis))
    down = td.argsort(x, axis, descending=True)
    n = host.shape[axis]
    flipped = np.argsort(np.flip(host, axis), axis, kind="stable")
    same_bits(down, np.flip(n - 1 - flipped, axis))
    same_bits(td.sort(x, axis, descending=True), np.take_along_axis(host, down.get(), axis))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("n", SIZES)
def test_sizes(letter, n):
    check(values(letter, n))


@pytest.fixture(params=[True, False], ids=["few threads", "many threads"])
def way(request):
    """Both ways of sorting, whatever the device."""
    _treadle._work_as_if(request.param)
    yield
    _treadle._work_as_if(None)


@pytest.mark.parametrize("letter", "?bHefDq")
def test_both_ways(letter, way):
    for shape in [
        (3, 129),
        (2, 256),
        (2, 257),
        (1, 1024),
        (2, 1025),
        (1, 4096),
        (3, 4097),
        (1, 70_001),
    ]:
        check(values(letter, shape))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    "shape", [(7, 40), (40, 7), (3, 300), (300, 3), (2, 5, 17), (0, 4), (4, 0), (1000, 2)]
)
def test_axes(letter, shape):
    for axis in range(-len(shape), len(shape)):
        if shape[axis] or 0 in shape:
            check(values(letter, shape), axis)


LAYOUTS = {
    "F": lambda xp, x: xp.asarray(x.T.copy()).T,
    "reversed": lambda xp, x: x[::-1, :, ::-1],
    "strided": lambda xp, x: x[:, ::2],
    "turned": lambda xp, x: xp.transpose(x, (1, 2, 0)),
    "repeated": lambda xp, x: xp.broadcast_to(x[:, :1], x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("letter", "bifD")
def test_layouts(letter, layout):
    host = values(letter, (5, 6, 40))
    before = host.copy()
    device = td.asarray(host)
    x, y = LAYOUTS[layout](np, host), LAYOUTS[layout](td, device)
    for axis in (0, 1, 2, None):
        want = np.sort(x, axis, kind="stable")
        got = td.sort(y, axis)
        np.testing.assert_array_equal(got.get(), want)
        if layout != "repeated":
            assert got.strides == want.strides
        places = np.argsort(x, axis, kind="stable")
        np.testing.assert_array_equal(td.argsort(y, axis).get(), places)
    same_bits(device, before)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(width=32), max_size=600), st.booleans())
def test_any_floats(numbers, descending):
    host = np.array(numbers, np.float32)
    got = td.argsort(td.asarray(host), descending=descending).get()
    if descending:
        want = (len(host) - 1 - np.argsort(host[::-1], kind="stable"))[::-1]
    else:
        want = np.argsort(host, kind="stable")
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("letter", "ifD")
def test_in_place(letter):
    host = values(letter, (6, 70))
    want = host.copy()
    x = td.asarray(host)
    assert x.sort(axis=0) is None
    want.sort(axis=0, kind="stable")
    np.testing.assert_array_equal(x.get(), want)
    view = x[::-1, ::2]
    view.sort()
    want[::-1, ::2].sort(kind="stable")
    np.testing.assert_array_equal(x.get(), want)
    with pytest.raises(ValueError, match="read-only"):
        td.broadcast_to(x[:1], (6, 70)).sort()


@pytest.mark.parametrize("letter", "ifD")
def test_lexsort(letter):
    a, b, c = (values(letter, 500, seed) for seed in range(3))
    b, c = np.round(b.real % 3).astype(letter), np.zeros(500)
    keys = [td.asarray(k) for k in (a, b, c)]
    same_bits(td.lexsort(keys), np.lexsort([a, b, c]))
    rows = values(letter, (3, 20, 30))
    for axis in (-1, 0):
        same_bits(td.lexsort(td.asarray(rows), axis), np.lexsort(rows, axis))


def test_partition_and_sort_complex():
    host = values("d", (5, 60))
    x = td.asarray(host)
    got = td.partition(x, (3, -2), axis=1).get()
    want = np.partition(host, (3, -2), axis=1)
    np.testing.assert_array_equal(got[:, [3, -2]], want[:, [3, -2]])
    places = td.argpartition(x, 7, axis=1).get()
    np.testing.assert_array_equal(
        np.take_along_axis(host, places, 1)[:, 7], np.partition(host, 7, 1)[:, 7]
    )
    x.partition(4)
    np.testing.assert_array_equal(x.get()[:, 4], np.partition(host, 4)[:, 4])
    for letter in "bhifdFD":
        host = np.arange(5, 0, -1).astype(letter)
        same_bits(td.sort_complex(td.asarray(host)), np.sort_complex(host))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("n", [0, 1, 33, 1000])
def test_searchsorted(letter, side, n):
    host, needles = values(letter, n), values(letter, (7, 30), 1)
    places = np.argsort(host, kind="stable")
    a, v = td.asarray(host), td.asarray(needles)
    want = np.searchsorted(host[places], needles, side)
    same_bits(td.searchsorted(td.sort(a), v, side), want)
    same_bits(td.searchsorted(a, v, side, sorter=td.asarray(places)), want)
    same_bits(td.sort(a).searchsorted(v[::-1, ::2], side), want[::-1, ::2])


def test_searchsorted_promotes():
    a = np.arange(0, 20, 2, dtype=np.int8)
    for v in (np.array([3.5, 4, 300]), np.array([200, 4], np.uint8), np.array([2**40])):
        same_bits(td.searchsorted(td.asarray(a), td.asarray(v)), np.searchsorted(a, v))
    for v in (5, 4.5, 300, np.int64(7), True):
        got, want = td.searchsorted(td.asarray(a), v), np.searchsorted(a, v)
        assert got.shape == () and int(got) == want


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("shape", [(0,), (1,), (40,), (1500,), (30, 20), ()])
def test_unique(letter, shape):
    host = values(letter, shape)
    x = td.asarray(host)
    for equal_nan in (True, False):
        want = np.unique(host, True, True, True, equal_nan=equal_nan)
        got = td.unique(x, True, True, True, equal_nan=equal_nan)
        for g, w in zip(got[1:], want[1:]):
            same_bits(g, np.asarray(w))
        np.testing.assert_array_equal(got[0].get(), want[0])
        np.testing.assert_array_equal(td.unique(x, equal_nan=equal_nan).get(), want[0])
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        got, want = getattr(td, name)(x), getattr(np, name)(host)
        assert got._fields == want._fields
        for field, g, w in zip(got._fields, got, want):
            g = g.get()
            if field == "inverse_indices":  # NumPy's sort leaves equal NaNs in any order
                number = ~np.isnan(host)
                g, w = g[number], w[number]
            np.testing.assert_array_equal(g, w)
    np.testing.assert_array_equal(td.unique_values(x).get(), np.sort(np.unique_values(host)))


@pytest.mark.parametrize("letter", "?biQed")
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unique_axis(letter, axis):
    host = np.random.default_rng(3).integers(0, 2, (30, 4, 2)).astype(letter)
    want = np.unique(host, True, True, True, axis=axis)
    got = td.unique(td.asarray(host), True, True, True, axis=axis)
    for g, w in zip(got, want):
        same_bits(g, w)


@pytest.mark.parametrize("letter", "?biQefD")
def test_sets(letter):
    with np.errstate(invalid="ignore"):
        a, b = (np.round(values(letter, n, n).real % 7).astype(letter) for n in (90, 45))
    if letter in "fD":
        a[3] = b[5] = np.nan
    x, y = td.asarray(a), td.asarray(b)
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
        np.testing.assert_array_equal(getattr(td, name)(x, y).get(), getattr(np, name)(a, b))
    want = np.intersect1d(a, b, return_indices=True)
    for g, w in zip(td.intersect1d(x, y, return_indices=True), want):
        same_bits(g, w)
    for invert in (False, True):
        same_bits(td.isin(x.reshape(9, 10), y, invert=invert), np.isin(a.reshape(9, 10), b, invert=invert))  # fmt: skip
    same_bits(td.isin(x, y[:0]), np.isin(a, b[:0]))
    same_bits(td.isin(x, 1), np.isin(a, 1))
    u, v = np.unique(a), np.unique(b)
    for name in ("intersect1d", "setdiff1d", "setxor1d"):
        got = getattr(td, name)(td.asarray(u[::-1]), td.asarray(v), assume_unique=True)
        np.testing.assert_array_equal(got.get(), getattr(np, name)(u[::-1], v, assume_unique=True))


def test_sets_promote():
    a, b = np.arange(5, dtype=np.int8), np.array([3.0, 4.5, 2**40])
    x, y = td.asarray(a), td.asarray(b)
    for name in ("intersect1d", "union1d", "setxor1d", "isin", "setdiff1d"):
        same_bits(getattr(td, name)(x, y), getattr(np, name)(a, b))


X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, x: xp.sort(x, axis=2),
        lambda xp, x: xp.sort(x[0, 0].reshape(())),
        lambda xp, x: xp.argsort(x, axis=-3),
        lambda xp, x: xp.sort(x, kind="foo"),
        lambda xp, x: xp.sort(x, kind="stable", stable=True),
        lambda xp, x: xp.sort(x, order="x"),
        lambda xp, x: xp.lexsort(()),
        lambda xp, x: xp.lexsort((x[0], x[:, 0])),
        lambda xp, x: xp.partition(x, 4),
        lambda xp, x: xp.argpartition(x, (0, -5)),
        lambda xp, x: xp.partition(x, 1.5),
        lambda xp, x: xp.searchsorted(x[0], 1, side="up"),
        lambda xp, x: xp.searchsorted(x, 1),
        lambda xp, x: xp.searchsorted(x[0], 1, sorter=x[0]),
        lambda xp, x: xp.searchsorted(x[0], 1, sorter=x[0, :2].astype(int)),
        lambda xp, x: xp.unique(x, axis=2),
        lambda xp, x: xp.isin(x, x, kind="foo"),
    ],
)
def test_errors_are_numpys(call):
    with pytest.raises(Exception) as theirs:
        call(np, X.copy())
    with pytest.raises(type(theirs.value)):
        call(td, td.asarray(X))


def test_sorter_out_of_range():
    with pytest.raises(ValueError, match="Sorter index out of range"):
        td.searchsorted(td.asarray(X[0]), 1, sorter=td.asarray([0, 1, 2, 9]))


@pytest.mark.parametrize("name", ["sort", "argsort", "unique", "sort_complex"])
def test_host_arrays_are_refused(name):
    with pytest.raises(TypeError, match="asarray"):
        getattr(td, name)(X)


BESIDE = """
import treadle as td, numpy as np
from treadle import cuda
with cuda.Device(1):
    a = td.asarray(np.array([3.0, 1, 2, 5000] * 3000))
    mask, needles = a > 1, td.asarray(np.arange(12000.0))
rows = a.reshape(-1, 4)
for result in (
    td.cumsum(a), td.cumsum(rows, 0), td.sort(a), td.argsort(a), td.sort(rows), td.searchsorted(td.sort(a), needles),
    td.sum(a, where=mask, initial=3), td.max(a, where=mask, initial=0), td.convolve(a, needles[:7]),
):
    assert str(result.device) == str(a.device) != str(td.ones(1).device)
    result.get()
print("beside")
"""


def test_results_are_beside_their_operands(python, software):
    if not software and cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two devices")
    done = python(BESIDE, TREADLE_SOFT_DEVICES="2")
    assert done.stdout.strip() == "beside", done.stderr


@pytest.mark.parametrize("letter", "?bBhHiIqQefd")
def test_rows_in_a_warp(letter):
    """Rows that fit into registers, with values whose keys are folded together, and without."""
    rng = np.random.default_rng(3)
    for length in (12, 31, 32, 33, 64, 100, 128, 129, 256):
        x = (rng.random((9, length)) * 300 - 150).astype(letter)
        if letter in "efd":
            x[3, ::3], x[3, 1::3], x[4, 5] = 0.0, -0.0, np.nan
            x[5, :4] = [np.inf, -np.inf, np.nan, -np.inf]
        check(x)


@pytest.mark.parametrize("letter", "fqD")
@pytest.mark.parametrize("n", [1, 1000])
def test_many_searches_among_few(letter, n, way):
    """Enough needles that a block of a device with many threads keeps the sorted keys."""
    a, v = np.sort(values(letter, n)), values(letter, 300_000)
    for side in ("left", "right"):
        same_bits(td.searchsorted(td.asarray(a), td.asarray(v), side), np.searchsorted(a, v, side))
