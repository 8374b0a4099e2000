"""Indexing with arrays against NumPy: any index expression, read and written, over dtypes and layouts."""

import numpy as np
import pytest
import treadle as td
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = [np.dtype(t) for t in "?bBhHiIlLefdFD"]


def same(actual, expected):
    actual = td.asnumpy(actual)
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def values(shape, dtype, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 100, shape)
    return numbers.astype(dtype)


def layout(host, kind):
    """``host`` on the device in one of several memory layouts."""
    if kind == "F":
        return td.asarray(np.asfortranarray(host))
    if kind == "reversed" and host.ndim:
        return td.asarray(host[::-1].copy())[::-1]
    if kind == "strided" and host.ndim:
        wide = np.zeros((*host.shape[:-1], 2 * host.shape[-1]), host.dtype)
        wide[..., ::2] = host
        return td.asarray(wide)[..., ::2]
    if kind == "offset" and host.ndim:
        return td.asarray(np.concatenate([host[:1], host]) if host.shape[0] else host)[
            (slice(1, None) if host.shape[0] else slice(None))
        ]
    return td.asarray(host)


LAYOUTS = ["C", "F", "reversed", "strided", "offset"]


# ---- random index expressions ----


@st.composite
def index_item(draw, length, picked):
    """An item for one axis of this length; index arrays broadcast to ``picked``."""
    kind = draw(st.sampled_from(["slice", "int", "array", "array", "mask"]))
    if kind == "slice" or length == 0:
        bound = st.none() | st.integers(-length - 1, length + 1)
        step = draw(st.sampled_from([None, 1, 2, -1, -2]))
        return slice(draw(bound), draw(bound), step)
    if kind == "int":
        return draw(st.integers(-length, length - 1))
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)), bool)
    shape = [draw(st.sampled_from([n, 1])) for n in picked]
    while shape and shape[0] == 1 and draw(st.booleans()):
        shape = shape[1:]
    dtype = draw(st.sampled_from("bhilBHI"))
    low = 0 if dtype.isupper() else -length
    numbers = st.integers(low, length - 1)
    size = int(np.prod(shape))
    flat = draw(st.lists(numbers, min_size=size, max_size=size))
    return np.array(flat, dtype).reshape(shape)


@st.composite
def indexed(draw):
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=1, max_size=4)))
    picked = draw(st.lists(st.integers(0, 3), min_size=0, max_size=2))
    used = draw(st.integers(0, len(shape)))
    front = draw(st.integers(0, used))
    axes = list(range(front)) + list(range(len(shape) - (used - front), len(shape)))
    items = [draw(index_item(shape[axis], picked)) for axis in axes]
    ellipsis = used < len(shape) and front < used
    if ellipsis or draw(st.booleans()):
        items.insert(front, Ellipsis)
    for extra in draw(st.lists(st.sampled_from([None, True, False]), max_size=2)):
        items.insert(draw(st.integers(0, len(items))), extra)
    if draw(st.integers(0, 9)) == 0:  # one mask over all leading axes
        n = draw(st.integers(1, len(shape)))
        items = [np.random.default_rng(draw(st.integers(0, 99))).random(shape[:n]) < 0.5]
    return shape, tuple(items)


def on_device(items, lists):
    """The same index with its arrays on the device, or as lists."""

    def move(item):
        if not isinstance(item, np.ndarray):
            return item
        if lists and item.ndim:
            return item.tolist() if item.size else item
        return td.asarray(item)

    moved = tuple(map(move, items))
    return moved[0] if len(moved) == 1 and isinstance(moved[0], td.ndarray) else moved


def outcome(action):
    try:
        return action()
    except (IndexError, ValueError, TypeError) as error:
        return error


def agree(actual, expected):
    if isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), (actual, expected)
    else:
        assert not isinstance(actual, Exception), (actual, expected)
        same(actual, expected)


@settings(max_examples=400, deadline=None)
@given(indexed(), st.sampled_from(DTYPES), st.sampled_from(LAYOUTS), st.booleans())
def test_get(expression, dtype, kind, lists):
    shape, items = expression
    host = values(shape, dtype)
    x = layout(host, kind)
    agree(outcome(lambda: x[on_device(items, lists)]), outcome(lambda: host[items]))


