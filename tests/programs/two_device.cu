// The other half of two_main.cu.
__device__ int bias = 5;
static __device__ int own = 7;
__device__ int add_up(int x) { return x + own; }

// Both files have a kernel of this name.
static __global__ void use(int* out) { *out = 9; }

int from_other_file() {
  int *device, value = 0;
  cudaMalloc(&device, sizeof(int));
  use<<<1, 1>>>(device);
  cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost);
  return value;
}
