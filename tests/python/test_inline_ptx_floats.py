"""Inline PTX: float, double, float16 and bfloat16, and all conversions."""

from fractions import Fraction

import numpy as np
import pytest
from ptx_support import DTYPES, ORDER, RNG, constraint, float_order, floats, integers, launch, run

# ---- floating point

MODES = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}
FLOATS = {"f32": (np.float32, "float"), "f64": (np.float64, "double")}


def assert_same_floats(got, expected, message=""):
    """Bit for bit, any NaN for any NaN."""
    integer = np.dtype(f"u{got.dtype.itemsize}")
    nan = np.isnan(got) & np.isnan(expected)
    np.testing.assert_array_equal(
        np.where(nan, 0, got.view(integer)), np.where(nan, 0, expected.view(integer)), message
    )


def flush(x):
    """Denormals of float become zeros of their sign."""
    return np.where(abs(x) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), x), x).astype(
        x.dtype
    )


def saturate(x):
    return np.where(np.isnan(x), 0, np.clip(x, 0, 1)).astype(x.dtype) + x.dtype.type(0)


@pytest.mark.parametrize("t", FLOATS)
@pytest.mark.parametrize("mode", MODES)
def test_rounded_arithmetic(t, mode):
    """Against the CUDA functions, which tests/numerics compares with MPFR; nearest against NumPy too."""
    dtype, c = FLOATS[t]
    letter = constraint(dtype)
    a, b, d = floats(t), floats(t, salt=1), floats(t, salt=2)
    prefix, fma = ("__f", "__fmaf") if t == "f32" else ("__d", "__fma")
    cuda = MODES[mode]
    rows = [
        (f"{op}.{mode}.{t} %0, %1, %2;", f"{prefix}{op}_{cuda}(x, y)")
        for op in ("add", "sub", "mul", "div")
    ]
    rows += [(f"fma.{mode}.{t} %0, %1, %2, %3;", f"{fma}_{cuda}(x, y, z)")]
    rows += [(f"{op}.{mode}.{t} %0, %1;", f"{prefix}{op}_{cuda}(x)") for op in ("rcp", "sqrt")]
    body = "".join(
        f'asm("{asm}" : "={letter}"(r) : "{letter}"(x), "{letter}"(y), "{letter}"(z));'
        f" out[{2 * k} * n + i] = r; out[{2 * k + 1} * n + i] = {twin};\n"
        for k, (asm, twin) in enumerate(rows)
    )
    source = f"""extern "C" __global__ void k({c}* out, const {c}* a, const {c}* b, const {c}* d) {{
  int i = threadIdx.x, n = blockDim.x; {c} x = a[i], y = b[i], z = d[i], r;
  {body}
}}"""
    out = launch(source, 400, np.zeros((2 * len(rows), 400), dtype), a, b, d)[0]
    for k, (asm, _) in enumerate(rows):
        assert_same_floats(out[2 * k], out[2 * k + 1], asm)
    if mode == "rn":
        with np.errstate(all="ignore"):
            for k, op in enumerate((np.add, np.subtract, np.multiply, np.divide)):
                assert_same_floats(out[2 * k], op(a, b))
            assert_same_floats(out[12], np.sqrt(a))
        (plain,) = run(f"add.{t} %0, %1, %2;", [dtype], [a, b])
        assert_same_floats(plain, out[0])


