// Counts of byte values: each block counts in shared memory, then adds its counts to the total.
extern "C" __global__ void histogram(const unsigned char* in, unsigned int* counts, int n) {
  __shared__ unsigned int local[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) atomicAdd(&counts[bin], local[bin]);
}
