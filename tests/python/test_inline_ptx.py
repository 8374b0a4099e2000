"""Inline PTX: integers, bits, comparisons, moves, control and special registers."""

import numpy as np
import pytest
import treadle as td
from ptx_support import (
    DTYPES,
    ORDER,
    RNG,
    UNSIGNED_ORDER,
    bits_of,
    check_integers,
    clamp,
    constraint,
    float_order,
    floats,
    integers,
    launch,
    run,
    signed,
    wrap,
)

WIDTHS = ["u16", "u32", "u64", "s16", "s32", "s64"]
WORDS = ["u32", "u64", "s32", "s64"]


@pytest.mark.parametrize("t", WIDTHS)
def test_arithmetic(t):
    bits = bits_of(t)
    check_integers(f"add.{t}", t, 2, lambda a, b: a + b)
    check_integers(f"sub.{t}", t, 2, lambda a, b: a - b)
    check_integers(f"mul.lo.{t}", t, 2, lambda a, b: a * b)
    check_integers(f"mul.hi.{t}", t, 2, lambda a, b: a * b >> bits)
    check_integers(f"mad.lo.{t}", t, 3, lambda a, b, c: a * b + c)
    check_integers(f"mad.hi.{t}", t, 3, lambda a, b, c: (a * b >> bits) + c)
    check_integers(f"sad.{t}", t, 3, lambda a, b, c: c + abs(a - b))
    check_integers(f"min.{t}", t, 2, min)
    check_integers(f"max.{t}", t, 2, max)
    if t[0] == "s":
        check_integers(f"abs.{t}", t, 1, abs)
        check_integers(f"neg.{t}", t, 1, lambda a: -a)
    if bits < 64:
        wide = f"{t[0]}{2 * bits}"
        check_integers(f"mul.wide.{t}", t, 2, lambda a, b: a * b, result=wide)
        check_integers(
            f"mad.wide.{t}", t, 3, lambda a, b, c: a * b + c, result=wide, kinds=(t, t, wide)
        )


@pytest.mark.parametrize("t", WIDTHS)
def test_division(t):
    """Truncated; not by zero, and not the smallest number by -1, which the manual leaves open."""
    a, b = integers(t), integers(t, salt=1)
    b[(b == 0) | (b == np.array(-1).astype(b.dtype))] = 3
    quotient = [
        abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        for x, y in zip(map(int, a), map(int, b), strict=True)
    ]
    (got,) = run(f"div.{t} %0, %1, %2;", [DTYPES[t]], [a, b])
    np.testing.assert_array_equal(got, np.array(quotient, DTYPES[t]))
    (got,) = run(f"rem.{t} %0, %1, %2;", [DTYPES[t]], [a, b])
    rest = [int(x) - q * int(y) for x, q, y in zip(a, quotient, b, strict=True)]
    np.testing.assert_array_equal(got, np.array(rest, DTYPES[t]))


def test_saturating_and_24_bit():
    check_integers("add.sat.s32", "s32", 2, lambda a, b: clamp(a + b, "s32"))
    check_integers("sub.sat.s32", "s32", 2, lambda a, b: clamp(a - b, "s32"))
    check_integers("mad.hi.sat.s32", "s32", 3, lambda a, b, c: clamp((a * b >> 32) + c, "s32"))
    for t in ("u32", "s32"):

        def low(x, t=t):
            return signed(x & 0xFFFFFF, 24) if t == "s32" else x & 0xFFFFFF

        check_integers(f"mul24.lo.{t}", t, 2, lambda a, b: low(a) * low(b))
        check_integers(f"mul24.hi.{t}", t, 2, lambda a, b: low(a) * low(b) >> 16)
        check_integers(f"mad24.lo.{t}", t, 3, lambda a, b, c: low(a) * low(b) + c)
        check_integers(f"mad24.hi.{t}", t, 3, lambda a, b, c: (low(a) * low(b) >> 16) + c)