def test_flushing_and_saturation():
    a, b = floats("f32"), floats("f32", salt=1)
    a[200:300] = RNG.standard_normal(100).astype(np.float32) * np.float32(1e-38)
    b[200:300] = RNG.standard_normal(100).astype(np.float32) * np.float32(1e-38)
    b[300:] = RNG.standard_normal(100).astype(np.float32)
    with np.errstate(all="ignore"):
        for name, op in {"add": np.add, "sub": np.subtract, "mul": np.multiply}.items():
            (got,) = run(f"{name}.rn.ftz.f32 %0, %1, %2;", [np.float32], [a, b])
            assert_same_floats(got, flush(op(flush(a), flush(b))), name)
            (got,) = run(f"{name}.sat.f32 %0, %1, %2;", [np.float32], [a, b])
            np.testing.assert_array_equal(got, saturate(op(a, b)), name)
            (got,) = run(f"{name}.ftz.sat.f32 %0, %1, %2;", [np.float32], [a, b])
            np.testing.assert_array_equal(got, saturate(flush(op(flush(a), flush(b)))), name)
        (got,) = run("fma.rn.ftz.f32 %0, %1, %2, %1;", [np.float32], [a, b])
        exact = flush(a).astype(np.float64) * flush(b) + flush(a)
        close = np.isclose(got, flush(exact.astype(np.float32)), rtol=1e-6, atol=0, equal_nan=True)
        assert close.all()
        (got,) = run("div.rn.ftz.f32 %0, %1, %2;", [np.float32], [a, b])
        assert_same_floats(got, flush(flush(a) / flush(b)))


def test_approximations():
    """Within 2^-20 of the value, the same in CUDA C++ and in PTX on the software device."""
    x = np.concatenate([RNG.uniform(-3, 3, 300), 2.0 ** RNG.uniform(-60, 60, 100)]).astype(
        np.float32
    )
    y = RNG.uniform(0.5, 2, 400).astype(np.float32)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        rows = {
            "rcp.approx.f32 %0, %1;": 1 / wide,
            "rcp.approx.ftz.f32 %0, %1;": 1 / wide,
            "div.approx.f32 %0, %1, %2;": wide / y,
            "div.full.ftz.f32 %0, %1, %2;": wide / y,
            "sqrt.approx.f32 %0, %1;": np.sqrt(wide),
            "rsqrt.approx.ftz.f32 %0, %1;": 1 / np.sqrt(wide),
            "ex2.approx.ftz.f32 %0, %1;": 2.0 ** np.minimum(wide, 200),
            "lg2.approx.f32 %0, %1;": np.log2(wide),
        }
        for asm, expected in rows.items():
            (got,) = run(asm, [np.float32], [x, y])
            finite = (abs(expected) > 1e-37) & (abs(expected) < 1e38) | np.isnan(expected)
            np.testing.assert_allclose(
                got[finite], expected[finite], rtol=2.0**-20, atol=2.0**-21, err_msg=asm
            )
    for asm, function, error in (
        ("sin", np.sin, 2.0**-20),
        ("cos", np.cos, 2.0**-20),
        ("tanh", np.tanh, 2.0**-10),
    ):
        (got,) = run(f"{asm}.approx.f32 %0, %1;", [np.float32], [x[:300]])
        np.testing.assert_allclose(
            got, function(wide[:300]), rtol=error, atol=2.0**-20, err_msg=asm
        )
    z = np.abs(RNG.standard_normal(400)) + 1e-3
    (got,) = run("rsqrt.approx.f64 %0, %1;", [np.float64], [z])
    np.testing.assert_allclose(got, 1 / np.sqrt(z), rtol=1e-8)
    (got,) = run("rcp.approx.ftz.f64 %0, %1;", [np.float64], [z])
    np.testing.assert_allclose(got, 1 / z, rtol=2.0**-19)


