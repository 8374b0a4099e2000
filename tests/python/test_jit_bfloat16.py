"""bfloat16 in kernels written in Python, against ml_dtypes and exact rounding of fractions."""

import math
import operator
import re
from fractions import Fraction

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import bf16

ml_dtypes = pytest.importorskip("ml_dtypes")
BF = ml_dtypes.bfloat16
bfloat16 = cuda.bfloat16
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*Host array used"),
    pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning"),
]


def bits(array):
    return np.asarray(array).view(np.uint16)


def same(found, wanted):
    """Equal bits; any NaN is any other."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    nan = np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), nan)
    np.testing.assert_array_equal(bits(found)[~nan], bits(wanted)[~nan])


def each(function):
    """A kernel that applies a function of bfloat16 to every number."""

    @cuda.jit
    def kernel(out, x):
        for i in range(x.size):
            out[i] = function(x[i])

    return kernel


SPECIAL = np.array(
    [0.0, -0.0, 1, -1, 1.5, -2.5, 3.14, 255, 256, 1e-40, 9.2e-41, -1e-45, 1e30, 3.3e38, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip


def numbers(count=300, seed=1):
    """bfloat16 of every magnitude, and those that are special."""
    words = np.random.default_rng(seed).integers(0, 2**16, count).astype(np.uint16)
    return np.concatenate([SPECIAL.astype(BF), words.view(BF)])


@pytest.fixture(scope="module")
def pairs():
    x, y = numbers(seed=1), numbers(seed=2)
    y = np.roll(y, 5)
    return x, y


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arithmetic_is_that_of_ml_dtypes(name, pairs):
    apply = getattr(operator, name)

    @cuda.jit
    def kernel(out, x, y):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = apply(x[i], y[i])

    x, y = pairs
    out = np.zeros(len(x), BF)
    kernel[len(x) // 64 + 1, 64](out, x, y)
    same(out, apply(x, y))


def test_comparisons_negation_and_truth(pairs):
    @cuda.jit
    def kernel(out, signs, x, y):
        i = cuda.grid(1)
        if i < x.size:
            a, b = x[i], y[i]
            out[i, 0], out[i, 1], out[i, 2] = a == b, a != b, a < b
            out[i, 3], out[i, 4], out[i, 5] = a <= b, a > b, a >= b
            out[i, 6] = bool(a)
            signs[i, 0], signs[i, 1] = -a, abs(a)

    x, y = pairs
    out, signs = np.zeros((len(x), 7), bool), np.zeros((len(x), 2), BF)
    kernel[len(x) // 64 + 1, 64](out, signs, x, y)
    wanted = np.stack([x == y, x != y, x < y, x <= y, x > y, x >= y, x.astype(bool)], 1)
    np.testing.assert_array_equal(out, wanted)
    same(signs[:, 0], -x)
    same(signs[:, 1], np.abs(x))


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int8",
        "uint8",
        "int16",
        "int32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
    ],
)
def test_what_two_numbers_meet_in(dtype):
    """The smallest float that holds both: bfloat16 with 8 bits and less, of which 255 * 3 = 765 has too many."""

    @cuda.jit
    def kernel(out, x, other):
        out[0] = x[0] * other

    out = np.zeros(1, complex)
    other = np.dtype(dtype).type(3)
    kernel[1, 1](out, np.array([255], BF), other)
    assert out[0] == {"bool": 255, "int8": 764, "uint8": 764}.get(dtype, 765)


def test_a_sum_of_small_integers_stays_in_bfloat16():
    @cuda.jit
    def kernel(out, x, small, wide):
        out[0] = x[0] + small
        out[1] = x[0] + wide

    out = np.zeros(2)
    kernel[1, 1](out, np.array([256], BF), np.int8(1), np.int32(1))
    assert out.tolist() == [256, 257]


def exactly(value, mode):
    """The bits of a number as bfloat16, rounded by comparing fractions."""
    value = Fraction(value)
    finite = np.arange(0x7F80, dtype=np.uint16).view(BF).astype(np.float64)
    size = abs(value)
    k = int(np.searchsorted(finite, float(size), "right")) - 1
    while k + 1 < len(finite) and Fraction(float(finite[k + 1])) <= size:
        k += 1
    while Fraction(float(finite[k])) > size:
        k -= 1
    below = Fraction(float(finite[k]))
    above = Fraction(float(finite[k + 1])) if k + 1 < len(finite) else Fraction(2) ** 128
    up = {"rz": False, "rd": value < 0, "ru": value > 0}.get(mode)
    if up is None:
        up = size - below > above - size or (size - below == above - size and k % 2 == 1)
    up = up and size != below
    return (k + up) | (0x8000 if value < 0 else 0)


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
@pytest.mark.parametrize(
    "dtype", ["float32", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_roundings_to_bfloat16(dtype, mode):
    convert = getattr(bf16, f"{dtype}_to_bfloat16_{mode}")
    back = bf16.bfloat16_as_uint16

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = back(convert(x[i]))

    rng = np.random.default_rng(5)
    if dtype == "float32":
        x = rng.integers(0, 2**32, 200).astype(np.uint32).view(np.float32)
        x = np.concatenate(
            [x[np.isfinite(x)], np.float32([1.00390625, 1.01171875, -1.00390625, 1e-42, 3.4e38])]
        )
    else:
        info = np.iinfo(dtype)
        spread = [
            int(v) >> int(s)
            for v, s in zip(
                rng.integers(info.min, info.max, 200, dtype), rng.integers(0, info.bits, 200)
            )
        ]
        edges = [info.min, info.max, 257, 259, 2**7 + 1]
        if info.bits == 64:
            edges += [2**62 + 2**54 + 1, 2**62 + 2**54, 2**62 + 3 * 2**54 - 1]
        x = np.array([*spread, *edges], dtype)
    out = np.zeros(len(x), np.uint16)
    kernel[len(x) // 64 + 1, 64](out, x)
    wanted = [exactly(v.item(), mode) for v in x]
    np.testing.assert_array_equal(out, np.array(wanted, np.uint16))


def test_doubles_round_once():
    tie = 1 + 2**-8  # between two numbers: the even one
    x = np.array([tie, tie + 2**-40, tie - 2**-40, -tie - 2**-40, 1e-300, 1e300, np.inf])

    @cuda.jit
    def kernel(out, x):
        for i in range(x.size):
            out[i] = x[i]
        out[x.size] = 1.00390625000091
        out[x.size + 1] = bf16.float64_to_bfloat16(x[1])
        out[x.size + 2] = bfloat16(4629700416936869889)  # 2**62 + 2**54 + 1

    out = np.zeros(len(x) + 3, BF)
    kernel[1, 1](out, x)
    last = float(2**62 + 2**55)
    wanted = [1, 1.0078125, 1, -1.0078125, 0, np.inf, np.inf, 1.0078125, 1.0078125, last]
    assert out.astype(float).tolist() == wanted


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_roundings_to_integers(dtype):
    x = np.array(
        [0, 0.5, 1.5, -1.5, 2.5, -0.25, 100.5, 1e10, -1e10, 3e38, -3e38, np.inf, -np.inf],
        np.float32,
    ).astype(BF)
    info = np.iinfo(dtype)
    whole = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    for mode in ("rz",) if info.bits == 8 else whole:
        out = np.zeros(len(x), dtype)
        each(getattr(bf16, f"bfloat16_to_{dtype}_{mode}"))[1, 1](out, x)
        wanted = [
            info.max
            if v == np.inf
            else info.min
            if v == -np.inf
            else min(max(int(v), info.min), info.max)
            for v in whole[mode](x.astype(float))
        ]
        assert out.tolist() == wanted, mode


def test_functions_of_two_and_three(pairs):
    @cuda.jit
    def kernel(out, x, y, z):
        i = cuda.grid(1)
        if i < x.size:
            a, b, c = x[i], y[i], z[i]
            out[i, 0], out[i, 1], out[i, 2] = bf16.hmax(a, b), bf16.hmin(a, b), bf16.hmax_nan(a, b)
            out[i, 3], out[i, 4], out[i, 5] = (
                bf16.hmin_nan(a, b),
                bf16.hfma(a, b, c),
                bf16.hfma_relu(a, b, c),
            )
            out[i, 6], out[i, 7] = bf16.hadd_sat(a, b), bf16.hmul_sat(a, b)

    x, y = pairs
    z = np.roll(x, 9)
    out = np.zeros((len(x), 8), BF)
    kernel[len(x) // 64 + 1, 64](out, x, y, z)
    a, b = x.astype(np.float32), y.astype(np.float32)
    with np.errstate(all="ignore"):
        equal = a == b  # zeros of both signs
        same(out[~equal, 0], np.fmax(a, b).astype(BF)[~equal])
        same(out[~equal, 1], np.fmin(a, b).astype(BF)[~equal])
        same(out[~equal, 2], np.maximum(a, b).astype(BF)[~equal])
        same(out[~equal, 3], np.minimum(a, b).astype(BF)[~equal])
        for column, value in ((6, a + b), (7, a * b)):
            clipped = np.where(np.isnan(value), np.float32(0), np.clip(value, 0, 1))
            np.testing.assert_array_equal(
                out[:, column].astype(np.float32), clipped.astype(BF).astype(np.float32)
            )
    for row, (p, q, r) in zip(out, zip(a.tolist(), b.tolist(), z.astype(float).tolist())):
        if not all(map(math.isfinite, (p, q, r))):
            continue
        exact = Fraction(p) * Fraction(q) + Fraction(r)
        if exact and abs(exact) < Fraction(2) ** 127:
            assert int(bits(row[4])) == exactly(exact, "rn")
            assert float(row[5]) == max(float(row[4]), 0)


def test_unordered_comparisons_and_kinds():
    @cuda.jit
    def kernel(out, x, y):
        a, b = x[0], y[0]
        out[0], out[1], out[2] = bf16.heq(a, b), bf16.hne(a, b), bf16.hltu(a, b)
        out[3], out[4], out[5] = bf16.hneu(a, b), bf16.hequ(a, b), bf16.hge(a, b)
        out[6], out[7] = bf16.hisnan(a), bf16.hisinf(b)

    def launch(a, b):
        out = np.zeros(8, np.int32)
        kernel[1, 1](out, np.array([a], BF), np.array([b], BF))
        return out.tolist()

    assert launch(np.nan, -np.inf) == [0, 0, 1, 1, 1, 0, 1, -1]
    assert launch(2, 2) == [1, 0, 0, 0, 1, 1, 0, 0]
    assert launch(1, np.inf) == [0, 1, 1, 1, 0, 0, 0, 1]


def test_mathematics():
    names = ["hsqrt", "hrsqrt", "hrcp", "hlog", "hlog2", "hlog10", "hsin", "hcos", "hexp", "hexp2", "hexp10", "htanh",
             "hfloor", "hceil", "htrunc", "hrint"]  # fmt: skip
    exact = [np.sqrt, lambda v: 1 / np.sqrt(v), lambda v: 1 / v, np.log, np.log2, np.log10, np.sin, np.cos, np.exp,
             np.exp2, lambda v: 10**v, np.tanh, np.floor, np.ceil, np.trunc, np.rint]  # fmt: skip
    x = np.array([0.1, 0.75, 1.7, 2.5, 20], np.float32).astype(BF)
    for name, function in zip(names, exact):
        out = np.zeros(len(x), BF)
        each(getattr(bf16, name))[1, 1](out, x)
        np.testing.assert_array_equal(out, function(x.astype(float)).astype(BF), name)

    @cuda.jit
    def by_math(out, x):
        out[0], out[1], out[2] = math.exp(x[0]), math.sqrt(x[0]), x[0] ** 2
        out[3], out[4], out[5] = math.floor(x[3]), min(x[0], x[1]), x[3] // x[1]

    out = np.zeros(6, BF)
    by_math[1, 1](out, x)
    v = x.astype(float)
    wanted = [np.exp(v[0]), np.sqrt(v[0]), v[0] ** 2, 2, v[0], 3]
    np.testing.assert_array_equal(out, np.array(wanted).astype(BF))


def test_arguments_shared_and_local_arrays_and_device_functions():
    scale = BF(2.5)

    @cuda.jit(device=True)
    def twice(x):
        return x + x

    @cuda.jit
    def kernel(out, x, factor):
        tile = cuda.shared.array(32, bfloat16)
        mine = cuda.local.array(2, BF)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        cuda.syncthreads()
        mine[0] = tile[31 - i]
        mine[1] = twice(mine[0])
        out[i] = mine[1] * factor + scale

    x = np.arange(32).astype(BF)
    out = td.zeros(32, "bfloat16")
    kernel[1, 32](out, td.asarray(x), BF(0.5))
    assert out.get().dtype == BF
    np.testing.assert_array_equal(out.get(), x[::-1] + scale)


def test_signatures_folds_and_views():
    @cuda.jit("void(float32[:], bfloat16[:, ::1], bfloat16)")
    def kernel(out, x, least):
        out[0] = x.sum()
        out[1] = x[1].max()
        out[2] = max(least, x[0, 0])
        x[0, 0] = 7

    x = td.asarray(np.arange(6).reshape(2, 3).astype(BF))
    out = td.zeros(3, "float32")
    kernel[1, 1](out, x, 1.5)
    assert out.get().tolist() == [15, 5, 1.5] and float(x.get()[0, 0]) == 7
    assert cuda.types.bfloat16 is bfloat16 and bf16.bfloat16 is bfloat16
    assert isinstance(bfloat16(1.5), BF)


def test_bits_and_texts_of_floats():
    @cuda.jit
    def kernel(out, words):
        out[0], out[1] = bfloat16(float("nan")), bfloat16(float("-inf"))
        out[2] = bf16.uint16_as_bfloat16(words[0])
        words[1] = bf16.bfloat16_as_int16(bfloat16(-1.5))

    out, words = np.zeros(3, BF), np.array([0x3FC0, 0], np.uint16)
    kernel[1, 1](out, words)
    assert np.isnan(out[0]) and out[1] == -np.inf and out[2] == 1.5 and words[1] == 0xBFC0


def test_print_shows_the_number(capfd):
    @cuda.jit
    def kernel(x):
        print(bfloat16(0.9375), x[0])

    kernel[1, 1](np.array([1.5], BF))
    cuda.synchronize()
    assert capfd.readouterr().out.strip() == "0.937500 1.500000"


def test_what_is_refused():
    @cuda.jit
    def add(x):
        cuda.atomic.add(x, 0, bfloat16(1))

    with pytest.raises(
        TypeError, match="does not take arrays of bfloat16; it takes 32- and 64-bit"
    ):
        add[1, 1](np.zeros(1, BF))

    @cuda.jit
    def text(x):
        x[0] = float("one")

    with pytest.raises(TypeError, match=re.escape("float('one'): that text is no number")):
        text[1, 1](np.zeros(1, BF))

    @cuda.jit
    def shift(x):
        x[0] = x[0] << 1

    with pytest.raises(TypeError, match="operator << does not take bfloat16"):
        shift[1, 1](np.zeros(1, BF))


@pytest.mark.parametrize("dtype", [BF, np.float16])
def test_the_next_number_and_the_step_to_it(dtype):
    @cuda.jit
    def kernel(out, x, y):
        for i in range(x.size):
            out[0, i] = np.nextafter(x[i], y[i])
            out[1, i] = np.spacing(x[i])

    with np.errstate(all="ignore"):
        x = np.array([0, -0.0, 1, 1, -1, -1, 2, 1e-7, np.inf, np.nan, 1, 3], np.float32).astype(
            dtype
        )
        y = np.array([1, -1, 2, 0, -2, 0, 2, -1, 0, 1, np.nan, -np.inf], np.float32).astype(dtype)
        out = np.zeros((2, len(x)), dtype)
        kernel[1, 1](out, x, y)
        same(out[0], np.nextafter(x, y))
        same(out[1], np.spacing(x))


def test_fma_sees_what_a_double_cannot_hold():
    """7 * 37 and 7 * 39 lie in the middle of two numbers; the third operand says on which side, however small."""

    @cuda.jit
    def kernel(out, x):
        for i in range(x.shape[0]):
            out[i] = bf16.hfma(x[i, 0], x[i, 1], x[i, 2])

    rows = [
        [7, 37, -1e-30],
        [7, 37, 0],
        [7, 39, 1e-30],
        [7, 39, 0],
        [-7, 37, 1e-30],
        [-7, 39, -1e-30],
    ]
    out = np.zeros(len(rows), BF)
    kernel[1, 1](out, np.array(rows, np.float32).astype(BF))
    assert out.astype(float).tolist() == [258, 260, 274, 272, -258, -274]
