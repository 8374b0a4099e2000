"""``vectorize``: Python functions of numbers as kernels, against NumPy's vectorize or a loop in Python."""

import math
import operator

import numpy as np
import pytest
import treadle as td

DTYPES = "?bBhHiIqQefdFD"


def numbers(dtype, seed):
    return (np.random.default_rng(seed).integers(1, 6, (3, 4))).astype(dtype)


def check(function, *host, rtol=1e-6, **options):
    want = np.vectorize(function, **options)(*host)
    given = [td.asarray(h) if np.ndim(h) else h for h in host]
    got = td.vectorize(function, **options)(*given)
    pairs = zip(got, want) if isinstance(want, tuple) else [(got, want)]
    for mine, theirs in pairs:
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(td.asnumpy(mine), theirs, rtol=rtol)
    return got


# ---- operators: dtypes and values of every pair of dtypes are those of NumPy's scalars ----

ADD = lambda x, y: x + y  # noqa: E731
SUBTRACT = lambda x, y: x - y  # noqa: E731
MULTIPLY = lambda x, y: x * y  # noqa: E731
DIVIDE = lambda x, y: x / y  # noqa: E731
FLOOR_DIVIDE = lambda x, y: x // y  # noqa: E731
REMAINDER = lambda x, y: x % y  # noqa: E731
POWER = lambda x, y: x**y  # noqa: E731
LEFT = lambda x, y: x << y  # noqa: E731
XOR = lambda x, y: x ^ y  # noqa: E731
LESS = lambda x, y: x < y  # noqa: E731
EQUAL = lambda x, y: x == y  # noqa: E731
OPERATORS = {
    operator.add: ADD, operator.sub: SUBTRACT, operator.mul: MULTIPLY, operator.truediv: DIVIDE,
    operator.floordiv: FLOOR_DIVIDE, operator.mod: REMAINDER, operator.pow: POWER, operator.lshift: LEFT,
    operator.xor: XOR, operator.lt: LESS, operator.eq: EQUAL,
}  # fmt: skip


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize("second", ["B", "e", "F"])
def test_operators_take_numpys_loops(op, second):
    for first in "?bIqefD":
        x, y = numbers(first, 1), numbers(second, 2)
        try:
            want = op(x, y)
            if op is operator.lt and "c" in (x.dtype.kind, y.dtype.kind):
                raise TypeError("complex numbers have no order")
        except TypeError:
            with pytest.raises(TypeError):
                td.vectorize(OPERATORS[op])(td.asarray(x), td.asarray(y))
            continue
        got = td.vectorize(OPERATORS[op])(td.asarray(x), td.asarray(y))
        assert got.dtype == want.dtype, (first, second)
        tolerance = 2e-3 if want.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(td.asnumpy(got), want, rtol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_are_written_out_are_weak(dtype):
    def function(x):
        return x * 2 + 1

    x = numbers(dtype, 0)
    got = td.vectorize(function)(td.asarray(x))
    assert got.dtype == (x * 2 + 1).dtype
    np.testing.assert_allclose(td.asnumpy(got), x * 2 + 1)


# ---- statements ----


def absolute(x):
    if x < 0:
        return -x
    return x


def three_ways(x):
    if x % 3 == 0:
        y = x
    elif x % 3 == 1:
        y = -x
    else:
        y = 10 * x
    return y


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def squares(start, stop, step):
    total = 0
    for i in range(start, stop, step):
        total += i * i
    return total


def first_divisor(n):
    for i in range(2, n):
        if n % i:
            continue
        break
    return i


def nested(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if j > 3:
                break
            total += i * j
    return total


def swapped(x, y):
    x, y = y, x
    pair = (x, (y, x))
    a, (b, c) = pair
    return a * 100 + b * 10 + c


def counter_changes(x):
    for i in range(4):
        x += i
        i += 7
    return x + i


@pytest.mark.parametrize(
    "function", [absolute, three_ways, nested, counter_changes], ids=lambda f: f.__name__
)
def test_statements(function):
    check(function, np.arange(0, 12).reshape(3, 4))


def test_loops():
    check(collatz, np.arange(1, 40))
    check(first_divisor, np.arange(3, 30))
    check(squares, np.array([0, 1, 2, 3]), np.array([-21, -23, 17, 3]), np.array([-3, -2, 3, 1]))
    check(swapped, np.arange(3), np.arange(3) + 4)


def test_conditions():
    def function(x, y):
        return (x and y) or (x - 3 and y + 5) or x

    check(function, np.arange(6), np.arange(6)[::-1].copy())

    def between(x):
        return 1 <= x < 4 != 2

    check(between, np.arange(6.0))


def test_several_results():
    def function(x, y):
        return x + y, x / y, x > y

    got = check(function, np.arange(1, 5), np.arange(5, 9))
    assert isinstance(got, tuple)


# ---- calls, and what comes from outside ----

FACTOR = 3


class Parameters:
    scale = np.float32(0.5)


def helper(x, power=2):
    return x**power + FACTOR


def test_other_functions_and_constants():
    local = 7
    as_int = np.int16

    def function(x):
        half = np.dtype("f4").type
        return helper(x) + helper(x, 3) * local + as_int(x) * Parameters.scale + half(x)

    x = np.arange(5, dtype=np.float32)
    want = (x**2 + 3) + (x**3 + 3) * 7 + x * np.float32(0.5) + x
    np.testing.assert_allclose(td.asnumpy(td.vectorize(function)(td.asarray(x))), want)


@pytest.mark.parametrize("dtype", "efdFD")
def test_functions_of_the_module_and_of_math(dtype):
    def by_name(x):
        return td.sqrt(x) * np.sin(x) + abs(x)

    x = numbers(dtype, 3)
    got = td.vectorize(by_name)(td.asarray(x))
    want = np.sqrt(x) * np.sin(x) + abs(x)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(td.asnumpy(got), want, rtol=5e-3 if dtype == "e" else 1e-5)
    if dtype not in "FD":

        def by_math(x):
            return math.hypot(x, 1.0) + math.pi

        got = td.vectorize(by_math)(td.asarray(x))
        assert got.dtype == np.float64
        np.testing.assert_allclose(td.asnumpy(got), np.hypot(x.astype(float), 1) + np.pi, rtol=1e-6)


def test_smallest_and_largest():
    def function(x, y, z):
        return max(x, y, z) - min(x, y)

    check(function, numbers("i", 1), numbers("i", 2), numbers("i", 3))
    got = td.vectorize(lambda x, y: max(x, y))(
        td.asarray(numbers("b", 1)), td.asarray(numbers("f", 2))
    )
    assert got.dtype == np.float32


def test_conditional_values_keep_the_dtype():
    relu = td.vectorize(lambda x: x if x > 0.0 else 0.0)
    x = td.asarray(np.array([0.5, -1], np.float32))
    assert relu(x).dtype == np.float32
    wider = td.vectorize(lambda x: x if x > 0.0 else np.float64(0.0))
    assert wider(x).dtype == np.float64


# ---- arrays ----


def test_arrays_broadcast_in_any_layout():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    f = td.vectorize(SUBTRACT)
    x, y = td.asarray(a), td.asarray(b)
    np.testing.assert_array_equal(td.asnumpy(f(x, y)), a - b)
    np.testing.assert_array_equal(td.asnumpy(f(x.T, x.T[::-1])), a.T - a.T[::-1])
    np.testing.assert_array_equal(td.asnumpy(f(x, 2)), a - 2)
    np.testing.assert_array_equal(td.asnumpy(f(np.float32(1), x[:, ::2])), 1 - a[:, ::2])
    assert f(x[:0], y).shape == (0, 4)
    assert f(x[0, 0], 1).shape == ()
    assert float(f(5, 3)) == 2


def test_otypes():
    got = check(ADD, np.arange(3), np.arange(3), otypes=["f4"])
    assert got.dtype == np.float32
    assert td.vectorize(ADD, otypes="d").otypes == "d"
    with pytest.raises(ValueError, match="otypes"):
        td.vectorize(ADD, otypes="dd")(td.arange(3), 1)


@pytest.mark.parametrize("value", [2**40 + 1, -(2**62), -(2**63), 2**63 - 1])
def test_large_integers(value):
    def function(x):
        return x + value

    with np.errstate(all="ignore"):
        want = np.array([0, -1]) + np.int64(value)
    np.testing.assert_array_equal(td.asnumpy(td.vectorize(function)(td.asarray([0, -1]))), want)


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), float("nan"), 0.1, 1e-310])
def test_constants_keep_their_bits(value):
    def function(x):
        return x * 0 + value if x > 1 else value

    for dtype in (np.float32, np.float64):
        got = td.asnumpy(td.vectorize(function)(td.zeros(2, dtype)))
        assert got.tobytes() == np.full(2, value, dtype).tobytes()


