// Errors that pass and errors that stick.
#include <cstdio>

#include "check.h"

__global__ void fine(int* out) { *out = 42; }
__global__ void outside(int* out) { out[1ll << 40] = 1; }

int main() {
  int *device, value = 0;
  EXPECT(cudaMalloc(&device, sizeof(int)) == cudaSuccess);
  // Passing: reported once, and the next launch works.
  fine<<<1, 2048>>>(device);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  EXPECT(cudaGetLastError() == cudaSuccess);
  fine<<<1, 1>>>(device);
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  EXPECT(cudaMalloc(&device, 1ull << 60) == cudaErrorMemoryAllocation);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaMemcpy(&value, &value, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
  (void)cudaGetLastError();
  EXPECT(cudaMalloc(&device, sizeof(int)) == cudaSuccess);
  // Sticky: every later call says it, until the device is reset.
  outside<<<1, 1>>>(device);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
  EXPECT(cudaMalloc(&device, 4) == cudaErrorIllegalAddress);
  EXPECT(cudaDeviceReset() == cudaSuccess);
  (void)cudaGetLastError();
  EXPECT(cudaMalloc(&device, sizeof(int)) == cudaSuccess);
  fine<<<1, 1>>>(device);
  EXPECT(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(value == 42);
  std::printf("errors ok: %s, %s\n", cudaGetErrorName(cudaErrorAssert),
              cudaGetErrorString(cudaErrorNotReady));
  return 0;
}
