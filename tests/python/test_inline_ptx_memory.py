"""Inline PTX: loads and stores, atomic operations, and what threads of a warp and of a block do together."""

import numpy as np
import pytest
from ptx_support import C_TYPES, RNG, constraint, integers, launch, run

# ---- memory


LOADS = [
    "",
    ".ca",
    ".cg",
    ".cs",
    ".cv",
    ".nc",
    ".nc.L1::no_allocate.L2::128B",
    ".volatile",
    ".relaxed.gpu",
    ".acquire.sys",
]
STORES = [
    "",
    ".wb",
    ".cg",
    ".cs",
    ".wt",
    ".L1::evict_last",
    ".volatile",
    ".relaxed.cta",
    ".release.gpu",
]


@pytest.mark.parametrize(
    "t", [*(k + n for n in ("8", "16", "32", "64") for k in "usb"), "f32", "f64"]
)
def test_loads_and_stores(t):
    """With each order and cache hint, single and in vectors."""
    bits = int(t[1:])
    data = RNG.integers(0, 100, 64).astype(f"i{bits // 8}")
    register = t if t[0] == "f" else f"b{max(bits, 16)}"
    letter = {"b16": "h", "b32": "r", "b64": "l", "f32": "f", "f64": "d"}[register]
    c_type = {"h": "short", "r": "int", "l": "long long", "f": "float", "d": "double"}[letter]
    load_to, store_from = (
        f' : "={letter}"(x) : "l"',
        f' :: "l"(out), "{letter}"(x) : "memory"); out += n;',
    )
    body = ""
    for load in LOADS:
        space = ".global" if "nc" in load else ""
        body += f'asm volatile("ld{space}{load}.{t} %0, [%1+{bits // 8}];"{load_to}(in + i - 1) : "memory");'
        body += f'asm volatile("st.{t} [%0], %1;"{store_from}'
    for store in STORES:
        body += f'asm volatile("ld.{t} %0, [%1];"{load_to}(in + i));'
        body += f'asm volatile("st{store}.{t} [%0], %1;"{store_from}'
    lengths = (2, 4) if bits <= 32 else (2,)
    for n in lengths:
        vector = "{" + ", ".join(f"x{k}" for k in range(n)) + "}"
        body += (
            f'if (i % {n} == 0) asm volatile("{{ .reg .{register} x<{n}>; ld.global.v{n}.{t} {vector}, [%0];'
            f" st.global.v{n}.{t} [%1], {vector}; ld.volatile.v{n}.{t} {vector}, [%0];"
            f' st.volatile.v{n}.{t} [%2], {vector}; }}" :: "l"(in + i), "l"(out), "l"(out + n) : "memory");'
            " out += 2 * n;"
        )
    width = {8: "char", 16: "short", 32: "int", 64: "long long"}[bits]
    source = f"""extern "C" __global__ void k({width}* out, const {width}* in) {{
  int i = threadIdx.x, n = 64; {c_type} x; out += i;
  {body}
}}"""
    copies = len(LOADS) + len(STORES) + 2 * len(lengths)
    out, _ = launch(source, 64, np.zeros((copies, 64), data.dtype), data)
    for row, got in enumerate(out):
        np.testing.assert_array_equal(got, data, err_msg=f"row {row}")


def test_wider_registers():
    """Small loads extend to the register, small stores take its lowest bits."""
    data = np.arange(-64, 64, dtype=np.int8)
    source = """extern "C" __global__ void k(long long* out, const char* in, char* back) {
  int i = threadIdx.x; int r; long long l; short h;
  asm volatile("ld.global.s8 %0, [%1];" : "=r"(r) : "l"(in + i)); out[5 * i] = r;
  asm volatile("ld.global.u8 %0, [%1];" : "=l"(l) : "l"(in + i)); out[5 * i + 1] = l;
  asm volatile("ld.global.b8 %0, [%1];" : "=h"(h) : "l"(in + i)); out[5 * i + 2] = h;
  asm volatile("{ .reg .s32 t; ld.global.s8 t, [%1]; cvt.s64.s32 %0, t; }" : "=l"(l) : "l"(in + i)); out[5 * i + 3] = l;
  l += 0x123456789ab00ll;
  asm volatile("st.global.u8 [%0], %1;" :: "l"(back + i), "l"(l) : "memory"); out[5 * i + 4] = 0;
}"""
    out, _, back = launch(source, 128, np.zeros((128, 5), np.int64), data, np.zeros(128, np.int8))
    np.testing.assert_array_equal(out[:, 0], data)
    np.testing.assert_array_equal(out[:, 1], data.view(np.uint8))
    np.testing.assert_array_equal(out[:, 2], data.view(np.uint8))
    np.testing.assert_array_equal(out[:, 3], data)
    np.testing.assert_array_equal(back, data)