@pytest.mark.parametrize("t", FLOATS)
def test_signs_and_extremes(t):
    dtype, _ = FLOATS[t]
    a, b = floats(t), floats(t, salt=1)
    number = ~np.isnan(a)
    for name, op in {"abs": np.abs, "neg": np.negative}.items():
        (got,) = run(f"{name}.{t} %0, %1;", [dtype], [a])
        assert_same_floats(got, op(a), name)
    (got,) = run(f"copysign.{t} %0, %1, %2;", [dtype], [a, b])
    assert_same_floats(got[number], np.copysign(b, a)[number])
    zeros = (a == 0) & (b == 0)
    for name, op, both in (("min", np.fmin, np.logical_or), ("max", np.fmax, np.logical_and)):
        signed_zeros = np.where(both(np.signbit(a), np.signbit(b)), dtype(-0.0), dtype(0.0))
        (got,) = run(f"{name}.{t} %0, %1, %2;", [dtype], [a, b])
        assert_same_floats(got, np.where(zeros, signed_zeros, op(a, b)), name)
        if t == "f32":
            (got,) = run(f"{name}.NaN.f32 %0, %1, %2;", [dtype], [a, b])
            strict = {"min": np.minimum, "max": np.maximum}[name](a, b)
            assert_same_floats(got, np.where(zeros, signed_zeros, strict), name)
            (got,) = run(f"{name}.xorsign.abs.f32 %0, %1, %2;", [dtype], [a, b])
            size = op(abs(a), abs(b))
            expected = np.where(np.signbit(a) ^ np.signbit(b), -size, size)
            some = number & ~np.isnan(b)
            assert_same_floats(got[some], expected[some], name)
    tiny = np.finfo(dtype).tiny
    a[200:220] = tiny / 4
    expected = {
        "finite": np.isfinite(a),
        "infinite": np.isinf(a),
        "number": ~np.isnan(a),
        "notanumber": np.isnan(a),
        "normal": np.isfinite(a) & ((abs(a) >= tiny) | (a == 0)),
        "subnormal": (a != 0) & (abs(a) < tiny),
    }
    for name, truth in expected.items():
        asm = f"{{ .reg .pred p; testp.{name}.{t} p, %1; selp.u32 %0, 1, 0, p; }}"
        (got,) = run(asm, [np.uint32], [a])
        np.testing.assert_array_equal(got, truth.astype(np.uint32), name)


def halves(t, n=400, salt=0):
    """Numbers of a 16-bit type as their bits, and as floats."""
    if t == "f16":
        values = floats("f32", n, salt).astype(np.float16)
        values[:50] = (
            np.random.default_rng(salt + 50)
            .integers(0, 2**16, 50)
            .astype(np.uint16)
            .view(np.float16)
        )
        return values.view(np.uint16), values.astype(np.float32)
    bits = (floats("f32", n, salt).view(np.uint32) >> 16).astype(np.uint16)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32)


def to_half(t, x):
    """float -> the bits of a 16-bit type, to nearest."""
    if t == "f16":
        return x.astype(np.float16).view(np.uint16)
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FFF), rounded)


def as_floats(t, bits):
    return (
        bits.view(np.float16).astype(np.float32)
        if t == "f16"
        else (bits.astype(np.uint32) << 16).view(np.float32)
    )


@pytest.mark.parametrize("t", ["f16", "bf16"])
def test_half_arithmetic(t):
    """One number and pairs; float is wide enough for one rounding."""
    (a, x), (b, y), (d, z) = (halves(t, salt=k) for k in range(3))

    def pair(p):
        return p[:200].astype(np.uint32) | p[200:].astype(np.uint32) << 16

    def check(name, operands, expected, message=""):
        arguments = ", ".join(f"%{k}" for k in range(len(operands) + 1))
        (got,) = run(f"{name}.{t} {arguments};", [np.uint16], operands)
        assert_same_floats(as_floats(t, got), expected, f"{name}.{t}")
        (got,) = run(f"{name}.{t}x2 {arguments};", [np.uint32], [pair(p) for p in operands])
        both = np.concatenate([got & 0xFFFF, got >> 16]).astype(np.uint16)
        assert_same_floats(as_floats(t, both), expected, f"{name}.{t}x2")

    def once(value):
        return as_floats(t, to_half(t, value))

    with np.errstate(all="ignore"):
        check("add", [a, b], once(x + y))
        check("sub.rn", [a, b], once(x - y))
        check("mul", [a, b], once(x * y))
        check("neg", [a], -x)
        check("abs", [a], abs(x))
        # The product is exact in float64, and so is the sum where the magnitudes are near.
        fused = x.astype(np.float64) * y + z
        safe = ~((abs(fused) > 0) & (abs(fused) < 1e-30)) & ~(abs(fused) > 1e30)
        safe &= (abs(z) < 1e4) & (abs(z) > 1e-3) & (abs(x * y) < 1e4) & (abs(x * y) > 1e-3)
        a, b, d, x, y, z = (
            np.where(safe, v, one)
            for v, one in zip(
                (a, b, d, x, y, z), [*[to_half(t, np.float32([1]))[0]] * 3, 1, 1, 1], strict=True
            )
        )
        a, b, d = (v.astype(np.uint16) for v in (a, b, d))
        fused = (x.astype(np.float64) * y + z).astype(np.float64)
        odd = fused.astype(np.float32)
        exact = odd.astype(np.float64) == fused
        expected = once(odd)
        (got,) = run(f"fma.rn.{t} %0, %1, %2, %3;", [np.uint16], [a, b, d])
        assert_same_floats(as_floats(t, got)[exact], expected[exact])
        np.testing.assert_allclose(as_floats(t, got), fused, rtol=2.0**-8, atol=2.0**-8 * 1e-3)
        (relu,) = run(f"fma.rn.relu.{t} %0, %1, %2, %3;", [np.uint16], [a, b, d])
        np.testing.assert_array_equal(as_floats(t, relu), np.maximum(as_floats(t, got), 0))


