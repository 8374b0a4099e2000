// Local arrays, structures, variables of the module, element sizes, atomics, copies.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace simt_test {
namespace {

class SharedMemory : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, SharedMemory, testing::ValuesIn(barrier_modes));

class Memory : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Memory, testing::ValuesIn(widths));

TEST_P(Memory, LocalArrayWithRunTimeIndex) {
  Program program(R"(
    extern "C" __global__ void run(const int* in, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      int a[10];
      for (int k = 0; k < 10; ++k) a[k] = in[i] + k * k;
      int* p = &a[in[i] % 10];
      *p += 1000;
      if (in[i] % 3 == 0) a[(in[i] + 1) % 10] = -5;
      int sum = 0;
      for (int k = 0; k < in[i] % 10; ++k) sum = sum * 3 + a[(k + i) % 10];
      out[i] = sum + a[0];
    })",
                  GetParam());
  EXPECT_GE(program.kernel().local_bytes, 40u);
  int n = 333;
  Guarded in(n * 4), out(n * 4);
  for (int i = 0; i < n; ++i) in.as<int>()[i] = (i * 7919 + 13) % 101;
  program.launch("run", {3}, {128}, 0, in.as<int>(), out.as<int>(), n);
  for (int i = 0; i < n; ++i) {
    int v = in.as<int>()[i], a[10], sum = 0;
    for (int k = 0; k < 10; ++k) a[k] = v + k * k;
    a[v % 10] += 1000;
    if (v % 3 == 0) a[(v + 1) % 10] = -5;
    for (int k = 0; k < v % 10; ++k) sum = sum * 3 + a[(k + i) % 10];
    ASSERT_EQ(out.as<int>()[i], sum + a[0]) << i;
  }
}

struct Packed {
  char tag;
  double weight;
  int table[4];
  float* target;
};

TEST_P(Memory, StructParameters) {
  Program program(R"(
    struct Packed { char tag; double weight; int table[4]; float* target; };
    struct Pair { float x, y; };
    extern "C" __global__ void run(char before, Packed p, Pair* pairs, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      p.table[1] += before;
      Pair pair = pairs[i];
      p.target[i] = p.tag + (float)p.weight * p.table[i % 4] + pair.x * pair.y;
      pairs[i] = Pair{pair.y, pair.x};
    })",
                  GetParam());
  int n = 133;
  std::vector<float> target(n), pairs(2 * n);
  for (int i = 0; i < 2 * n; ++i) pairs[i] = float(i);
  Packed p{7, 0.5, {10, 20, 30, 40}, target.data()};
  ASSERT_EQ(program.kernel().params.at(1).size, sizeof(Packed));
  program.launch("run", {2}, {96}, 0, char(3), p, pairs.data(), n);
  for (int i = 0; i < n; ++i) {
    int entry = p.table[i % 4] + (i % 4 == 1 ? 3 : 0);
    ASSERT_EQ(target[i], 7 + 0.5f * entry + float(2 * i) * float(2 * i + 1));
    ASSERT_EQ(pairs[2 * i], float(2 * i + 1));
    ASSERT_EQ(pairs[2 * i + 1], float(2 * i));
  }
}

TEST_P(Memory, ModuleVariables) {
  Program program(R"(
    __device__ int counter = 5;
    __device__ float table[4] = {1, 2, 3, 4};
    __constant__ int weights[3] = {7, 11, 13};
    __device__ int values[2] = {40, 50};
    __device__ int* pointer = values + 1;
    extern "C" __global__ void run(float* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      const char* word = "abcd";
      if (i < n) out[i] = counter + table[i % 4] * weights[i % 3] + *pointer + word[i & 3];
    })",
                  GetParam());
  int n = 70;
  std::vector<float> out(n);
  static_cast<float*>(program.global("table"))[2] = 33;
  program.launch("run", {1}, {96}, 0, out.data(), n);
  const float table[] = {1, 2, 33, 4};
  const int weights[] = {7, 11, 13};
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out[i], 5 + table[i % 4] * weights[i % 3] + 50 + "abcd"[i & 3]);
}