def test_shared_memory():
    """32-bit addresses from __cvta_generic_to_shared, generic ones, cvta and isspacep."""
    source = """__constant__ int c;
extern "C" __global__ void k(unsigned* out, int* in) {
  __shared__ int first[3]; __shared__ __align__(16) unsigned s[64];
  unsigned i = threadIdx.x, v, w, flags; unsigned long long p, q; int local = 5;
  first[i % 3] = 0;
  unsigned a = (unsigned)__cvta_generic_to_shared(s);
  asm volatile("st.shared.u32 [%0+4], %1;" :: "r"(a + 4 * i - 4), "r"(3 * i + 1) : "memory");
  __syncthreads();
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a + 4 * (63 - i)) : "memory");
  asm volatile("{ .reg .u64 t; cvta.to.shared.u64 t, %1; ld.shared.u32 %0, [t]; }"
      : "=r"(w) : "l"(s + (i ^ 1)) : "memory");
  asm("cvta.shared.u64 %0, %1;" : "=l"(p) : "l"((unsigned long long)a + 4 * i));
  asm("{ .reg .u64 t; cvta.to.global.u64 t, %1; cvta.global.u64 %0, t; }" : "=l"(q) : "l"(in));
  asm("{ .reg .pred g, h, l; isspacep.shared g, %1; isspacep.global h, %2; isspacep.local l, %3; selp.u32 %0, 1, 0, g;"
      " @h add.u32 %0, %0, 2; @l add.u32 %0, %0, 4; isspacep.global g, %1; @!g add.u32 %0, %0, 8;"
      " isspacep.const g, %4; @g add.u32 %0, %0, 16; }" : "=r"(flags) : "l"(s), "l"(in), "l"(&local), "l"(&c));
  out[4 * i] = v; out[4 * i + 1] = w; out[4 * i + 2] = *(unsigned*)p;
  out[4 * i + 3] = flags + (q == (unsigned long long)in) * 100;
}"""
    out, _ = launch(source, 64, np.zeros((64, 4), np.uint32), np.zeros(1, np.int32))
    i = np.arange(64)
    np.testing.assert_array_equal(out[:, 0], 3 * (63 - i) + 1)
    np.testing.assert_array_equal(out[:, 1], 3 * (i ^ 1) + 1)
    np.testing.assert_array_equal(out[:, 2], 3 * i + 1)
    np.testing.assert_array_equal(out[:, 3], np.full(64, 131))


def test_asynchronous_copies():
    """cp.async with all sizes, with zeros behind the source's bytes; a double-buffered loop; an mbarrier."""
    source = """extern "C" __global__ void k(int* out, const int* in) {
  __shared__ __align__(16) int s[2][4 * 64]; __shared__ unsigned long long barrier;
  int i = threadIdx.x, sum = 0;
  unsigned b = (unsigned)__cvta_generic_to_shared(&barrier);
  if (i == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(b) : "memory");
  auto at = [&](int stage) { return (unsigned)__cvta_generic_to_shared(&s[stage][4 * i]); };
  auto issue = [&](int step) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
        :: "r"(at(step % 2)), "l"(in + 4 * (64 * step + i)) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  issue(0);
  for (int step = 0; step < 4; ++step) {
    if (step < 3) issue(step + 1);
    if (step < 3) asm volatile("cp.async.wait_group %0;" :: "n"(1) : "memory");
    else asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    sum = sum * 3 + s[step % 2][4 * (63 - i)];
    __syncthreads();
  }
  out[3 * i] = sum;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(at(0)), "l"(in + 2 * i), "r"(4) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(b) : "memory");
  asm volatile("{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra WAIT; }"
      :: "r"(b) : "memory");
  out[3 * i + 1] = s[0][4 * (i ^ 7)] + 1000 * s[0][4 * (i ^ 7) + 1];
  unsigned long long state; int done = 0;
  __syncthreads();
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
  while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                             : "=r"(done) : "r"(b), "l"(state) : "memory");
  out[3 * i + 2] = done;
}"""
    data = RNG.integers(1, 100, 1024, np.int32)
    out, _ = launch(source, 64, np.zeros((64, 3), np.int32), data)
    i = np.arange(64)
    steps = [data[4 * (64 * step + 63 - i)] for step in range(4)]
    np.testing.assert_array_equal(
        out[:, 0], ((steps[0] * 3 + steps[1]) * 3 + steps[2]) * 3 + steps[3]
    )
    np.testing.assert_array_equal(out[:, 1], data[2 * (i ^ 7)])
    np.testing.assert_array_equal(out[:, 2], np.ones(64))