@pytest.mark.parametrize("t", ["f16", "bf16"])
def test_half_functions(t):
    (a, x), (b, y) = halves(t), halves(t, salt=1)
    zeros = (x == 0) & (y == 0)
    with np.errstate(all="ignore"):
        for name, op, both in (("min", np.fmin, np.logical_or), ("max", np.fmax, np.logical_and)):
            signed_zeros = np.where(
                both(np.signbit(x), np.signbit(y)), np.float32(-0.0), np.float32(0.0)
            )
            (got,) = run(f"{name}.{t} %0, %1, %2;", [np.uint16], [a, b])
            assert_same_floats(as_floats(t, got), np.where(zeros, signed_zeros, op(x, y)))
            (got,) = run(f"{name}.NaN.{t} %0, %1, %2;", [np.uint16], [a, b])
            strict = {"min": np.minimum, "max": np.maximum}[name](x, y)
            assert_same_floats(as_floats(t, got), np.where(zeros, signed_zeros, strict))
        small = RNG.uniform(-3, 3, 400).astype(np.float32)
        bits = to_half(t, small)
        small = as_floats(t, bits)
        ftz = "" if t == "f16" else ".ftz"
        error = 2.0**-9 if t == "f16" else 2.0**-7
        (got,) = run(f"ex2.approx{ftz}.{t} %0, %1;", [np.uint16], [bits])
        np.testing.assert_allclose(as_floats(t, got), 2.0**small, rtol=error)
        (got,) = run(f"tanh.approx.{t} %0, %1;", [np.uint16], [bits])
        np.testing.assert_allclose(as_floats(t, got), np.tanh(small), rtol=0, atol=2.0**-7)
    for name in [*ORDER, *(f"{n}u" for n in ORDER), "num", "nan"]:
        asm = (
            f"{{ .reg .pred p, q; setp.{name}.{t} p, %1, %2; selp.u32 %0, 1, 0, p; .reg .b32 s, t;"
            " mov.b32 s, {%1, %2};"
            f" mov.b32 t, {{%2, %1}}; setp.{name}.{t}x2 p|q, s, t; @p add.u32 %0, %0, 2; @q add.u32 %0, %0, 4; }}"
        )
        (got,) = run(asm, [np.uint32], [a, b])
        expected = float_order(name, x, y) * 3 + float_order(name, y, x) * 4
        np.testing.assert_array_equal(got, expected.astype(np.uint32), name)


# ---- conversions

CVT_INTEGERS = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]


def register_of(t):
    """The NumPy type of the register for a value of that type: 8-bit numbers live in 16 bits."""
    return {"u8": np.uint16, "s8": np.int16}.get(t) or DTYPES[t]


def range_of(t):
    info = np.iinfo(np.dtype(f"{'u' if t[0] == 'u' else 'i'}{int(t[1:]) // 8}"))
    return int(info.min), int(info.max)


def cut(value, t):
    """The integer in that type, wrapped."""
    low, high = range_of(t)
    value &= (1 << int(t[1:])) - 1
    return value - (1 << int(t[1:])) if low < 0 and value > high else value


