"""<cuda/atomic>, <cuda/std/…> and the kernels that people write with them."""

import numpy as np
import pytest
import treadle as td

RNG = np.random.default_rng(3)


def run(source, name, grid, block, *arrays, scalars=()):
    """Launches the kernel on copies of the arrays; returns them as the kernel left them."""
    on_device = [td.asarray(a) for a in arrays]
    td.RawKernel(source, name)((grid,), (block,), (*on_device, *scalars))
    return [td.asnumpy(a) for a in on_device]


def test_atomic_ref_of_every_type():
    source = """
    #include <cuda/atomic>
    template <class T> using ref = cuda::atomic_ref<T, cuda::thread_scope_device>;
    extern "C" __global__ void k(signed char* b, short* s, int* i, unsigned long long* l, float* f, double* d,
                                 int** p) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      ref<signed char>(b[0]).fetch_add(1);
      ref<signed char>(b[1]).fetch_max((signed char)(t % 100));
      ref<short> r(s[0]);
      r += 2; r.fetch_sub(1, cuda::memory_order_relaxed); r++; --r;
      ref<short>(s[1]).fetch_or((short)(1 << t % 15));
      ref<int>(i[0]).fetch_min(-t);
      ref<int>(i[1]).fetch_xor(t);
      ref<int>(i[2]).fetch_and(~(1 << t % 31));
      ref<unsigned long long>(l[0]).fetch_add(1ull << 33, cuda::std::memory_order_acq_rel);
      ref<float>(f[0]).fetch_add(0.5f);
      ref<float>(f[1]).fetch_max((float)t);
      ref<double>(d[0]).fetch_sub(0.25);
      cuda::atomic_ref<int*>(p[0]).fetch_add(3);
      int seen = ref<int>(i[3]).load(cuda::memory_order_acquire);
      while (!ref<int>(i[3]).compare_exchange_weak(seen, seen * 3 % 1009, cuda::memory_order_release,
                                                  cuda::memory_order_relaxed)) {}
      float old = ref<float>(f[2]).exchange((float)t);
      if (old >= 0) atomicAdd(i + 4, (int)old);
    }"""
    n = 2 * 70
    b, s, i, l, f, d, p = run(
        source,
        "k",
        2,
        70,
        np.array([-5, 0, 9], np.int8),
        np.array([0, 0, 9], np.int16),
        np.array([0, 0, -1, 1, 0], np.int32),
        np.zeros(1, np.uint64),
        np.array([0, 0, -1], np.float32),
        np.zeros(1),
        np.array([1000], np.uint64),
    )
    t = np.arange(n)
    assert b.tolist() == [(-5 + n + 128) % 256 - 128, 99, 9] and s.tolist() == [n, 2**15 - 1, 9]
    assert i[:4].tolist() == [1 - n, np.bitwise_xor.reduce(t), -(2**31), pow(3, n, 1009)]
    assert (
        l[0] == n << 33
        and f[:2].tolist() == [n / 2, n - 1]
        and d[0] == -n / 4
        and p[0] == 1000 + 12 * n
    )
    assert i[4] + f[2] == t.sum()