template <typename T>
void element_type(const char* name, int width) {
  Program program(std::string("typedef ") + name + R"( T;
    extern "C" __global__ void run(const T* a, const T* b, T* c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n && i % 5 != 2) c[i] = a[i] * b[n - 1 - i] + a[(i * 7) % n];
    })",
                  width);
  int n = 201;
  Guarded a(n * sizeof(T)), b(n * sizeof(T)), c(n * sizeof(T));
  for (int i = 0; i < n; ++i) {
    a.as<T>()[i] = T(i * 3 + 1);
    b.as<T>()[i] = T(i + 7);
    c.as<T>()[i] = T(99);
  }
  program.launch("run", {2}, {128}, 0, a.as<T>(), b.as<T>(), c.as<T>(), n);
  for (int i = 0; i < n; ++i) {
    T want = i % 5 != 2 ? T(a.as<T>()[i] * b.as<T>()[n - 1 - i] + a.as<T>()[(i * 7) % n]) : T(99);
    ASSERT_EQ(c.as<T>()[i], want) << name << " " << i;
  }
}

TEST_P(Memory, ElementTypes) {
  element_type<unsigned char>("unsigned char", GetParam());
  element_type<short>("short", GetParam());
  element_type<unsigned short>("unsigned short", GetParam());
  element_type<long long>("long long", GetParam());
  element_type<float>("float", GetParam());
  element_type<double>("double", GetParam());
}

TEST_P(Memory, BoolsAndVectors) {
  Program program(R"(
    typedef float native4 __attribute__((ext_vector_type(4)));
    extern "C" __global__ void run(const float4* in, float4* out, const bool* flags, bool* inverse, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      inverse[i] = !flags[i];
      float4 v = in[i];
      if (flags[i]) v.y = v.x + v.z;
      out[i] = float4{v.w, v.z, v.y, v.x};
    }
    extern "C" __global__ void native(const native4* in, native4* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = in[i].wzyx * 2.0f;
    }
    extern "C" __global__ void bytes(const uchar4* in, uchar4* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = uchar4{in[i].w, in[i].x, in[i].y, in[i].z};
    })",
                  GetParam());
  int n = 77;
  Guarded in(n * 16), out(n * 16), flags(n), inverse(n);
  for (int i = 0; i < 4 * n; ++i) in.as<float>()[i] = float(i);
  for (int i = 0; i < n; ++i) flags.as<unsigned char>()[i] = i % 3 == 0;
  program.launch("run", {1}, {96}, 0, in.as<float>(), out.as<float>(), flags.as<char>(),
                 inverse.as<char>(), n);
  for (int i = 0; i < n; ++i) {
    float x = 4 * i, y = x + 1, z = x + 2, w = x + 3;
    if (i % 3 == 0) y = x + z;
    const float want[] = {w, z, y, x};
    for (int k = 0; k < 4; ++k) ASSERT_EQ(out.as<float>()[4 * i + k], want[k]);
    ASSERT_EQ(inverse.as<unsigned char>()[i], i % 3 != 0);
  }
  program.launch("native", {1}, {96}, 0, in.as<float>(), out.as<float>(), n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) ASSERT_EQ(out.as<float>()[4 * i + k], 2.0f * (4 * i + 3 - k));
  Guarded small(n * 4), turned(n * 4);
  for (int i = 0; i < 4 * n; ++i) small.as<unsigned char>()[i] = static_cast<unsigned char>(i);
  program.launch("bytes", {1}, {96}, 0, small.as<char>(), turned.as<char>(), n);
  for (int i = 0; i < 4 * n; ++i)
    ASSERT_EQ(turned.as<unsigned char>()[i], static_cast<unsigned char>(i / 4 * 4 + (i + 3) % 4));
}

