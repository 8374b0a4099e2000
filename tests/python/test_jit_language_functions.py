"""cuda.jit: NumPy's ufuncs and the functions of math in kernels."""

# ruff: noqa: B023  each kernel is launched in the round that defines it
import math

import numpy as np
import pytest
import treadle as td
from treadle import cuda


def launch(k, out, *args, grid=1, block=1, shared=0):
    d = td.asarray(out)
    k[grid, block, None, shared](
        d, *[td.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    )
    return d.get()


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "power",
    "remainder",
    "fmod",
    "arctan2",
    "hypot",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "copysign",
    "nextafter",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "greater",
    "less",
    "equal",
    "not_equal",
    "greater_equal",
    "less_equal",
    "float_power",
    "heaviside",
]
UNARY = [
    "negative",
    "positive",
    "absolute",
    "fabs",
    "rint",
    "sign",
    "conjugate",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "expm1",
    "log1p",
    "sqrt",
    "square",
    "cbrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "degrees",
    "radians",
    "isfinite",
    "isinf",
    "isnan",
    "signbit",
    "floor",
    "ceil",
    "trunc",
    "logical_not",
    "spacing",
]
WHOLE = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
    "invert",
]


@pytest.mark.parametrize("names", [BINARY[k::4] for k in range(4)], ids=str)
def test_ufuncs_of_two_numbers(names):
    a, b = np.array([1.5, -2.0, 3.25, np.nan]), np.array([2.0, 0.5, -1.5, 1.0])
    for name in names:
        function = getattr(np, name)

        @cuda.jit
        def kernel(out, x, y):
            function(x, y, out[:4])
            out[4] = function(x[0], y[0])

        with np.errstate(all="ignore"):
            wanted = function(a, b).astype(float)
        found = launch(kernel, np.zeros(5), a, b)
        np.testing.assert_allclose(found, [*wanted, wanted[0]], rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("names", [UNARY[k::6] for k in range(6)], ids=str)
def test_ufuncs_of_one_number(names):
    for name in names:
        function = getattr(np, name)

        @cuda.jit
        def kernel(out, x):
            function(x, out[:3])
            out[3] = function(x[0])

        x = np.array([0.5, 0.25, 0.75]) + (name == "arccosh")
        wanted = function(x).astype(float)
        found = launch(kernel, np.zeros(4), x)
        np.testing.assert_allclose(found, [*wanted, wanted[0]], rtol=1e-14, err_msg=name)


def test_ufuncs_of_integers():
    a, b = np.array([6, -7, 12]), np.array([2, 3, 4])
    for name in WHOLE:
        function = getattr(np, name)
        operands = (a,) if name == "invert" else (a, b)

        @cuda.jit
        def kernel(out, *operands):
            function(*operands, out)

        found = launch(kernel, np.zeros(3, np.int64), *operands)
        np.testing.assert_array_equal(found, function(*operands), err_msg=name)


MATH = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "fabs",
    "floor",
    "gamma",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "radians",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_functions_of_math(dtype):
    names = [n for n in MATH if n != "atanh" or dtype != np.int64]
    body = "".join(
        f"    out[{k}] = math.{n}(x[{int(n == 'acosh')}])\n" for k, n in enumerate(names)
    )
    kernel = cuda.jit(_written("def kernel(out, x):\n" + body))
    x = np.array([0.5, 1.5]).astype(dtype) if dtype != np.int64 else np.array([1, 2])
    wanted = [getattr(math, n)(float(x[int(n == "acosh")])) for n in names]
    found = launch(kernel, np.zeros(len(names)), x)
    np.testing.assert_allclose(found, wanted, rtol={2: 2e-3, 4: 1e-6}.get(x.itemsize, 1e-14))


def _written(source):
    """The function of a source text that the compiler can read."""
    import linecache

    file = f"<written {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"math": math, "np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["kernel"]


def test_functions_of_math_with_two_results_or_arguments():
    @cuda.jit
    def kernel(out, x):
        out[0], out[1] = math.frexp(6.5)
        out[2], out[3] = math.modf(-2.25)
        out[4], out[5] = math.inf, math.tau
        out[6], out[7] = math.atan2(x[0], x[1]), math.copysign(x[0], -1)
        out[8], out[9] = math.fmod(5.5, -2.0), math.hypot(3.0, 4.0)
        out[10], out[11] = math.pow(x[0], 0.5), math.remainder(5.0, 3.0)
        out[12], out[13] = math.ldexp(1.5, 3), math.gcd(12, 18)

    x = np.array([1.0, 2.0])
    wanted = [0.8125, 3, -0.25, -2, math.inf, math.tau, math.atan2(1, 2), -1, 1.5, 5, 1, -1, 12, 6]
    np.testing.assert_allclose(launch(kernel, np.zeros(14), x), wanted, rtol=1e-15)


def test_ufuncs_order_complex_numbers_by_their_parts():
    z = np.array([1 + 2j, 1 - 1j, complex(np.nan, 0), 2 + 0j, 3j])
    w = np.array([1 + 1j, 1 + 0j, 1 + 1j, complex(0, np.nan), 1j])
    for name in [
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
    ]:
        function = getattr(np, name)

        @cuda.jit
        def kernel(out, x, y):
            function(x, y, out)

        with np.errstate(all="ignore"):
            wanted = function(z, w).astype(complex)
        found = launch(kernel, np.zeros(5, complex), z, w)
        np.testing.assert_array_equal(found, wanted, err_msg=name)
