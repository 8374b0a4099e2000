"""Atomics, warp operations with member masks, the kernels' heap and questions about addresses: values against NumPy."""

import numpy as np
import pytest
import treadle as td

RNG = np.random.default_rng(7)


def run(source, name, grid, block, *arrays, scalars=()):
    """Launches the kernel on copies of the arrays; returns them as the kernel left them."""
    on_device = [td.asarray(a) for a in arrays]
    td.RawKernel(source, name)((grid,), (block,), (*on_device, *scalars))
    return [td.asnumpy(a) for a in on_device]


# ---- atomics ----

INTEGERS = {
    "int": np.int32,
    "unsigned": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
}
REDUCTIONS = {
    "atomicAdd": np.add,
    "atomicSub": np.subtract,
    "atomicMin": np.minimum,
    "atomicMax": np.maximum,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
}


@pytest.mark.parametrize("c_type", INTEGERS)
@pytest.mark.parametrize("scope", ["", "_block", "_system"])
def test_integer_atomics(c_type, scope):
    """Every operation, at one address and at many, with the old value used and not."""
    dtype, n, bins = INTEGERS[c_type], 517, 7
    missing = {"long long": ("atomicAdd", "atomicSub"), "unsigned long long": ("atomicSub",)}.get(
        c_type, ()
    )
    names = [name for name in REDUCTIONS if name not in missing]
    body = "".join(
        f"{name}{scope}(one + {k}, v); {name}{scope}(many + {k * bins} + i % {bins}, v);"
        f"old[{k} * n + i] = {name}{scope}(again + {k}, v);"
        for k, name in enumerate(names)
    )
    source = (
        f'extern "C" __global__ void k(const {c_type}* in, {c_type}* one, {c_type}* many, {c_type}* again,'
        f"{c_type}* old, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) {{"
        f"const {c_type} v = in[i]; {body} }} }}"
    )
    info = np.iinfo(dtype)
    values = RNG.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    start = RNG.integers(info.min, info.max, len(names), dtype=dtype, endpoint=True)
    block = 128
    _, one, many, again, old = run(
        source,
        "k",
        -(-n // block),
        block,
        values,
        start,
        np.repeat(start, bins),
        start,
        np.zeros(len(names) * n, dtype),
        scalars=(np.int32(n),),
    )
    with np.errstate(over="ignore"):
        for k, name in enumerate(names):
            op = REDUCTIONS[name]
            total = start[k]
            for v in values:
                total = op(total, v)
            assert one[k] == total and again[k] == total, name
            for b in range(bins):
                expected = start[k]
                for v in values[b::bins]:
                    expected = op(expected, v)
                assert many[k * bins + b] == expected, name
            # The old values are those of some order: what each thread saw and its own value lead to another's.
            seen = old[k * n : (k + 1) * n]
            after = np.array([op(s, v) for s, v in zip(seen, values)], dtype=dtype)
            if name in ("atomicAdd", "atomicSub", "atomicXor"):
                assert sorted([*seen, total]) == sorted([*after, start[k]]), name
            else:
                assert set(after) <= {*seen, total}, name


def test_counter_gives_each_thread_its_own_place():
    source = """
    extern "C" __global__ void pack(const int* in, int* count, int* out, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] % 3 == 0) out[atomicAdd(count, 1)] = in[i];
    }
    extern "C" __global__ void ranges(const int* in, int* count, int* first, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) first[i] = atomicAdd(count, in[i] & 15);
    }"""
    values = RNG.integers(0, 1000, 1003).astype(np.int32)
    _, count, out = run(
        source,
        "pack",
        3,
        96,
        values,
        np.zeros(1, np.int32),
        np.full(1003, -1, np.int32),
        scalars=(1003,),
    )
    wanted = np.sort(values[values % 3 == 0])
    assert count[0] == len(wanted)
    assert np.array_equal(np.sort(out[: count[0]]), wanted) and (out[count[0] :] == -1).all()
    _, count, first = run(
        source,
        "ranges",
        11,
        96,
        values,
        np.zeros(1, np.int32),
        np.full(1003, -1, np.int32),
        scalars=(1003,),
    )
    taken = np.zeros(count[0], int)
    for at, v in zip(first, values):
        taken[at : at + (v & 15)] += 1
    assert (taken == 1).all() and count[0] == (values & 15).sum()


@pytest.mark.parametrize("c_type, dtype", [("float", np.float32), ("double", np.float64)])
@pytest.mark.parametrize("where", ["global", "shared"])
def test_float_sum_of_a_warp_is_in_order_of_lanes(c_type, dtype, where, software):
    """At one address the software device adds lane after lane, each sum rounded."""
    sum_of = "sum" if where == "global" else "s"
    source = f"""
    extern "C" __global__ void k(const {c_type}* in, {c_type}* sum, int n) {{
      __shared__ {c_type} s[1];
      if (threadIdx.x == 0) s[0] = sum[0];
      __syncthreads();
      if (threadIdx.x < n) atomicAdd({sum_of}, in[threadIdx.x]);
      __syncthreads();
      if (threadIdx.x == 0 && {int(where == "shared")}) sum[0] = s[0];
    }}"""
    for n in (1, 5, 31, 32):
        values = (RNG.standard_normal(32) * 10.0 ** RNG.integers(-6, 6, 32)).astype(dtype)
        _, total = run(source, "k", 1, 32, values, np.full(1, 0.1, dtype), scalars=(n,))
        expected = dtype(0.1)
        for v in values[:n]:
            expected = dtype(expected + v)
        if software:
            assert total[0] == expected
        else:
            np.testing.assert_allclose(total[0], expected, rtol=1e-4)


def test_inc_dec_and_exchange():
    source = """
    extern "C" __global__ void k(unsigned* up, unsigned* down, float* last, unsigned long long* d,
                                 unsigned* seen, float* old) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      seen[i] = atomicInc(up, 9);
      atomicDec(down, 6);
      old[i] = atomicExch(last, (float)i);
      atomicExch(d, (unsigned long long)i);
    }"""
    n = 3 * 50
    up, down, last, d, seen, old = run(
        source,
        "k",
        3,
        50,
        np.array([4], np.uint32),
        np.array([100], np.uint32),
        np.array([-1], np.float32),
        np.zeros(1, np.uint64),
        np.zeros(n, np.uint32),
        np.zeros(n, np.float32),
    )
    u, v, seen_by_one = 4, 100, []
    for _ in range(n):
        seen_by_one.append(u)
        u = 0 if u >= 9 else u + 1
        v = 6 if v == 0 or v > 6 else v - 1
    assert (up[0], down[0]) == (u, v) and sorted(seen) == sorted(seen_by_one)
    assert sorted([*old, last[0]]) == [-1, *range(n)] and 0 <= d[0] < n


def test_compare_and_swap_of_all_sizes():
    """A lock-free maximum by compare and swap in 16 to 128 bits, contended within warps and between blocks."""
    source = """
    template <class T> __device__ void raise(T* p, T v) {
      T old = *(volatile T*)p;
      while (old < v) { T seen = atomicCAS(p, old, v); if (seen == old) break; old = seen; }
    }
    struct alignas(16) Pair { unsigned long long key, payload; };
    extern "C" __global__ void k(const int* in, unsigned short* h, int* i, unsigned long long* l, Pair* wide, int n) {
      int at = blockIdx.x * blockDim.x + threadIdx.x;
      if (at >= n) return;
      raise(h, (unsigned short)in[at]);
      raise(i, in[at]);
      raise(l, (unsigned long long)in[at] << 33);
      Pair old = atomicCAS(wide, Pair{~0ull, 0}, Pair{0, 0});
      while (old.key < (unsigned long long)in[at]) {
        Pair seen = atomicCAS(wide, old, Pair{(unsigned long long)in[at], 3ull * in[at]});
        if (seen.key == old.key && seen.payload == old.payload) break;
        old = seen;
      }
    }"""
    values = RNG.integers(0, 60000, 333).astype(np.int32)
    _, h, i, wide_l, wide = run(
        source,
        "k",
        4,
        96,
        values,
        np.zeros(2, np.uint16),
        np.zeros(1, np.int32),
        np.zeros(1, np.uint64),
        np.zeros(2, np.uint64),
        scalars=(333,),
    )
    top = values.max()
    assert (h[0], h[1], i[0], wide_l[0] >> np.uint64(33)) == (top, 0, top, top)
    assert tuple(wide) == (top, 3 * top)


def test_vector_and_half_sums():
    source = """
    #include <cuda_fp16.h>
    extern "C" __global__ void k(const float* in, float4* four, float2* two, __half* h, __half2* h2, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      float v = in[i];
      atomicAdd(four + i % 2, make_float4(v, 2 * v, 3 * v, 4 * v));
      float2 old = atomicAdd(two, make_float2(v, -v));
      if (old.x + old.y != 0) two[1].x = 1;
      atomicAdd(h, __float2half(v));
      atomicAdd(h2, __floats2half2_rn(v, 1.0f));
    }"""
    values = RNG.integers(0, 4, 200).astype(np.float32)  # sums that are exact in half
    _, four, two, h, h2 = run(
        source,
        "k",
        3,
        70,
        values,
        np.zeros(8, np.float32),
        np.zeros(4, np.float32),
        np.zeros(1, np.float16),
        np.zeros(2, np.float16),
        scalars=(200,),
    )
    for side in range(2):
        assert np.array_equal(
            four[4 * side : 4 * side + 4], values[side::2].sum() * np.arange(1, 5)
        )
    assert np.array_equal(two, [values.sum(), -values.sum(), 0, 0])
    assert h[0] == values.sum() and np.array_equal(h2, [values.sum(), 200])


def test_nv_atomic_family():
    source = """
    extern "C" __global__ void k(int* i, unsigned* f, unsigned* b, long long* d, int* out) {
      int t = threadIdx.x;
      __nv_atomic_fetch_add(i, t, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_fetch_max(f, (unsigned)t, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
      __nv_atomic_min(d, -(long long)t, __NV_ATOMIC_RELAXED);
      __nv_atomic_fetch_xor(b, (unsigned)t, __NV_ATOMIC_RELAXED);
      int expected = -1, mine = t;
      __nv_atomic_compare_exchange(i + 1, &expected, &mine, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED);
      out[t] = expected;
      __nv_atomic_store_n(i + 2, 77, __NV_ATOMIC_RELEASE);
      __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST);
      int got;
      __nv_atomic_load(i + 2, &got, __NV_ATOMIC_ACQUIRE);
      if (got != 77) out[0] = 1000;
    }"""
    i, f, b, d, out = run(
        source,
        "k",
        1,
        77,
        np.array([5, -1, 0], np.int32),
        np.array([3], np.uint32),
        np.array([1, 9], np.uint32),
        np.array([4], np.int64),
        np.zeros(77, np.int32),
    )
    winner = i[1]
    assert (i[0], i[2], f[0], d[0]) == (5 + sum(range(77)), 77, 76, -76)
    assert b[0] == np.bitwise_xor.reduce(np.arange(77), initial=1) and b[1] == 9
    assert out[winner] == -1 and (np.delete(out, winner) == winner).all()


# ---- warp operations whose member masks vary ----


def test_reduce_and_match_with_masks_that_vary():
    source = """
    extern "C" __global__ void k(const int* in, const int* group, int* sum, int* least, unsigned* bits,
                                 unsigned* same) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      unsigned members = __match_any_sync(__activemask(), group[t]);
      sum[t] = __reduce_add_sync(members, in[t]);
      least[t] = __reduce_min_sync(members, in[t]);
      bits[t] = __reduce_xor_sync(members, (unsigned)in[t]);
      int all = 7;
      unsigned equal = __match_all_sync(members, in[t] & 1, &all);
      same[t] = equal == members ? all : equal == 0 && all == 0 ? 0 : 1000;
    }"""
    block, grid = 80, 2  # the last warp of a block is half full
    n = block * grid
    values = RNG.integers(-50, 50, n).astype(np.int32)
    groups = RNG.integers(0, 6, n).astype(np.int32)
    _, _, total, least, bits, same = run(
        source,
        "k",
        grid,
        block,
        values,
        groups,
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, np.uint32),
        np.zeros(n, np.uint32),
    )
    warp = np.arange(n) // block * 100 + np.arange(n) % block // 32
    for t in range(n):
        mine = values[(warp == warp[t]) & (groups == groups[t])]
        assert (total[t], least[t]) == (mine.sum(), mine.min())
        assert bits[t] == np.bitwise_xor.reduce(mine.view(np.uint32))
        assert same[t] == (len(set(mine & 1)) == 1)


