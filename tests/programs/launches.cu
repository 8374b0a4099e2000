// <<<>>>, kernel templates, kernels as template arguments and as function pointers, __host__
// __device__ functions, lambdas, occupancy, function attributes, configured launches. The host
// computes what is expected.
#include <cmath>
#include <cstdio>
#include <vector>

#include "check.h"

template <class T>
__host__ __device__ T blend(T x, T y) {
  return fmax(x, y) + sqrt(x * y);
}

template <class T, int scale>
__global__ void combine(const T* a, const T* b, T* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = scale * blend(a[i], b[i]);
}

template <class F>
__global__ void apply(F f, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(i);
}

template <void kernel(const double*, const double*, double*, int)>
void run_kernel(const double* a, const double* b, double* c, int n) {
  kernel<<<(n + 63) / 64, 64>>>(a, b, c, n);
}

__global__ void reverse(int* data, int n) {
  extern __shared__ int part[];
  part[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = part[n - 1 - threadIdx.x];
}

struct Pair {
  float4 v;
  char tag;
};
__global__ void by_value(Pair pair, dim3 extent, float* out) {
  out[threadIdx.x] = pair.v.x + pair.v.w * pair.tag + extent.y;
}

// C++'s pow, which programs get and kernels that come as text do not.
__global__ void computes_in_double(float x, double* out) {
  static_assert(sizeof(pow(x, 3)) == sizeof(double), "");
  *out = pow(x, 3);
}

int main() {
  const int n = 1000;
  std::vector<double> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i * 0.5, b[i] = n - i;
  double *da, *db, *dc;
  CHECK(cudaMalloc(&da, n * sizeof(double)));
  CHECK(cudaMalloc(&db, n * sizeof(double)));
  CHECK(cudaMalloc((void**)&dc, n * sizeof(double)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));

  void (*pointer)(const double*, const double*, double*, int) = combine<double, 3>;
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(cudaMemset(dc, 0, n * sizeof(double)));
    if (turn == 0) combine<double, 3><<<dim3(16), dim3(64)>>>(da, db, dc, n);
    if (turn == 1) pointer<<<16, 64>>>(da, db, dc, n);
    if (turn == 2) run_kernel<combine<double, 3>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, n * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i)
      if (c[i] != 3 * blend(a[i], b[i])) return std::printf("turn %d: wrong at %d\n", turn, i), 1;
  }

  const double factor = 2.5;
  apply<<<4, 256>>>([=] __device__(int i) { return factor * i; }, dc, n);
  CHECK(cudaMemcpy(c.data(), dc, n * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (c[i] != factor * i) return std::printf("lambda: wrong at %d\n", i), 1;

  int numbers[128], *dn;
  for (int i = 0; i < 128; ++i) numbers[i] = i * i;
  CHECK(cudaMalloc(&dn, sizeof numbers));
  CHECK(cudaMemcpy(dn, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  int count = 128;
  void* arguments[] = {&dn, &count};
  CHECK(cudaLaunchKernel(reverse, dim3(1), dim3(128), arguments, sizeof numbers, 0));
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 128;
  config.dynamicSmemBytes = sizeof numbers;
  CHECK(cudaLaunchKernelEx(&config, reverse, dn, 128));
  reverse<<<1, 128, sizeof numbers>>>(dn, 128);
  CHECK(cudaMemcpy(numbers, dn, sizeof numbers, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i)
    if (numbers[i] != (127 - i) * (127 - i)) return std::printf("reverse: wrong at %d\n", i), 1;

  float out[2], *df;
  CHECK(cudaMalloc(&df, sizeof out));
  by_value<<<1, 2>>>(Pair{make_float4(1, 2, 3, 4), 3}, dim3(5, 6, 7), df);
  CHECK(cudaMemcpy(out, df, sizeof out, cudaMemcpyDefault));
  if (out[0] != 1 + 4 * 3 + 6 || out[1] != out[0]) return std::printf("by value: wrong\n"), 1;

  cudaFuncAttributes facts;
  CHECK(cudaFuncGetAttributes(&facts, reverse));
  int blocks = 0, grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 128, 512));
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, combine<float, 1>));
  if (facts.maxThreadsPerBlock < 128 || blocks < 1 || grid < 1 || block < 32 || block > 1024)
    return std::printf("facts: %d %d %d %d\n", facts.maxThreadsPerBlock, blocks, grid, block), 1;
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
  double* cube;
  EXPECT(cudaMallocManaged(&cube, sizeof(double)) == cudaSuccess);
  computes_in_double<<<1, 1>>>(1.1f, cube);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(std::fabs(*cube - pow(1.1f, 3)) < 1e-15 && *cube != (float)*cube);
  std::printf("launches ok\n");
  return 0;
}
