"""Functions of taking, choosing and counting: the same call on NumPy and on Treadle."""

import numpy as np
import pytest
import treadle as td

HOST = np.arange(12, dtype="f4").reshape(3, 4)
RNG = np.random.default_rng(0)
BINS = RNG.integers(0, 50, 10_000)
NORMAL = RNG.standard_normal(20_000)


class Treadle:
    """One side of a comparison: the module, ``x``, and how host data become arrays."""

    xp = td
    array = staticmethod(lambda value, dtype=None: td.asarray(np.array(value, dtype)))

    def __init__(self):
        self.x = td.asarray(HOST)


class NumPy:
    xp = np
    array = staticmethod(np.array)

    def __init__(self):
        self.x = HOST.copy()


def outcome(call, side):
    side = side()
    try:
        result = call(side.xp, side.x, side.array)
    except Exception as error:
        return error
    if result is None:  # worked in place
        result = side.x
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    return [np.asarray(td.asnumpy(part)) for part in parts]


def check(call, rtol=0):
    expected, actual = outcome(call, NumPy), outcome(call, Treadle)
    if isinstance(expected, Exception):
        assert type(actual) is type(expected), (actual, expected)
        return
    if isinstance(actual, Exception):
        raise actual
    assert len(actual) == len(expected)
    for mine, theirs in zip(actual, expected):
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=0)