def test_find_nth_set():
    source = """
    extern "C" __global__ void k(const unsigned* mask, const int* base, const int* offset, unsigned* out, int n) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t < n) out[t] = __fns(mask[t], base[t], offset[t]);
    }"""
    n = 1000
    masks = RNG.integers(0, 2**32, n, dtype=np.uint32)
    bases, offsets = (
        RNG.integers(0, 32, n).astype(np.int32),
        RNG.integers(-9, 10, n).astype(np.int32),
    )
    out = run(source, "k", 8, 128, masks, bases, offsets, np.zeros(n, np.uint32), scalars=(n,))[3]
    for mask, base, offset, got in zip(masks, bases, offsets, out):
        bits = [b for b in range(32) if mask >> b & 1]
        if offset > 0:
            bits = [b for b in bits if b >= base]
        elif offset < 0:
            bits = [b for b in bits if b <= base][::-1]
        else:
            bits, offset = [b for b in bits if b == base], 1
        wanted = bits[abs(offset) - 1] if len(bits) >= abs(offset) else 0xFFFFFFFF
        assert got == wanted


# ---- device heap ----

HEAP = """
struct Node { int value; Node* next; };
extern "C" __global__ void build(Node** heads, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  Node* head = nullptr;
  for (int i = 0; i < length + t % 3; ++i) head = new Node{t * 100 + i, head};
  heads[t] = head;
}
extern "C" __global__ void sum_and_free(Node** heads, int* sums) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (Node* at = heads[t]; at;) { Node* next = at->next; sum += at->value; delete at; at = next; }
  sums[t] = sum;
}
extern "C" __global__ void fill(char** pieces, int* got, int bytes) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  char* p = (char*)malloc(bytes);
  if (p) { memset(p, t, bytes); atomicAdd(got, 1); if ((unsigned long long)p % 16) atomicAdd(got + 1, 1); }
  pieces[t] = p;
}
extern "C" __global__ void check(char** pieces, int* wrong, int bytes) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  char* p = pieces[t];
  if (!p) return;
  for (int i = 0; i < bytes; ++i) if (p[i] != (char)t) atomicAdd(wrong, 1);
  free(p);
}
extern "C" __global__ void no_memory(int* out) {
  out[0] = new char[1 << 30] == nullptr;
  void *nothing = malloc(0), *more = malloc(0);
  out[1] = nothing != nullptr && more != nullptr && nothing != more;
  free(nothing);
  free(more);
#ifdef __TREADLE__  // a GPU has no calloc
  out[2] = calloc(1ull << 62, 16) == nullptr;
  int* zeros = (int*)calloc(10, sizeof(int));
  out[3] = zeros[0] == 0 && zeros[9] == 0;
  free(zeros);
#else
  out[2] = out[3] = 1;
#endif
  free(nullptr);
  delete (int*)nullptr;
}
extern "C" __global__ void twice(int** p) { int* q = new int[4]; delete[] q;
  delete[] q; }
"""


