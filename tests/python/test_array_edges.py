"""Values at the edges of the interface, of the kinds of test_reported_cases.py: NumPy's answer, or its class of error.

Reductions with `initial`, `where` and `out` of any dtype, numbers of Python that no dtype holds, what a store takes,
arrays without dimensions or elements.
"""

import operator

import numpy as np
import pytest
import treadle as td

pytestmark = pytest.mark.filterwarnings("ignore")


def same(actual, expected, rtol=0):
    actual, expected = td.asnumpy(actual), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(actual, expected, rtol=rtol)


def agree(function, *hosts, rtol=0):
    """`function(xp, *arrays)` gives the same with Treadle's arrays, or the same class of error."""
    try:
        with np.errstate(all="ignore"):
            want = function(np, *(h.copy() for h in hosts))
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        kind = next(c for c in type(error).__mro__ if c.__module__ != "numpy._core._exceptions")
        with pytest.raises(kind):
            function(td, *map(td.asarray, hosts))
        return
    same(function(td, *map(td.asarray, hosts)), want, rtol)


# ---- reductions: initial, where, out ----

SHAPES = [(), (1,), (0,), (0, 3), (3, 0), (3, 4), (2, 3, 4)]


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "nansum", "nanmax"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["b", "d", "?"])
def test_an_initial_value_at_every_shape(name, shape, dtype):
    host = (np.arange(np.prod(shape)) % 5 - 2).reshape(shape).astype(dtype)
    for axis in (None, 0, -1, 1, ()):
        for initial in (0, 3, -2, np.inf):
            agree(lambda xp, x, a=axis, i=initial: getattr(xp, name)(x, axis=a, initial=i), host)
            agree(
                lambda xp, x, a=axis, i=initial: getattr(xp, name)(x, a, initial=i, where=x > 0),
                host,
            )


REDUCED = [
    "add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "subtract", "fmax", "gcd", "hypot", "arctan2", "power", "logaddexp",
]  # fmt: skip


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("dtype", ["?", "b", "d"])
def test_reduce_of_a_ufunc_at_every_shape(name, dtype):
    if (dtype == "?" and name == "subtract") or (dtype != "d" and name == "logaddexp"):
        return  # no loop; sums of rounded logarithms of float16 in another order
    if dtype == "d" and name in ("arctan2", "power"):
        return  # where vectors have 512 bits NumPy's loops reduce these to the first and the last element
    for shape in ((3, 4), (0, 4), (4, 0), (1, 1), ()):
        host = (np.arange(np.prod(shape)) % 3 + 1).reshape(shape).astype(dtype)
        mask = np.arange(np.prod(shape)).reshape(shape) % 2 == 0
        for options in (
            {}, {"axis": -1}, {"axis": ()}, {"keepdims": True}, {"initial": 2}, {"initial": None},
            {"where": "mask"}, {"where": "mask", "initial": 2}, {"where": False, "initial": 1},
            {"where": False}, {"where": "mask", "initial": None}, {"axis": None, "initial": 1}, {"axis": 9},
        ):  # fmt: skip

            def call(xp, x, m, options=options):
                given = dict(options, where=m) if options.get("where") == "mask" else options
                return getattr(xp, name).reduce(x, **given)

            agree(call, host, mask, rtol=1e-13 if dtype == "d" else 5e-3)  # float16


@pytest.mark.parametrize("name", ["sum", "prod", "max", "all", "mean", "cumsum", "cumprod"])
@pytest.mark.parametrize("given", ["?", "b", "B", "i", "Q", "e", "f", "d", "F"])
@pytest.mark.parametrize("wanted", ["?", "b", "B", "i", "Q", "e", "f", "d", "F"])
def test_the_output_of_a_reduction_has_any_dtype(name, given, wanted):
    host = np.array([[4, 0, 2, 1], [4, 2, 2, 7]]).astype(given)
    shape = host.shape if name.startswith("cum") else (4,)
    for options in ({}, {"dtype": "d"}):
        if options and name in ("max", "all"):
            continue
        out, want = td.zeros(shape, wanted), np.zeros(shape, wanted)
        getattr(np, name)(host, 0, out=want, **options)
        assert getattr(td, name)(td.asarray(host), 0, out=out, **options) is out
        same(out, want)


def test_sums_are_computed_in_what_input_and_output_have_in_common():
    ones = np.ones(300, bool)
    for given, wanted in (
        ("?", "?"),
        ("b", "b"),
        ("b", "?"),
        ("e", "e"),
        ("e", "f"),
        ("f", "d"),
        ("i", "b"),
    ):
        host = (ones * (100 if given == "i" else 1000 if given in "ef" else 1)).astype(given)
        out, want = td.zeros((), wanted), np.zeros((), wanted)
        td.sum(td.asarray(host), out=out)
        np.sum(host, out=want)
        same(out, want)
        td.add.reduce(td.asarray(host), out=out)
        same(out, want)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("wanted", ["?", "b", "H", "i", "q", "Q", "f"])
def test_places_go_into_what_int64_holds(name, wanted):
    agree(lambda xp, x: getattr(xp, name)(x, 0, out=xp.zeros(3, wanted)), np.eye(3))


def test_outputs_of_a_wrong_shape_are_refused():
    for name in ("sum", "max", "cumsum", "argmax", "mean"):
        agree(lambda xp, x, n=name: getattr(xp, n)(x, 0, out=xp.zeros((7,), "q")), np.eye(3))
    agree(lambda xp, x: xp.subtract.reduce(x, out=xp.zeros((7,))), np.eye(3))


