"""Faults reported against CuPy, each with the kind that it belongs to; the oracle is NumPy.

Numbers are cupy/cupy's. Kernels' arguments (8485, 7267, 3095) are in test_raw_kernel.py, the pool's limit (7678) in
test_cuda_memory.py.
"""

import operator

import numpy as np
import pytest
import treadle as td


def same(actual, expected, rtol=0):
    actual, expected = td.asnumpy(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol)


# ---- 7424, 8180: the identity of a reduction must not leak ----


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax", "nanmin", "nanargmax"])
@pytest.mark.parametrize("dtype", ["e", "f", "d"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_extremes_of_infinities(name, dtype, value):
    mine, theirs = getattr(td, name), getattr(np, name)
    for shape, axis in (
        ((1,), None),
        ((2,), None),
        ((3, 4), 0),
        ((3, 4), 1),
        ((40, 70), None),
        ((2, 300), 1),
    ):
        host = np.full(shape, value, dtype)
        same(mine(td.asarray(host), axis=axis), theirs(host, axis=axis))
        host.flat[-1] = -value
        same(mine(td.asarray(host), axis=axis), theirs(host, axis=axis))


@pytest.mark.parametrize("dtype", ["b", "B", "i", "q", "Q", "?"])
def test_extremes_at_the_limits_of_integers(dtype):
    info = None if dtype == "?" else np.iinfo(dtype)
    for value in (False, True) if info is None else (info.min, info.max):
        host = np.full((3, 50), value, dtype)
        for name in ("min", "max", "argmin", "argmax"):
            same(getattr(td, name)(td.asarray(host), axis=1), getattr(np, name)(host, axis=1))


# ---- 9267: a flat list of plain booleans is one condition ----


@pytest.mark.parametrize(
    "conditions", [[True, False], [True, False, True], [False], [[True, False]], True]
)
@pytest.mark.parametrize("functions", [[1], [1, 2], [1, lambda x: x - 1]])
def test_piecewise_conditions(conditions, functions):
    flat = np.asarray(conditions).reshape(-1)
    host = np.zeros(len(flat) if np.ndim(conditions) else 2, int)
    want = np.piecewise(host, conditions, functions)
    same(td.piecewise(td.asarray(host), conditions, functions), want)


# ---- 2407: an operation in place acts as if its operands were read first ----


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul])
@pytest.mark.parametrize("n", [8, 1000])
def test_in_place_operations_on_overlapping_views(op, n):
    views = [
        (lambda a: a, lambda a: a.T), (lambda a: a[::-1], lambda a: a), (lambda a: a[1:], lambda a: a[:-1]),
        (lambda a: a[:, :-1], lambda a: a[:, 1:]), (lambda a: a[::2], lambda a: a[: (n + 1) // 2]),
        (lambda a: a, lambda a: a[0]), (lambda a: a, lambda a: a[:, :1]),
    ]  # fmt: skip
    for target, source in views:
        host = np.arange(n * n).reshape(n, n) % 100
        x = td.asarray(host)
        op(target(x), source(x))
        want = host.copy()
        op(target(want), source(host).copy())
        same(x, want)


# ---- 4607: percentiles rise with q ----


def test_percentiles_are_monotone():
    m = -1.00795396e08
    sample = td.asarray([m, 1.2, m, 2.1, 3.5])
    q = td.asnumpy(td.percentile(sample, td.linspace(0, 100, 21)))
    assert np.all(np.diff(q) >= 0)
    assert q[0] == q[1] == m
    rng = np.random.default_rng(0)
    for dtype in ("e", "f", "d"):
        values = (rng.standard_normal(50) * 10.0 ** rng.integers(-3, 4, 50)).astype(dtype)
        for function, most in ((td.quantile, 1), (td.nanquantile, 1), (td.percentile, 100)):
            got = td.asnumpy(function(td.asarray(values), td.linspace(0, most, 301)))
            assert np.all(np.diff(got) >= 0)
            assert (got[0], got[-1]) == (values.min(), values.max())


# ---- 2637: sizes 0 and 1 differ ----


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (1,), (1, 1), ()])
@pytest.mark.parametrize("to", [(), (1,), (0,), (-1,), (0, -1), (3, 0), (1, -1)])
def test_reshape_of_nothing(shape, to):
    host = np.zeros(shape)
    try:
        want = host.reshape(to)
    except ValueError:
        with pytest.raises(ValueError, match="reshape"):
            td.asarray(host).reshape(to)
    else:
        same(td.asarray(host).reshape(to), want)