def test_hints():
    """What only steers caches has no effect on values."""
    source = """extern "C" __global__ void k(int* out, const int* in) {
  int i = threadIdx.x, v, w; unsigned long long policy;
  asm volatile("prefetch.global.L2 [%0]; prefetch.global.L1 [%0]; prefetchu.L1 [%0];" :: "l"(in + i));
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.nc.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(v) : "l"(in + i), "l"(policy));
  asm volatile("ldu.global.s32 %0, [%1];" : "=r"(w) : "l"(in + i));
  asm volatile("nanosleep.u32 20;");
  out[i] = v + 2 * w;
}"""
    data = np.arange(64, dtype=np.int32)
    out, _ = launch(source, 64, np.zeros(64, np.int32), data)
    np.testing.assert_array_equal(out, 3 * data)


# ---- atomic operations


@pytest.mark.parametrize("space", ["", ".global", ".shared"])
@pytest.mark.parametrize(
    "order", ["", ".relaxed.gpu", ".acquire.cta", ".release.sys", ".acq_rel.gpu"]
)
def test_atomics(space, order):
    """All operations, at addresses that threads share, with and without the old value."""
    operations = {
        "add.u32": (np.uint32, np.add), "add.s32": (np.int32, np.add), "add.u64": (np.uint64, np.add),
        "add.f32": (np.float32, np.add), "add.f64": (np.float64, np.add),
        "min.u32": (np.uint32, np.minimum), "max.s32": (np.int32, np.maximum), "min.s64": (np.int64, np.minimum),
        "max.u64": (np.uint64, np.maximum), "and.b32": (np.uint32, np.bitwise_and),
        "or.b64": (np.uint64, np.bitwise_or),
        "xor.b32": (np.uint32, np.bitwise_xor),
    }  # fmt: skip
    for operation, (dtype, function) in operations.items():
        values = RNG.integers(0, 100, 96).astype(dtype)
        start = np.full(8, 50, dtype)
        c, letter = C_TYPES[dtype], constraint(dtype)
        at = "r" if space == ".shared" else "l"
        address = (
            "(unsigned)__cvta_generic_to_shared(s + i % 8)"
            if space == ".shared"
            else ("p + i % 8" if space else "(i % 2 ? p + i % 8 : s + i % 8)")
        )
        red = order if order in ("", ".relaxed.gpu", ".release.sys") else ""
        source = f"""extern "C" __global__ void k({c}* p, const {c}* in, {c}* old) {{
  __shared__ {c} s[8]; int i = threadIdx.x;
  if (i < 8) s[i] = 50;
  __syncthreads();
  asm volatile("atom{order}{space}.{operation} %0, [%1], %2;"
      : "={letter}"(old[i]) : "{at}"({address}), "{letter}"(in[i]) : "memory");
  asm volatile("red{red}{space}.{operation} [%0], %1;" :: "{at}"({address}), "{letter}"(in[i]) : "memory");
  __syncthreads();
  if (i < 8) p[8 + i] = s[i];
}}"""
        p, _, old = launch(source, 96, np.concatenate([start, start]), values, np.zeros(96, dtype))
        expected = [start.copy(), start.copy()]
        for _ in range(2):
            for i, v in enumerate(values):
                where = 1 if space == ".shared" else 0 if space == ".global" else 1 - i % 2
                expected[where][i % 8] = function(expected[where][i % 8], v)
        np.testing.assert_array_equal(p, np.concatenate(expected), err_msg=operation)
        if operation.startswith("add"):
            first = old.astype(np.float64) - 50
            assert (first >= 0).all() and (first <= values.sum() * 2.0).all()


