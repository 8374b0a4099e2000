"""cuda.jit: cmath, float16, vector types, libdevice, the group of the grid."""

import cmath
import math

import numpy as np
import pytest
import treadle as td
from treadle import cuda
from treadle.cuda import cg, fp16, libdevice


def launch(kernel, out, *args, grid=1, block=1):
    device = td.asarray(out)
    kernel[grid, block](device, *[td.asarray(a) for a in args])
    return device.get()


POINTS = [
    0.5 + 0.25j,
    -1.5 + 2j,
    3 - 4j,
    -0.75 - 0.125j,
    0.1j,
    2.5 + 0j,
    complex(-0.5, -0.0),
    complex(-2, 0.0),
]
FUNCTIONS = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "log",
    "log10",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_cmath(name, dtype):
    function = getattr(cmath, name)

    @cuda.jit
    def kernel(out, z):
        i = cuda.grid(1)
        out[i] = function(z[i])

    z = np.array(POINTS, dtype)
    found = launch(kernel, np.zeros_like(z), z, block=z.size)
    wanted = np.array([function(complex(x)) for x in z])
    np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == np.complex64 else 1e-14)
    # The sides of a branch cut are told apart by the sign of zero.
    np.testing.assert_array_equal(np.signbit(found.imag), np.signbit(wanted.imag))


def test_cmath_phase_polar_rect_and_tests():
    @cuda.jit
    def kernel(out, z):
        out[0] = cmath.phase(z[0])
        r, phi = cmath.polar(z[0])
        out[1], out[2] = r, phi
        out[3] = cmath.rect(r, phi)
        out[4] = cmath.log(z[0], 2.0)
        out[5] = cmath.isnan(z[1]) + 2 * cmath.isinf(z[1]) + 4 * cmath.isfinite(z[0])
        out[6] = z[0] ** (0.5 - 1j)
        out[7] = z[0] ** 3
        out[8] = np.exp(z[0])

    z = np.array([-1 + 2j, complex(math.nan, math.inf)])
    found = launch(kernel, np.zeros(9, complex), z)
    x = complex(z[0])
    wanted = [
        cmath.phase(x), *cmath.polar(x), x, cmath.log(x, 2), 7, x ** (0.5 - 1j), x**3, cmath.exp(x)
    ]  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_vector_types():
    @cuda.jit(device=True)
    def twice(v):
        return cuda.float32x2(v.x * 2, v.y * 2)

    @cuda.jit
    def kernel(out):
        a = cuda.float32x3(1, 2, 3)
        b = cuda.float4(a, 4)
        c = cuda.uchar2(300, 1)
        d = cuda.int32x4(cuda.int2(1, 2), 3, cuda.int1(4))
        if cuda.grid(1) == 0:
            a = cuda.float3(twice(cuda.float2(a.y, a.z)), a.x)
        out[0], out[1], out[2], out[3] = b.w, b.z, c.x, d.w
        out[4], out[5], out[6] = a.x, a.y, a.z

    assert launch(kernel, np.zeros(7)).tolist() == [4, 3, 44, 4, 4, 6, 1]

    @cuda.jit
    def wrong(out):
        a = cuda.float3(out[0], out[1])
        out[0] = a.x

    with pytest.raises(TypeError, match=r"float32x3.* takes 3 numbers, not 2"):
        launch(wrong, np.zeros(2))


def test_the_group_of_the_grid_makes_the_launch_cooperative():
    @cuda.jit
    def kernel(parts, out):
        group = cg.this_grid()
        i = cuda.grid(1)
        parts[i] = i
        group.sync()
        if i == 0:
            for x in parts:
                out[0] += x

    parts, out = td.zeros(64, np.int64), td.zeros(1, np.int64)
    kernel[4, 16](parts, out)
    assert out.item() == 64 * 63 // 2


def test_float16_functions_round_once():
    names = [
        "hneg",
        "habs",
        "hsin",
        "hcos",
        "hlog",
        "hlog2",
        "hlog10",
        "hexp",
        "hexp2",
        "hexp10",
        "hsqrt",
        "hrsqrt",
        "hrcp",
        "hfloor",
        "hceil",
        "htrunc",
        "hrint",
    ]

    @cuda.jit
    def unary(out, x):
        out[0], out[1], out[2] = fp16.hneg(x[0]), fp16.habs(x[0]), fp16.hsin(x[0])
        out[3], out[4], out[5] = fp16.hcos(x[0]), fp16.hlog(x[0]), fp16.hlog2(x[0])
        out[6], out[7], out[8] = fp16.hlog10(x[0]), fp16.hexp(x[0]), fp16.hexp2(x[0])
        out[9], out[10], out[11] = fp16.hexp10(x[0]), fp16.hsqrt(x[0]), fp16.hrsqrt(x[0])
        out[12], out[13], out[14] = fp16.hrcp(x[0]), fp16.hfloor(x[0]), fp16.hceil(x[0])
        out[15], out[16] = fp16.htrunc(x[0]), fp16.hrint(x[0])

    x = np.array([1.7], np.float16)
    v = np.float64(x[0])
    wanted = [
        -v, v, np.sin(v), np.cos(v), np.log(v), np.log2(v), np.log10(v), np.exp(v), np.exp2(v), 10**v, np.sqrt(v),
        1 / np.sqrt(v), 1 / v, 1, 2, 1, 2,
    ]  # fmt: skip
    found = launch(unary, np.zeros(len(names), np.float16), x)
    np.testing.assert_array_equal(found, np.array(wanted).astype(np.float16))