def test_heap_memory_lives_across_launches():
    module = td.RawModule(code=HEAP)
    n = 3 * 70
    heads, sums = td.zeros(n, np.uint64), td.zeros(n, np.int32)
    for _ in range(2):
        module.get_function("build")((3,), (70,), (heads, 5))
        module.get_function("sum_and_free")((3,), (70,), (heads, sums))
    wanted = [sum(t * 100 + i for i in range(5 + t % 3)) for t in range(n)]
    assert np.array_equal(td.asnumpy(sums), wanted)


def test_heap_runs_out_and_can_be_used_again():
    """8 MiB by default: pieces of 48 KiB do not all fit; all that was given is intact and comes back by free."""
    module = td.RawModule(code=HEAP)
    n, size = 256, 48 * 1024
    for _ in range(3):
        pieces, got, wrong = td.zeros(n, np.uint64), td.zeros(2, np.int32), td.zeros(1, np.int32)
        module.get_function("fill")((4,), (64,), (pieces, got, size))
        module.get_function("check")((4,), (64,), (pieces, wrong, size))
        given = td.asnumpy(got)
        assert 100 < given[0] <= 8 * 2**20 // size and given[1] == 0
        assert np.count_nonzero(td.asnumpy(pieces)) == given[0] and wrong.item() == 0
    out = td.zeros(4, np.int32)
    module.get_function("no_memory")((1,), (1,), (out,))
    assert td.asnumpy(out).tolist() == [1, 1, 1, 1]


