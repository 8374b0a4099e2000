// With two_device.cu: device functions and variables shared between files (-rdc=true).
#include <cstdio>

extern __device__ int add_up(int x);
extern __device__ int bias;
int from_other_file();

__global__ void use(int* out) { *out = add_up(20) + bias; }

int main() {
  int *device, value = 0;
  const int bias_value = 1000;
  cudaMalloc(&device, sizeof(int));
  cudaMemcpyToSymbol(bias, &bias_value, sizeof(int));
  use<<<1, 1>>>(device);
  cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("two files: %d %d\n", value, from_other_file());
  return value == 1027 && from_other_file() == 9 ? 0 : 1;
}
