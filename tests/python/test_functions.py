"""The NumPy-shaped functions that are written in Python, each against NumPy."""

import numpy as np
import pytest
import treadle as td

A = np.arange(24, dtype=np.float64).reshape(2, 3, 4)
M = np.linspace(-2, 3, 12).reshape(3, 4)

CALLS = {
    "reshape": lambda xp, a: xp.reshape(a, (4, 6)),
    "reshape F": lambda xp, a: xp.reshape(a, (4, 6), order="F"),
    "ravel": lambda xp, a: xp.ravel(a),
    "transpose": lambda xp, a: xp.transpose(a, (1, 0, 2)),
    "swapaxes": lambda xp, a: xp.swapaxes(a, 0, -1),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, -1),
    "moveaxis two": lambda xp, a: xp.moveaxis(a, (0, 1), (-1, 0)),
    "expand_dims": lambda xp, a: xp.expand_dims(a, (0, 3)),
    "squeeze": lambda xp, a: xp.squeeze(a[:1]),
    "flip": lambda xp, a: xp.flip(a, (0, 2)),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a[:, :1], (5, 2, 3, 4)),
    "concatenate": lambda xp, a: xp.concatenate([a, a[:, :2]], axis=1),
    "concatenate None": lambda xp, a: xp.concatenate([a, a[0]], axis=None),
    "stack": lambda xp, a: xp.stack([a, a + 1], axis=-1),
    "vstack": lambda xp, a: xp.vstack([a[0], a[1]]),
    "hstack": lambda xp, a: xp.hstack([a[0], a[1]]),
    "where": lambda xp, a: xp.where(a > 5, a, -a),
    "clip": lambda xp, a: xp.clip(a, 3, 7),
    "clip low": lambda xp, a: xp.clip(a, 3, None),
    "round": lambda xp, a: xp.round(a / 7, 2),
    "var": lambda xp, a: xp.var(a, axis=(0, 2)),
    "var ddof": lambda xp, a: xp.var(a, ddof=1),
    "std": lambda xp, a: xp.std(a, axis=1, keepdims=True),
    "std float32": lambda xp, a: xp.std(a.astype(np.float32), axis=0),
    "std int": lambda xp, a: xp.std(a.astype(np.int32)),
    "dot 2-D": lambda xp, a: xp.dot(a[0], a[1].T),
    "dot 1-D": lambda xp, a: xp.dot(a[0, 0], a[1, 1]),
    "vdot": lambda xp, a: xp.vdot(a[0] * 1j, a[1]),
    "isclose": lambda xp, a: xp.isclose(a, a + 1e-9 * a),
    "sum axes": lambda xp, a: xp.sum(a, axis=(0, -1), keepdims=True),
    "argmax": lambda xp, a: xp.argmax(a, axis=1),
    "mean": lambda xp, a: a.mean(axis=1),
    "prod dtype": lambda xp, a: (a[0, 0] + 1).prod(dtype=np.float32),
    "any": lambda xp, a: (a > 22).any(axis=0),
    "method clip": lambda xp, a: a.clip(1, 2),
    "zeros_like": lambda xp, a: xp.zeros_like(a),
    "full_like": lambda xp, a: xp.full_like(a, 3.5),
    "matmul": lambda xp, a: a @ xp.swapaxes(a, 1, 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_against_numpy(name):
    want = CALLS[name](np, A)
    got = CALLS[name](td, td.asarray(A))
    assert got.dtype == np.asarray(want).dtype
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(
        td.asnumpy(got), want, rtol=1e-6 if got.dtype == np.float32 else 1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (5,),
        (2, 9),
        (2, 9, 3),
        (9, 2, -2),
        (0,),
        (3, 3),
        (0, 1, 0.1),
        (5.0,),
        (-1, 1, 0.25),
        (1, 2, 0.3),
    ],
)
def test_arange(arguments):
    got, want = td.arange(*arguments), np.arange(*arguments)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(td.asnumpy(got), want, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float16, np.float32, np.complex64])
def test_arange_dtype(dtype):
    assert np.array_equal(
        td.asnumpy(td.arange(3, 20, 2, dtype=dtype)), np.arange(3, 20, 2, dtype=dtype)
    )


@pytest.mark.parametrize("arguments", [(0, 1), (0, 1, 1), (0, 1, 0), (-3, 5, 7), (2, 1, 5, False)])
def test_linspace(arguments):
    np.testing.assert_allclose(
        td.asnumpy(td.linspace(*arguments)), np.linspace(*arguments), rtol=1e-14
    )


@pytest.mark.parametrize("arguments", [(3,), (3, 5), (4, 2, 1), (3, 3, -1)])
def test_eye(arguments):
    assert np.array_equal(td.asnumpy(td.eye(*arguments)), np.eye(*arguments))


@pytest.mark.parametrize(
    "value, dtype",
    [(7, None), (7.5, None), (True, None), (1j, None), (3, np.float16), (np.int8(3), None)],
)
def test_full(value, dtype):
    got, want = td.full((2, 3), value, dtype), np.full((2, 3), value, dtype)
    assert got.dtype == want.dtype and np.array_equal(td.asnumpy(got), want)