TEST_P(Memory, Atomics) {
  Program program(R"(
    extern "C" __global__ void run(int* sum, unsigned* bins, float* total, int* largest, unsigned* order, unsigned long* wide,
                                   const int* in, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      atomic_add(sum, in[i]);
      atomic_add(&bins[in[i] % 10], 1u);
      atomic_add(total, (float)in[i]);
      __atomic_fetch_max(largest, in[i], __ATOMIC_RELAXED);
      order[atomic_add(&bins[10], 1u)] = i;
      atomic_add(wide, (unsigned long)in[i] << 20);
      unsigned long old = wide[1], seen;
      do { seen = old; old = __sync_val_compare_and_swap(&wide[1], seen, seen * 3 + 1 > 1000003 ? seen % 1000 : seen + 2); }
      while (old != seen);
      if (in[i] % 2) __atomic_fetch_xor(sum + 1, 1 << (i % 31), __ATOMIC_RELAXED);
      __nvvm_atom_inc_gen_ui(&bins[11], 6);
    })",
                  GetParam());
  int n = 500;
  std::vector<int> in(n), sum(2), largest(1, -1);
  std::vector<unsigned> bins(12), order(n);
  std::vector<unsigned long> wide(2);
  std::vector<float> total(1);
  for (int i = 0; i < n; ++i) in[i] = (i * 7919 + 13) % 101;
  program.launch("run", {4}, {128}, 0, sum.data(), bins.data(), total.data(), largest.data(),
                 order.data(), wide.data(), in.data(), n);
  int want = 0, top = 0, bits = 0;
  unsigned long chain = 0;
  std::vector<unsigned> counts(10), seen(n);
  for (int i = 0; i < n; ++i) {
    want += in[i];
    top = std::max(top, in[i]);
    counts[in[i] % 10]++;
    if (in[i] % 2) bits ^= 1 << (i % 31);
    chain = chain * 3 + 1 > 1000003 ? chain % 1000 : chain + 2;
    seen[order[i]]++;
  }
  EXPECT_EQ(sum[0], want);
  EXPECT_EQ(sum[1], bits);
  EXPECT_EQ(total[0], float(want));
  EXPECT_EQ(largest[0], top);
  EXPECT_EQ(wide[0], static_cast<unsigned long>(want) << 20);
  EXPECT_EQ(wide[1], chain);
  EXPECT_EQ(bins[10], unsigned(n));
  EXPECT_EQ(bins[11], unsigned(n % 7));
  for (int k = 0; k < 10; ++k) EXPECT_EQ(bins[k], counts[k]);
  for (int i = 0; i < n; ++i) ASSERT_EQ(seen[i], 1u);
}

// One operation for the lanes of a warp gives each lane the value that lanes before it have left.
TEST_P(Memory, OldValuesOfASumAtOneAddress) {
  Program program(R"(
    extern "C" __global__ void run(int* place, long* wide, float* rounded, const int* in, int* out, int n, int step) {
      int i = threadIdx.x;
      out[i] = atomic_add(place, step);
      if (i >= n) return;
      out[100 + i] = atomic_add(place + 1, in[i]);
      out[200 + i] = (int)__atomic_fetch_sub(wide, (long)in[i] << 33, __ATOMIC_RELAXED) == 0;
      if (in[i] % 3) {
        out[300 + i] = atomic_add(place + 2, in[i]);
        out[400 + i] = atomic_add(place + 3, 5);
        atomic_add(rounded, 1.0f / in[i]);
      }
    })",
                  GetParam());
  constexpr int threads = 93, n = 86;
  std::vector<int> in(n), out(500, -1), place(4);
  std::vector<long> wide(1);
  std::vector<float> rounded(1);
  for (int i = 0; i < n; ++i) in[i] = (i * 31 + 7) % 50 + 1;
  program.launch("run", {1}, {threads}, 0, place.data(), wide.data(), rounded.data(), in.data(),
                 out.data(), n, -7);
  int sum[4] = {};
  float one_by_one = 0;
  for (int i = 0; i < threads; ++i) {
    ASSERT_EQ(out[i], sum[0]);
    sum[0] -= 7;
    if (i >= n) continue;
    ASSERT_EQ(out[100 + i], sum[1]);
    sum[1] += in[i];
    ASSERT_EQ(out[200 + i], 1);
    ASSERT_EQ(out[300 + i], in[i] % 3 ? sum[2] : -1);
    ASSERT_EQ(out[400 + i], in[i] % 3 ? sum[3] : -1);
    if (in[i] % 3) sum[2] += in[i], sum[3] += 5, one_by_one += 1.0f / float(in[i]);
  }
  for (int k = 0; k < 4; ++k) EXPECT_EQ(place[k], sum[k]);
  EXPECT_EQ(wide[0], -(static_cast<long>(sum[1]) << 33));
  EXPECT_EQ(rounded[0], one_by_one);
}

