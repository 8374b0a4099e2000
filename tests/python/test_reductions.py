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