def test_double_free_is_an_error_with_its_line(python, software):
    if not software:
        pytest.skip("a GPU reports it in its own words")
    code = f"""
import numpy as np, treadle as td
p = td.zeros(1, np.uint64)
td.RawModule(code={HEAP!r}).get_function("twice")((1,), (1,), (p,))
try:
    td.asnumpy(p)
except td.CUDAError as error:
    print(error)
"""
    done = python(code)
    line = HEAP[: HEAP.index("  delete[] q; }")].count("\n") + 1
    assert "not a live allocation of the kernels' heap" in done.stdout, done.stdout + done.stderr
    assert f"line {line}" in done.stdout or f":{line}" in done.stdout, done.stdout


# ---- memory and strings ----


def test_memory_and_string_functions(software):
    if not software:
        pytest.skip("a GPU has the memory functions only")
    source = r"""
    #include <cstring>
    extern "C" __global__ void k(signed char* text_, int* out, signed char* copies_) {
      int t = threadIdx.x;
      char *text = (char*)text_, *copies = (char*)copies_;
      char* mine = text + 16 * t;
      char* copy = copies + 16 * t;
      out[8 * t] = (int)strlen(mine);
      out[8 * t + 1] = strcmp(mine, "delta");
      out[8 * t + 2] = strncmp(mine, "dello", 4);
      out[8 * t + 3] = memcmp(mine, text, 16);
      const char* l = strchr(mine, 'l');
      out[8 * t + 4] = l ? (int)(l - mine) : -1;
      const char* e = strrchr(mine, 'e');
      out[8 * t + 5] = e ? (int)(e - mine) : -1;
      const char* s = strstr(mine, "et");
      out[8 * t + 6] = s ? (int)(s - mine) : -1;
      strcpy(copy, mine); strcat(copy, "!");
      memmove(copy + 1, copy, 14);
      const void* z = memchr(mine, 0, 16);
      out[8 * t + 7] = (int)((const char*)z - mine);
    }"""
    words = [b"alpha", b"beta", b"gamma", b"delta", b"delt", b"dell", b"", b"zeta", b"deletee"]
    text = np.zeros(16 * len(words), np.int8)
    for i, w in enumerate(words):
        text[16 * i : 16 * i + len(w)] = list(w)
    _, out, copies = run(
        source, "k", 1, len(words), text, np.zeros(8 * len(words), np.int32), np.zeros_like(text)
    )

    def sign(a, b):
        return (a > b) - (a < b)

    for i, w in enumerate(words):
        first = bytes(text[:16])
        mine = bytes(text[16 * i : 16 * i + 16])
        wanted = [
            len(w),
            sign(w, b"delta"),
            sign(w[:4], b"dell"),
            sign(mine, first),
            w.find(b"l"),
            w.rfind(b"e"),
            w.find(b"et"),
            len(w),
        ]
        assert out[8 * i : 8 * i + 8].tolist() == wanted, w
        copy = w + b"!"
        assert bytes(copies[16 * i : 16 * i + len(copy) + 1]) == copy[:1] + copy


