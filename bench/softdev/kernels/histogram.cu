// 256 bins; blocks of 256, each of which counts `per_block` values in shared memory first.
extern "C" __global__ void clear_bins(unsigned* bins) { bins[threadIdx.x] = 0; }

extern "C" __global__ void histogram(const unsigned* values, unsigned* bins, int n, int per_block) {
  __shared__ unsigned part[256];
  int t = threadIdx.x, start = blockIdx.x * per_block, end = min(start + per_block, n);
  part[t] = 0;
  __syncthreads();
  for (int i = start + t; i < end; i += blockDim.x) atomicAdd(&part[values[i] & 255], 1u);
  __syncthreads();
  if (part[t]) atomicAdd(&bins[t], part[t]);
}
