"""<mma.h>: products with Hopper's arithmetic bit for bit, where the elements of fragments are, and their use.

An H200 has given the digests below (CUDA 13.0); other GPUs calculate otherwise in the last places.
"""

import functools
import hashlib

import numpy as np
import pytest
import treadle as td

SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
# Type of A and B: fragment type, storage, bits, mantissa bits.
TYPES = {
    "f16": ("half", "half", 16, 10),
    "bf16": ("__nv_bfloat16", "__nv_bfloat16", 16, 7),
    "tf32": ("wmma::precision::tf32", "float", 32, 23),
    "f32": ("float", "float", 32, 23),
    "f64": ("double", "double", 64, 52),
    "s8": ("signed char", "signed char", 8, 0),
    "u8": ("unsigned char", "unsigned char", 8, 0),
    "s32": ("int", "int", 32, 0),
}
HEAD = "#include <mma.h>\nusing namespace nvcuda;\n"


def word(bits):
    return np.dtype(f"uint{bits}").type


def c_name(bits):
    return {8: "unsigned char", 16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}[
        bits
    ]


# ---- operands: the same on every machine


class Random:
    """splitmix64."""

    def __init__(self, state):
        self.state = state

    def __call__(self, below=2**64):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return (z ^ z >> 31) % below


KINDS = ["near one", "any bits", "spread", "cancelling", "denormal", "zeros", "one large", "overflow", "infinite",
         "small addend", "ones", "large addend"]  # fmt: skip


def number(random, bits, mantissa, kind, addend):
    """Bits of a number of KINDS[kind]; addend: for C."""
    x = random() % 2**bits
    if mantissa == 0:
        if kind % 3 == 0:
            return x
        if kind % 3 == 1:
            return x & 0xFFFF if addend else x
        return x & 0xFFFF | 0x7FFF0000 if addend else 0x7F
    top = 2 ** (bits - 1 - mantissa) - 1
    bias = e = top // 2
    sign = x >> (bits - 1) << (bits - 1)
    fraction = x % 2**mantissa
    match KINDS[kind]:
        case "near one":
            e = bias - 1 - random(3)
        case "any bits":
            return x
        case "spread":
            e = bias - 12 + random(24)
        case "cancelling":
            e = bias + random(2)
            if addend:
                e = bias + 3 + random(3)
        case "denormal":
            e = random(3)
        case "zeros":
            if random(3):
                return sign
        case "one large":
            e = bias + 12 if random(8) == 0 else bias - 2 - random(8)
        case "overflow":
            e = top - 1 - random(2)
            if (bits, mantissa) == (16, 10):
                e = top - 1 - random(4)
        case "infinite":
            e = bias + random(4)
            which = random(40)
            if which < 2:
                return sign | top << mantissa | (which and 1 | fraction)
        case "small addend":
            e = bias - 30 + random(30) if addend else bias - 8 + random(16)
        case "ones":
            fraction = 0 if fraction & 1 else 2**mantissa - 1
            e = bias + random(3)
        case "large addend":
            e = bias + random(40) - 10 if addend else bias - 4 + random(8)
    return sign | max(0, min(e, top - 1)) << mantissa | fraction