@pytest.mark.parametrize("make", ["zeros", "ones", "empty"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_order(make, order):
    x = getattr(td, make)((3, 4), np.int16, order=order)
    assert x.strides == getattr(np, make)((3, 4), np.int16, order=order).strides


def test_out_returns_the_same_object():
    x = td.asarray(M)
    out = td.empty_like(x)
    assert td.add(x, 1, out=out) is out
    assert td.sum(x, axis=0, out=td.empty(4)).shape == (4,)
    total = td.empty(())
    assert x.sum(out=total) is total and total.item() == pytest.approx(M.sum())
    with pytest.raises(TypeError):
        td.add(x, 1, out=np.empty_like(M))


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: td.concatenate([]), ValueError),
        (lambda x: td.concatenate([x, x[:, :2]]), ValueError),
        (lambda x: td.squeeze(x, 0), ValueError),
        (lambda x: td.transpose(x, (0, 0)), ValueError),
        (lambda x: td.swapaxes(x, 0, 5), IndexError),
        (lambda x: td.reshape(x, (5, 5)), ValueError),
        (lambda x: td.sum(x, axis=7), ValueError),
        (lambda x: x + td.zeros(7), ValueError),
        (lambda x: x @ x, ValueError),
        (lambda x: td.arange(0, 1, 0), (ZeroDivisionError, ValueError)),
        (lambda x: td.zeros((-1,)), ValueError),
        (lambda x: td.zeros(3, dtype="U5"), TypeError),
        (lambda x: td.zeros(3, order="Q"), ValueError),
        (lambda x: td.reshape(M, (2, 6)), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call(td.asarray(M))


def test_random_is_repeatable_and_sane():
    a, b = (td.random.default_rng(7) for _ in range(2))
    assert td.array_equal(a.random(1000), b.random(1000))
    assert not td.array_equal(a.random(1000), a.random(1000))
    sample = td.asnumpy(td.random.default_rng(1).random(100_000, dtype=np.float32))
    assert sample.min() >= 0 and sample.max() < 1 and abs(sample.mean() - 0.5) < 0.005
    normal = td.asnumpy(td.random.default_rng(2).standard_normal(100_000))
    assert abs(normal.mean()) < 0.02 and abs(normal.std() - 1) < 0.02
    dice = td.asnumpy(td.random.default_rng(3).integers(1, 7, 60_000))
    assert (
        set(dice) == {1, 2, 3, 4, 5, 6} and abs(np.bincount(dice)[1:] / 60_000 - 1 / 6).max() < 0.01
    )
    td.random.seed(5)
    first = td.random.rand(3, 2)
    td.random.seed(5)
    assert first.shape == (3, 2) and td.array_equal(first, td.random.rand(3, 2))


@pytest.mark.parametrize("letter", "?bBhiIq")
@pytest.mark.parametrize("kind", [None, "table", "sort"])
def test_isin_by_table_and_by_search(letter, kind):
    rng = np.random.default_rng(8)
    x = rng.integers(0, 100, (90, 60)).astype(letter)
    for test in (rng.integers(-20, 130, 5000).astype("h"), x[:3], np.array([5], "q")):
        for invert in (False, True):
            got = td.isin(td.asarray(x), td.asarray(test), kind=kind, invert=invert)
            np.testing.assert_array_equal(got.get(), np.isin(x, test, invert=invert))
    with pytest.raises(ValueError, match="table"):
        td.isin(td.asarray(x), td.asarray([0.5]), kind="table")


@pytest.mark.parametrize("order", "CF")
def test_many_runs_of_delete_and_insert(order):
    x = np.arange(600.0).reshape(20, 30, order=order)
    d = td.asarray(x, order=order)
    for axis in (None, 0, 1):
        for where in (
            slice(None, None, 2),
            np.arange(0, 20, 2),
            [1, 3, 5, 7, 9, 11, 13, 15, 17, 19],
        ):
            np.testing.assert_array_equal(
                td.delete(d, where, axis).get(), np.delete(x, where, axis)
            )
            np.testing.assert_array_equal(
                td.insert(d, where, -1.0, axis).get(), np.insert(x, where, -1.0, axis)
            )


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1,), (8,), (4, 9), (2, 3, 20)], ids=str)
def test_bits_of_all_shapes(shape, order):
    rng = np.random.default_rng(0)
    x = rng.random(shape) < 0.5
    u = rng.integers(0, 256, shape, "u1")
    for axis in (None, *range(len(shape))):
        for host, device in ((x, td.asarray(x)), (x.T * 3, td.asarray(x).T * 3)):
            want = np.packbits(host, axis, order)
            np.testing.assert_array_equal(td.packbits(device, axis, order).get(), want)
        if u.size or axis is not None:
            want = np.unpackbits(u, axis, bitorder=order)
            np.testing.assert_array_equal(
                td.unpackbits(td.asarray(u), axis, bitorder=order).get(), want
            )


def test_memoize():
    calls = []

    @td.memoize(for_each_device=True)
    def table(n, step=1):
        "A table."
        calls.append((n, step))
        return td.arange(0, n, step)

    first = table(4)
    assert table(4) is first and table(4, step=2) is not first and table.__doc__ == "A table."
    assert calls == [(4, 1), (4, 2)]
    td.clear_memo()
    assert table(4) is not first and len(calls) == 3
    with pytest.raises(TypeError, match="unhashable"):
        table([4])


def test_functions_name_themselves_when_they_refuse():
    for name in ("std", "var", "median", "ptp", "average", "nanstd", "cov", "diff", "cumsum"):
        with pytest.raises(TypeError) as refused:
            getattr(td, name)(np.ones(3))
        assert "asarray" in str(refused.value), name
        assert name in str(refused.value) or "operand" in str(refused.value), name
