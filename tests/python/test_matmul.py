"""The keywords of matmul against NumPy: axes, dtype, casting, out."""

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st


@st.composite
def calls(draw):
    """Two operands and the axes that hold their matrices, and those of the result."""
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    cores = [(m, k) if draw(st.booleans()) else (k,), (k, n) if draw(st.booleans()) else (k,)]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    arrays, axes = [], []
    for core in cores:
        lengths = [] if len(core) == 1 else batch if draw(st.booleans()) else batch[1:]
        x = rng.integers(-4, 5, (*lengths, *core)).astype(draw(st.sampled_from(["i4", "f4", "f8"])))
        places = draw(st.permutations(range(x.ndim)))[: len(core)]
        arrays.append(np.moveaxis(x, range(-len(core), 0), places))
        axes.append(tuple(p - x.ndim if draw(st.booleans()) else p for p in places))
    left = sum(len(core) for core in cores) - 2
    ndim = left + max(x.ndim - len(core) for x, core in zip(arrays, cores))
    axes.append(tuple(draw(st.permutations(range(ndim)))[:left]))
    return arrays, axes


@settings(max_examples=60, deadline=None)
@given(calls())
def test_axes(call):
    (a, b), axes = call
    want = np.matmul(a, b, axes=axes)
    for function in (td.matmul, np.matmul):
        got = function(td.asarray(a), td.asarray(b), axes=axes)
        assert isinstance(got, td.ndarray)
        np.testing.assert_array_equal(td.asnumpy(got), want)
    out = td.zeros(want.shape, want.dtype)
    assert td.matmul(td.asarray(a), td.asarray(b), out, axes=axes) is out
    np.testing.assert_array_equal(td.asnumpy(out), want)


@pytest.mark.parametrize("casting", ["safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("result", ["?", "i2", "i4", "f4", "f8", "c8"])
@pytest.mark.parametrize("given", ["i4", "f4", "f8"])
def test_casting_of_the_result(given, result, casting):
    a = np.arange(6, dtype=given).reshape(2, 3)
    b = np.arange(12, dtype=given).reshape(3, 4)
    host = np.zeros((2, 4), result)
    out = td.zeros((2, 4), result)
    if not np.can_cast(np.result_type(a, b), result, casting):
        for xp, x, y, z in ((np, a, b, host), (td, td.asarray(a), td.asarray(b), out)):
            with pytest.raises(TypeError):
                xp.matmul(x, y, out=z, casting=casting)
        return
    np.matmul(a, b, out=host, casting=casting)
    td.matmul(td.asarray(a), td.asarray(b), out=out, casting=casting)
    np.testing.assert_array_equal(td.asnumpy(out), host)


def test_dtype():
    a = np.arange(6, dtype="i4").reshape(2, 3)
    got = td.matmul(td.asarray(a), td.asarray(a.T), dtype="f8")
    want = np.matmul(a, a.T, dtype="f8")
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(td.asnumpy(got), want)
    with pytest.raises(TypeError, match="same_kind"):
        td.matmul(td.asarray(a), td.asarray(a.T), dtype="u1")


@pytest.mark.parametrize(
    "axes", [[(0, 1)], [(0, 1), (0, 1)], [0, (0, 1), (0, 1)], [(0, 0), (0, 1), (0, 1)]]
)
def test_axes_that_are_refused(axes):
    a = np.ones((2, 2))
    for xp, x in ((np, a), (td, td.asarray(a))):
        with pytest.raises((ValueError, np.exceptions.AxisError)):
            xp.matmul(x, x, axes=axes)