# ---- numbers of Python that a dtype does not hold ----


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30, -(2**63) - 1, 10**400])
@pytest.mark.parametrize("dtype", ["b", "Q", "q", "f", "d", "F"])
def test_integers_of_any_size_beside_arrays(number, dtype):
    host = np.array([0, 1, 7], dtype)
    for name in (
        "add",
        "multiply",
        "maximum",
        "true_divide",
        "less",
        "equal",
        "greater_equal",
        "arctan2",
    ):
        function = getattr(np, name)
        if name == "arctan2" and dtype in "bF":
            continue  # no loop, or float16
        rtol = 1e-6 if dtype in "fF" else 1e-15
        agree(lambda xp, x, n=name: getattr(xp, n)(x, number), host, rtol=rtol)
        agree(lambda xp, x, n=name: getattr(xp, n)(number, x), host, rtol=rtol)
        if function in (np.add, np.less, np.equal):
            agree(
                lambda xp, x, n=name: getattr(operator, "add" if n == "add" else "lt")(x, number),
                host,
            )
    for store in (
        lambda xp, x: x.__setitem__(0, number), lambda xp, x: x.__setitem__(slice(None), number),
        lambda xp, x: x.fill(number), lambda xp, x: x.__setitem__([0, 1], number), lambda xp, x: x.__iadd__(number),
    ):  # fmt: skip
        agree(lambda xp, x, s=store: (s(xp, x), x)[1], host)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 300.7, -1.5, -0.5, 1e30, 127.9, 1j])
@pytest.mark.parametrize("dtype", ["b", "B", "i", "q", "Q", "f", "?"])
def test_a_store_of_a_number_that_does_not_fit(number, dtype):
    host = np.ones(3, dtype)
    for store in (
        lambda x: x.__setitem__(0, number), lambda x: x.__setitem__(slice(None), number), lambda x: x.fill(number),
        lambda x: x.__setitem__(x == 1, number), lambda x: x.__setitem__([0, 2], number),
    ):  # fmt: skip
        agree(lambda xp, x, s=store: (s(x), x)[1], host)


@pytest.mark.parametrize("dtype", ["b", "B", "q", "Q", "f"])
def test_limits_of_clip_beyond_the_dtype(dtype):
    host = np.array([0, 5, 100], dtype)
    for low, high in (
        (0, 300), (-300, 5), (300, None), (None, -300), (300, 400), (-300, 300), (0, 2**64), (-1, 2**65),
        (-5, -1), (0.5, 2**70), (None, 2**70), (True, 300),
    ):  # fmt: skip
        agree(lambda xp, x, limits=(low, high): xp.clip(x, *limits), host)


# ---- stores take host data, and arrays without dimensions or elements are arrays ----


@pytest.mark.parametrize("dtype", ["?", "b", "d"])
@pytest.mark.parametrize("values", [[1, 2], [0.5], 3, [], [300], np.array([1, 2], "b"), np.ones(2)])
def test_stores_take_lists_and_host_arrays(dtype, values):
    host = np.arange(12).reshape(3, 4).astype(dtype)
    for name, places in (("put", [0, -1, 3]), ("place", host > 1), ("putmask", host > 1)):

        def store(xp, x, name=name, places=places):
            places = places if name == "put" else xp.asarray(places)
            getattr(xp, name)(x, places, values)
            return x

        agree(store, host)
    if np.size(values):
        agree(lambda xp, x: (xp.fill_diagonal(x, values), x)[1], host)


def test_membership():
    for host in (np.arange(3), np.array([]), np.eye(2), np.array(5), np.array([np.nan])):
        for value in (1, 2.5, np.nan, 5):
            assert (value in td.asarray(host)) == (value in host)


def test_functions_of_nothing():
    for shape in ((0,), (0, 3), (3, 0)):
        for kth in (0, 5, -7):
            for axis in (0, -1):
                agree(lambda xp, x, a=axis, k=kth: xp.partition(x, k, a), np.zeros(shape))
                agree(lambda xp, x, a=axis, k=kth: xp.argpartition(x, k, a), np.zeros(shape))
    agree(lambda xp, x: (xp.put(x, [0], [1]), x)[1], np.zeros(0))


def test_decimals_that_no_float_has():
    for dtype in ("e", "f", "d"):
        for decimals in (20, 400, -20, -400):
            agree(lambda xp, x, k=decimals: xp.around(x, k), np.array([1.25, -3, 0], dtype))


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_means_of_floats_are_floats(name):
    host = np.array([1.5, np.nan, 2])
    agree(lambda xp, x: getattr(xp, name)(x, dtype="i"), host)
    agree(lambda xp, x: getattr(xp, name)(x, out=xp.zeros((), "i")), host)
    agree(lambda xp, x: getattr(xp, name)(x, dtype="f"), host, rtol=1e-6)


def test_outer_with_numbers():
    for a, b in (
        (np.arange(3, dtype="b"), 2),
        (2, np.arange(3, dtype="b")),
        (np.eye(2, dtype="f"), 1.5),
    ):
        hosts = [x if isinstance(x, np.ndarray) else None for x in (a, b)]
        mine = [td.asarray(x) if x is not None else y for x, y in zip(hosts, (a, b))]
        same(td.add.outer(*mine), np.add.outer(a, b))


def test_reduceat_into_another_dtype():
    host = np.arange(8, dtype="Q")
    for name in ("subtract", "add", "maximum"):
        agree(lambda xp, x, n=name: getattr(xp, n).reduceat(x, [0, 3, 5], out=xp.zeros(3)), host)