@pytest.mark.parametrize("t", WORDS)
def test_carry_chains(t):
    """Numbers of three words, in one statement and over several."""
    bits, dtype = bits_of(t), DTYPES[f"u{bits_of(t)}"]
    x = [integers(f"u{bits}", salt=k) for k in range(3)]
    y = [integers(f"u{bits}", salt=k + 3) for k in range(3)]

    def number(words):
        return [
            sum(int(w) << (bits * k) for k, w in enumerate(row)) for row in zip(*words, strict=True)
        ]

    def words(numbers):
        mask = (1 << bits) - 1
        return [np.array([v >> (bits * k) & mask for v in numbers], dtype) for k in range(3)]

    chain = f"add.cc.{t} %0, %3, %6; addc.cc.{t} %1, %4, %7; addc.{t} %2, %5, %8;"
    for asm, sign in ((chain, 1), (chain.replace("add", "sub"), -1)):
        expected = words([a + sign * b for a, b in zip(number(x), number(y), strict=True)])
        for got, want in zip(run(asm, [dtype] * 3, x + y), expected, strict=True):
            np.testing.assert_array_equal(got, want)
        # Each in a statement of its own, as libraries of big numbers do, some behind a call.
        split = asm.replace(
            "; ",
            ';" : "+X"(v0), "+X"(v1), "+X"(v2) : "X"(v3), "X"(v4), "X"(v5), "X"(v6), "X"(v7), "X"(v8)); asm volatile("',
        )
        split = split.replace("X", constraint(dtype))
        for got, want in zip(run(split, [dtype] * 3, x + y), expected, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("t", WORDS)
def test_multiply_with_carry(t):
    """(a * b) + c over two words, with the carry of the lower into the upper, and of a borrow."""
    bits = bits_of(t)
    inputs = [integers(t, salt=k) for k in range(4)]
    dtype = DTYPES[t]
    got = run(f"mad.lo.cc.{t} %0, %2, %3, %4; madc.hi.{t} %1, %2, %3, %5;", [dtype, dtype], inputs)
    mask = (1 << bits) - 1
    for i, (a, b, c, d) in enumerate(zip(*(map(int, v) for v in inputs), strict=True)):
        low = (a * b & mask) + (c & mask)
        high = (a * b >> bits) + d + (low >> bits)
        assert int(got[0][i]) & mask == low & mask
        assert int(got[1][i]) & mask == high & mask


def test_carry_through_functions():
    """The carry flag lives between statements of different inlined functions."""
    source = """
__device__ __forceinline__ unsigned add_cc(unsigned a, unsigned b) {
  unsigned r; asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
__device__ __forceinline__ unsigned addc_cc(unsigned a, unsigned b) {
  unsigned r; asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
__device__ __forceinline__ unsigned addc(unsigned a, unsigned b) {
  unsigned r; asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
extern "C" __global__ void k(unsigned* x, const unsigned* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned* a = x + 8 * i; const unsigned* b = y + 8 * i;
  a[0] = add_cc(a[0], b[0]);
#pragma unroll
  for (int k = 1; k < 7; ++k) a[k] = addc_cc(a[k], b[k]);
  a[7] = addc(a[7], b[7]);
}"""
    x = RNG.integers(0, 2**32, (300, 8), np.uint64).astype(np.uint32)
    y = RNG.integers(0, 2**32, (300, 8), np.uint64).astype(np.uint32)
    y[:100, 1:7] = ~x[:100, 1:7]  # carries run through
    on_device = td.asarray(x)
    td.RawKernel(source, "k")((5,), (64,), (on_device, td.asarray(y), np.int32(300)))
    got = td.asnumpy(on_device)
    for row in range(300):
        a, b = (int.from_bytes(v[row].tobytes(), "little") for v in (x, y))
        assert int.from_bytes(got[row].tobytes(), "little") == (a + b) % 2**256


@pytest.mark.parametrize("t", ["b32", "b64"])
def test_counting_bits(t):
    bits = bits_of(t)
    check_integers(f"popc.{t}", t, 1, lambda a: a.bit_count(), result="u32")
    check_integers(f"clz.{t}", t, 1, lambda a: bits - a.bit_length(), result="u32")
    check_integers(f"brev.{t}", t, 1, lambda a: int(f"{a:0{bits}b}"[::-1], 2))
    for s in (f"u{bits}", f"s{bits}"):

        def find(a):
            return (a if a >= 0 else ~a).bit_length() - 1

        check_integers(f"bfind.{s}", s, 1, find, result="u32")
        check_integers(
            f"bfind.shiftamt.{s}",
            s,
            1,
            lambda a: bits - 1 - find(a) if find(a) >= 0 else -1,
            result="u32",
        )


@pytest.mark.parametrize("t", WORDS)
def test_bit_fields(t):
    """The manual's loop over the bits; positions and lengths also beyond the number."""
    bits = bits_of(t)
    a, b = integers(t), integers(t, salt=1)
    start = RNG.integers(0, 2 * bits, len(a), np.uint32)
    length = RNG.integers(0, bits + 8, len(a), np.uint32)
    if bits == 32:  # of 64 bits a GPU does not take the lowest eight alone, as the manual has it
        start[:20] = RNG.integers(0, 2**32, 20, np.uint64).astype(np.uint32)
    (got,) = run(f"bfe.{t} %0, %1, %2, %3;", [DTYPES[t]], [a, start, length])
    mask = (1 << bits) - 1

    def extract(x, at, n):
        at, n, x = at & 255, n & 255, x & mask
        sign = x >> min(at + n - 1, bits - 1) & 1 if t[0] == "s" and n else 0
        return sum(
            ((x >> at + i & 1) if i < n and at + i < bits else sign) << i for i in range(bits)
        )

    expected = [
        wrap(extract(int(x), int(s), int(n)), t) for x, s, n in zip(a, start, length, strict=True)
    ]
    np.testing.assert_array_equal(got, np.array(expected, DTYPES[t]))
    if t[0] == "s":
        return
    (got,) = run(f"bfi.b{bits} %0, %1, %2, %3, %4;", [DTYPES[t]], [a, b, start, length])

    def insert(x, y, at, n):
        at, n = at & 255, n & 255
        for i in range(n):
            if at + i < bits:
                y = y & ~(1 << at + i) | (x >> i & 1) << at + i
        return y

    expected = [insert(*map(int, row)) for row in zip(a, b, start, length, strict=True)]
    np.testing.assert_array_equal(got, np.array(expected, DTYPES[t]))


def test_extension_and_masks():
    a, n = integers("s32"), RNG.integers(0, 70, 400, np.uint32)
    at = RNG.integers(0, 70, 400, np.uint32)
    for mode in ("clamp", "wrap"):

        def count(x, mode=mode):
            return min(int(x), 32) if mode == "clamp" else int(x) & 31

        for t in ("s32", "u32"):
            (got,) = run(f"szext.{mode}.{t} %0, %1, %2;", [np.uint32], [a, n])
            for x, k, g in zip(a, n, got, strict=True):
                field = int(x) & (1 << count(k)) - 1
                if t == "s32" and count(k):
                    field = signed(field, count(k)) & 0xFFFFFFFF
                assert int(g) == field
        (got,) = run(f"bmsk.{mode}.b32 %0, %1, %2;", [np.uint32], [at, n])
        expected = [
            ((1 << count(k)) - 1) << count(s) & 0xFFFFFFFF for s, k in zip(at, n, strict=True)
        ]
        np.testing.assert_array_equal(got, np.array(expected, np.uint32))


@pytest.mark.parametrize("t", ["b16", "b32", "b64"])
def test_logic(t):
    check_integers(f"and.{t}", t, 2, lambda a, b: a & b)
    check_integers(f"or.{t}", t, 2, lambda a, b: a | b)
    check_integers(f"xor.{t}", t, 2, lambda a, b: a ^ b)
    check_integers(f"not.{t}", t, 1, lambda a: ~a)
    check_integers(f"cnot.{t}", t, 1, lambda a: a == 0)
    a, counts = integers(t), RNG.integers(0, 80, 400, np.uint32)
    counts[:5] = [0, 1, bits_of(t), bits_of(t) - 1, 0xFFFFFFFF]
    (got,) = run(f"shl.{t} %0, %1, %2;", [DTYPES[t]], [a, counts])
    expected = [wrap(int(x) << min(int(c), 64), t) for x, c in zip(a, counts, strict=True)]
    np.testing.assert_array_equal(got, np.array(expected, DTYPES[t]))
    for s in (f"u{bits_of(t)}", f"s{bits_of(t)}"):
        x = a.astype(DTYPES[s])
        (got,) = run(f"shr.{s} %0, %1, %2;", [DTYPES[s]], [x, counts])
        expected = [int(v) >> min(int(c), 64) for v, c in zip(x, counts, strict=True)]
        np.testing.assert_array_equal(got, np.array(expected, DTYPES[s]))


def test_lop3():
    """All 256 tables."""
    a, b, c = (RNG.integers(0, 2**32, 64, np.uint64).astype(np.uint32) for _ in range(3))
    tables = range(256)
    asm = "".join(
        f"lop3.b32 t, %1, %2, %3, {table:#x}; mad.lo.u32 %0, %0, 0x01000193, t;" for table in tables
    )
    (got,) = run("{.reg .b32 t; mov.u32 %0, 0;" + asm + "}", [np.uint32], [a, b, c])
    expected = np.zeros(64, np.uint32)
    for table in tables:
        value = np.zeros(64, np.uint32)
        for i in range(8):
            if table >> i & 1:
                value |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        expected = expected * np.uint32(0x01000193) + value
    np.testing.assert_array_equal(got, expected)


def test_funnel_shift_and_permute():
    a, b = integers("u32"), integers("u32", salt=1)
    counts = RNG.integers(0, 80, 400, np.uint32)
    for direction in "lr":
        for mode in ("wrap", "clamp"):
            (got,) = run(f"shf.{direction}.{mode}.b32 %0, %1, %2, %3;", [np.uint32], [a, b, counts])
            for low, high, c, g in zip(a, b, counts, got, strict=True):
                n = int(c) & 31 if mode == "wrap" else min(int(c), 32)
                both = int(high) << 32 | int(low)
                assert int(g) == ((both << n >> 32) if direction == "l" else both >> n) & 0xFFFFFFFF
    selectors = RNG.integers(0, 2**16, 400, np.uint32)
    (got,) = run("prmt.b32 %0, %1, %2, %3;", [np.uint32], [a, b, selectors])
    pick = [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    modes = {
        "f4e": pick,
        "b4e": [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        "rc8": [[n] * 4 for n in range(4)],
        "ecl": [[max(i, n) for i in range(4)] for n in range(4)],
        "ecr": [[min(i, n) for i in range(4)] for n in range(4)],
        "rc16": [[0, 1, 0, 1], [2, 3, 2, 3]] * 2,
    }

    def byte(x, y, nibble):
        value = (int(y) << 32 | int(x)) >> 8 * (nibble & 7) & 255
        return (255 if value >> 7 else 0) if nibble & 8 else value

    for x, y, s, g in zip(a, b, selectors, got, strict=True):
        assert int(g) == sum(byte(x, y, int(s) >> 4 * i & 15) << 8 * i for i in range(4))
    for mode, choices in modes.items():
        (got,) = run(f"prmt.b32.{mode} %0, %1, %2, %3;", [np.uint32], [a, b, selectors])
        for x, y, s, g in zip(a, b, selectors, got, strict=True):
            assert int(g) == sum(byte(x, y, n) << 8 * i for i, n in enumerate(choices[int(s) & 3]))


def test_dot_products_and_packed():
    a, b, c = integers("u32"), integers("u32", salt=1), integers("u32", salt=2)

    def parts(x, size, is_signed):
        values = [int(x) >> size * i & (1 << size) - 1 for i in range(32 // size)]
        return [signed(v, size) for v in values] if is_signed else values

    for s in ("u32", "s32"):
        for t in ("u32", "s32"):
            (four,) = run(f"dp4a.{s}.{t} %0, %1, %2, %3;", [np.uint32], [a, b, c])
            (low,) = run(f"dp2a.lo.{s}.{t} %0, %1, %2, %3;", [np.uint32], [a, b, c])
            (high,) = run(f"dp2a.hi.{s}.{t} %0, %1, %2, %3;", [np.uint32], [a, b, c])
            for i, (x, y, z) in enumerate(zip(a, b, c, strict=True)):
                bytes_a, bytes_b = parts(x, 8, s == "s32"), parts(y, 8, t == "s32")
                halves = parts(x, 16, s == "s32")
                total = int(z) + sum(p * q for p, q in zip(bytes_a, bytes_b, strict=True))
                assert int(four[i]) == total % 2**32
                assert (
                    int(low[i])
                    == (int(z) + halves[0] * bytes_b[0] + halves[1] * bytes_b[1]) % 2**32
                )
                assert (
                    int(high[i])
                    == (int(z) + halves[0] * bytes_b[2] + halves[1] * bytes_b[3]) % 2**32
                )
    for name, op in {"add": np.add, "min": np.minimum, "max": np.maximum}.items():
        for t, dtype in {"u16x2": np.uint16, "s16x2": np.int16}.items():
            (got,) = run(f"{name}.{t} %0, %1, %2;", [np.uint32], [a, b])
            np.testing.assert_array_equal(got.view(dtype), op(a.view(dtype), b.view(dtype)))


def check_set(name, t, truth, a, b):
    """setp with one and two results and combined with a third predicate, set, and selp."""
    letter = constraint(a.dtype.type)
    assert letter
    asm = (
        f"{{ .reg .pred p, q, r; .reg .u32 t; setp.{name}.{t} p|q, %3, %4; selp.u32 %0, 1, 2, p; selp.u32 %1, 4, 0, q;"
        f" setp.ne.u32 r, %5, 0; setp.{name}.and.{t} p|q, %3, %4, r; selp.u32 t, 8, 0, p; or.b32 %0, %0, t;"
        f" selp.u32 t, 16, 0, q; or.b32 %0, %0, t; setp.{name}.xor.{t} p, %3, %4, !r; @p or.b32 %0, %0, 32;"
        f" set.{name}.u32.{t} %2, %3, %4; set.{name}.or.s32.{t} t, %3, %4, r; and.b32 t, t, 64; or.b32 %0, %0, t; }}"
    )
    r = (np.arange(len(a)) % 2).astype(np.uint32)
    first, second, mask = run(asm, [np.uint32] * 3, [a, b, r])
    on = r == 1
    expected = np.where(truth, 1, 2) | np.where(truth & on, 8, 0) | np.where(~truth & on, 16, 0)
    expected |= np.where(truth ^ ~on, 32, 0) | np.where(truth | on, 64, 0)
    np.testing.assert_array_equal(first, expected.astype(np.uint32), err_msg=f"{name}.{t}")
    np.testing.assert_array_equal(second, np.where(truth, 0, 4).astype(np.uint32))
    np.testing.assert_array_equal(mask, np.where(truth, 0xFFFFFFFF, 0).astype(np.uint32))


@pytest.mark.parametrize("t", WIDTHS)
def test_integer_comparisons(t):
    a, b = integers(t), integers(t, salt=1)
    b[::5] = a[::5]
    for name, op in ORDER.items():
        check_set(name, t, op(a, b), a, b)
    if t[0] == "u":
        for name, same in UNSIGNED_ORDER.items():
            check_set(name, t, ORDER[same](a, b), a, b)


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_float_comparisons(t):
    a, b = floats(t), floats(t, salt=1)
    b[::5] = a[::5]
    for name in [*ORDER, *(f"{n}u" for n in ORDER), "num", "nan"]:
        check_set(name, t, float_order(name, a, b), a, b)


def test_selection_and_predicates():
    a, b, c = integers("s32"), integers("s32", salt=1), integers("s32", salt=2)
    (got,) = run("slct.s32.s32 %0, %1, %2, %3;", [np.int32], [a, b, c])
    np.testing.assert_array_equal(got, np.where(c >= 0, a, b))
    f = floats("f32")
    (got,) = run("slct.s32.f32 %0, %1, %2, %3;", [np.int32], [a, b, f])
    np.testing.assert_array_equal(got, np.where(f >= 0, a, b))
    asm = (
        "{ .reg .pred p<4>; setp.gt.s32 p0, %1, 0; setp.gt.s32 p1, %2, 0; and.pred p2, p0, p1; xor.pred p3, p0, !p1;"
        " not.pred p0, p2; selp.s32 %0, 1, 0, p2; @p3 add.s32 %0, %0, 2; @!p0 add.s32 %0, %0, 4; or.pred p0, p0, p3;"
        " @p0 add.s32 %0, %0, 8; mov.pred p1, p0; @!p1 add.s32 %0, %0, 16; }"
    )
    (got,) = run(asm, [np.int32], [a, b])
    p, q = a > 0, b > 0
    both, differ = p & q, p ^ ~q
    last = ~both | differ
    expected = both * 1 + differ * 2 + both * 4 + last * 8 + ~last * 16
    np.testing.assert_array_equal(got, expected.astype(np.int32))


def test_moves_and_vectors():
    a, b = integers("u32"), integers("u32", salt=1)
    packed, high, low = run(
        "mov.b64 %0, {%3, %4}; mov.b64 {%2, %1}, %0;", [np.uint64, np.uint32, np.uint32], [a, b]
    )
    np.testing.assert_array_equal(packed, b.astype(np.uint64) << np.uint64(32) | a)
    np.testing.assert_array_equal(high, b)
    np.testing.assert_array_equal(low, a)
    asm = "{ .reg .b16 h<4>; mov.b32 {h0, h1}, %1; mov.b32 {h2, h3}, %2; mov.b64 %0, {h3, h2, h1, h0}; }"
    (got,) = run(asm, [np.uint64], [a, b])
    halves = np.stack([b >> 16, b & 0xFFFF, a >> 16, a & 0xFFFF]).astype(np.uint64)
    np.testing.assert_array_equal(got, sum(h << np.uint64(16 * i) for i, h in enumerate(halves)))
    x = floats("f32")
    bits, back = run("mov.b32 %0, %2; mov.b32 %1, %0;", [np.uint32, np.float32], [x])
    np.testing.assert_array_equal(bits, x.view(np.uint32))
    np.testing.assert_array_equal(back.view(np.uint32), x.view(np.uint32))
    (got,) = run("mov.f32 %0, 0f40490FDB; { .reg .b64 t; mov.b64 t, {%1, 7}; }", [np.float32], [a])
    np.testing.assert_array_equal(got, np.full(400, np.pi, np.float32))


def test_control_flow():
    """Loops by labels, nested blocks whose names hide outer ones, registers with a percent sign."""
    asm = (
        "{ .reg .pred %%p; .reg .u32 n, t; mov.u32 n, %1; mov.u32 %0, 0; bra.uni TEST;"
        " STEP: and.b32 t, n, 1; setp.eq.u32 %%p, t, 0; @%%p bra EVEN; mad.lo.u32 n, n, 3, 1; bra NEXT;"
        " EVEN: { .reg .u32 t; shr.u32 t, n, 1; mov.u32 n, t; } NEXT: add.u32 %0, %0, 1;"
        " TEST: setp.gt.u32 %%p, n, 1; @%%p bra STEP; }"
    )
    n = np.arange(1, 301, dtype=np.uint32)
    (got,) = run(asm, [np.uint32], [n])

    def collatz(x):
        steps = 0
        while x > 1:
            x, steps = (x // 2 if x % 2 == 0 else 3 * x + 1), steps + 1
        return steps

    np.testing.assert_array_equal(got, [collatz(int(x)) for x in n])


def test_special_registers():
    names = [f"{r}.{axis}" for r in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"]
    names += ["laneid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"]
    moves = "".join(
        f'asm("mov.u32 %0, %%{name};" : "=r"(out[{k} * n + i]));\n' for k, name in enumerate(names)
    )
    source = f"""extern "C" __global__ void k(unsigned* out, int n, unsigned long long* clocks, unsigned* equal) {{
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  {moves}
  unsigned long long t, g; unsigned c, s, m, w;
  asm volatile("mov.u64 %0, %%clock64; mov.u64 %1, %%globaltimer; mov.u32 %2, %%clock;" : "=l"(t), "=l"(g), "=r"(c));
  asm("mov.u32 %0, %%smid; mov.u32 %1, %%nsmid; mov.u32 %2, WARP_SZ;" : "=r"(s), "=r"(m), "=r"(w));
  clocks[i] = t != 0 && g > 1000000000000ull;
  equal[i] = s < m && w == 32;
}}"""
    grid, block = (2, 3, 2), (8, 4, 3)
    n = 12 * 96
    out, clocks = (
        td.asarray(np.zeros((len(names), n), np.uint32)),
        td.asarray(np.zeros(n, np.uint64)),
    )
    equal = td.asarray(np.zeros(n, np.uint32))
    td.RawKernel(source, "k")(grid, block, (out, np.int32(n), clocks, equal))
    got = dict(zip(names, td.asnumpy(out), strict=True))
    index = np.arange(n)
    thread, blocks = index % 96, index // 96
    expected = {
        "tid": (thread % 8, thread // 8 % 4, thread // 32),
        "ntid": [np.full(n, x) for x in block],
        "ctaid": (blocks % 2, blocks // 2 % 3, blocks // 6),
        "nctaid": [np.full(n, x) for x in grid],
    }
    for name, values in expected.items():
        for axis, value in zip("xyz", values, strict=True):
            np.testing.assert_array_equal(got[f"{name}.{axis}"], value)
    lane = (thread % 32).astype(np.uint64)
    bit = np.uint64(1) << lane
    masks = {"eq": bit, "lt": bit - 1, "le": 2 * bit - 1, "gt": 2**32 - 2 * bit, "ge": 2**32 - bit}
    np.testing.assert_array_equal(got["laneid"], lane)
    for name, value in masks.items():
        np.testing.assert_array_equal(got[f"lanemask_{name}"], value)
    assert td.asnumpy(clocks).all() and td.asnumpy(equal).all()


def test_one_percent_sign():
    """%laneid is a register, with operands too; nvcc takes it so, in macros and headers as well."""
    source = """#define LANE "%laneid"
extern "C" __global__ void k(unsigned* out) {
  unsigned a, b, c;
  asm("mov.u32 %0, %laneid; mov.u32 %1, %%laneid;" : "=r"(a), "=r"(b));
  asm volatile("{ .reg .u32 %t; mov.u32 %t, " LANE "; mov.u32 %0, %tid.x; add.u32 %0, %t, %0; }" : "=r"(c));
  out[threadIdx.x] = a + 100 * b + 10000 * c;
}"""
    (out,) = launch(source, 32, np.zeros(32, np.uint32))
    np.testing.assert_array_equal(out, 101 * np.arange(32) + 20000 * np.arange(32))


def test_exit():
    """Threads that exit write nothing more; the others go on, also to a barrier."""
    source = """extern "C" __global__ void k(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x % 3 == 0) asm volatile("exit;");
  __syncthreads();
  out[threadIdx.x] = 2;
}"""
    out = td.asarray(np.zeros(96, np.int32))
    td.RawKernel(source, "k")((1,), (96,), (out,))
    np.testing.assert_array_equal(td.asnumpy(out), np.where(np.arange(96) % 3 == 0, 1, 2))


def test_constants_and_empty_statements():
    """ "n" operands, and a statement without text."""
    source = """template <int N> __device__ int f(int x) {
  int r; asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "n"(N), "n"(-7)); return r; }
extern "C" __global__ void k(int* out) {
  int i = threadIdx.x, s = i;
  asm("add.s32 %0, %0, %1;" : "+r"(s) : "n"(1));
  asm volatile("" : "+r"(s));
  out[i] = f<3>(i) + 1000 * f<5>(i) + 1000000 * s;
}"""
    out = td.asarray(np.zeros(64, np.int32))
    td.RawKernel(source, "k")((1,), (64,), (out,))
    i = np.arange(64)
    np.testing.assert_array_equal(
        td.asnumpy(out), 3 * i - 7 + 1000 * (5 * i - 7) + 1000000 * (i + 1)
    )


@pytest.mark.parametrize(
    "asm",
    ["frobnicate.u32 %0, %0;", "add.u48 %0, %0, %0;", "add.u32 %0, %0;", "mov.u32 %0, nowhere;"],
)
def test_errors_are_compile_errors(asm):
    source = f'extern "C" __global__ void k(unsigned* p) {{\n  asm("{asm}" : "+r"(*p));\n}}'
    with pytest.raises(td.CompileError):
        td.RawKernel(source, "k").compile()