# ---- errors ----


def no_return(x):  # noqa: RET503
    if x > 0:
        return x


def undefined(x):
    return x + nothing  # noqa: F821


def opens(x):
    return open(x)


def recursive(x):
    return recursive(x - 1) if x > 0 else x


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_return, "without a return"), (undefined, "nothing"), (opens, "cannot be called"),
        (recursive, "depends on itself"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_what_cannot_be_compiled_is_named(function, words):
    with pytest.raises(TypeError, match=words):
        td.vectorize(function)(td.arange(3))


def test_a_variable_may_change_its_type():
    def function(x):
        y = x
        y = np.float32(1)
        return y + x

    check(function, np.arange(3, dtype=np.int16))


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="misses its argument 'y'"):
        td.vectorize(ADD)(td.arange(3))
    with pytest.raises(TypeError, match="asarray"):
        td.vectorize(ADD)(td.arange(3), np.arange(3))
    with pytest.raises(NotImplementedError, match="signature"):
        td.vectorize(ADD, signature="(n)->()")
    first, second = lambda x: x + 1, lambda x: x + 2  # fmt: skip
    assert td.vectorize(first)(td.arange(3)).tolist() == [1, 2, 3]
    assert td.vectorize(second)(td.arange(3)).tolist() == [2, 3, 4]
    with pytest.raises(td.CompileError, match="source"):
        td.vectorize(eval("lambda x: x"))(td.arange(3))
