"""Reductions cut into work in each way: for a device that holds few threads, and for one that holds many."""

import numpy as np
import pytest
import treadle as td
from treadle import _treadle

SHAPES = [
    ((200_000,), None),  # chunks of one result
    ((3, 70_001), 1),  # long rows of odd length
    ((70_001, 3), 0),  # few columns
    ((600, 1000), 0),  # a run of columns, and a part of one
    ((1000, 600), 1),
    ((5000, 40), 1),  # short rows
    ((5000, 7), 1),  # a thread a row
    ((40, 50, 60), (0, 2)),
    ((40, 50, 60), 1),
    ((1, 33), 0),
]


@pytest.fixture(params=[True, False], ids=["few threads", "many threads"], autouse=True)
def way(request):
    _treadle._work_as_if(request.param)
    yield
    _treadle._work_as_if(None)


def host(shape, letter):
    rng = np.random.default_rng(5)
    if letter == "?":
        return rng.random(shape) < 0.4
    values = rng.integers(-40, 40, shape)
    return (np.abs(values) if letter in "BQ" else values).astype(letter)


def layouts(x):
    yield x, td.asarray(x)
    if x.dtype != "f4":
        return
    turned = td.asarray(np.ascontiguousarray(x.T)).T
    yield x, turned
    yield x[::-1], td.asarray(x)[::-1]
    if x.shape[-1] > 4:
        yield x[..., 1::2], td.asarray(x)[..., 1::2]


CASES = [(*case, "f") for case in SHAPES]
CASES += [(*SHAPES[k], letter) for k in (0, 3, 5) for letter in "?bqeF"]


@pytest.mark.parametrize("shape,axis,letter", CASES, ids=str)
def test_values(shape, axis, letter):
    for expected, x in layouts(host(shape, letter)):
        for name in ["sum", "max", "all", "count_nonzero"]:
            want = getattr(np, name)(expected, axis=axis)
            got = getattr(td, name)(x, axis=axis)
            assert got.dtype == want.dtype
            # Whole numbers of this size add exactly, but not in 16 bits.
            if letter == "e" and name == "sum":
                want = np.sum(expected, axis=axis, dtype="f4").astype("e")
            np.testing.assert_array_equal(got.get(), want, err_msg=name)
        if isinstance(axis, tuple):
            continue
        for name in ["argmax"]:
            want = getattr(np, name)(expected, axis=axis)
            np.testing.assert_array_equal(getattr(td, name)(x, axis=axis).get(), want)


@pytest.mark.parametrize("place", [0, 777, 39_999])
@pytest.mark.parametrize("filler", [-np.inf, np.inf, 1.0, np.nan])
def test_places_of_extremes(filler, place):
    x = np.full(40_000, filler)
    x[place] = 2.0
    for values in (x, np.full_like(x, filler), x.reshape(200, 200), x.reshape(4000, 10)):
        for axis in range(values.ndim):
            for letter in "fde":
                one = values.astype(letter)
                device = td.asarray(one)
                for name in ("argmax", "argmin", "max", "min"):
                    want = getattr(np, name)(one, axis=axis)
                    np.testing.assert_array_equal(getattr(td, name)(device, axis=axis).get(), want)


def test_work_in_front_and_behind():
    x = np.random.default_rng(2).random((300, 500))
    d = td.asarray(x)
    for axis in (0, 1, None):
        np.testing.assert_allclose(
            ((d * 2 + d.mean()).sum(axis=axis) / 3).get(), (x * 2 + x.mean()).sum(axis=axis) / 3
        )
        np.testing.assert_allclose(d.std(axis=axis).get(), x.std(axis=axis))
    rows = d - d.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(
        (rows * d[0]).sum(axis=0).get(), ((x - x.mean(1, keepdims=True)) * x[0]).sum(0)
    )


# Rows that lanes hold in registers: whole and partial groups of lanes, odd lengths, a whole block.
@pytest.mark.parametrize(
    "shape", [(40, 1024), (33, 1000), (300, 16), (300, 7), (9, 513), (3, 5000)], ids=str
)
def test_normalised_rows(shape):
    h = np.random.default_rng(5).standard_normal(shape) + 3
    x = td.asarray(h)
    e = td.exp(x - x.max(axis=1, keepdims=True))
    want = np.exp(h - h.max(axis=1, keepdims=True))
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(td.asnumpy(e / e.sum(axis=1, keepdims=True)), want, rtol=1e-12)
    got = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    want = (h - h.mean(axis=1, keepdims=True)) / h.std(axis=1, keepdims=True)
    np.testing.assert_allclose(td.asnumpy(got), want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 1000), (500, 16), (700, 3), (3, 5000)], ids=str)
@pytest.mark.parametrize("letter", "fF")
def test_variance(shape, letter):
    h = host(shape, letter) + np.random.default_rng(6).random(shape).astype("f")
    for axis in (0, 1, None):
        got = td.asnumpy(td.var(td.asarray(h), axis=axis))
        np.testing.assert_allclose(
            got, np.var(h.astype("F" if letter == "F" else "d"), axis=axis), rtol=1e-5
        )


@pytest.mark.parametrize("axis", [0, 1, None])
def test_variance_cancels_nothing(axis):
    assert np.all(td.asnumpy(td.full((50, 1000), 0.1).var(axis=axis)) == 0)
    h = np.random.default_rng(7).standard_normal((60, 800)) + 1e9
    np.testing.assert_allclose(
        td.asnumpy(td.asarray(h).var(axis=axis)), h.var(axis=axis), rtol=1e-7
    )


@pytest.mark.parametrize("letter", "fb?")
@pytest.mark.parametrize("axes", [(1, 0), (2, 0, 1), (2, 1, 0)], ids=str)
def test_places_count_in_c_order(axes, letter):
    h = host(
        (7, 90, 40)[-len(axes) :], letter
    )  # few different values: the first of many equal ones
    if letter == "f":
        h[tuple(n // 2 for n in h.shape)] = np.nan
    for expected, x in ((h, td.asarray(h)), (h[::-1], td.asarray(h)[::-1])):
        for name in ("argmax", "argmin"):
            got = getattr(x.transpose(axes), name)()
            assert int(got) == getattr(expected.transpose(axes), name)()
