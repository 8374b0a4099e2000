// Shapes of blocks and grids, and the ways in which addresses follow from thread indices.
#include <gtest/gtest.h>

#include "harness.h"

namespace simt_test {
namespace {

class Widths : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Widths, testing::ValuesIn(widths));

TEST_P(Widths, VectorAddOddLengths) {
  Program program(R"(
    extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) c[i] = a[i] + b[i];
    })",
                  GetParam());
  EXPECT_EQ(program.kernel().width, static_cast<unsigned>(GetParam()));
  for (int n : {1, 7, 8, 31, 32, 33, 100, 255, 256, 257, 1000, 1027})
    for (unsigned block : {32u, 100u, 256u, 17u}) {
      // Outputs and inputs end at a page that may not be touched.
      Guarded a(n * 4), b(n * 4), c(n * 4);
      for (int i = 0; i < n; ++i) {
        a.as<float>()[i] = 0.5f * i;
        b.as<float>()[i] = 1000.0f - i;
        c.as<float>()[i] = -1;
      }
      program.launch("add", {(n + block - 1) / block}, {block}, 0, a.as<float>(), b.as<float>(),
                     c.as<float>(), n);
      for (int i = 0; i < n; ++i)
        ASSERT_EQ(c.as<float>()[i], 0.5f * i + (1000.0f - i)) << n << " " << block << " " << i;
    }
}

TEST_P(Widths, TwoAndThreeDimensions) {
  Program program(R"(
    extern "C" __global__ void fill(int* out, int w, int h, int d) {
      int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
      int z = blockIdx.z * blockDim.z + threadIdx.z;
      if (x < w && y < h && z < d)
        out[(z * h + y) * w + x] = x + 1000 * y + 1000000 * z + (int)(gridDim.x + gridDim.y + gridDim.z) * 0;
    })",
                  GetParam());
  const Dim blocks[] = {{16, 16, 1}, {8, 8, 4}, {5, 5, 5}, {32, 4, 1},
                        {1, 64, 1},  {3, 1, 7}, {33, 3, 2}};
  for (Dim block : blocks) {
    unsigned w = 37, h = 21, d = 5;
    Guarded out(w * h * d * 4);
    Dim grid{(w + block.x - 1) / block.x, (h + block.y - 1) / block.y, (d + block.z - 1) / block.z};
    program.launch("fill", grid, block, 0, out.as<int>(), int(w), int(h), int(d));
    for (unsigned z = 0; z < d; ++z)
      for (unsigned y = 0; y < h; ++y)
        for (unsigned x = 0; x < w; ++x)
          ASSERT_EQ(out.as<int>()[(z * h + y) * w + x], int(x + 1000 * y + 1000000 * z))
              << block.x << "x" << block.y;
  }
}

TEST_P(Widths, NaiveMatmul) {
  Program program(R"(
    extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n, int k, int m) {
      int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
      if (row >= n || col >= m) return;
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * m + col];
      c[row * m + col] = sum;
    })",
                  GetParam());
  int n = 19, k = 23, m = 37;
  std::vector<float> a(n * k), b(k * m), c(n * m, -1);
  for (int i = 0; i < n * k; ++i) a[i] = float(i % 11);
  for (int i = 0; i < k * m; ++i) b[i] = float(i % 7);
  program.launch("matmul", {3, 2}, {16, 16}, 0, a.data(), b.data(), c.data(), n, k, m);
  for (int r = 0; r < n; ++r)
    for (int j = 0; j < m; ++j) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[r * k + i] * b[i * m + j];
      ASSERT_EQ(c[r * m + j], sum);
    }
}

TEST_P(Widths, GridStrideAndWideIndices) {
  Program program(R"(
    extern "C" __global__ void ints(float* a, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] += i;
    }
    extern "C" __global__ void sizes(float* a, size_t n) {
      for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] += i;
    }
    extern "C" __global__ void neighbours(const float* a, float* b, unsigned n) {
      unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];
    })",
                  GetParam());
  int n = 1003;
  Guarded a(n * 4), b(n * 4);
  for (int i = 0; i < n; ++i) a.as<float>()[i] = 2;
  program.launch("ints", {3}, {96}, 0, a.as<float>(), n);
  program.launch("sizes", {2}, {64}, 0, a.as<float>(), std::size_t(n));
  for (int i = 0; i < n; ++i) ASSERT_EQ(a.as<float>()[i], 2.0f + 2 * i);
  program.launch("neighbours", {16}, {64}, 0, a.as<float>(), b.as<float>(), unsigned(n));
  for (int i = 1; i < n - 1; ++i) ASSERT_EQ(b.as<float>()[i], 4.0f + 4 * i) << i;
}

}  // namespace
}  // namespace simt_test