# ---- 6937: only the reduced length matters ----


@pytest.mark.parametrize(
    "name", ["min", "max", "argmin", "argmax", "sum", "prod", "all", "any", "mean", "ptp", "std"]
)
@pytest.mark.parametrize("axis", [0, 1, None, (0, 1)])
@pytest.mark.filterwarnings("ignore")
def test_reductions_of_empty_arrays(name, axis):
    for shape in ((0, 2), (2, 0), (0, 0)):
        host = np.zeros(shape)
        mine, theirs = getattr(td, name), getattr(np, name)
        try:
            want = theirs(host, axis=axis)
        except (ValueError, TypeError) as error:
            with pytest.raises(type(error)):
                mine(td.asarray(host), axis=axis)
        else:
            same(mine(td.asarray(host), axis=axis), want)


# ---- 8248: lengths belong to the axes that are named, in that order ----


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "rfft2", "irfft2"])
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (-1, -2), (2, 0), (0, 2), (1, 2)])
@pytest.mark.parametrize("s", [None, (3, 2), (2, 5), (4, 4)])
def test_transforms_of_permuted_axes(name, axes, s):
    host = np.random.default_rng(0).standard_normal((3, 4, 5))
    got = getattr(td.fft, name)(td.asarray(host), s=s, axes=axes)
    want = getattr(np.fft, name)(host, s=s, axes=axes)
    assert got.shape == want.shape
    np.testing.assert_allclose(td.asnumpy(got), want, atol=1e-12)


def test_a_real_transform_of_permuted_axes():
    got = td.asnumpy(td.fft.rfftn(td.arange(6.0).reshape(3, 2), s=(3, 2), axes=(1, 0)))
    row = np.sqrt(3)
    np.testing.assert_allclose(got[0], [6, -2 * row * 1j, 2 * row * 1j], atol=1e-12)


# ---- 9028: numbers of Python are weak ----


@pytest.mark.parametrize(
    "scalar", [np.uint8(255), np.int8(127), np.float32(1), np.float16(2), np.bool_(True)]
)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum"])
@pytest.mark.filterwarnings("ignore")
def test_numpy_scalars_with_numbers_of_python(scalar, name):
    for number in (1, True, 2.0):
        try:
            want = getattr(np, name)(scalar, number)
        except TypeError:
            continue
        same(getattr(td, name)(scalar, number), want)


# ---- 4456: functions leave their arguments alone ----

UNCHANGED = {
    "cumsum": lambda x: td.cumsum(x, axis=1), "cumprod": lambda x: td.cumprod(x, axis=0),
    "cumulative_sum": lambda x: td.cumulative_sum(x, axis=1), "nancumsum": lambda x: td.nancumsum(x),
    "accumulate": lambda x: td.maximum.accumulate(x, axis=1), "sort": lambda x: td.sort(x, axis=0),
    "argsort": lambda x: td.argsort(x), "partition": lambda x: td.partition(x, 1), "median": lambda x: td.median(x),
    "percentile": lambda x: td.percentile(x, 30), "unique": lambda x: td.unique(x), "std": lambda x: td.std(x),
    "fft": lambda x: td.fft.fft(x), "irfft": lambda x: td.fft.irfft(x), "solve": lambda x: td.linalg.solve(x, x),
    "qr": lambda x: td.linalg.qr(x), "svd": lambda x: td.linalg.svd(x), "inv": lambda x: td.linalg.inv(x),
    "eigh": lambda x: td.linalg.eigh(x), "where": lambda x: td.where(x > 1, x, 0), "clip": lambda x: td.clip(x, 1, 2),
    "nan_to_num": lambda x: td.nan_to_num(x), "diff": lambda x: td.diff(x), "pad": lambda x: td.pad(x, 1),
    "reduceat": lambda x: td.add.reduceat(x, [0, 1]), "insert": lambda x: td.insert(x, 1, 5, axis=0),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCHANGED)