@pytest.mark.parametrize("s", CVT_INTEGERS)
def test_integer_conversions(s):
    """To every other type, into registers of its size and wider ones, wrapped and saturated."""
    source = integers({"u8": "u16", "s8": "s16"}.get(s, s))
    values = [cut(int(v), s) for v in source]
    for t in CVT_INTEGERS:
        low, high = range_of(t)
        (got,) = run(f"cvt.{t}.{s} %0, %1;", [register_of(t)], [source])
        np.testing.assert_array_equal(got, [cut(v, t) for v in values], f"{t}.{s}")
        narrow = low > range_of(s)[0] or high < range_of(s)[1]
        if narrow:  # ptxas takes .sat only where it can matter
            (got,) = run(f"cvt.sat.{t}.{s} %0, %1;", [register_of(t)], [source])
            np.testing.assert_array_equal(
                got, [min(max(v, low), high) for v in values], f"sat.{t}.{s}"
            )
        if int(t[1:]) < 64:
            (got,) = run(f"cvt.{t}.{s} %0, %1;", [np.int64], [source])
            np.testing.assert_array_equal(got, [cut(v, t) for v in values], f"{t}.{s} in 64 bits")


@pytest.mark.parametrize("s", ["f32", "f64", "f16"])
def test_float_to_integer(s):
    """Rounded, then saturated."""
    if s == "f16":
        a, x = halves("f16")
    else:
        a = x = floats(s)
        x[200:300] = RNG.uniform(-300, 300, 100).astype(x.dtype)
        x[300:330] = np.arange(30) / 2
    wide = x.astype(np.float64)
    number = ~np.isnan(wide)
    rounding = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
    for t in CVT_INTEGERS:
        low, high = range_of(t)
        for mode, function in rounding.items():
            (got,) = run(f"cvt.{mode}.{t}.{s} %0, %1;", [register_of(t)], [a])
            expected = [int(min(max(v, low), high)) if v not in (np.inf, -np.inf) else (high if v > 0 else low)
                        for v in (int(w) if np.isfinite(w) else w for w in function(wide[number]))]  # fmt: skip
            np.testing.assert_array_equal(got[number], expected, f"{mode}.{t}.{s}")
            of_nan = {int(v) for v in got[~number]}
            zero = int(t[1:]) < 64 and s != "f64"
            sign_bit = 1 << int(t[1:]) - 1 if t[0] == "u" else -(1 << int(t[1:]) - 1)
            assert of_nan <= {0 if zero else sign_bit}, f"{mode}.{t}.{s}"


def rounded(value, dtype, mode):
    """An integer or fraction in a floating-point type, with PTX's rounding modes."""
    most = dtype(np.finfo(dtype).max)
    if abs(value) > Fraction(float(most)):
        step = Fraction(float(most)) - Fraction(float(np.nextafter(most, dtype(0))))
        away = {
            "rn": abs(value) >= Fraction(float(most)) + step / 2,
            "rz": False,
            "rm": value < 0,
            "rp": value > 0,
        }[mode]
        result = dtype(np.inf) if away else most
        return result if value > 0 else -result
    low = dtype(float(value))
    while not np.isfinite(low) or Fraction(float(low)) > value:
        low = np.nextafter(low, dtype(-np.inf))
    while Fraction(float(np.nextafter(low, dtype(np.inf)))) <= value if low < most else False:
        low = np.nextafter(low, dtype(np.inf))
    if Fraction(float(low)) == value:
        return low
    high = np.nextafter(low, dtype(np.inf))
    if mode == "rm" or (mode == "rz" and value > 0):
        return low
    if mode in ("rp", "rz"):
        return high
    below, above = value - Fraction(float(low)), Fraction(float(high)) - value
    even = int(np.array([low]).view(f"u{low.itemsize}")[0]) % 2 == 0
    return low if below < above or (below == above and even) else high


@pytest.mark.parametrize("t", ["f32", "f64", "f16"])
def test_integer_to_float(t):
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16}[t]
    for s in CVT_INTEGERS:
        source = integers({"u8": "u16", "s8": "s16"}.get(s, s), 200)
        values = [Fraction(cut(int(v), s)) for v in source]
        for mode in MODES:
            (got,) = run(f"cvt.{mode}.{t}.{s} %0, %1;", [DTYPES[t]], [source])
            expected = np.array([rounded(v, dtype, mode) + dtype(0) for v in values])
            assert_same_floats(got.view(dtype), expected, f"{mode}.{t}.{s}")