def test_atomic_objects_wide_ones_and_fences():
    source = """
    #include <cuda/atomic>
    struct alignas(16) Range {
      long long low, high;
      __device__ bool operator==(const Range& r) const { return low == r.low && high == r.high; }
    };
    __device__ cuda::atomic<int, cuda::thread_scope_device> counter{5};
    __device__ cuda::std::atomic<Range> range;
    extern "C" __global__ void k(const int* in, long long* out, int n) {
      __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> votes;
      __shared__ cuda::std::atomic_flag flag;
      if (threadIdx.x == 0) { votes = 0; flag.clear(); }
      __syncthreads();
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t < n) {
        counter.fetch_add(in[t], cuda::memory_order_relaxed);
        Range seen = range.load();
        while (true) {
          Range wider{in[t] < seen.low ? in[t] : seen.low, in[t] > seen.high ? in[t] : seen.high};
          if (range.compare_exchange_strong(seen, wider)) break;
        }
        ++votes;
        if (!flag.test_and_set()) out[3 + blockIdx.x] = 1;
      }
      cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
      __syncthreads();
      int here = min(n - (int)(blockIdx.x * blockDim.x), (int)blockDim.x);
      if (threadIdx.x == 0 && votes.load() != (unsigned)here) out[3] = -1;
    }
    extern "C" __global__ void read(long long* out) {
      Range r = range;
      out[0] = counter; out[1] = r.low; out[2] = r.high;
    }"""
    module = td.RawModule(code=source)
    values = RNG.integers(-1000, 1000, 200).astype(np.int32)
    a, out = td.asarray(values), td.zeros(7, np.int64)
    module.get_function("k")((4,), (64,), (a, out, 200))
    module.get_function("read")((1,), (1,), (out,))
    assert td.asnumpy(out).tolist() == [
        5 + values.sum(),
        min(values.min(), 0),
        max(values.max(), 0),
        1,
        1,
        1,
        1,
    ]


def test_lock_free_stack():
    """Push and pop by 64-bit compare and swap with a version, from all threads at once."""
    source = """
    struct Head { unsigned version; int top; };
    __device__ unsigned long long head;  // version << 32 | index + 1
    extern "C" __global__ void push(int* next) {
      int mine = blockIdx.x * blockDim.x + threadIdx.x;
      unsigned long long seen = *(volatile unsigned long long*)&head, old;
      do {
        old = seen;
        next[mine] = (int)(unsigned)old - 1;
        __threadfence();
        seen = atomicCAS(&head, old, ((old >> 32) + 1) << 32 | (unsigned)(mine + 1));
      } while (seen != old);
    }
    extern "C" __global__ void pop(const int* next, int* taken, int* times) {
      unsigned long long seen = *(volatile unsigned long long*)&head, old;
      do {
        old = seen;
        if ((unsigned)old == 0) return;
        int after = ((volatile const int*)next)[(unsigned)old - 1];
        seen = atomicCAS(&head, old, ((old >> 32) + 1) << 32 | (unsigned)(after + 1));
      } while (seen != old);
      taken[blockIdx.x * blockDim.x + threadIdx.x] = (int)(unsigned)old - 1;
      atomicAdd(times + (unsigned)old - 1, 1);
    }"""
    module = td.RawModule(code=source)
    n = 6 * 50
    links, taken, times = td.zeros(n, np.int32), td.full(n, -1, np.int32), td.zeros(n, np.int32)
    module.get_function("push")((6,), (50,), (links,))
    module.get_function("pop")((3,), (80,), (links, taken, times))
    assert td.asnumpy(times).sum() == 240 and td.asnumpy(times).max() == 1
    module.get_function("pop")((3,), (80,), (links, td.zeros(n, np.int32), times))
    assert (td.asnumpy(times) == 1).all()
    got = td.asnumpy(taken)[:240]
    assert len(set(got)) == 240 and got.min() >= 0


def test_histogram_in_shared_memory():
    source = """
    extern "C" __global__ void k(const unsigned char* in, unsigned* out, int n) {
      __shared__ unsigned bins[256];
      for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(bins + in[i], 1);
      __syncthreads();
      for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(out + i, bins[i]);
    }"""
    values = (RNG.standard_normal(10007) * 20 + 100).astype(np.uint8)
    _, bins = run(source, "k", 5, 100, values, np.zeros(256, np.uint32), scalars=(len(values),))
    assert np.array_equal(bins, np.bincount(values, minlength=256))


