// Barriers, shared memory and warp-level operations.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace simt_test {
namespace {

class Barriers : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Barriers, testing::ValuesIn(barrier_modes));

TEST_P(Barriers, TreeReduction) {
  Program program(R"(
    extern "C" __global__ void reduce(const float* in, float* out, int n) {
      extern __shared__ float s[];
      unsigned t = threadIdx.x;
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      s[t] = i < n ? in[i] : 0;
      __syncthreads();
      for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
      }
      if (t == 0) out[blockIdx.x] = s[0];
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  EXPECT_EQ(program.kernel().has_barrier, GetParam() < 0);
  EXPECT_EQ(program.kernel().block_symbol.empty(), GetParam() < 0);
  for (unsigned block : {1u, 2u, 32u, 64u, 256u, 1024u}) {
    int n = int(block) * 3 - int(block) / 3;
    std::vector<float> in(n), out(3, -1);
    for (int i = 0; i < n; ++i) in[i] = float(i % 17);
    program.launch("reduce", {3}, {block}, block * 4, in.data(), out.data(), n);
    for (unsigned b = 0; b < 3; ++b) {
      float sum = 0;
      for (unsigned i = b * block; i < (b + 1) * block && int(i) < n; ++i) sum += in[i];
      ASSERT_EQ(out[b], sum) << block;
    }
  }
}

TEST_P(Barriers, TiledMatmul) {
  Program program(R"(
    extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n, int k, int m) {
      __shared__ float ta[16][16], tb[16][16];
      int tx = threadIdx.x, ty = threadIdx.y;
      int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
      float sum = 0;
      for (int t = 0; t < (k + 15) / 16; ++t) {
        ta[ty][tx] = row < n && t * 16 + tx < k ? a[row * k + t * 16 + tx] : 0.0f;
        tb[ty][tx] = t * 16 + ty < k && col < m ? b[(t * 16 + ty) * m + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += ta[ty][i] * tb[i][tx];
        __syncthreads();
      }
      if (row < n && col < m) c[row * m + col] = sum;
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  int n = 35, k = 29, m = 51;
  Guarded a(n * k * 4), b(k * m * 4), c(n * m * 4);
  for (int i = 0; i < n * k; ++i) a.as<float>()[i] = float(i % 11);
  for (int i = 0; i < k * m; ++i) b.as<float>()[i] = float(i % 7);
  program.launch("tiled", {4, 3}, {16, 16}, 0, a.as<float>(), b.as<float>(), c.as<float>(), n, k,
                 m);
  for (int r = 0; r < n; ++r)
    for (int j = 0; j < m; ++j) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a.as<float>()[r * k + i] * b.as<float>()[i * m + j];
      ASSERT_EQ(c.as<float>()[r * m + j], sum);
    }
}

// What PTX says about one lane of shfl.sync.
int shuffle_source(int mode, int lane, int distance, int width) {
  int first = lane & ~(width - 1), last = first + width - 1;
  int source = mode == 0   ? first + (distance & (width - 1))
               : mode == 1 ? lane - distance
               : mode == 2 ? lane + distance
                           : lane ^ distance;
  if (mode == 1) return source >= first ? source : lane;
  return source <= last ? source : lane;
}

TEST_P(Barriers, ShufflesOfAllKinds) {
  Program program(R"(
    template <int W, int D> __device__ void constants(int v, int* out) {
      out[0] = shfl(v, D, W); out[1024] = shfl_up(v, D, W); out[2048] = shfl_down(v, D, W); out[3072] = shfl_xor(v, D, W);
    }
    extern "C" __global__ void constant(const int* in, int* out) {
      int t = threadIdx.x;
      constants<32, 5>(in[t], out + t);
      constants<8, 3>(in[t], out + t + 4096);
    }
    extern "C" __global__ void variable(const int* in, int* out, int d, int w) {
      int t = threadIdx.x, v = in[t];
      out[t] = shfl(v, d, w); out[t + 1024] = shfl_up(v, d, w); out[t + 2048] = shfl_down(v, d, w);
      out[t + 3072] = shfl_xor(v, d, w);
    }
    extern "C" __global__ void by_lane(const int* in, int* out) {
      int t = threadIdx.x;
      out[t] = shfl(in[t], in[t] * 7 + 3);
    }
    extern "C" __global__ void sum(const float* in, float* out) {
      float v = in[threadIdx.x];
      for (int d = 16; d > 0; d >>= 1) v += shfl_down(v, d);
      if ((threadIdx.x & 31) == 0) out[threadIdx.x / 32] = v;
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  int threads = 64;
  std::vector<int> in(threads), out(8192);
  for (int i = 0; i < threads; ++i) in[i] = i * 13 + 5;
  auto check = [&](const int* got, int distance, int width) {
    for (int mode = 0; mode < 4; ++mode)
      for (int t = 0; t < threads; ++t) {
        int source = (t & ~31) + shuffle_source(mode, t & 31, distance, width);
        ASSERT_EQ(got[mode * 1024 + t], in[source])
            << "mode " << mode << " d " << distance << " w " << width;
      }
  };
  program.launch("constant", {1}, {unsigned(threads)}, 0, in.data(), out.data());
  check(out.data(), 5, 32);
  check(out.data() + 4096, 3, 8);
  for (int width : {32, 16, 8, 4, 2})
    for (int d : {0, 1, 3, 8, 17}) {
      program.launch("variable", {1}, {unsigned(threads)}, 0, in.data(), out.data(), d, width);
      check(out.data(), d, width);
    }
  program.launch("by_lane", {1}, {unsigned(threads)}, 0, in.data(), out.data());
  for (int t = 0; t < threads; ++t) ASSERT_EQ(out[t], in[(t & ~31) + ((in[t] * 7 + 3) & 31)]);
  std::vector<float> values(threads), sums(2);
  for (int t = 0; t < threads; ++t) values[t] = float(t);
  program.launch("sum", {1}, {unsigned(threads)}, 0, values.data(), sums.data());
  EXPECT_EQ(sums[0], 496.0f);
  EXPECT_EQ(sums[1], 496.0f + 1024.0f);
}

TEST_P(Barriers, VotesMatchesAndReductions) {
  Program program(R"(
    extern "C" __global__ void run(const int* in, unsigned* out, int n) {
      int t = threadIdx.x, v = in[t];
      unsigned* o = out + 12 * t;
      o[0] = ballot(v % 3 == 0);
      o[1] = __nvvm_vote_all_sync(~0u, v < 1000); o[2] = __nvvm_vote_any_sync(~0u, v == in[0]);
      o[3] = __nvvm_vote_uni_sync(~0u, v < 50);
      o[4] = __nvvm_match_any_sync_i32(~0u, v % 5);
      o[5] = __nvvm_redux_sync_add(v, ~0u); o[6] = __nvvm_redux_sync_umax(v, ~0u); o[7] = __nvvm_redux_sync_min(-v, ~0u);
      if (v % 2) { o[8] = __td_activemask(); o[9] = ballot(v > 50); }
      int same; o[10] = __nvvm_match_all_sync_i32p(~0u, v / n, &same); o[11] = same;
    }
    extern "C" __global__ void registers(unsigned* out) {
      unsigned* o = out + 6 * threadIdx.x;
      o[0] = __nvvm_read_ptx_sreg_laneid(); o[1] = __nvvm_read_ptx_sreg_warpid(); o[2] = __nvvm_read_ptx_sreg_lanemask_lt();
      o[3] = __nvvm_read_ptx_sreg_lanemask_ge(); o[4] = 32; o[5] = threadIdx.x / 32 + threadIdx.x % 32;
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  unsigned threads = 75;
  std::vector<int> in(threads);
  for (unsigned i = 0; i < threads; ++i) in[i] = int(i * 7919 + 13) % 101;
  std::vector<unsigned> out(12 * threads, 7);
  program.launch("run", {1}, {threads}, 0, in.data(), out.data(), 200);
  for (unsigned t = 0; t < threads; ++t) {
    unsigned first = t & ~31u, last = std::min(first + 32, threads), alive = 0;
    unsigned third = 0, five = 0, below = 0, odd = 0, odd_large = 0, sum = 0, largest = 0;
    int smallest = 0;
    bool any = false;
    for (unsigned l = first; l < last; ++l) {
      unsigned bit = 1u << (l - first);
      alive |= bit;
      if (in[l] % 3 == 0) third |= bit;
      if (in[l] % 5 == in[t] % 5) five |= bit;
      if (in[l] < 50) below |= bit;
      if (in[l] % 2) odd |= bit;
      if (in[l] % 2 && in[l] > 50) odd_large |= bit;
      any |= in[l] == in[0];
      sum += unsigned(in[l]);
      largest = std::max(largest, unsigned(in[l]));
      smallest = std::min(smallest, -in[l]);
    }
    const unsigned* o = &out[12 * t];
    ASSERT_EQ(o[0], third);
    ASSERT_EQ(o[1], 1u);
    ASSERT_EQ(o[2], unsigned(any));
    ASSERT_EQ(o[3], unsigned(below == 0 || below == alive));
    ASSERT_EQ(o[4], five);
    ASSERT_EQ(o[5], sum);
    ASSERT_EQ(o[6], largest);
    ASSERT_EQ(int(o[7]), smallest);
    ASSERT_EQ(o[8], in[t] % 2 ? odd : 7u);
    ASSERT_EQ(o[9], in[t] % 2 ? odd_large : 7u);
    ASSERT_EQ(o[10], alive);
    ASSERT_EQ(o[11], 1u);
  }
  std::vector<unsigned> ids(6 * threads);
  program.launch("registers", {1}, {threads}, 0, ids.data());
  for (unsigned t = 0; t < threads; ++t) {
    const unsigned* o = &ids[6 * t];
    ASSERT_EQ(o[0], t % 32);
    ASSERT_EQ(o[1], t / 32);
    ASSERT_EQ(o[2], (1u << (t % 32)) - 1);
    ASSERT_EQ(o[3], ~((1u << (t % 32)) - 1));
    ASSERT_EQ(o[4], 32u);
    ASSERT_EQ(o[5], t / 32 + t % 32);
  }
}

TEST_P(Barriers, BarrierReductions) {
  Program program(R"(
    extern "C" __global__ void run(const int* in, int* out) {
      int v = in[threadIdx.x];
      out[3 * threadIdx.x] = sync_count(v > 50);
      out[3 * threadIdx.x + 1] = sync_and(v >= 0);
      out[3 * threadIdx.x + 2] = sync_or(v > 1000);
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  unsigned threads = 100;
  std::vector<int> in(threads), out(3 * threads);
  int count = 0;
  for (unsigned i = 0; i < threads; ++i) count += (in[i] = int(i * 7919 + 13) % 101) > 50;
  program.launch("run", {1}, {threads}, 0, in.data(), out.data());
  for (unsigned t = 0; t < threads; ++t) {
    ASSERT_EQ(out[3 * t], count);
    ASSERT_NE(out[3 * t + 1], 0);
    ASSERT_EQ(out[3 * t + 2], 0);
  }
}

// Warps of two-dimensional blocks: any shape, with barriers and lane operations.
TEST_P(Barriers, WarpsOfAnyBlockShape) {
  Program program(R"(
    extern "C" __global__ void run(int* out) {
      extern __shared__ int s[];
      int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      int n = blockDim.x * blockDim.y * blockDim.z;
      s[t] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
      __syncthreads();
      int other = s[n - 1 - t];
      int lane = shfl_xor(t, 1);
      out[2 * t] = other;
      out[2 * t + 1] = lane;
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  for (Dim block : {Dim{16, 16, 1}, Dim{8, 8, 4}, Dim{5, 5, 5}, Dim{64, 2, 2}, Dim{16, 3, 2},
                    Dim{1, 64, 1}, Dim{33, 2, 1}}) {
    unsigned n = block.x * block.y * block.z;
    std::vector<int> out(2 * n, -1);
    program.launch("run", {2}, block, n * 4, out.data());
    for (unsigned t = 0; t < n; ++t) {
      unsigned o = n - 1 - t;
      unsigned x = o % block.x, y = o / block.x % block.y, z = o / block.x / block.y;
      ASSERT_EQ(out[2 * t], int(x + 100 * y + 10000 * z))
          << block.x << "x" << block.y << "x" << block.z;
      if ((t ^ 1) < n) {
        ASSERT_EQ(out[2 * t + 1], int(t ^ 1));
      }
    }
  }
}

// No __syncwarp between the lanes that write and the one that reads: as on a GPU, a warp that has
// not parted is in step, however wide the vectors are.
TEST_P(Barriers, LanesInLockstep) {
  Program program(R"(
    extern "C" __global__ void run(int* out) {
      __shared__ int s[64], first;
      int t = threadIdx.x;
      s[t] = t + 1;
      __syncthreads();
      if (t < 17) {
        int sum = 0;
        for (int i = t; i < 64; i += 17) sum += s[i];
        s[t] = sum;
      }
      if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 17; ++i) sum += s[i];
        out[64] = sum;
      }
      if (t == 31) first = 7;
      out[t] = t < 32 ? first : 7;
    }
    struct Point { float x, y, z; };
    extern "C" __global__ void permute(const Point* in, const int* to, Point* out) {
      __shared__ Point s[64];
      __shared__ int places[64];
      int t = threadIdx.x;
      s[t] = in[t];
      places[t] = to[t];
      __syncthreads();
      s[places[t]] = s[t];
      __syncthreads();
      out[t] = s[t];
    }
    extern "C" __global__ void pass_on(const int* in, int* out, int rounds) {
      __shared__ int s[32];
      int t = threadIdx.x;
      s[t] = 0;
      __syncthreads();
      for (int k = 0; k < rounds; ++k) {
        int from = t == 0 ? in[k] : s[t - 1];
        s[t] = from + 1;
        __syncthreads();
      }
      if (t == 31) *out = s[31];
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  std::vector<int> out(65, -1);
  program.launch("run", {1}, {64}, 0, out.data());
  EXPECT_EQ(out[64], 64 * 65 / 2);
  for (int t = 0; t < 64; ++t) ASSERT_EQ(out[t], 7) << t;
  std::vector<float> points(3 * 64), permuted(3 * 64, -1);
  std::vector<int> to(64);
  for (int i = 0; i < 3 * 64; ++i) points[i] = float(i);
  for (int t = 0; t < 64; ++t) to[t] = t / 32 * 32 + (t * 11 + 5) % 32;
  program.launch("permute", {1}, {64}, 0, points.data(), to.data(), permuted.data());
  for (int t = 0; t < 64; ++t)
    for (int i = 0; i < 3; ++i) ASSERT_EQ(permuted[3 * to[t] + i], points[3 * t + i]) << t;
  std::vector<int> in(40);
  for (int i = 0; i < 40; ++i) in[i] = 100 * i;
  int last = -1;
  program.launch("pass_on", {1}, {32}, 0, in.data(), &last, 40);
  EXPECT_EQ(last, in[8] + 32);
}

}  // namespace
}  // namespace simt_test
