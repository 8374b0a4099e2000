// asm statements on both sides of a program: PTX in kernels, the processor's instructions on the
// host. A product of 128-bit numbers by carry chains, as libraries of big numbers write it; the
// host computes what is expected.
#include <cstdio>
#include <vector>

#include "check.h"

__device__ __forceinline__ unsigned mad_lo_cc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("mad.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ unsigned madc_lo_cc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("madc.lo.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ unsigned madc_hi_cc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("madc.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ unsigned mad_hi_cc(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm volatile("mad.hi.cc.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
__device__ __forceinline__ unsigned addc(unsigned a, unsigned b) {
  unsigned r;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Row by row: the low halves of a row's products are one chain, the high halves another.
__global__ void multiply(const unsigned* x, const unsigned* y, unsigned* product, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum[8] = {};
#pragma unroll
  for (int row = 0; row < 4; ++row) {
    const unsigned factor = y[4 * i + row];
    sum[row] = mad_lo_cc(x[4 * i], factor, sum[row]);
#pragma unroll
    for (int k = 1; k < 4; ++k) sum[row + k] = madc_lo_cc(x[4 * i + k], factor, sum[row + k]);
    sum[row + 4] = addc(sum[row + 4], 0);
    sum[row + 1] = mad_hi_cc(x[4 * i], factor, sum[row + 1]);
#pragma unroll
    for (int k = 1; k < 4; ++k)
      sum[row + k + 1] = madc_hi_cc(x[4 * i + k], factor, sum[row + k + 1]);
    if (row < 3) sum[row + 5] = addc(sum[row + 5], 0);
  }
  for (int k = 0; k < 8; ++k) product[8 * i + k] = sum[k];
}

// One function with an instruction for each side.
__host__ __device__ unsigned swap_bytes(unsigned x) {
  unsigned r;
#ifdef __CUDA_ARCH__
  asm("prmt.b32 %0, %1, 0, 0x0123;" : "=r"(r) : "r"(x));
#else
  r = x;
  asm("bswap %0" : "+r"(r));
#endif
  return r;
}
__global__ void swap_all(unsigned* data) { data[threadIdx.x] = swap_bytes(data[threadIdx.x]); }

typedef unsigned __int128 Wide;

int main() {
  const int n = 1000;
  std::vector<unsigned> x(4 * n), y(4 * n), product(8 * n);
  unsigned state = 12345;
  for (int i = 0; i < 4 * n; ++i) {
    x[i] = i < 40 ? ~0u : (state = state * 1664525u + 1013904223u);
    y[i] = i < 20 ? ~0u : (state = state * 1664525u + 1013904223u);
  }
  unsigned *dx, *dy, *dp;
  CHECK(cudaMalloc(&dx, 4 * x.size()));
  CHECK(cudaMalloc(&dy, 4 * y.size()));
  CHECK(cudaMalloc(&dp, 4 * product.size()));
  CHECK(cudaMemcpy(dx, x.data(), 4 * x.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), 4 * y.size(), cudaMemcpyHostToDevice));
  multiply<<<(n + 127) / 128, 128>>>(dx, dy, dp, n);
  CHECK(cudaMemcpy(product.data(), dp, 4 * product.size(), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    Wide column = 0;
    for (int k = 0; k < 8; ++k) {
      Wide carry = 0;
      for (int j = 0; j < 4; ++j)
        if (k - j >= 0 && k - j < 4) {
          const Wide part = (Wide)x[4 * i + j] * y[4 * i + k - j];
          column += part & 0xffffffffu;
          carry += part >> 32;
        }
      EXPECT(product[8 * i + k] == (unsigned)column);
      column = (column >> 32) + carry;
    }
  }
  swap_all<<<1, 64>>>(dx);
  std::vector<unsigned> swapped(64);
  CHECK(cudaMemcpy(swapped.data(), dx, 256, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(swapped[i] == swap_bytes(x[i]));
  std::printf("inline_ptx ok\n");
}