@functools.cache
def operands(kind, addend, shape, count):
    """Words of A, B and C of `count` products, as they lie in memory."""
    m, n, k = shape
    random = Random(12345)

    def fill(name, each, is_addend):
        _, _, bits, mantissa = TYPES[name]
        numbers = [
            number(random, bits, mantissa, i // each % len(KINDS), is_addend)
            for i in range(count * each)
        ]
        return np.array(numbers, word(bits))

    return fill(kind, m * k, False), fill(kind, k * n, False), fill(addend, m * n, True)


PRODUCT = r"""
extern "C" __global__ void product(const RAW_A* a, const RAW_A* b, const RAW_C* c, RAW_D* d) {
  int p = blockIdx.x;
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::LAYOUT_A> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::LAYOUT_B> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fragment<wmma::accumulator, M, N, K, D> fd;
  wmma::load_matrix_sync(fa, (const S*)a + p * M * K, LDM_A);
  wmma::load_matrix_sync(fb, (const S*)b + p * K * N, LDM_B);
  wmma::load_matrix_sync(fc, (const C*)c + p * M * N, N, wmma::mem_row_major);
  MMA;
  wmma::store_matrix_sync((D*)d + p * M * N, fd, N, wmma::mem_row_major);
}
"""
ONE_PLACE = "wmma::mma_sync(fd, fa, fb, fc SATURATE)"
# The lanes take two ways to the same operation: scalar threads in fair mode.
TWO_PLACES = f"if (threadIdx.x % 3 == 0) {{ {ONE_PLACE}; }} else {{ {ONE_PLACE}; }}"


def product(kind, addend, result, shape, layouts, count, saturate=False, mma=ONE_PLACE):
    """Words of D, (count, m, n)."""
    m, n, k = shape
    a, b, c = operands(kind, addend, shape, count)
    bits = TYPES[result][2]
    rows = [layout == "row" for layout in layouts]
    macros = {
        "M": m, "N": n, "K": k, "T": TYPES[kind][0], "S": TYPES[kind][1], "C": TYPES[addend][0], "D": TYPES[result][0],
        "RAW_A": c_name(a.itemsize * 8), "RAW_C": c_name(c.itemsize * 8), "RAW_D": c_name(bits),
        "LAYOUT_A": f"{layouts[0]}_major", "LAYOUT_B": f"{layouts[1]}_major",
        "LDM_A": k if rows[0] else m, "LDM_B": n if rows[1] else k, "MMA": mma,
        "SATURATE": f", {str(saturate).lower()}" if kind in ("s8", "u8") else "",
    }  # fmt: skip
    source = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    d = td.zeros(count * m * n, word(bits))
    kernel = td.RawKernel(HEAD + source + PRODUCT, "product")
    kernel((count,), (32,), (*(td.asarray(x) for x in (a, b, c)), d))
    return td.asnumpy(d).reshape(count, m, n)


# Types of A and B, C, D, shape, saturating, count, SHA-256 of D for the layouts row row, col col, col row.
H200 = [
    ("f16", "f32", "f32", (16, 16, 16), False, 24, "6f9c06b32cdc591b"),
    ("f16", "f32", "f32", (32, 8, 16), False, 24, "40915269f3632568"),
    ("f16", "f32", "f32", (8, 32, 16), False, 24, "c340726ddf5a8b48"),
    ("f16", "f16", "f16", (16, 16, 16), False, 24, "3d9504e5b8be0611"),
    ("f16", "f16", "f16", (32, 8, 16), False, 24, "63581f630ee09f4c"),
    ("f16", "f16", "f16", (8, 32, 16), False, 24, "1ae1445333d9cd8c"),
    ("f16", "f16", "f32", (16, 16, 16), False, 12, "3799e4088437d09e"),
    ("f16", "f16", "f32", (32, 8, 16), False, 12, "1898796be76edb70"),
    ("f16", "f16", "f32", (8, 32, 16), False, 12, "aa03d83e7247371b"),
    ("f16", "f32", "f16", (16, 16, 16), False, 12, "f11ec4e166d05f69"),
    ("f16", "f32", "f16", (32, 8, 16), False, 12, "6dd17b6e33cc91c7"),
    ("f16", "f32", "f16", (8, 32, 16), False, 12, "f36a1f44aa0f99c4"),
    ("bf16", "f32", "f32", (16, 16, 16), False, 24, "c7394ce183b2e821"),
    ("bf16", "f32", "f32", (32, 8, 16), False, 24, "b0b021886fe4f86f"),
    ("bf16", "f32", "f32", (8, 32, 16), False, 24, "648136aff9e6faf9"),
    ("s8", "s32", "s32", (16, 16, 16), False, 3, "d207854f5916091b"),
    ("s8", "s32", "s32", (32, 8, 16), False, 3, "62bc2d732b98be53"),
    ("s8", "s32", "s32", (8, 32, 16), False, 3, "b235abfd21e57783"),
    ("s8", "s32", "s32", (16, 16, 16), True, 3, "6fde7c9ed55f1c01"),
    ("s8", "s32", "s32", (32, 8, 16), True, 3, "9cb28735353c67fb"),
    ("s8", "s32", "s32", (8, 32, 16), True, 3, "5930b3cdf6c102bb"),
    ("u8", "s32", "s32", (16, 16, 16), False, 3, "ece3d6a56325cbaa"),
    ("u8", "s32", "s32", (32, 8, 16), False, 3, "55e7c6b96fd1f2b9"),
    ("u8", "s32", "s32", (8, 32, 16), False, 3, "88d5c4e75a11e43e"),
    ("u8", "s32", "s32", (16, 16, 16), True, 3, "9f240299c3965ea5"),
    ("u8", "s32", "s32", (32, 8, 16), True, 3, "6f49ea70de8a1d00"),
    ("u8", "s32", "s32", (8, 32, 16), True, 3, "532a4fa45ee914c2"),
    ("tf32", "f32", "f32", (16, 16, 8), False, 24, "abda9560f64c4ea0"),
    ("f64", "f64", "f64", (8, 8, 4), False, 24, "8d08e5f743c071eb"),
]  # fmt: skip


@pytest.mark.parametrize("kind, addend, result, shape, saturate, count, digest", H200)
def test_products_are_those_of_an_h200(
    device, kind, addend, result, shape, saturate, count, digest
):
    if not device.is_software and device.compute_capability != "90":
        pytest.skip("the digests are of compute capability 9.0")
    found = hashlib.sha256()
    for layouts in (("row", "row"), ("col", "col"), ("col", "row")):
        found.update(product(kind, addend, result, shape, layouts, count, saturate).tobytes())
    assert found.hexdigest()[:16] == digest


# ---- the arithmetic in whole numbers


def parts(x, bits, mantissa):
    """Sign, exponent, significand; exponent None: infinity (significand 0) or NaN."""
    top = 2 ** (bits - 1 - mantissa) - 1
    sign, field, fraction = x >> (bits - 1), x >> mantissa & top, x % 2**mantissa
    if field == top:
        return sign, None, fraction
    return sign, max(field, 1) - top // 2, fraction + (2**mantissa if field else 0)


def encode(negative, size, exponent, name, to_nearest):
    """Bits of size * 2^exponent."""
    _, _, bits, mantissa = TYPES[name]
    top = 2 ** (bits - 1 - mantissa) - 1
    last = max(size.bit_length() - 1 + exponent, 1 - top // 2) - mantissa
    drop = last - exponent
    kept, rest = (size >> drop, size % 2**drop) if drop > 0 else (size << -drop, 0)
    if to_nearest and drop > 0:
        kept += 2 * rest + kept % 2 > 2**drop
    code = (last + mantissa + top // 2 - 1) * 2**mantissa + kept
    return negative << (bits - 1) | min(code, top << mantissa) if code else 0


def exact_dot(a, b, c, kind, result):
    """One element of D as mma.cpp describes it."""
    _, _, bits, mantissa = TYPES[kind]
    terms = [(*parts(c, 32, 23), 23)]
    infinite = set()
    nan = False
    for x, y in zip(a, b, strict=True):
        (sx, ex, mx), (sy, ey, my) = parts(x, bits, mantissa), parts(y, bits, mantissa)
        if ex is None or ey is None:
            nan |= (ex is None and mx > 0) or (ey is None and my > 0)
            nan |= (ex is not None and mx == 0) or (ey is not None and my == 0)
            infinite.add(sx ^ sy)
        else:
            terms.append((sx ^ sy, ex + ey, mx * my, 2 * mantissa))
    if terms[0][1] is None:
        nan |= terms[0][2] > 0
        infinite.add(terms[0][0])
        del terms[0]
    if nan or len(infinite) == 2:
        return {"f32": 0x7FFFFFFF, "f16": 0x7FFF}[result]
    if infinite:
        return encode(infinite == {1}, 1, 10**4, result, False)
    terms = [t for t in terms if t[2]]
    if not terms:
        return 0
    unit = max(t[1] for t in terms) - 25
    total = 0
    for sign, exponent, size, places in terms:
        shift = exponent - places - unit
        aligned = size << shift if shift >= 0 else size >> -shift
        total += -aligned if sign else aligned
    code = encode(total < 0, abs(total), unit, result, result == "f16") if total else 0
    return 0 if code in (0x8000, 0x80000000) else code


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind, addend", [("f16", "f32"), ("bf16", "f32"), ("f16", "f16")])
def test_floating_point_products(device, kind, addend, shape):
    if not device.is_software and device.compute_capability != "90":
        pytest.skip("the arithmetic of compute capability 9.0")
    m, n, k = shape
    count = 2 * len(KINDS)
    d = product(kind, addend, addend, shape, ("row", "row"), count)
    a, b, c = operands(kind, addend, shape, count)
    a, b, c = a.reshape(count, m, k), b.reshape(count, k, n), c.reshape(count, m, n)
    if addend == "f16":
        with np.errstate(invalid="ignore"):
            c = c.view(np.float16).astype(np.float32).view(np.uint32)
    places = np.random.default_rng(5)
    for p in range(count):
        for i, j in zip(places.integers(m, size=24), places.integers(n, size=24), strict=True):
            want = exact_dot(
                [int(x) for x in a[p, i]],
                [int(x) for x in b[p, :, j]],
                int(c[p, i, j]),
                kind,
                addend,
            )
            assert int(d[p, i, j]) == want, (KINDS[p % len(KINDS)], p, i, j)


@pytest.mark.parametrize(
    "kind, saturate", [("s8", False), ("s8", True), ("u8", False), ("u8", True)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_integer_products(kind, saturate, shape):
    m, n, k = shape
    d = product(kind, "s32", "s32", shape, ("row", "row"), 12, saturate).view(np.int32)
    a, b, c = operands(kind, "s32", shape, 12)
    byte = np.int8 if kind == "s8" else np.uint8
    a = a.view(byte).reshape(12, m, k).astype(np.int64)
    b = b.view(byte).reshape(12, k, n).astype(np.int64)
    exact = a @ b + c.view(np.int32).reshape(12, m, n)
    want = np.clip(exact, -(2**31), 2**31 - 1) if saturate else exact.astype(np.int32)
    assert np.array_equal(d, want)
    assert (np.abs(exact) > 2**31).any()


@pytest.mark.parametrize(
    "kind, addend, result, shape",
    [
        ("f16", "f32", "f32", (16, 16, 16)),
        ("f64", "f64", "f64", (8, 8, 4)),
        ("u8", "s32", "s32", (32, 8, 16)),
        ("tf32", "f32", "f32", (16, 16, 8)),
    ],
)
def test_lanes_on_two_ways_meet(kind, addend, result, shape):
    layouts = ("row", "col")
    one = product(kind, addend, result, shape, layouts, 12)
    two = product(kind, addend, result, shape, layouts, 12, mma=TWO_PLACES)
    assert np.array_equal(one, two)


# ---- where elements are

WHERE = r"""
extern "C" __global__ void where(const RAW* m, float* out) {
  FRAGMENT f;
  wmma::load_matrix_sync(f, (const S*)m + blockIdx.x * SIZE, LDM LAYOUT);
  for (int i = 0; i < f.num_elements; ++i) out[(blockIdx.x * 32 + threadIdx.x) * 16 + i] = (float)f.x[i];
}
"""


def raw(values, name):
    """Small whole numbers in a type's words."""
    values = np.asarray(values, np.float32)
    match name:
        case "f16":
            return values.astype(np.float16).view(np.uint16)
        case "bf16":
            return (values.view(np.uint32) >> 16).astype(np.uint16)
        case "tf32" | "f32":
            return values.view(np.uint32)
        case "f64":
            return values.astype(np.float64).view(np.uint64)
        case _:
            return values.astype(word(TYPES[name][2]))


def elements(use, name, shape):
    """Text: (row, column) of each element, lane by lane."""
    m, n, k = shape
    size = {"matrix_a": (m, k), "matrix_b": (k, n), "accumulator": (m, n)}[use]
    fragment_type, storage, bits, _ = TYPES[name]
    layout = ", wmma::row_major" if use != "accumulator" else ""
    macros = {
        "FRAGMENT": f"wmma::fragment<wmma::{use}, {m}, {n}, {k}, {fragment_type}{layout}>",
        "S": storage, "RAW": c_name(bits), "LDM": size[1], "SIZE": size[0] * size[1],
        "LAYOUT": ", wmma::mem_row_major" if use == "accumulator" else "",
    }  # fmt: skip
    source = "".join(f"#define {key} {value}\n" for key, value in macros.items())
    kernel = td.RawKernel(HEAD + source + WHERE, "where")
    out = td.full((2, 32, 16), -1, np.float32)
    kernel((2,), (32,), (td.asarray(raw(np.indices(size).ravel(), name)), out))
    rows, columns = td.asnumpy(out).astype(int)
    lanes = [
        " ".join(f"{r},{c}" for r, c in zip(rows[lane], columns[lane], strict=True) if r >= 0)
        for lane in range(32)
    ]
    return "|".join(lanes)


# Use, type, shape, SHA-256 of the places.
PLACES = [
    ("accumulator", "f32", (16, 16, 16), "c43900f548670288"),
    ("accumulator", "f32", (32, 8, 16), "4926ae9270b811d8"),
    ("accumulator", "f32", (8, 32, 16), "3a78a086eaf84c66"),
    ("accumulator", "f16", (16, 16, 16), "c43900f548670288"),
    ("accumulator", "f16", (32, 8, 16), "4926ae9270b811d8"),
    ("accumulator", "f16", (8, 32, 16), "3a78a086eaf84c66"),
    ("accumulator", "s32", (16, 16, 16), "c43900f548670288"),
    ("accumulator", "s32", (32, 8, 16), "4926ae9270b811d8"),
    ("accumulator", "s32", (8, 32, 16), "3a78a086eaf84c66"),
    ("accumulator", "f32", (16, 16, 8), "c43900f548670288"),
    ("accumulator", "f64", (8, 8, 4), "5c68ef0ca98e21cc"),
    ("matrix_a", "f16", (16, 16, 16), "653a9d8963745ace"),
    ("matrix_a", "f16", (32, 8, 16), "64feb0e98374deb2"),
    ("matrix_a", "f16", (8, 32, 16), "6d8bac1bce7b353d"),
    ("matrix_a", "bf16", (16, 16, 16), "c43900f548670288"),
    ("matrix_a", "bf16", (32, 8, 16), "64feb0e98374deb2"),
    ("matrix_a", "bf16", (8, 32, 16), "7982b7deac05cfe7"),
    ("matrix_a", "s8", (16, 16, 16), "080d120bebbb3b3b"),
    ("matrix_a", "s8", (32, 8, 16), "76aeca5aa60a635c"),
    ("matrix_a", "s8", (8, 32, 16), "25c395b198775850"),
    ("matrix_a", "tf32", (16, 16, 8), "53d52540fb7c815a"),
    ("matrix_a", "f64", (8, 8, 4), "f80df718a3cdc03d"),
    ("matrix_b", "f16", (16, 16, 16), "6061224daaacaffc"),
    ("matrix_b", "f16", (32, 8, 16), "d65d425b13885e29"),
    ("matrix_b", "f16", (8, 32, 16), "19baa28d1436174c"),
    ("matrix_b", "bf16", (16, 16, 16), "a426ecd18eaa80c6"),
    ("matrix_b", "bf16", (32, 8, 16), "006066896d08a407"),
    ("matrix_b", "bf16", (8, 32, 16), "19baa28d1436174c"),
    ("matrix_b", "s8", (16, 16, 16), "698052e366341185"),
    ("matrix_b", "s8", (32, 8, 16), "4c2b870b816147ef"),
    ("matrix_b", "s8", (8, 32, 16), "083b0d75a5766e93"),
    ("matrix_b", "tf32", (16, 16, 8), "eabd4f0abc47de57"),
    ("matrix_b", "f64", (8, 8, 4), "a8cf2545f3dde8d5"),
]  # fmt: skip


@pytest.mark.parametrize("use, name, shape, digest", PLACES)
def test_elements_are_where_an_h200_has_them(device, use, name, shape, digest):
    if not device.is_software and int(device.compute_capability) < 80:
        pytest.skip("the places of compute capability 8.0 and later")
    assert hashlib.sha256(elements(use, name, shape).encode()).hexdigest()[:16] == digest


def test_an_accumulator_is_laid_out_as_mma_sync_says():
    """PTX ISA, fragments of mma.m16n8k16: two of them side by side."""
    lanes = elements("accumulator", "f32", (16, 16, 16)).split("|")
    for lane, text in enumerate(lanes):
        want = [(lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8) for i in range(8)]
        assert text == " ".join(f"{r},{c}" for r, c in want)


# ---- use

USE = (
    HEAD
    + r"""
// out = alpha a b + beta c, as in NVIDIA's samples: element i of both accumulators is at the same place.
extern "C" __global__ void gemm(const half* a, const half* b, const float* c, float* out, int m, int n, int k,
                                float alpha, float beta) {
  __shared__ half tile[4][16 * 24];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = (blockIdx.x * 4 + warp) * 16, column = blockIdx.y * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < k; step += 16) {
    for (int i = lane; i < 256; i += 32) tile[warp][i / 16 * 24 + i % 16] = a[(row + i / 16) * k + step + i % 16];
    __syncwarp();
    wmma::load_matrix_sync(fa, tile[warp], 24);
    wmma::load_matrix_sync(fb, b + column * k + step, k);
    wmma::mma_sync(sum, fa, fb, sum);
    __syncwarp();
  }
  wmma::load_matrix_sync(old, c + column * m + row, m, wmma::mem_col_major);
  for (int i = 0; i < old.num_elements; ++i) old.x[i] = alpha * sum.x[i] + beta * old.x[i];
  wmma::store_matrix_sync(out + row * n + column, old, n, wmma::mem_row_major);
}
"""
)


def test_gemm():
    m, n, k = 128, 48, 80
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-8, 8, size).astype(np.float16) for size in ((m, k), (n, k)))
    c = rng.integers(-8, 8, (n, m)).astype(np.float32)
    out = td.zeros((m, n), np.float32)
    arguments = (*(td.asarray(x) for x in (a, b, c)), out, m, n, k, 0.5, 2.0)
    td.RawKernel(USE, "gemm")((m // 64, n // 16), (128,), arguments)
    want = 0.5 * (a.astype(np.float32) @ b.T.astype(np.float32)) + 2 * c.T
    assert np.array_equal(td.asnumpy(out), want)


def test_rounding_to_tf32():
    source = (
        HEAD
        + r"""
    extern "C" __global__ void k(float* x) { x[threadIdx.x] = wmma::__float_to_tf32(x[threadIdx.x]); }"""
    )
    bits = np.array([0x3F800000, 0x3F801000, 0x3F800FFF, 0xBF803000, 0x3F802FFF, 0x7F7FFFFF, 0xFF800000, 0x7FC12345,
                     0x00000FFF, 0x00001000, 0x807FFFFF, 0x80000000], np.uint32)  # fmt: skip
    x = td.asarray(bits.view(np.float32))
    td.RawKernel(source, "k")((1,), (len(bits),), (x,))
    want = [0x3F800000, 0x3F802000, 0x3F800000, 0xBF804000, 0x3F802000, 0x7F800000, 0xFF800000, 0x7FC12000,
            0x00000000, 0x00002000, 0x80800000, 0x80000000]  # fmt: skip
    assert td.asnumpy(x).view(np.uint32).tolist() == want


@pytest.mark.parametrize(
    "line, words",
    [
        ("wmma::fragment<wmma::matrix_a, 16, 8, 16, half, wmma::row_major> f;", "no fragment of this"),
        ("wmma::fragment<wmma::matrix_a, 16, 16, 8, half, wmma::row_major> f;", "no fragment of this"),
        ("wmma::fragment<wmma::accumulator, 16, 16, 16, __nv_bfloat16> f;", "no fragment of this"),
        ("wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::u4, wmma::row_major> f;",
         "wmma of u4 is known"),
    ],
)  # fmt: skip
def test_what_there_is_not(software, line, words):
    if not software:
        pytest.skip("NVIDIA's own header has other words")
    with pytest.raises(td.CompileError, match=words):
        td.RawKernel(HEAD + f'extern "C" __global__ void k() {{ {line} }}', "k")((1,), (32,), ())