def test_functions_leave_their_arguments_alone(name):
    host = np.array([[4.0, 1, 2], [1, 5, 3], [2, 3, 6]])
    for x in (
        td.asarray(host),
        td.asarray(np.asfortranarray(host)),
        td.asarray(host)[::1, ::1].T.T,
    ):
        UNCHANGED[name](x)
        same(x, host)


def test_cumsum_of_rows():
    a = td.ones((2, 3))
    same(td.cumsum(a, axis=1), [[1.0, 2, 3]] * 2)
    same(a, np.ones((2, 3)))


# ---- 2276: half to even ----


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D"])
def test_rounding_is_half_to_even(dtype):
    host = np.array([2.5, 3.5, -0.5, 0.5, 1.5, -2.5, 1.25, 125.0, 135.0]).astype(dtype)
    x = td.asarray(host)
    for decimals in (0, 1, -1):
        got, want = td.asnumpy(td.around(x, decimals)), np.around(host, decimals)
        same(got, want)
        np.testing.assert_array_equal(np.signbit(got.real), np.signbit(want.real))
    same(td.rint(x), np.rint(host))
    same(round(x, 0), np.around(host))
    integers = np.array([5, 15, 25, -5, -15], np.int32)
    same(td.around(td.asarray(integers), -1), np.around(integers, -1))


# ---- 7698: every integer is counted ----


@pytest.mark.parametrize("dtype", ["b", "B", "h", "H", "i", "I", "q"])
def test_bincount_of_every_integer_type(dtype):
    most = min(int(np.iinfo(dtype).max), 65535)
    host = np.arange(most + 1).astype(dtype)
    same(td.bincount(td.asarray(host)), np.ones(most + 1, np.int64))
    same(td.bincount(td.asarray(host), minlength=most + 5), np.bincount(host, minlength=most + 5))


# ---- 2405: a broadcast view is read-only ----

WRITES = {
    "+=": lambda b: operator.iadd(b, 1), "setitem": lambda b: b.__setitem__(0, 1), "fill": lambda b: b.fill(1),
    "out=": lambda b: td.add(1, 2, out=b), "put": lambda b: td.put(b, [0], 1), "copyto": lambda b: td.copyto(b, 1),
    "mask": lambda b: b.__setitem__(td.ones(3) > 0, 1), "place": lambda b: td.place(b, b > 0, td.ones(1, "f4")),
    "putmask": lambda b: td.putmask(b, b > 0, 1), "scatter": lambda b: td.scatter_add(b, [0], 1),
    "at": lambda b: td.multiply.at(b, [0], 2), "sort": lambda b: b.sort(), "flat": lambda b: b.flat.__setitem__(0, 1),
    "real": lambda b: setattr(b, "real", 1), "sum": lambda b: td.sum(td.ones((2, 3)), axis=0, out=b),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_views_that_are_broadcast_are_not_written(name):
    a = td.ones(1, "f4")
    b = td.broadcast_to(a, (3,))
    with pytest.raises(ValueError, match=r"read-only|not writeable"):
        WRITES[name](b)
    same(a, np.ones(1, "f4"))


# ---- out= of a scan takes any dtype ----


@pytest.mark.parametrize(
    ("given", "wanted"), [("?", "?"), ("d", "i4"), ("q", "i1"), ("i4", "d"), ("f", "d")]
)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_out_of_a_scan_has_any_dtype(name, given, wanted):
    host = np.array([[1.75, 100, 100], [1, 0, 2]]).astype(given)
    for axis in (0, 1):
        out, want = td.zeros((2, 3), wanted), np.zeros((2, 3), wanted)
        getattr(np, name)(host, axis, out=want)
        assert getattr(td, name)(td.asarray(host), axis, out=out) is out
        same(out, want)
