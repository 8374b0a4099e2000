"""Bytes other than 0 and 1 seen as bool are true, whatever reads them: as in NumPy.

They come from views of other dtypes, from host memory, and from kernels that write bytes. Copies need not keep such a
byte, so results are compared as bools. A mask that counted more than it kept would write out of bounds.
"""

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = ["?", "i1", "u1", "i4", "i8", "f2", "f4", "f8", "c8"]
BYTES = st.lists(st.sampled_from([0, 1, 2, 3, 4, 128, 254, 255]), min_size=1, max_size=70)


def written(x, xp):
    y = xp.arange(x.size)
    y[x] = -1
    return y


def moved(x, xp):
    y = xp.arange(x.size)
    y[x] = y[x][::-1]
    return y


def added(x, xp):
    y = xp.arange(x.size)
    xp.add(y, y, out=y, where=x)
    return y


def put_bools(x, xp):
    y = xp.zeros(x.size, "f4")
    y[::-1] = x
    y[xp.arange(x.size)] += x
    return y


FUNCTIONS = {
    "sum": lambda x, xp: x.sum(),
    "sum of float16": lambda x, xp: x.sum(dtype="f2"),
    "mean": lambda x, xp: x.mean(),
    "prod": lambda x, xp: x.prod(),
    "any": lambda x, xp: x.any(),
    "all": lambda x, xp: x.all(),
    "max": lambda x, xp: x.max(),
    "argmax": lambda x, xp: x.argmax(),
    "argmin": lambda x, xp: x.argmin(),
    "count": lambda x, xp: xp.count_nonzero(x),
    "along an axis": lambda x, xp: xp.stack([x, x]).sum(axis=1) + xp.stack([x, x], axis=1).sum(axis=0),
    "softmax": lambda x, xp: (x[None] - x[None].sum(axis=1, keepdims=True)),
    "cumsum": lambda x, xp: x.cumsum(),
    "maximum.accumulate": lambda x, xp: xp.maximum.accumulate(x),
    "add.accumulate": lambda x, xp: xp.add.accumulate(x, dtype="?"),
    "not": lambda x, xp: ~x,
    "logical_not": lambda x, xp: xp.logical_not(x),
    "itself": lambda x, xp: x == x[::-1],
    "and": lambda x, xp: x & x[::-1],
    "xor": lambda x, xp: x ^ x[::-1],
    "logical_and": lambda x, xp: xp.logical_and(x, x[::-1]),
    "logical_xor": lambda x, xp: xp.logical_xor(x, x[::-1]),
    "less": lambda x, xp: x < x[::-1],
    "transposed": lambda x, xp: xp.broadcast_to(x, (40, x.size)).T.copy() * 1,
    "steps": lambda x, xp: x[::2] + 1,
    "nonzero": lambda x, xp: xp.nonzero(x)[0],
    "mask": lambda x, xp: xp.arange(x.size)[x],
    "mask of itself": lambda x, xp: x[x].astype("u1") + x[~x].sum(),
    "written": written,
    "moved": moved,
    "added": added,
    "put": put_bools,
    "take": lambda x, xp: xp.take(x, xp.arange(x.size)[::-1]) * 3,
    "where": lambda x, xp: xp.where(x, 2, 3),
    "matmul": lambda x, xp: x[:, None] @ x[None],
    "bincount": lambda x, xp: xp.bincount(x),
    "sort": lambda x, xp: xp.sort(x),
    "searchsorted": lambda x, xp: xp.searchsorted(xp.asarray([0.0, 1.0]), x),
    "unique": lambda x, xp: xp.unique(x * 1),
    "packbits": lambda x, xp: xp.packbits(x),
    "repeat": lambda x, xp: xp.repeat(xp.arange(x.size), x),
    "convolve": lambda x, xp: xp.convolve(x, x),
    "concatenate": lambda x, xp: xp.concatenate([x, xp.arange(2)]),
}  # fmt: skip


def check(given, name, function):
    want = np.asarray(function(given.view("?"), np))
    for x in (td.asarray(given).view("?"), td.asarray(given.view("?"))):
        got = td.asnumpy(function(x, td))
        assert got.dtype == want.dtype, name
        # NumPy orders bytes where it sorts bools; as bools they are what counts.
        np.testing.assert_array_equal(got, want != 0 if want.dtype == bool else want, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    check(np.tile(np.array([0, 1, 2, 3, 255, 0, 128], "u1"), 9), name, FUNCTIONS[name])


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    given = np.array([0, 1, 2, 3, 255, 128, 4, 0, 7, 16] * 7, "u1")
    check(given, "astype", lambda x, xp: x.astype(dtype))
    check(given, "add", lambda x, xp: x + xp.ones(70, dtype))
    check(given, "less", lambda x, xp: x < xp.ones(70, dtype))
    check(given, "where", lambda x, xp: xp.where(x, xp.ones(70, dtype), xp.zeros(70, dtype)))
    check(given, "sum where", lambda x, xp: xp.ones(70, dtype).sum(where=x))


@settings(max_examples=60, deadline=None)
@given(BYTES, st.sampled_from(list(FUNCTIONS)))
def test_any_bytes(values, name):
    check(np.array(values, "u1"), name, FUNCTIONS[name])


def test_kernels_of_users():
    x = td.asarray(np.array([0, 1, 2, 128], "u1")).view("?")
    kernel = td.ElementwiseKernel("bool x", "int32 y", "y = x ? 10 : 20", "of_bools")
    np.testing.assert_array_equal(td.asnumpy(kernel(x)), [20, 10, 10, 10])
    total = td.ReductionKernel("bool x", "int32 y", "(int)x", "a + b", "y = a", "0", "sum_of_bools")
    assert int(total(x)) == 3