def test_exchange_compare_and_count():
    source = """extern "C" __global__ void k(unsigned* p, unsigned long long* q, unsigned short* h, unsigned* old) {
  int i = threadIdx.x; unsigned o, mine = i + 1, seen = 0;
  asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old[i]) : "l"(p), "r"(mine) : "memory");
  for (bool done = false; !done;) {
    asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
        : "=r"(o) : "l"(p + 1), "r"(seen), "r"(seen + mine) : "memory");
    done = o == seen; seen = o;
  }
  unsigned long long w, last = 0;
  do {
    w = last;
    asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
        : "=l"(last) : "l"(q), "l"(w), "l"(w + (1ull << 32)) : "memory");
  } while (last != w);
  asm volatile("atom.inc.u32 %0, [%1], 9;" : "=r"(old[64 + i]) : "l"(p + 2) : "memory");
  asm volatile("atom.dec.u32 %0, [%1], 9;" : "=r"(o) : "l"(p + 3) : "memory");
  unsigned short t, before = 7;
  if (i == 0) { asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
      : "=h"(t) : "l"(h), "h"(before), "h"((unsigned short)9) : "memory"); old[128] = t; }
}"""
    p, q, h, old = launch(
        source,
        64,
        np.zeros(4, np.uint32),
        np.zeros(1, np.uint64),
        np.array([7, 8], np.uint16),
        np.zeros(129, np.uint32),
    )
    assert sorted([*old[:64], p[0]]) == list(range(65))
    assert p[1] == 64 * 65 // 2
    assert q[0] == 64 << 32
    np.testing.assert_array_equal(
        np.bincount(old[64:128], minlength=10), [7, 7, 7, 7, 6, 6, 6, 6, 6, 6]
    )
    assert p[2] == 4 and p[3] == (0 - 64) % 10
    assert list(h) == [9, 8] and old[128] == 7


@pytest.mark.parametrize("t", ["f16", "f16x2", "bf16", "bf16x2"])
def test_half_atomics(t):
    """Small integers, whose sums are exact."""
    header = "cuda_fp16.h" if t.startswith("f") else "cuda_bf16.h"
    one = np.array([1], np.float16).view(np.uint16)[0] if t.startswith("f") else np.uint16(0x3F80)
    c, letter, n = ("unsigned", "r", 2) if t.endswith("x2") else ("unsigned short", "h", 1)
    source = f"""#include <{header}>
extern "C" __global__ void k(unsigned short* p, const unsigned short* one) {{
  {c} v, old;
  memcpy(&v, one, sizeof v);
  asm volatile("atom.global.add.noftz.{t} %0, [%1], %2;" : "={letter}"(old) : "l"(p), "{letter}"(v) : "memory");
  asm volatile("red.global.add.noftz.{t} [%0], %1;" :: "l"(p), "{letter}"(v) : "memory");
}}"""
    p, _ = launch(source, 64, np.zeros(2, np.uint16), np.full(2, one, np.uint16))
    total = (
        p.view(np.float16).astype(np.float32)
        if t.startswith("f")
        else (p.astype(np.uint32) << 16).view(np.float32)
    )
    np.testing.assert_array_equal(total, [128.0, 128.0 if n == 2 else 0.0])


def test_fences():
    """A message through memory: the flag follows the data."""
    source = """extern "C" __global__ void k(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      data[0] = 42;
      asm volatile("membar.gl; fence.acq_rel.gpu; fence.sc.sys; membar.cta;" ::: "memory");
      asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
    }
  } else {
    int seen = 0;
    while (!seen) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    out[threadIdx.x] = data[0];
  }
}"""
    *_, out = launch(
        source, 32, np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(32, np.int32), grid=2
    )
    np.testing.assert_array_equal(out, np.full(32, 42))


# ---- warps and blocks


