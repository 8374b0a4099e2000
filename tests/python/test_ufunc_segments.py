"""``ufunc.reduceat`` and ``ufunc.at`` against NumPy's."""

import numpy as np
import pytest
import treadle as td


def same(actual, expected, rtol=0):
    actual = td.asnumpy(actual)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=rtol)


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(1, 5, shape).astype(dtype)


INDICES = [
    [0, 4, 5, 9],
    [0], [3, 1, 2, 2, 7], [5, 5, 5], [9, 0, 9], [], list(range(10)), [0, 1, 9], np.array([2, 8], np.uint8),
]  # fmt: skip
OPERATIONS = [
    "add",
    "multiply",
    "maximum",
    "logical_or",
    "bitwise_xor",
    "subtract",
    "divide",
    "greater",
]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", "?bqefD")
def test_reduceat(name, dtype):
    host = numbers(10, dtype)
    for indices in INDICES:
        try:
            with np.errstate(all="ignore"):
                want = getattr(np, name).reduceat(host, np.asarray(indices, np.intp))
        except TypeError:
            with pytest.raises(TypeError):
                getattr(td, name).reduceat(td.asarray(host), indices)
            continue
        same(
            getattr(td, name).reduceat(td.asarray(host), indices),
            want,
            1e-2 if dtype == "e" else 1e-5,
        )


def test_reduceat_of_powers_goes_from_the_left():
    """NumPy 2.4 gives 0.5 for the first: its loop takes the last exponent for all."""
    host = np.array([0.5, 0.5, 0.5, 1, 2, 0.5])
    want = np.array([((host[0] ** host[1]) ** host[2]) ** host[3], host[4] ** host[5]])
    same(td.power.reduceat(td.asarray(host), [0, 4]), want, 1e-12)


@pytest.mark.parametrize("name", ["add", "subtract", "minimum"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reduceat_along_axes(name, axis):
    host = numbers((4, 5, 3), "i4")
    x = td.asarray(host)
    for indices in ([0, 2], [1, 0, 2], td.asarray([2, 1])):
        host_indices = td.asnumpy(indices) if isinstance(indices, td.ndarray) else indices
        want = getattr(np, name).reduceat(host, host_indices, axis)
        same(getattr(td, name).reduceat(x, indices, axis), want)
        same(
            getattr(td, name).reduceat(x.T, indices, axis),
            getattr(np, name).reduceat(host.T, host_indices, axis),
        )
    out = td.zeros((4, 5, 3))[:, :2, :]
    assert td.add.reduceat(x, [0, 3], 1, out=out) is out
    same(out, np.add.reduceat(host, [0, 3], 1).astype(float))
    same(td.add.reduceat(x, [0, 3], 1, dtype="f4"), np.add.reduceat(host, [0, 3], 1, dtype="f4"))


def test_reduceat_gives_an_array_in_c_order():
    assert td.add.reduceat(td.zeros((3, 4, 5)), [0, 2], axis=1).flags.c_contiguous


def test_reduceat_of_a_long_and_many_short_segments():
    host = np.random.default_rng(0).standard_normal(100_000)
    indices = np.concatenate([np.arange(0, 3000, 3), [50_000, 99_999]])
    same(td.add.reduceat(td.asarray(host), indices), np.add.reduceat(host, indices), 1e-9)
    same(np.add.reduceat(td.asarray(host), indices), np.add.reduceat(host, indices), 1e-9)


def test_reduceat_refuses():
    x = td.arange(5)
    for indices in ([5], [0, -1]):
        with pytest.raises(IndexError, match="out-of-bounds"):
            td.add.reduceat(x, indices)
    with pytest.raises(TypeError, match="integers"):
        td.add.reduceat(x, [0.5])
    with pytest.raises(TypeError, match="scalar"):
        td.add.reduceat(td.asarray(1), [0])
    with pytest.raises(ValueError, match="binary"):
        td.sqrt.reduceat(x, [0])


# ---- at ----

UNARY = ["negative", "square", "invert", "logical_not"]
BINARY = [
    "add", "subtract", "multiply", "floor_divide", "power", "maximum", "minimum", "bitwise_or", "bitwise_and",
    "bitwise_xor", "left_shift", "hypot", "fmod", "logical_xor", "greater",
]  # fmt: skip
KEYS = [[0, 3, 0, 0, 2], [], 1, slice(1, 4), np.array([[1, 1], [4, 1]]), np.arange(5) > 1]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", "bHqfd")
def test_at(name, dtype):
    for seed, key in enumerate(KEYS):
        host = numbers(5, dtype)
        value = numbers(np.shape(host[key]), dtype, seed)
        x = td.asarray(host)
        try:
            getattr(np, name).at(host, key, value)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(td, name).at(x, key, td.asarray(value))
            continue
        getattr(td, name).at(x, key, td.asarray(value))
        same(x, host, 1e-6)


@pytest.mark.parametrize("name", UNARY)
def test_at_of_one_operand(name):
    for key in KEYS:
        host = numbers(5, "i4")
        x = td.asarray(host)
        getattr(np, name).at(host, key)
        getattr(td, name).at(x, key)
        same(x, host)


def test_at_of_layouts_and_numbers():
    host = numbers((4, 6), "f8")
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2]):
        h, x = host.copy(), td.asarray(host)
        rows = np.array([1, 1, 0])
        np.multiply.at(view(h), (rows, [2, 2, 1]), 3)
        td.multiply.at(view(x), (rows, [2, 2, 1]), 3)
        np.divide.at(view(h), ([0, 0],), np.arange(1.0, view(h).shape[1] + 1))
        td.divide.at(view(x), ([0, 0],), td.arange(1.0, view(x).shape[1] + 1))
        same(x, h, 1e-12)
    x = td.zeros(3, "u1")
    td.add.at(x, [0, 0, 1], 200)
    same(x, np.array([144, 200, 0], np.uint8))
    np.multiply.at(x, [0, 1], td.asarray([2, 2], "u1"))
    same(x, np.array([32, 144, 0], np.uint8))