def test_float16_fma_is_exact_until_its_rounding():
    @cuda.jit
    def kernel(out, a, b, c):
        i = cuda.grid(1)
        out[i] = fp16.hfma(a[i], b[i], c[i])

    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(0, 0x7C00, 4096, np.uint16).view(np.float16) for _ in range(3))
    c = c * np.where(rng.random(4096) < 0.5, np.float16(-1), np.float16(1))
    # 1 + 2^-10 times 1 is halfway between two float16 once 2^-11 is added; the last term decides.
    a[:2], b[:2] = np.float16(1 + 2**-10), np.float16(1 + 2**-10)
    c[:2] = np.float16(2**-11), np.float16(-(2**-11))
    found = launch(kernel, np.zeros(4096, np.float16), a, b, c, grid=16, block=256)
    from fractions import Fraction

    for k in range(4096):
        exact = Fraction(float(a[k])) * Fraction(float(b[k])) + Fraction(float(c[k]))
        assert found[k] == _nearest_half(exact), (a[k], b[k], c[k])


def _nearest_half(x):
    """A rational number as float16, ties to even."""
    if x == 0:
        return np.float16(0)
    magnitude, exponent = abs(x), -24
    while magnitude >= 2 ** (exponent + 11):
        exponent += 1
    units = round(magnitude / 2**exponent if exponent >= 0 else magnitude * 2**-exponent)
    value = math.ldexp(units, exponent)
    return np.float16(math.copysign(value if value < 65520 else math.inf, x))


def test_float64_to_float16_rounds_once():
    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = x[i]

    # Just above the middle of two float16: rounding to float32 first would land on the middle.
    x = np.array(
        [1 + 2**-11 + 2**-40, 1 + 2**-11, -(1 + 2**-11 + 2**-40), 65520, 1e300, 2**-25 + 2**-60]
    )
    found = launch(kernel, np.zeros(6, np.float16), x, block=6)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x.astype(np.float16))


def test_libdevice():
    @cuda.jit
    def kernel(out, x):
        s, c = libdevice.sincos(x[0])
        out[0], out[1] = s, c
        m, e = libdevice.frexp(x[0])
        out[2], out[3] = m, e
        out[4] = libdevice.rsqrtf(4.0)
        out[5] = libdevice.dadd_ru(1.0, 1e-30)
        out[6] = libdevice.dadd_rd(1.0, 1e-30)
        out[7] = libdevice.mulhi(1 << 30, 1 << 10)
        out[8] = libdevice.normcdf(0.0)
        out[9] = libdevice.double2int_rn(2.5)
        out[10] = libdevice.byte_perm(0x01020304, 0x05060708, 0x0123)
        r, q = libdevice.remquo(7.0, 2.0)
        out[11], out[12] = r, q
        out[13] = libdevice.isinfd(x[0] / 0.0) != 0
        out[14] = libdevice.popcll(255) + libdevice.ffs(8)

    found = launch(kernel, np.zeros(15), np.array([3.0]))
    wanted = [
        math.sin(3), math.cos(3), 0.75, 2, 0.5, math.nextafter(1, 2), 1, 256, 0.5, 2, 0x04030201, -1, 4, 1, 12
    ]  # fmt: skip
    np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_raw_kernels_call_python_device_functions():
    @cuda.jit(device=True)
    def floor_mod(a, b):
        return a % b

    @cuda.jit(device=True)
    def scale(a, i, by):
        a[i] *= by

    types = cuda.types
    text = floor_mod.device_source(types.int32, types.int32, name="python_mod")
    kernel = td.RawKernel(
        text
        + """
extern "C" __global__ void apply(const int* a, const int* b, long long* out) {
  int i = threadIdx.x;
  out[i] = python_mod(a[i], b[i]);
}
""",
        "apply",
    )
    a, b = np.array([-7, 7, -7, 6], np.int32), np.array([3, -3, -3, 4], np.int32)
    out = td.zeros(4, np.int64)
    kernel((1,), (4,), (td.asarray(a), td.asarray(b), out))
    np.testing.assert_array_equal(out.get(), a % b)

    text = scale.device_source(types.void(types.float32[::1], types.int64, types.float32))
    kernel = td.RawKernel(
        text
        + """
extern "C" __global__ void apply(float* a, long long n) {
  scale(tdpy::over<float>(a, n), threadIdx.x, 2.0f);
}
""",
        "apply",
    )
    x = td.arange(4, dtype=np.float32)
    kernel((1,), (4,), (x, np.int64(4)))
    assert x.tolist() == [0, 2, 4, 6]