@settings(max_examples=400, deadline=None)
@given(indexed(), st.sampled_from(DTYPES), st.sampled_from(LAYOUTS), st.data())
def test_set(expression, dtype, kind, data):
    shape, items = expression
    host = values(shape, dtype)
    x = layout(host, kind)
    try:
        target = host[items].shape
    except IndexError:
        return
    trimmed = [data.draw(st.sampled_from([n, n, 1])) for n in target]
    trimmed = trimmed[data.draw(st.integers(0, len(trimmed))) :]
    new = values(tuple(trimmed), data.draw(st.sampled_from(DTYPES[:11])), 1)
    if not trimmed and data.draw(st.booleans()):
        new = 7

    def write(array, index, value):
        array[index] = value
        return array

    mine = td.asarray(new) if isinstance(new, np.ndarray) else new
    result = outcome(lambda: write(x, on_device(items, False), mine))
    agree(result, outcome(lambda: write(host.copy(), items, new)))


# ---- single rules ----


@pytest.mark.parametrize(
    "index, message",
    [
        ([0, 5], "index 5 is out of bounds for axis 0 with size 3"),
        ((slice(None), [0, -5]), "index -5 is out of bounds for axis 1 with size 4"),
        (([0, 3], [0, 9]), "index 3 is out of bounds for axis 0 with size 3"),
        (([0, 1], [0, 1, 2]), "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)"),
        (([0], [0], [0]), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        (np.zeros((3, 5), bool), "boolean index did not match indexed array along axis 1; size of axis is 4"),
        (np.array([1.0]), "arrays used as indices must be of integer (or boolean) type"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["host", "device"])
def test_errors_name_the_index(index, message, where):
    x = td.zeros((3, 4))
    if where == "device":
        parts = index if isinstance(index, tuple) else (index,)
        index = tuple(td.asarray(p) if isinstance(p, (list, np.ndarray)) else p for p in parts)
    with pytest.raises(IndexError) as read:
        x[index]
    assert str(read.value).startswith(message)
    with pytest.raises(IndexError) as written:
        x[index] = 1
    assert str(written.value).startswith(message)
    assert not td.asnumpy(x).any(), "a refused assignment writes nothing"


def test_index_is_checked_again_after_it_changed():
    x, index = td.arange(5), td.asarray([0, 4])
    same(x[index], [0, 4])
    index[1] = 5
    with pytest.raises(IndexError, match="index 5"):
        x[index]
    index -= 1
    same(x[index], [4, 4])
    index[td.asarray([0])] = -6
    with pytest.raises(IndexError, match="index -6"):
        x[index]


KNOWN = {  # arrays of seven different indices below 7, whose range is known without a look
    "list": lambda: td.asarray(list(range(7))),
    "arange": lambda: td.arange(7),
    "arange down": lambda: td.arange(6, -1, -1),
    "nonzero": lambda: td.nonzero(td.ones(7))[0],
    "argsort": lambda: td.argsort(td.asarray([3, 1, 2, 6, 5, 4, 0])),
    "argmax": lambda: td.eye(7).argmax(axis=0),
    "integers": lambda: td.random.default_rng(1).integers(0, 7, 500),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_ranges_are_true(name):
    index, x = KNOWN[name](), td.arange(7) * 10
    same(x[index], td.asnumpy(index) * 10)
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        x[:6][index]
    same(x[index[index < 5]], td.asnumpy(index)[td.asnumpy(index) < 5] * 10)
    same(td.bincount(index), np.bincount(td.asnumpy(index)))
    index += 1
    with pytest.raises(IndexError, match="index 7"):
        x[index]


def test_index_changed_through_its_address_is_checked_again():
    fill = td.RawKernel('extern "C" __global__ void fill(long long* p) { p[0] = 9; }', "fill")
    x, index = td.arange(5), td.asarray([0, 4])
    same(x[index], [0, 4])
    fill((1,), (1,), (index,))
    with pytest.raises(IndexError, match="index 9"):
        x[index]


@pytest.mark.parametrize("count", [3, 1000, 5000, 200_000])
def test_of_repeated_indices_the_last_wins(count):
    rng = np.random.default_rng(count)
    index, new = rng.integers(-50, 50, count), rng.integers(0, 1 << 30, count)
    host, x = np.zeros(50, np.int64), td.zeros(50, np.int64)
    host[index] = new
    x[td.asarray(index)] = td.asarray(new)
    same(x, host)
    plane, y = np.zeros((50, 3, 50), np.int64), td.zeros((50, 3, 50), np.int64)
    plane[index, :, index] = new[:, None]
    y[td.asarray(index), :, td.asarray(index)] = td.asarray(new)[:, None]
    same(y, plane)


def test_in_place_operation_is_get_operate_set():
    host, x = np.zeros(4), td.zeros(4)
    host[[1, 1, 3]] += 1
    x[[1, 1, 3]] += 1
    same(x, host)
    mask = td.asarray([True, False, True, False])
    x[mask] *= 5
    x[~mask] -= 1
    host[[0, 2]] *= 5
    host[[1, 3]] -= 1
    same(x, host)


def test_order_with_pending_work():
    x = td.arange(1000)
    y = x + 1  # pending while x is written
    x[td.arange(0, 1000, 2)] = 0
    z = x + 1
    x[x > 500] = -1
    host = np.arange(1000)
    same(y, host + 1)
    host[::2] = 0
    same(z, host + 1)
    host[host > 500] = -1
    same(x, host)


def test_value_and_index_in_the_memory_that_is_written():
    host = np.arange(10)
    x = td.asarray(host)
    x[[0, 1, 2, 3]] = x[1:5]
    host[[0, 1, 2, 3]] = host[1:5].copy()
    same(x, host)
    host = np.array([3, 2, 1, 0])
    x = td.asarray(host)
    x[x] = td.asarray([10, 11, 12, 13])
    host[host.copy()] = [10, 11, 12, 13]
    same(x, host)


def test_a_view_of_a_view():
    host = values((6, 7, 8), np.float32)
    x = td.asarray(host)
    same(
        x[1:, ::2].transpose(2, 0, 1)[[0, 7], :, [1, 2]],
        host[1:, ::2].transpose(2, 0, 1)[[0, 7], :, [1, 2]],
    )
    x.T[[1, 2], :, [3, 3]] = 5
    host.T[[1, 2], :, [3, 3]] = 5
    same(x, host)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0, 4), (1, 0), (3, 0), (0, 0, 0, 0)])
@pytest.mark.parametrize("value", [7, np.zeros(0), np.zeros(3), np.zeros((0, 4))], ids=np.shape)
def test_empty_masks(shape, value):
    host, mask = values((2, 3, 4), np.float64), np.empty(shape, bool)
    agree(outcome(lambda: td.asarray(host)[mask]), outcome(lambda: host[mask]))

    def write(array, index, new):
        array[index] = new
        return array

    mine = td.asarray(value) if isinstance(value, np.ndarray) else value
    result = outcome(lambda: write(td.asarray(host), td.asarray(mask), mine))
    agree(result, outcome(lambda: write(host.copy(), mask, value)))


def test_read_only_is_refused():
    x = td.broadcast_to(td.zeros(3), (2, 3))
    for index in ([0, 1], np.ones((2, 3), bool)):
        with pytest.raises(ValueError, match="read-only"):
            x[index] = 1


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_long_rows_and_many_elements(dtype):
    host = values((40, 700), dtype)
    x = td.asarray(host)
    rows = np.array([3, -1, 3, 0, 39])
    same(x[rows], host[rows])
    same(x[:, rows], host[:, rows])
    same(x[::-1, ::-1][rows], host[::-1, ::-1][rows])
    x[rows] = 1
    host[rows] = 1
    same(x, host)
    mask = values((40, 700), np.uint8, 3) > 50
    same(x[td.asarray(mask)], host[mask])
    x[td.asarray(mask)] = td.arange(mask.sum()).astype(dtype)
    host[mask] = np.arange(mask.sum()).astype(dtype)
    same(x, host)


def test_more_elements_than_32_bits_count():
    n = (1 << 31) + 10
    x = td.broadcast_to(td.asarray([7], dtype=np.int8), (n,))
    same(x[[0, n - 1, -n]], np.array([7, 7, 7], np.int8))
    same(x[:: n - 1][td.asarray([0, 1])], np.array([7, 7], np.int8))
    with pytest.raises(IndexError, match=f"index {n} is out of bounds for axis 0 with size {n}"):
        x[td.asarray([0, n])]
    wide = td.broadcast_to(td.arange(3)[:, None], (3, n))
    same(wide[[2, 0], [n - 1, 5]], [2, 0])


@pytest.mark.parametrize(
    "index",
    [
        np.arange(10)[::3],
        np.arange(10)[::-1],
        np.arange(6).reshape(2, 3).T,
        np.arange(4, dtype=">i2"),
        (np.arange(20) % 3 == 0)[::2],
        range(3),
        np.int16(3),
        np.array(-3),
        [np.int8(1), 2],
    ],
    ids=str,
)
def test_host_indices_of_any_layout(index):
    host = np.arange(10.0)
    same(td.asarray(host)[index], host[index])
    x = td.asarray(host)
    x[index] = -1
    host[index] = -1
    same(x, host)