# ---- addresses and hints ----


def test_address_spaces():
    source = """
    __constant__ int constants[4] = {1, 2, 3, 4};
    __device__ int variable;
    struct Big { int a[8]; };
    extern "C" __global__ void __launch_bounds__(64, 2) k(int* out, int at, const __grid_constant__ Big big) {
      __shared__ int s[32];
      extern __shared__ int dynamic[];
      int local[4];
      local[at] = at;
      s[threadIdx.x % 32] = local[at & 3];
      const void* p[] = {out, &variable, s + 3, dynamic, local, constants + at, nullptr};
      for (int i = 0; i < 7; ++i)
        out[7 * threadIdx.x + i] = __isGlobal(p[i]) | __isShared(p[i]) << 1 | __isLocal(p[i]) << 2 |
                                   __isConstant(p[i]) << 3;
      unsigned shared = (unsigned)__cvta_generic_to_shared(&s[5]);
      *(int*)__cvta_shared_to_generic(shared) = 55;
      int* g = (int*)__cvta_global_to_generic(__cvta_generic_to_global(out));
      if (big.a[7] != 0) out[0] = -2;
      if (s[5] != 55 || g != out || shared >= 228 * 1024) out[0] = -1;
      __builtin_assume(at == 2);
      #ifdef __TREADLE__
      __assume(at >= 0);
      #endif
      if (at != 2) __builtin_unreachable();
    }"""
    kernel = td.RawKernel(source, "k")
    out = td.zeros(7 * 33, np.int32)
    kernel((1,), (33,), (out, 2, np.zeros(1, np.dtype([("a", np.int32, 8)]))[0]), shared_mem=64)
    wanted = [1, 1, 2, 2, 4, 8, 1]  # as on a GPU, what is in no window is global
    assert np.array_equal(td.asnumpy(out).reshape(33, 7), [wanted] * 33)