MODES = ["raise", "wrap", "clip"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("index", [[0, 5], [-1, 20], [[1, 2], [3, 100]], [], 3, -50], ids=str)
@pytest.mark.parametrize("dtype", ["i1", "i8", "u2", "u4"])
def test_take_and_put(mode, index, dtype):
    if dtype[0] == "u":
        index = np.abs(index).tolist()

    def put(xp, x, a):
        xp.put(x, a(index, dtype), a([1.0, 2.0, 3.0]), mode=mode)

    def put_strided(xp, x, a):
        x[:, ::2].T.put(a(index, dtype), 7, mode=mode)

    check(lambda xp, x, a: xp.take(x, a(index, dtype), mode=mode))
    check(lambda xp, x, a: x.take(a(index, dtype), axis=1, mode=mode))
    check(lambda xp, x, a: xp.take(x[::-1], index if index != [] else a([], dtype), -2, mode=mode))
    check(put)
    check(put_strided)
    if np.size(index):
        check(lambda xp, x, a: xp.put(x, index, 7, mode))


FUNCTIONS = {
    "take by uint64": lambda xp, x, a: xp.take(x, a([1, 11], "u8")),
    "take of floats": lambda xp, x, a: xp.take(x, a([1.5])),
    "take from an empty axis": lambda xp, x, a: xp.take(x[:0], a([1]), axis=0),
    "take out": lambda xp, x, a: xp.take(x, a([1, 2]), out=xp.zeros(2, "f4")),
    "take_along_axis": lambda xp, x, a: xp.take_along_axis(x, xp.argsort(-x, axis=1), axis=1),
    "take_along_axis broadcast": lambda xp, x, a: xp.take_along_axis(x, a([[0, 1, 2, 0]]), axis=0),
    "take_along_axis flat": lambda xp, x, a: xp.take_along_axis(x, a([3, 1]), axis=None),
    "take_along_axis ndim": lambda xp, x, a: xp.take_along_axis(x, a([3, 1]), axis=0),
    "take_along_axis range": lambda xp, x, a: xp.take_along_axis(x, a([[4]]), axis=1),
    "put_along_axis": lambda xp, x, a: xp.put_along_axis(
        x, a([[0], [3], [2]]), a([[10.0], [20.0], [30.0]]), axis=1
    ),
    "put_along_axis flat": lambda xp, x, a: xp.put_along_axis(x, a([0, 5]), 99, axis=None),
    "choose array": lambda xp, x, a: xp.choose(a([0, 1, 0, 2]), x),
    "compress list": lambda xp, x, a: xp.compress([True, False, True], x, axis=0),
    "compress method": lambda xp, x, a: x.compress(a([0, 1, 1]), axis=1),
    "compress flat": lambda xp, x, a: xp.compress(a([0, 1, 1]), x),
    "compress 2-d": lambda xp, x, a: xp.compress(a([[0, 1, 1]]), x),
    "compress too long": lambda xp, x, a: xp.compress(a([0, 1, 1, 0, 1]), x, axis=1),
    "extract": lambda xp, x, a: xp.extract(x > 5, x),
    "place": lambda xp, x, a: xp.place(x, x > 3, a([1, 2, 3], "f4")),
    "place nothing": lambda xp, x, a: xp.place(x, x > 3, a([], "f4")),
    "place unsafe": lambda xp, x, a: xp.place(x, x > 3, a([1.0])),
    "place strided": lambda xp, x, a: xp.place(x.T, x.T > 3, a([1, 2], "f4")),
    "putmask": lambda xp, x, a: xp.putmask(x, x > 3, a([1, 2, 3], "f4")),
    "putmask whole": lambda xp, x, a: xp.putmask(x, x > 3, x * 100),
    "putmask unsafe": lambda xp, x, a: xp.putmask(x, x > 3, a([1.0, 2.0])),
    "putmask size": lambda xp, x, a: xp.putmask(x, x[:2] > 3, 1),
    "nonzero": lambda xp, x, a: xp.nonzero(x % 3),
    "nonzero method": lambda xp, x, a: (x > 4).nonzero(),
    "nonzero complex": lambda xp, x, a: xp.nonzero(x * 1j),
    "nonzero 0-d": lambda xp, x, a: xp.nonzero(a(3)),
    "nonzero empty": lambda xp, x, a: xp.nonzero(xp.zeros((0, 3))),
    "flatnonzero": lambda xp, x, a: xp.flatnonzero(x.T % 3),
    "argwhere": lambda xp, x, a: xp.argwhere(x % 3),
    "argwhere 0-d": lambda xp, x, a: xp.argwhere(a(3)),
    "where": lambda xp, x, a: xp.where(x[::-1] % 3),
    "where half": lambda xp, x, a: xp.where(x, x),
    "diag 3-d": lambda xp, x, a: xp.diagonal(x.reshape(3, 2, 2), 1, 1, 2),
    "diag axes": lambda xp, x, a: xp.diagonal(x.reshape(3, 2, 2), 0, 2, 0),
    "diagonal 1-d": lambda xp, x, a: xp.diagonal(x[0]),
    "diagonal same axes": lambda xp, x, a: xp.diagonal(x, 0, 1, 1),
    "diagonal axis": lambda xp, x, a: xp.diagonal(x, 0, 1, 5),
    "trace int8": lambda xp, x, a: xp.trace(x.astype("i1")),
    "trace dtype": lambda xp, x, a: x.reshape(3, 2, 2).trace(axis1=1, axis2=2, dtype="f8"),
    "mask_indices": lambda xp, x, a: xp.mask_indices(3, xp.triu, 1),
    "diag_indices": lambda xp, x, a: xp.diag_indices(3, 3),
    "diag_indices_from": lambda xp, x, a: xp.diag_indices_from(x[:, :3]),
    "diag_indices_from wide": lambda xp, x, a: xp.diag_indices_from(x),
    "indices": lambda xp, x, a: xp.indices((2, 3)),
    "indices sparse": lambda xp, x, a: xp.indices((2, 3), sparse=True),
    "indices of nothing": lambda xp, x, a: xp.indices(()),
    "indices dtype": lambda xp, x, a: xp.indices((2,), dtype="f4"),
    "ix_": lambda xp, x, a: xp.ix_([0, 2], [True, False, True, True]),
    "ix_ in use": lambda xp, x, a: x[xp.ix_([0, 2], a([True, False, True, True]))],
    "ix_ 2-d": lambda xp, x, a: xp.ix_([[0]]),
    "unravel_index": lambda xp, x, a: xp.unravel_index(a([0, 11, 5]), (3, 4)),
    "unravel_index F": lambda xp, x, a: xp.unravel_index(a([0, 11, 5]), (3, 4), "F"),
    "unravel_index range": lambda xp, x, a: xp.unravel_index(a([0, 12]), (3, 4)),
    "unravel_index negative": lambda xp, x, a: xp.unravel_index(a([0, -1]), (3, 4)),
    "unravel_index floats": lambda xp, x, a: xp.unravel_index(a([0.0]), (3, 4)),
    "unravel_index bool": lambda xp, x, a: xp.unravel_index(a([True, False]), (3, 4), None),
    "unravel_index one axis": lambda xp, x, a: xp.unravel_index(a([1, 2]), 7),
    "ravel_multi_index bool": lambda xp, x, a: xp.ravel_multi_index(
        (a([True, False]), a([1, 2])), (3, 4), None, None
    ),
    "ravel_multi_index modes": lambda xp, x, a: xp.ravel_multi_index(
        (a([0, 5]), a([1, 9])), (3, 4), ("wrap", "clip")
    ),
    "ravel_multi_index dims": lambda xp, x, a: xp.ravel_multi_index(
        (a([0]), a([1])), (2**32, 2**32)
    ),
    "ravel_multi_index float dims": lambda xp, x, a: xp.ravel_multi_index((a([0]),), (2.0,)),
    "select": lambda xp, x, a: xp.select([x < 3, x > 8], [x, x**2], 42),
    "select scalars": lambda xp, x, a: xp.select([x < 3], [1], 2.5),
    "select count": lambda xp, x, a: xp.select([x < 3], [1, 2]),
    "select floats": lambda xp, x, a: xp.select([x], [1]),
    "select nothing": lambda xp, x, a: xp.select([], []),
    # cupy issue 9267: a flat list of booleans is one condition
    "piecewise flat": lambda xp, x, a: xp.piecewise(a([0, 0]), [True, False], [1, 2]),
    "piecewise flat 3": lambda xp, x, a: xp.piecewise(a([0, 0, 0]), [True, False, True], [1, 2]),
    "piecewise functions": lambda xp, x, a: xp.piecewise(
        x, [x < 3, x > 8], [lambda v: -v, lambda v: v * v, 7]
    ),
    "piecewise arguments": lambda xp, x, a: xp.piecewise(x, [x < 3], [lambda v, k: v * k], 5),
    "piecewise count": lambda xp, x, a: xp.piecewise(x, [x < 3, x > 8, x > 9], [1]),
    "piecewise one condition": lambda xp, x, a: xp.piecewise(x[0], x[0] < 3, [lambda v: -v, 3]),
    "piecewise 0-d": lambda xp, x, a: xp.piecewise(a(5.0), [True, False], [1, 2]),
    "piecewise 0-d condition": lambda xp, x, a: xp.piecewise(a(5.0), a(5.0) > 3, [1, 2]),
    "repeat": lambda xp, x, a: xp.repeat(x, 3),
    "repeat list": lambda xp, x, a: xp.repeat(x, [1, 0, 2], axis=0),
    "repeat array": lambda xp, x, a: xp.repeat(x, a([1, 0, 2, 5]), axis=1),
    "repeat method": lambda xp, x, a: x.T.repeat(2, axis=1),
    "repeat negative": lambda xp, x, a: xp.repeat(x, -1),
    "repeat negative array": lambda xp, x, a: xp.repeat(x, a([1, -2, 3]), axis=0),
    "repeat 0-d": lambda xp, x, a: xp.repeat(a(3), 4),
    "repeat count": lambda xp, x, a: xp.repeat(x, [1, 2], axis=0),
    "repeat count array": lambda xp, x, a: xp.repeat(x, a([1, 2]), axis=0),
    "repeat one": lambda xp, x, a: xp.repeat(x, a([2]), axis=0),
    "digitize": lambda xp, x, a: xp.digitize(x, a([1.0, 3.0, 8.0])),
    "digitize falling": lambda xp, x, a: xp.digitize(x, a([8.0, 3.0, 1.0]), right=True),
    "digitize NaN": lambda xp, x, a: xp.digitize(a([1.0, 6, np.nan]), a([1.0, 5, np.nan, np.nan])),
    "digitize NaN falling": lambda xp, x, a: xp.digitize(a([1.0, 6, np.nan]), a([np.nan, 5.0, 1])),
    "digitize NaN only": lambda xp, x, a: xp.digitize(a([1.0, np.nan]), a([np.nan, np.nan]), True),
    "digitize NaN first": lambda xp, x, a: xp.digitize(x, a([np.nan, 1.0, 2])),
    "digitize equal": lambda xp, x, a: xp.digitize(x, a([3.0, 3.0])),
    "digitize nothing": lambda xp, x, a: xp.digitize(x, a([], float)),
    "digitize unordered": lambda xp, x, a: xp.digitize(x, a([1.0, 3.0, 2.0])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    check(FUNCTIONS[name])


@pytest.mark.parametrize("mode", MODES)
def test_choose_and_flat_indices(mode):
    check(
        lambda xp, x, a: xp.choose(a([[0, 1], [2, 3]]), [a([10, 20]), a([[1], [2]]), 5], mode=mode)
    )
    check(lambda xp, x, a: a([0, 1, -1]).choose([a([10, 20, 30]), a([1, 2, 3.5])], mode=mode))
    check(lambda xp, x, a: xp.ravel_multi_index((a([0, 2, 5]), a([1, -3, 9])), (3, 4), mode=mode))
    check(lambda xp, x, a: xp.ravel_multi_index((a([0, 2]), a([1, 0])), (3, 4), mode, "F"))


@pytest.mark.parametrize("k", [-5, -2, 0, 1, 3, 9])
@pytest.mark.parametrize(
    "name", ["diag", "diagflat", "trace", "tril", "triu", "tril_indices_from", "triu_indices_from"]
)
def test_diagonals_and_triangles(name, k):
    check(lambda xp, x, a: getattr(xp, name)(x, k))
    if not name.endswith("_from"):
        check(lambda xp, x, a: getattr(xp, name)(x[1], k))


@pytest.mark.parametrize("k", [-5, -2, 0, 1, 3, 9])
def test_triangles_of_other_shapes(k):
    check(lambda xp, x, a: xp.tril(x.reshape(3, 2, 2), k))
    check(lambda xp, x, a: xp.tril_indices(4, k, 3))
    check(lambda xp, x, a: xp.triu_indices(4, k))


@pytest.mark.parametrize("shape", [(3, 4), (5, 2), (7, 3), (2, 2, 2), (2, 3, 2), (4,)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    def fill(value):
        def call(xp, x, a):
            y = xp.zeros(shape)
            xp.fill_diagonal(y, value if value == 7 else a(value), wrap)
            return y

        return call

    check(fill(7))
    check(fill([1.0, 2.0]))


def test_diagonal_is_a_view():
    x = td.zeros((3, 4))
    view = x.diagonal(1)
    x[1, 2] = 5
    assert td.asnumpy(view).tolist() == [0, 5, 0]
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


# ---- counting ----


@pytest.mark.parametrize("dtype", "bBhHiIlL?")
def test_bincount(dtype):
    check(lambda xp, x, a: xp.bincount(a(BINS).astype(dtype)))
    check(lambda xp, x, a: xp.bincount(a(BINS).astype(dtype)[::-3], weights=a(BINS)[::-3]))


BINCOUNTS = {
    "int32, all different (cupy issue 7698)": lambda xp, x, a: xp.bincount(xp.arange(65536, dtype="int32")),
    "minlength": lambda xp, x, a: xp.bincount(a(BINS), minlength=99),
    "empty": lambda xp, x, a: xp.bincount(a([], int)),
    "empty with minlength": lambda xp, x, a: xp.bincount(a([], int), minlength=3),
    "empty with weights": lambda xp, x, a: xp.bincount(a([], int), a([], float), 2),
    "2-d floats": lambda xp, x, a: xp.bincount(x),
    "negative": lambda xp, x, a: xp.bincount(a([1, -1])),
    "floats": lambda xp, x, a: xp.bincount(x[0]),
    "2-d": lambda xp, x, a: xp.bincount(a([[1]])),
    "negative minlength": lambda xp, x, a: xp.bincount(a([1]), minlength=-1),
    "weights of another length": lambda xp, x, a: xp.bincount(a([1]), a([1, 2])),
    "complex weights": lambda xp, x, a: xp.bincount(a([1]), a([1j])),
    "few elements, many bins": lambda xp, x, a: xp.bincount(a([0, 100_000, 3])),
    "of nonzero": lambda xp, x, a: xp.bincount(xp.nonzero(a([1, 1, 0, 0, 0]))[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", BINCOUNTS)
def test_bincount_rules(name):
    check(BINCOUNTS[name])


@pytest.mark.parametrize("dtype", "efdilBh")
@pytest.mark.parametrize(
    "bins", [10, 1, 7, 300, [-10, 0, 0, 3, 10], np.linspace(-5, 5, 50)], ids=np.size
)
def test_histogram(dtype, bins):
    data = (
        (NORMAL * 20).astype(np.int64).astype(dtype)
        if dtype in "Bh"
        else (NORMAL * 20).astype(dtype)
    )
    check(lambda xp, x, a: xp.histogram(a(data), bins))
    check(lambda xp, x, a: xp.histogram(a(data)[::-2], bins, range=(-3, 17.3)))
    with np.errstate(invalid="ignore"):
        check(lambda xp, x, a: xp.histogram(a(data), bins, density=True))
    check(lambda xp, x, a: xp.histogram(a(data), bins, weights=a(np.arange(20_000))))
    check(lambda xp, x, a: xp.histogram(a(data), bins, weights=a(NORMAL)), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "count, limits", [(10, (0, 1)), (7, (-0.3, 0.4)), (1000, (1, 1.3)), (3, (1e6, 1e6 + 1))]
)
def test_histogram_at_its_edges(dtype, count, limits):
    """Values on every edge and their neighbours, where the quotient alone is wrong."""
    edges = np.linspace(*limits, count + 1, dtype=dtype)
    data = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    check(lambda xp, x, a: xp.histogram(a(data), count, limits))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
@pytest.mark.parametrize("bins", [1, 7, 256, 9000])
@pytest.mark.parametrize("skipped, limits", [(0, (-50, 100)), (1, (-50, 100)), (0, (0.0, 64.0))])
def test_histogram_of_numbers_far_outside_of_its_edges(dtype, bins, skipped, limits):
    """The quotient of a number far outside must not end in a bin; the view may begin anywhere in memory."""
    whole = np.resize(np.round(NORMAL * 100), 50_001)
    data = np.clip(whole, 0, 255).astype(dtype) if dtype == "u1" else whole.astype(dtype)
    if data.dtype.kind == "f":
        far = [
            np.inf,
            -np.inf,
            np.nan,
            1e30,
            -1e30,
            3e9,
            -3e9,
            2.0**22,
            2.0**23 + 1,
            2.0**52,
            -(2.0**53),
        ]
        data[: 100 * len(far)] = np.repeat(np.array(far, dtype), 100)
    elif dtype != "u1":
        data[::50] = np.iinfo(dtype).min
        data[1::50] = np.iinfo(dtype).max
    check(lambda xp, x, a: [xp.histogram(a(data)[skipped:], bins, limits)[0]])


HISTOGRAMS = {
    "empty": lambda xp, x, a: xp.histogram(a([]), 3),
    "equal values": lambda xp, x, a: xp.histogram(a([2.0, 2.0]), 3),
    "NaN": lambda xp, x, a: xp.histogram(a([2.0, np.nan]), 3),
    "NaN outside of the range": lambda xp, x, a: xp.histogram(a([2.0, np.nan, np.inf]), 3, range=(0, 3)),
    "falling edges": lambda xp, x, a: xp.histogram(x, [3, 2, 1]),
    "no bins": lambda xp, x, a: xp.histogram(x, 0),
    "half a bin": lambda xp, x, a: xp.histogram(x, 2.5),
    "falling range": lambda xp, x, a: xp.histogram(x, 3, range=(3, 1)),
    "infinite range": lambda xp, x, a: xp.histogram(x, 3, range=(0, np.inf)),
    "2-d edges": lambda xp, x, a: xp.histogram(x, [[1, 2]]),
    "complex weights": lambda xp, x, a: xp.histogram(x, 3, weights=x * 1j),
    "weights of another shape": lambda xp, x, a: xp.histogram(x, 3, weights=x[0]),
    "too many bins": lambda xp, x, a: xp.histogram(a([1.0, 1 + 4e-16]), 100),
    "edges": lambda xp, x, a: [xp.histogram_bin_edges(x, 5)],
    "2-d": lambda xp, x, a: xp.histogram2d(a(NORMAL[:10_000]), a(NORMAL[10_000:])),
    "2-d density": lambda xp, x, a: xp.histogram2d(
        a(NORMAL[:10_000]), a(NORMAL[10_000:]), [5, [-1, 0, 2]], density=True
    ),
    "2-d one list": lambda xp, x, a: xp.histogram2d(a(NORMAL[:10_000]), a(NORMAL[10_000:]), [-1, 0, 2]),
    "3-d": lambda xp, x, a: [xp.histogramdd(a(NORMAL[:9999].reshape(-1, 3)), bins=(3, 4, 5))[0]],
    "3-d density": lambda xp, x, a: [
        xp.histogramdd(a(NORMAL[:9999].reshape(-1, 3)), bins=(3, 4, 5), density=True)[0]
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histogram_rules(name):
    check(HISTOGRAMS[name], rtol=1e-14)


# ---- scatter ----


@pytest.mark.parametrize("dtype", "?bBhHiIlLefdFD")
def test_scatter(dtype):
    index = RNG.integers(-20, 20, 3000)
    new = RNG.integers(0, 3 if dtype in "bBe" else 50, 3000).astype(dtype)
    for mine, theirs in (
        (td.scatter_add, np.add),
        (td.scatter_max, np.maximum),
        (td.scatter_min, np.minimum),
    ):
        start = np.full(20, 1, dtype)
        x = td.asarray(start)
        if dtype in "FD" and mine is not td.scatter_add:
            with pytest.raises(TypeError, match="real"):
                mine(x, td.asarray(index), td.asarray(new))
            continue
        theirs.at(start, index, new)
        mine(x, td.asarray(index), td.asarray(new))
        np.testing.assert_array_equal(td.asnumpy(x), start)


@pytest.mark.parametrize("given", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("result", ["i4", "i8", "f4", "f8"])
def test_take_into_another_dtype(given, result):
    """NumPy before 2.5 refuses some; what it then does is the same for all."""
    host = np.arange(6, dtype=given) * np.array(1.5).astype(given)
    out = td.zeros(3, result)
    assert td.take(td.asarray(host), td.asarray([5, 0, 2]), out=out) is out
    np.testing.assert_array_equal(td.asnumpy(out), host[[5, 0, 2]].astype(result))


def test_fill_takes_one_value():
    x = td.zeros(3)
    x.fill(td.asarray(2.0))
    assert x.get().tolist() == [2, 2, 2]
    for values in (np.ones(1), td.ones(1), td.ones(3)):
        with pytest.raises(ValueError, match="one value"):
            x.fill(values)


def test_scatter_takes_any_index():
    host, x = np.zeros((5, 6)), td.zeros((5, 6))
    x.scatter_add(([0, 0, 4], slice(1, 3)), 2)
    np.add.at(host, ([0, 0, 4], slice(1, 3)), 2)
    x.scatter_add(x > 1, td.asarray(np.arange((host > 1).sum()).astype(float)))
    np.add.at(host, host > 1, np.arange((host > 1).sum()).astype(float))
    x.scatter_max((slice(None), 2), 1)
    np.maximum.at(host, (slice(None), 2), 1)
    np.testing.assert_array_equal(td.asnumpy(x), host)
    with pytest.raises(IndexError, match="index 5"):
        x.scatter_add([5], 1)


def test_matrices_written_out_in_the_program():
    for made, expected in [
        (td.diag([1, 2, 3], 1), np.diag([1, 2, 3], 1)),
        (td.diag([[1, 2], [3, 4]]), np.diag([[1, 2], [3, 4]])),
        (td.diagflat(3.5, 1), np.diagflat(3.5, 1)),
        (td.tril([[1, 2], [3, 4]]), np.tril([[1, 2], [3, 4]])),
        (td.triu(((1, 2), (3, 4)), 1), np.triu(((1, 2), (3, 4)), 1)),
    ]:
        np.testing.assert_array_equal(td.asnumpy(made), expected)
        assert made.dtype == expected.dtype
    with pytest.raises(TypeError, match="asarray"):
        td.diag(np.arange(3))
