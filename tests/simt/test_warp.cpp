// Barriers, shared memory and warp-level operations.
#include <gtest/gtest.h>

#include "harness.h"

namespace simt_test {
namespace {

TEST(Simt, TreeReduction) {
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
    })", 0);
  EXPECT_TRUE(program.kernel().has_barrier);
  EXPECT_EQ(program.kernel().block_symbol, "");
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

TEST(Simt, TiledMatmul) {
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
    })", 0);
  int n = 35, k = 29, m = 51;
  Guarded a(n * k * 4), b(k * m * 4), c(n * m * 4);
  for (int i = 0; i < n * k; ++i) a.as<float>()[i] = float(i % 11);
  for (int i = 0; i < k * m; ++i) b.as<float>()[i] = float(i % 7);
  program.launch("tiled", {4, 3}, {16, 16}, 0, a.as<float>(), b.as<float>(), c.as<float>(), n, k, m);
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
  int source = mode == 0 ? first + (distance & (width - 1)) : mode == 1 ? lane - distance : mode == 2 ? lane + distance
                                                                                                      : lane ^ distance;
  if (mode == 1) return source >= first ? source : lane;
  return source <= last ? source : lane;
}

TEST(Simt, ShufflesOfAllKinds) {
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
    })", 0);
  int threads = 64;
  std::vector<int> in(threads), out(8192);
  for (int i = 0; i < threads; ++i) in[i] = i * 13 + 5;
  auto check = [&](const int* got, int distance, int width) {
    for (int mode = 0; mode < 4; ++mode)
      for (int t = 0; t < threads; ++t) {
        int source = (t & ~31) + shuffle_source(mode, t & 31, distance, width);
        ASSERT_EQ(got[mode * 1024 + t], in[source]) << "mode " << mode << " d " << distance << " w " << width;
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

}  // namespace
}  // namespace simt_test