def test_cluster_dims():
    one = "__global__ void __cluster_dims__(1, 1, 1) k(int* o) { o[0] = 3; }"
    out = td.zeros(1, np.int32)
    td.RawKernel('extern "C" ' + one, "k")((1,), (1,), (out,))
    assert out.item() == 3


def test_cluster_of_several_blocks_is_refused(software):
    if not software:
        pytest.skip("a GPU has clusters")
    with pytest.raises(td.CompileError, match="clusters of several blocks"):
        td.RawKernel(
            'extern "C" __global__ void __cluster_dims__(2) k(int* o) { o[0] = 3; }', "k"
        ).compile()


def test_cache_hints_and_timers():
    source = """
    struct alignas(16) Four { int a, b, c, d; };
    extern "C" __global__ void k(int4* in, int4* out, unsigned long long* times) {
      int t = threadIdx.x;
      long long c = clock64();
      unsigned long long start = (unsigned long long)c;
      int4 v = __ldg(in + t), w = __ldcg(in + t), x = __ldcs(in + t), y = __ldcv(in + t), z = __ldlu(in + t);
      int a = __ldca(&in[t].x);
      __stcg(out + t, make_int4(v.x + w.x + x.x + y.x + z.x + a, v.y, w.z, x.w));
      __stwt(&out[t].y, y.y);
      __nanosleep(100);
      if (clock64() < c) out[t].x = -1;
      times[t] = start;
    }"""
    values = RNG.integers(0, 1000, 4 * 40).astype(np.int32)
    _, out, times = run(
        source, "k", 1, 40, values, np.zeros(160, np.int32), np.zeros(40, np.uint64)
    )
    v = values.reshape(40, 4).copy()
    v[:, 0] *= 6
    assert np.array_equal(out.reshape(40, 4), v) and (times > 0).all()


def test_alignas_behind_the_memory_space():
    source = """
    struct alignas(32) Big { int v[8]; };
    #ifdef __TREADLE__
    __constant__ alignas(16) int c[4] = {1, 2, 3, 4};
    __device__   alignas(Big) int d[8];
    #else
    __constant__ __align__(16) int c[4] = {1, 2, 3, 4};
    __device__ __align__(32) int d[8];
    #endif
    extern "C" __global__ void k(int* out) {
      __shared__ alignas(128) char s[64];
      extern __shared__ __align__(16) float dynamic[];
      dynamic[threadIdx.x] = threadIdx.x;
      s[threadIdx.x] = (char)c[threadIdx.x];
      out[threadIdx.x] = s[threadIdx.x] + (int)dynamic[threadIdx.x] * 10;
      if ((size_t)s % 128 || (size_t)dynamic % 16 || (size_t)d % 32 || (size_t)c % 16) out[0] = -1;
    }"""
    out = td.zeros(4, np.int32)
    td.RawKernel(source, "k")((1,), (4,), (out,), shared_mem=16)
    assert td.asnumpy(out).tolist() == [1, 12, 23, 34]