def test_shuffles():
    """All modes with all segment widths against the manual's rules, the predicate too; against the CUDA function."""
    value = RNG.integers(0, 2**32, 32, np.uint64).astype(np.uint32)
    lane = np.arange(32)
    twin = {
        "up": "__shfl_up_sync",
        "down": "__shfl_down_sync",
        "bfly": "__shfl_xor_sync",
        "idx": "__shfl_sync",
    }
    for mode, function in twin.items():
        for width in (2, 8, 32):
            for b in (0, 1, 3, 9, 31):
                c = (32 - width) << 8 | (0 if mode == "up" else 31)
                source = f"""extern "C" __global__ void k(unsigned* out, const unsigned* in) {{
  unsigned i = threadIdx.x, v, p;
  asm volatile("{{ .reg .pred q; shfl.sync.{mode}.b32 %0|q, %2, %3, {c:#x}, 0xffffffff; selp.u32 %1, 1, 0, q; }}"
               : "=r"(v), "=r"(p) : "r"(in[i]), "r"({b}));
  out[i] = v; out[32 + i] = p; out[64 + i] = {function}(~0u, in[i], {b}, {width});
  asm volatile("shfl.sync.{mode}.b32 %0, %1, %2, %3, -1;" : "=r"(v) : "r"(in[i]), "n"({b}), "n"({c}));
  out[96 + i] = v;
}}"""
                out, _ = launch(source, 32, np.zeros((4, 32), np.uint32), value)
                low, high = lane & ~(width - 1), lane | (width - 1)
                j = {
                    "up": lane - b,
                    "down": lane + b,
                    "bfly": lane ^ b,
                    "idx": low | b & (width - 1),
                }[mode]
                inside = j >= low if mode == "up" else j <= high
                np.testing.assert_array_equal(
                    out[0], value[np.where(inside, j, lane)], err_msg=f"{mode} {width} {b}"
                )
                np.testing.assert_array_equal(out[1], inside)
                np.testing.assert_array_equal(out[2], out[0])
                np.testing.assert_array_equal(out[3], out[0])


def test_votes_and_matches():
    source = """extern "C" __global__ void k(unsigned* out, const unsigned* in) {
  unsigned i = threadIdx.x, v = in[i], a, b, c, d, e, f, g, h; int s;
  asm volatile("{ .reg .pred p, q; setp.gt.u32 p, %5, 3; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q;"
               " vote.sync.any.pred q, p, -1; selp.u32 %1, 1, 0, q;"
               " vote.sync.uni.pred q, !p, -1; selp.u32 %2, 1, 0, q;"
               " vote.sync.ballot.b32 %3, p, -1; match.any.sync.b32 %4, %5, -1; }"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d), "=r"(e) : "r"(v));
  asm volatile("{ .reg .pred p; .reg .b64 t; mov.b64 t, {%2, %2}; match.all.sync.b64 %0|p, t, -1;"
               " selp.u32 %1, 1, 0, p; }"
               : "=r"(f), "=r"(g) : "r"(v));
  asm volatile("activemask.b32 %0;" : "=r"(h));
  out[i] = a | b << 1 | c << 2 | g << 3; out[64 + i] = d; out[128 + i] = e; out[192 + i] = f; out[256 + i] = h;
  asm volatile("{ .reg .u32 t; redux.sync.add.s32 %0, %1, -1; redux.sync.min.u32 t, %1, -1;"
               " add.u32 %0, %0, t;"
               " redux.sync.max.s32 t, %1, -1; mad.lo.u32 %0, %0, 16, t; redux.sync.xor.b32 t, %1, -1;"
               " mad.lo.u32 %0, %0, 16, t; }"
               : "=r"(s) : "r"(v));
  out[320 + i] = s;
  asm volatile("{ .reg .pred p; elect.sync %0|p, -1; @p add.u32 %0, %0, 100; }" : "=r"(a));
  out[384 + i] = a;
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}"""
    for low, high in ((0, 8), (4, 8), (5, 6)):
        v = RNG.integers(low, high, 64).astype(np.uint32)
        out, _ = launch(source, 64, np.zeros((7, 64), np.uint32), v)
        for warp in (slice(0, 32), slice(32, 64)):
            x = v[warp]
            p = x > 3
            same = len(set(x)) == 1
            votes = p.all() | p.any() * 2 | (p.all() or not p.any()) * 4 | same * 8
            np.testing.assert_array_equal(out[0][warp], np.full(32, votes))
            np.testing.assert_array_equal(
                out[1][warp], np.full(32, sum(1 << k for k in range(32) if p[k]))
            )
            matches = [sum(1 << k for k in range(32) if x[k] == y) for y in x]
            np.testing.assert_array_equal(out[2][warp], matches)
            np.testing.assert_array_equal(out[3][warp], np.full(32, 0xFFFFFFFF if same else 0))
            np.testing.assert_array_equal(out[4][warp], np.full(32, 0xFFFFFFFF))
            total = (int(x.sum()) + int(x.min())) * 16 + int(x.max())
            np.testing.assert_array_equal(
                out[5][warp], np.full(32, total * 16 + int(np.bitwise_xor.reduce(x)))
            )
            leaders = out[6][warp]
            assert (leaders == 100 + leaders % 100).sum() == 1 and len(set(leaders % 100)) == 1