TEST_P(SharedMemory, SharedHistogramAndScan) {
  Program program(R"(
    extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
      __shared__ unsigned local[64];
      if (threadIdx.x < 64) local[threadIdx.x] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomic_add(&local[in[i] & 63], 1u);
      __syncthreads();
      if (threadIdx.x < 64) atomic_add(&bins[threadIdx.x], local[threadIdx.x]);
    }
    extern "C" __global__ void scan(const int* in, int* out, int n) {
      extern __shared__ int s[];
      int t = threadIdx.x;
      s[t] = t < n ? in[t] : 0;
      __syncthreads();
      for (int d = 1; d < blockDim.x; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
      }
      if (t < n) out[t] = s[t];
    }
    extern "C" __global__ void scan_unsigned(const int* in, int* out, unsigned n) {
      extern __shared__ int s[];
      unsigned t = threadIdx.x;
      s[t] = t < n ? in[t] : 0;
      __syncthreads();
      for (unsigned d = 1; d < blockDim.x; d *= 2) {
        int v = 0;
        if (t >= d) v = s[t - d];
        __syncthreads();
        if (t >= d) s[t] += v;
        __syncthreads();
      }
      if (t < n) out[t] = s[t];
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  int n = 5000;
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * i % 251);
  std::vector<unsigned> bins(64), want(64);
  for (auto byte : bytes) want[byte & 63]++;
  program.launch("histogram", {3}, {128}, 0, bytes.data(), bins.data(), n);
  EXPECT_EQ(bins, want);
  for (const char* name : {"scan", "scan_unsigned"})
    for (unsigned block : {32u, 100u, 256u, 1024u}) {
      int count = int(block) - 3;
      std::vector<int> in(count), out(count);
      for (int i = 0; i < count; ++i) in[i] = i % 19 - 5;
      program.launch(name, {1}, {block}, block * 4, in.data(), out.data(), count);
      int sum = 0;
      for (int i = 0; i < count; ++i)
        ASSERT_EQ(out[i], sum += in[i]) << name << " " << block << " " << i;
    }
}

TEST_P(Memory, CopiesAndFills) {
  Program program(R"(
    struct Big { int words[20]; };
    extern "C" __global__ void run(const Big* in, Big* out, char* text, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      out[i] = in[n - 1 - i];
      __builtin_memset(text + i * 8, 'a' + i % 26, i % 9);
    })",
                  GetParam());
  int n = 45;
  std::vector<int> in(20 * n), out(20 * n);
  std::vector<char> text(8 * n + 8), want(8 * n + 8);
  for (int i = 0; i < 20 * n; ++i) in[i] = i;
  program.launch("run", {1}, {64}, 0, in.data(), out.data(), text.data(), n);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 20; ++k) ASSERT_EQ(out[20 * i + k], in[20 * (n - 1 - i) + k]);
    for (int k = 0; k < i % 9; ++k) want[i * 8 + k] = static_cast<char>('a' + i % 26);
  }
  EXPECT_EQ(text, want);
}

// The bytes between the members are never set, but copied with them.
TEST_P(Memory, StructuresWithGapsGoRoundInLoops) {
  Program program(R"(
    struct Placed { int value; long long place; };
    __device__ void keep(Placed& best, Placed other) {
      if (other.value > best.value || (other.value == best.value && other.place < best.place))
        best = other;
    }
    extern "C" __global__ void find(const int* in, Placed* out, int rounds, int length) {
      __shared__ Placed shared[64];
      int t = threadIdx.x;
      Placed best;
      for (int round = 0; round < rounds; ++round) {
        best.value = -2147483648;
        best.place = 9223372036854775807;
        for (int i = t; i < length; i += 64) {
          Placed here;
          here.value = in[round * length + i];
          here.place = i;
          keep(best, here);
        }
        shared[t] = best;
        __syncthreads();
        for (int half = 32; half > 0; half /= 2) {
          if (t < half) keep(shared[t], shared[t + half]);
          __syncthreads();
        }
        if (t == 0) out[round] = shared[0];
        __syncthreads();
      }
    })",
                  GetParam());
  struct Placed {
    int value;
    long long place;
  };
  const int rounds = 3;
  for (int length : {0, 5, 64, 200}) {
    std::vector<int> in(static_cast<std::size_t>(rounds * length));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = int(i * 37 % 101) - 200;
    std::vector<Placed> out(rounds);
    program.launch("find", {1}, {64}, 0, in.data(), out.data(), rounds, length);
    for (int round = 0; round < rounds; ++round) {
      auto row = in.begin() + round * length;
      auto best = std::max_element(row, row + length);
      EXPECT_EQ(out[round].place, length ? best - row : 9223372036854775807);
      EXPECT_EQ(out[round].value, length ? *best : -2147483647 - 1);
    }
  }
}

}  // namespace
}  // namespace simt_test
