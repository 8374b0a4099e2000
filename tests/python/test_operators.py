"""Operators and x[key] as Python sees them: who is asked, what object comes back, who refuses; and pending values.

What the operators compute is compared with NumPy row by row in test_ops.py.
"""

import gc
import operator
import threading
import weakref

import numpy as np
import pytest
import treadle as td
from treadle import _treadle, cuda

BINARY = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor",
    "lt", "le", "eq", "ne", "gt", "ge",
]  # fmt: skip
COMPARISONS = {"lt", "le", "eq", "ne", "gt", "ge"}


@pytest.fixture
def host():
    return np.array([1, 2, 3, 5, 7], np.int32)


@pytest.fixture
def x(host):
    return td.asarray(host)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("other", [3, np.int16(2), "array"])
def test_binary_operators_from_both_sides(x, host, name, other):
    apply = getattr(operator, name)
    theirs = other if not isinstance(other, str) else host[::-1].copy() % 4 + 1
    ours = other if not isinstance(other, str) else td.asarray(theirs)
    for got, want in (
        (apply(x, ours), apply(host, theirs)),
        (apply(ours, x), apply(theirs, host)),
    ):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(td.asnumpy(got), want)


@pytest.mark.parametrize("name", [n for n in BINARY if n not in COMPARISONS | {"truediv"}])
def test_in_place_operators(x, host, name):
    apply = getattr(operator, "i" + name.rstrip("_"))
    before, view = x, x[1:3]
    x = apply(x, 2)
    assert x is before
    np.testing.assert_array_equal(td.asnumpy(x), apply(host.copy(), 2))
    np.testing.assert_array_equal(td.asnumpy(view), apply(host.copy(), 2)[1:3])


@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
def test_unary_operators(x, host, name):
    apply = getattr(operator, name)
    np.testing.assert_array_equal(td.asnumpy(apply(x)), apply(host))


def test_operators_are_methods_too(x, host):
    np.testing.assert_array_equal(td.asnumpy(x.__add__(1)), host + 1)
    np.testing.assert_array_equal(td.asnumpy(x.__rsub__(1)), 1 - host)
    np.testing.assert_array_equal(td.asnumpy(td.ndarray.__mul__(x, x)), host * host)
    np.testing.assert_array_equal(td.asnumpy(x.__getitem__(slice(1, 3))), host[1:3])
    assert x.__add__(object()) is NotImplemented
    for other in (None, object(), "text", b"text"):
        assert x.__eq__(other) is not NotImplemented
        assert not (x == other).any() and (x != other).all()


class Other:
    """Takes part in operators with anything."""

    def __add__(self, other):
        return "other +"

    __lt__ = __iadd__ = __add__

    def __radd__(self, other):
        return "+ other"

    __gt__ = __radd__


def test_the_other_operand_is_asked(x):
    assert x + Other() == "+ other" and Other() + x == "other +"
    assert (x < Other()) == "+ other" and (Other() < x) == "other +"
    y = x
    y += Other()
    assert y == "+ other"
    for bad in (None, "text", object()):
        with pytest.raises(TypeError):
            x + bad
        with pytest.raises(TypeError):
            bad + x
        with pytest.raises(TypeError):
            operator.lt(x, bad)


def test_three_operands_of_pow(x, host):
    np.testing.assert_array_equal(td.asnumpy(pow(x, 2)), host**2)
    with pytest.raises(TypeError):
        pow(x, 2, 3)


def test_host_arrays_are_refused_with_the_cure(x, host):
    for apply in (lambda: x + [1, 2, 3, 4, 5], lambda: x + host):
        with pytest.raises(TypeError, match="asarray"):
            apply()


def test_subclasses_may_override(x, host):
    class Louder(td.ndarray):
        def __radd__(self, other):
            return "louder"

        def __getitem__(self, key):
            return "item", key

    louder = _treadle._as_class(Louder, x)
    assert x + louder == "louder" and 1 + louder == "louder"
    assert louder[2:] == ("item", slice(2, None))
    np.testing.assert_array_equal(td.asnumpy(louder * 2), host * 2)
    np.testing.assert_array_equal(td.asnumpy(louder + x), host + host)


def test_items_of_a_sequence(x, host):
    assert [int(v) for v in reversed(x)] == list(host[::-1])
    assert operator.getitem(x, -1) == 7 and x[np.int64(1)] == 2
    with pytest.raises(IndexError):
        x[5]
    with pytest.raises(IndexError):
        x[10**30]
    with pytest.raises(IndexError):
        x["a"]
    with pytest.raises(ValueError, match="cannot delete"):
        del x[0]
    with pytest.raises(TypeError):
        x[0] = None
    assert x[-(10**30) : 10**30].shape == (5,)


def test_an_array_that_was_never_made():
    empty = td.ndarray.__new__(td.ndarray)
    for use in (
        lambda: empty + 1,
        lambda: 1 + empty,
        lambda: td.ones(2) + empty,
        lambda: -empty,
        lambda: empty[0],
        lambda: td.sqrt(empty),
    ):
        with pytest.raises(TypeError):
            use()


def test_objects_are_used_again_without_a_trace(x):
    for _ in range(300):
        y = x + 1
        gone = weakref.ref(y)
        z = y[1:]
        assert z.base is y and y.base is None
        assert list(map(int, z)) == [3, 4, 6, 8]
        del y, z
        assert gone() is None
    gc.collect()


def test_values_that_nobody_can_see_are_not_computed(x):
    td.zeros(1).flush()
    before = _treadle._generated_launches()
    for k in range(1000):
        x * k
    y = x + 1
    y.flush()
    assert _treadle._generated_launches() == before + 1


def test_long_chains_across_flushes(x, host):
    total, expected = x, host.astype(np.int64)
    for k in range(1, 200):
        total = total + k * x if k % 3 else total - x[k % 5]
        expected = expected + k * host if k % 3 else expected - host[k % 5]
    np.testing.assert_array_equal(td.asnumpy(total), expected.astype(np.int32))


def test_pending_values_of_another_stream(x, host):
    """A thread whose stream is another one reads what is pending: it is launched, not lost."""
    given, results, wake = [], [], threading.Semaphore(0)
    done = threading.Semaphore(0)

    def work():
        with cuda.Stream():
            done.release()
            for _ in range(20):
                wake.acquire()
                doubled = given[-1] * 2  # pending on the default stream of the main thread
                cuda.synchronize()
                results.append(td.asnumpy(doubled))
                done.release()

    thread = threading.Thread(target=work)
    thread.start()
    for k in range(20):
        done.acquire()
        given.append(x + k)
        wake.release()
    thread.join()
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, (host + k) * 2)
    assert len(results) == 20


def test_threads_record_at_the_same_time(x, host):
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            k = int(rng.integers(1, 9))
            y, want = x, host
            for _ in range(int(rng.integers(1, 30))):
                y, want = y + k, want + k
            if not np.array_equal(td.asnumpy(y), want):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