@pytest.mark.parametrize(("t", "s"), [("f32", "f64"), ("f16", "f32"), ("f16", "f64")])
def test_narrowing(t, s):
    dtype = {"f32": np.float32, "f16": np.float16}[t]
    x = floats(s, 300)
    x[150:] = (RNG.standard_normal(150) * 2.0 ** RNG.uniform(-26, 17, 150)).astype(x.dtype)
    if t == "f16":
        x[150:170] = np.float16(1.5).astype(x.dtype) + np.arange(20).astype(x.dtype) * x.dtype.type(
            2.0**-12
        )
    for mode in MODES:
        (got,) = run(f"cvt.{mode}.{t}.{s} %0, %1;", [DTYPES[t]], [x])
        with np.errstate(all="ignore"):
            expected = np.array([
                rounded(Fraction(float(v)), dtype, mode) if np.isfinite(v) and v != 0 else dtype(v) for v in x
            ])  # fmt: skip
            zero = (expected == 0) & (x != 0)
            expected = np.where(zero, np.copysign(dtype(0), x), expected).astype(dtype)
        assert_same_floats(got.view(dtype), expected, f"{mode}.{t}.{s}")


def test_widening_and_integral_values():
    x = floats("f32")
    (got,) = run("cvt.f64.f32 %0, %1;", [np.float64], [x])
    assert_same_floats(got, x.astype(np.float64))
    bits, h = halves("f16")
    (got,) = run("cvt.f32.f16 %0, %1;", [np.float32], [bits])
    assert_same_floats(got, h)
    (got,) = run("cvt.f64.f16 %0, %1;", [np.float64], [bits])
    assert_same_floats(got, h.astype(np.float64))
    bits, h = halves("bf16")
    (got,) = run("cvt.f32.bf16 %0, %1;", [np.float32], [bits])
    assert_same_floats(got, h)
    for mode, op in {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}.items():
        for t in ("f32", "f64"):
            y = floats(t) * 3
            (got,) = run(f"cvt.{mode}.{t}.{t} %0, %1;", [y.dtype.type], [y])
            assert_same_floats(got, op(y))
    (got,) = run("cvt.sat.f32.f32 %0, %1;", [np.float32], [x])
    np.testing.assert_array_equal(got, saturate(x))
    (got,) = run("cvt.ftz.f32.f32 %0, %1;", [np.float32], [x])
    assert_same_floats(got, flush(x))


def test_packing_conversions():
    a, b = floats("f32"), floats("f32", salt=1)
    with np.errstate(all="ignore"):
        (got,) = run("cvt.rn.f16x2.f32 %0, %1, %2;", [np.uint32], [a, b])
        assert_same_floats((got >> 16).astype(np.uint16).view(np.float16), a.astype(np.float16))
        assert_same_floats(got.astype(np.uint16).view(np.float16), b.astype(np.float16))
        (got,) = run("cvt.rn.bf16x2.f32 %0, %1, %2;", [np.uint32], [a, b])
        assert_same_floats(
            as_floats("bf16", (got >> 16).astype(np.uint16)), as_floats("bf16", to_half("bf16", a))
        )
        assert_same_floats(
            as_floats("bf16", got.astype(np.uint16)), as_floats("bf16", to_half("bf16", b))
        )
        (got,) = run("cvt.rn.relu.f16x2.f32 %0, %1, %2;", [np.uint32], [a, b])
        expected = np.where(b < 0, np.float16(0), b.astype(np.float16)) + np.float16(0)
        assert_same_floats(got.astype(np.uint16).view(np.float16), expected)
        (got,) = run("cvt.rn.bf16.f32 %0, %1;", [np.uint16], [a])
        assert_same_floats(as_floats("bf16", got), as_floats("bf16", to_half("bf16", a)))
        (got,) = run("cvt.rz.bf16.f32 %0, %1;", [np.uint16], [a])
        cut_off = (a.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        assert_same_floats(as_floats("bf16", got), cut_off)
