// With two_device.cu: device functions and variables shared between files (-rdc=true).
#include <cstdio>

extern __device__ int add_up(int x);
extern __device__ int bias;
int from_other_file();

// Both files have variables of these names, which their kernels use before the host does.
static __constant__ int table[2];
static __device__ int calls;

__global__ void use(int* out) {
  *out = add_up(20) + bias + table[1];
  atomicAdd(&calls, 1);
}

int main() {
  int *device, value = 0;
  const int bias_value = 1000;
  cudaMalloc(&device, sizeof(int));
  cudaMemcpyToSymbol(bias, &bias_value, sizeof(int));
  const int table_values[] = {1, 300};
  cudaMemcpyToSymbol(table, table_values, sizeof table_values);
  use<<<1, 1>>>(device);
  cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost);
  const int other = from_other_file();
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  std::printf("two files: %d %d %d\n", value, other, count);
  return value == 1327 && other == 79 && count == 1 ? 0 : 1;
}
