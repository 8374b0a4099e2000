// The other half of two_main.cu.
__device__ int bias = 5;
static __device__ int own = 7;
__device__ int add_up(int x) { return x + own; }

// Both files have a kernel and variables of these names.
static __constant__ int table[2];
static __device__ int calls;
static __global__ void use(int* out) {
  *out = 9 + table[1];
  atomicAdd(&calls, 10);
}

int from_other_file() {
  int *device, value = 0;
  cudaMalloc(&device, sizeof(int));
  const int table_values[] = {1, 60};
  cudaMemcpyToSymbol(table, table_values, sizeof table_values);
  use<<<1, 1>>>(device);
  cudaMemcpy(&value, device, sizeof(int), cudaMemcpyDeviceToHost);
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  return value + count;
}