@pytest.mark.parametrize("dtype", ["u1", "u4", "i4", "f4"])
def test_at_subtracts_numbers_from_unsigned_integers(dtype):
    host = np.arange(5).astype(dtype)
    device = td.asarray(host)
    for xp, x in ((np, host), (td, device)):
        xp.subtract.at(x, [0, 1, 1, 4], 3)
    np.testing.assert_array_equal(td.asnumpy(device), host)


def test_at_casts_every_result():
    for name, b in (("divide", 2), ("multiply", 2.5), ("greater", 1), ("add", np.float64(0.75))):
        h, x = np.arange(3, 6, dtype="i4"), td.arange(3, 6, dtype="i4")
        getattr(np, name).at(h, [0, 0, 1], b)
        getattr(td, name).at(x, [0, 0, 1], b)
        same(x, h)


def test_at_keeps_the_order_of_values():
    """2 -> 2 ** 3 -> 8 - 5: an operation whose order matters."""
    x, h = td.asarray([2.0, 9.0]), np.array([2.0, 9.0])
    values = np.array([3.0, 2.0, 0.5, 2.0])
    np.power.at(h, [0, 1, 0, 0], values)
    td.power.at(x, [0, 1, 0, 0], td.asarray(values))
    same(x, h, 1e-12)


def test_at_refuses():
    x = td.zeros(3, "i4")
    with pytest.raises(TypeError, match="not supported"):
        td.bitwise_or.at(x, [0], td.ones(1))
    with pytest.raises(IndexError):
        td.multiply.at(x, [3], 2)
    with pytest.raises(ValueError, match="second operand"):
        td.add.at(x, [0])
    with pytest.raises(ValueError, match="second operand"):
        td.negative.at(x, [0], 1)
    with pytest.raises(ValueError, match="read-only"):
        td.multiply.at(td.broadcast_to(x, (2, 3)), 0, 2)
    same(x, np.zeros(3, "i4"))
