// A whole CUDA program. Without a GPU:
//
//     treadle cc --run saxpy.cu -- 1000000
//
// or `make` and `./saxpy`. With a GPU: nvcc saxpy.cu -o saxpy.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

int main(int count, char** arguments) {
  const int n = count > 1 ? std::atoi(arguments[1]) : 1 << 20;
  std::vector<float> x(n), y(n), result(n);
  for (int i = 0; i < n; ++i) x[i] = i % 1000, y[i] = 2.0f * (i % 7);

  float *dx, *dy;
  check(cudaMalloc(&dx, n * sizeof(float)), "cudaMalloc");
  check(cudaMalloc(&dy, n * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");

  cudaEvent_t start, end;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.5f, dx, dy);  // the first launch compiles for this machine
  check(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  cudaEventRecord(start);
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.5f, dx, dy);
  cudaEventRecord(end);
  check(cudaDeviceSynchronize(), "saxpy");
  check(cudaMemcpy(result.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += std::fabs(result[i] - (2.5f * x[i] + y[i])) > 1e-3f;
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, end);
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  std::printf("%s: %d elements, %d wrong, %.3f ms on %s\n", wrong ? "FAIL" : "PASS", n, wrong, milliseconds,
              device.name);
  return wrong != 0;
}