def test_scan_with_decoupled_look_back():
    """One pass over the data: each block publishes its sum and adds up what the blocks before it have published."""
    source = """
    #include <cuda/atomic>
    __device__ unsigned next_tile;
    extern "C" __global__ void scan(const int* in, int* out, unsigned long long* status, int n) {
      __shared__ unsigned tile;
      __shared__ int sums[128];
      __shared__ int before;
      if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1);
      __syncthreads();
      int i = tile * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
      sums[threadIdx.x] = v;
      __syncthreads();
      for (int d = 1; d < (int)blockDim.x; d *= 2) {
        int other = (int)threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
        __syncthreads();
        sums[threadIdx.x] += other;
        __syncthreads();
      }
      // state << 32 | value: 1 the tile's own sum, 2 the sum of all up to it
      typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> Status;
      if (threadIdx.x == blockDim.x - 1) {
        int own = sums[threadIdx.x], sum = 0;
        if (tile == 0) {
          Status(status[0]).store(2ull << 32 | (unsigned)own, cuda::memory_order_release);
        } else {
          Status(status[tile]).store(1ull << 32 | (unsigned)own, cuda::memory_order_release);
          for (int at = (int)tile - 1; at >= 0; --at) {
            unsigned long long s;
            while ((s = Status(status[at]).load(cuda::memory_order_acquire)) >> 32 == 0) __nanosleep(20);
            sum += (int)(unsigned)s;
            if (s >> 32 == 2) break;
          }
          Status(status[tile]).store(2ull << 32 | (unsigned)(sum + own), cuda::memory_order_release);
        }
        before = sum;
      }
      __syncthreads();
      if (i < n) out[i] = before + sums[threadIdx.x];
    }"""
    n, block = 5000, 96
    tiles = -(-n // block)
    values = RNG.integers(-100, 100, n).astype(np.int32)
    _, out, status = run(
        source,
        "scan",
        tiles,
        block,
        values,
        np.zeros(n, np.int32),
        np.zeros(tiles, np.uint64),
        scalars=(n,),
    )
    assert np.array_equal(out, np.cumsum(values)) and (status >> np.uint64(32) == 2).all()


def test_type_traits_limits_and_bits():
    source = """
    #include <cuda/std/type_traits>
    #include <cuda/std/limits>
    #include <cuda/std/cstdint>
    #include <cuda/std/cstddef>
    #include <cuda/std/bit>
    #include <cuda/std/utility>
    namespace cs = cuda::std;
    static_assert(cs::is_same_v<cs::remove_cvref_t<const int&>, int>);
    static_assert(cs::is_trivially_copyable<float4>::value && !cs::is_integral_v<float>);
    static_assert(cs::is_same_v<cs::common_type_t<int, double>, double>);
    static_assert(cs::is_same_v<cs::invoke_result_t<float (*)(int), int>, float>);
    static_assert(cs::is_invocable_v<void (*)(int), char> && !cs::is_invocable_v<void (*)(int), float4>);
    static_assert(cs::extent_v<int[3][4], 1> == 4 && cs::is_default_constructible_v<int>);
    static_assert(cs::numeric_limits<cs::int64_t>::max() == 0x7fffffffffffffff);
    static_assert(sizeof(cs::uint16_t) == 2 && sizeof(cs::size_t) == 8);
    extern "C" __global__ void k(const unsigned* in, int* out) {
      unsigned x = in[threadIdx.x];
      int* o = out + 8 * threadIdx.x;
      o[0] = cs::popcount(x); o[1] = cs::countl_zero(x); o[2] = cs::countr_zero((unsigned short)x);
      o[3] = cs::bit_width(x); o[4] = (int)cs::bit_floor(x); o[5] = (int)cs::rotl(x, 5);
      o[6] = cs::bit_cast<int>(cs::bit_cast<float>(x & 0x3fffffff)); o[7] = (int)cs::rotr((unsigned char)x, 3);
    }"""
    values = np.append(
        RNG.integers(0, 2**32, 60, dtype=np.uint32), np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
    )
    _, out = run(source, "k", 1, 64, values, np.zeros(8 * 64, np.int32))
    for x, o in zip(values.tolist(), out.reshape(64, 8).tolist()):
        low, byte = x & 0xFFFF, x & 255
        width = x.bit_length()
        assert o[0] == x.bit_count() and o[1] == 32 - width and o[3] == width
        assert o[2] == (16 if low == 0 else (low & -low).bit_length() - 1)
        assert o[4] & 0xFFFFFFFF == (1 << width >> 1)
        assert o[5] & 0xFFFFFFFF == ((x << 5 | x >> 27) & 0xFFFFFFFF)
        assert o[6] == x & 0x3FFFFFFF and o[7] == (byte >> 3 | byte << 5) & 255


def test_containers():
    source = """
    #include <cuda/std/array>
    #include <cuda/std/span>
    #include <cuda/std/tuple>
    #include <cuda/std/optional>
    #include <cuda/std/functional>
    #include <cuda/std/algorithm>
    #include <cuda/std/numeric>
    namespace cs = cuda::std;
    __device__ cs::tuple<int, float, long long> split(int v) { return cs::make_tuple(v, v * 0.5f, (long long)v << 33); }
    __device__ cs::optional<int> half(int v) { if (v % 2) return cs::nullopt; return v / 2; }
    __device__ int total(cs::span<const int> s) { return cs::accumulate(s.begin(), s.end(), 0); }
    extern "C" __global__ void k(int* in, long long* out, int n) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t >= n) return;
      cs::span<int> mine(in + t * 8, 8);
      cs::array<int, 8> a;
      cs::copy(mine.begin(), mine.end(), a.begin());
      long long* o = out + t * 16;
      cs::sort(a.begin(), a.end());
      o[0] = cs::is_sorted(a.begin(), a.end()) ? a[0] * 1000 + a.back() : -1;
      o[1] = total(mine.subspan(2, 3)) + total(mine.first<2>()) * 1000;
      auto [i, f, l] = split(mine.front());
      o[2] = i + (long long)(2 * f) + (l >> 32);
      int x = 0; long long y = 0;
      cs::tie(x, cs::ignore, y) = split(mine[1]);
      o[3] = x + (y >> 33);
      o[4] = half(mine[0]).value_or(-7) + (half(4).has_value() ? 1000 : 0);
      o[5] = half(mine[0]).and_then([](int v) { return half(v); }).transform([](int v) { return v * 10; }).value_or(-1);
      o[6] = cs::get<0>(cs::pair<int, char>(mine[2], 'a'));
      o[6] += cs::apply([](int p, int q) { return p - q; }, cs::make_tuple(mine[3], mine[4]));
      o[7] = *cs::max_element(a.begin(), a.end(), cs::greater<>()) ;
      o[8] = cs::lower_bound(a.begin(), a.end(), 50) - a.begin();
      o[9] = cs::count_if(mine.begin(), mine.end(), [](int v) { return v % 3 == 0; });
      o[10] = cs::gcd(mine[0] + 1, mine[1] + 1);
      cs::reverse(a.begin(), a.end());
      o[11] = a == cs::array<int, 8>{a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]} ? a.front() : -1;
      o[12] = cs::reduce(a.begin(), a.end(), 0, cs::bit_xor<int>());
      auto both = cs::tuple_cat(cs::make_tuple(mine[5]), cs::make_tuple(mine[6], 'c'));
      o[13] = cs::get<1>(both) * 100 + (int)cs::tuple_size_v<decltype(both)>;
      o[14] = cs::min({mine[0], mine[1], mine[2]}) + cs::clamp(mine[3], 10, 20);
      cs::swap(mine[0], mine[7]);
      o[15] = cs::exchange(mine[1], -5);
    }"""
    n = 77
    values = RNG.integers(0, 100, (n, 8)).astype(np.int32)
    after, out = run(source, "k", 2, 48, values, np.zeros((n, 16), np.int64), scalars=(n,))
    for v, w, o in zip(values.tolist(), after.tolist(), out.tolist()):
        s = sorted(v)
        quarter = v[0] // 4 * 10 if v[0] % 4 == 0 else -1
        assert o[0] == s[0] * 1000 + s[-1] and o[1] == sum(v[2:5]) + sum(v[:2]) * 1000
        assert o[2] == v[0] * 4 and o[3] == 2 * v[1]
        assert o[4] == (-7 if v[0] % 2 else v[0] // 2) + 1000 and o[5] == quarter
        assert o[6] == v[2] + v[3] - v[4] and o[7] == s[0] and o[8] == sum(x < 50 for x in v)
        assert o[9] == sum(x % 3 == 0 for x in v) and o[10] == np.gcd(v[0] + 1, v[1] + 1)
        assert o[11] == s[-1] and o[12] == np.bitwise_xor.reduce(v) and o[13] == v[6] * 100 + 3
        assert o[14] == min(v[:3]) + min(max(v[3], 10), 20)
        assert o[15] == v[1] and w == [v[7], -5, *v[2:7], v[0]]


@pytest.mark.parametrize(
    "c_type, dtype, tolerance", [("float", np.complex64, 2e-6), ("double", np.complex128, 4e-15)]
)
def test_complex(c_type, dtype, tolerance):
    names = [
        "x + y", "x * y - y", "x / y", "cs::exp(x)", "cs::log(x)", "cs::sqrt(x)", "cs::sin(x)",
        "cs::conj(x) * T(2)", "cs::pow(x, y)", "C(cs::abs(x), cs::arg(y))", "C(cs::norm(x), x.real())",
        "cs::cosh(x) / y", "-x", "cs::polar(cs::abs(x), cs::arg(x))",
    ]  # fmt: skip
    source = f"""
    #include <cuda/std/complex>
    namespace cs = cuda::std;
    typedef {c_type} T;
    typedef cs::complex<T> C;
    extern "C" __global__ void k(const {c_type}* in, {c_type}* out, int n) {{
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t >= n) return;
      C x(in[4 * t], in[4 * t + 1]), y(in[4 * t + 2], in[4 * t + 3]);
      C r[] = {{ {", ".join(names)} }};
      for (int i = 0; i < {len(names)}; ++i) {{
        out[2 * (t * {len(names)} + i)] = r[i].real();
        out[2 * (t * {len(names)} + i) + 1] = r[i].imag();
      }}
    }}"""
    n = 90
    real = dtype().real.dtype
    values = RNG.uniform(-3, 3, (n, 4)).astype(real)
    _, out = run(source, "k", 3, 33, values, np.zeros((n, 2 * len(names)), real), scalars=(n,))
    x, y = (
        (values[:, 0] + 1j * values[:, 1]).astype(np.clongdouble),
        (values[:, 2] + 1j * values[:, 3]).astype(np.clongdouble),
    )
    wanted = np.stack(
        [x + y, x * y - y, x / y, np.exp(x), np.log(x), np.sqrt(x), np.sin(x), 2 * x.conj(), x**y,
         abs(x) + 1j * np.angle(y), abs(x) ** 2 + 1j * x.real, np.cosh(x) / y, -x, x], axis=1)  # fmt: skip
    got = out.reshape(n, len(names), 2)
    error = abs(got[..., 0] + 1j * got[..., 1].astype(np.clongdouble) - wanted) / np.maximum(
        abs(wanted), 0.5
    )
    assert error.max(axis=0).max() < 20 * tolerance, dict(zip(names, error.max(axis=0)))


def test_chrono():
    source = """
    #include <cuda/std/chrono>
    namespace ch = cuda::std::chrono;
    using namespace cuda::std::chrono_literals;
    static_assert(ch::duration_cast<ch::microseconds>(3ms).count() == 3000);
    static_assert(ch::seconds(2) + 500ms == 2500ms && 1s > 999ms && ch::minutes(1) == 60s);
    extern "C" __global__ void k(long long* out) {
      auto start = ch::system_clock::now();
      long long spins = 0;
      while (ch::high_resolution_clock::now() - start < 200us) ++spins;
      ch::duration<double, cuda::std::milli> passed = ch::system_clock::now() - start;
      out[0] = passed.count() >= 0.2 && passed.count() < 10000;
      out[1] = ch::duration_cast<ch::seconds>(start.time_since_epoch()).count();
    }"""
    import time

    (out,) = run(source, "k", 1, 1, np.zeros(2, np.int64))
    assert out[0] == 1 and abs(out[1] - time.time()) < 3600 * 24 * 366 * 60