def test_block_barriers():
    """bar.sync 0, by number, with a number of threads, halves of a pair, and the reductions."""
    source = """extern "C" __global__ void k(int* out) {
  __shared__ int s[128]; int i = threadIdx.x, count; unsigned both, any;
  s[i] = i; asm volatile("bar.sync 0;" ::: "memory"); int x = s[127 - i];
  asm volatile("barrier.sync 0;" ::: "memory");
  s[i] = 2 * i; asm volatile("barrier.sync.aligned 3;" ::: "memory"); x += s[i ^ 64];
  asm volatile("bar.sync 0;" ::: "memory");
  if (i < 64) { s[i] = 5 * i; asm volatile("bar.sync 1, 64;" ::: "memory"); x += s[63 - i]; }
  asm volatile("bar.sync 0;" ::: "memory");
  if (i < 64) { s[i] = 7 * i; asm volatile("membar.cta; bar.arrive 2, 128;" ::: "memory"); }
  else { asm volatile("bar.sync %0, %1;" :: "r"(2), "r"(128) : "memory"); x += s[i - 64]; }
  asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %3, 40; bar.red.popc.u32 %0, 0, p; bar.red.and.pred q, 0, p;"
               " selp.u32 %1, 1, 0, q; bar.red.or.pred q, 0, p; selp.u32 %2, 1, 0, q; }"
               : "=r"(count), "=r"(both), "=r"(any) : "r"(i) : "memory");
  out[i] = x; out[128 + i] = count + 1000 * both + 10000 * any;
}"""
    (out,) = launch(source, 128, np.zeros((2, 128), np.int32))
    i = np.arange(128)
    expected = (127 - i) + 2 * (i ^ 64) + np.where(i < 64, 5 * (63 - i), 7 * (i - 64))
    np.testing.assert_array_equal(out[0], expected)
    np.testing.assert_array_equal(out[1], np.full(128, 10040))


def test_video_instructions():
    a, b, c = integers("u32"), integers("u32", salt=1), integers("u32", salt=2)
    bytes_a, bytes_b = (x.view(np.uint8).reshape(-1, 4).astype(np.int64) for x in (a, b))
    distances = abs(bytes_a - bytes_b)
    (got,) = run("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;", [np.uint32], [a, b, c])
    np.testing.assert_array_equal(got, (distances.sum(1) + c).astype(np.uint32))
    (got,) = run("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;", [np.uint32], [a, b, c])
    np.testing.assert_array_equal(got.view(np.uint8).reshape(-1, 4), distances)
    counts = RNG.integers(0, 70, 400, np.uint32)
    (got,) = run("vshr.u32.u32.u32.clamp.add %0, %1, %2, %3;", [np.uint32], [a, counts, c])
    shifted = a.astype(np.uint64) >> np.minimum(counts, 32).astype(np.uint64)
    np.testing.assert_array_equal(got, (shifted + c).astype(np.uint32))
    for name, op in {
        "vadd": np.add,
        "vsub": np.subtract,
        "vmin": np.minimum,
        "vmax": np.maximum,
    }.items():
        exact = op(a.astype(np.int64), b.view(np.int32).astype(np.int64))
        (got,) = run(f"{name}.s32.u32.s32.sat %0, %1, %2;", [np.int32], [a, b])
        np.testing.assert_array_equal(got, np.clip(exact, -(2**31), 2**31 - 1), err_msg=name)
        (got,) = run(f"{name}.u32.u32.s32.add %0, %1, %2, %3;", [np.uint32], [a, b, c])
        np.testing.assert_array_equal(got, exact.astype(np.uint32) + c, err_msg=name)
    (got,) = run("vmin.u32.u32.u32.max %0, %1, %2, %3;", [np.uint32], [a, b, c])
    np.testing.assert_array_equal(got, np.maximum(np.minimum(a, b), c))
