// One sum a block of 256 threads.

// A tree in shared memory: half of the threads add the other half's values, then a quarter, and so on.
extern "C" __global__ void tree_sum(const float* in, float* sums, int n) {
  __shared__ float part[256];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

// The same without shared memory inside a warp: each thread reads a register of its neighbour.
extern "C" __global__ void shuffle_sum(const float* in, float* sums, int n) {
  __shared__ float of_warp[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float value = warp_sum(i < n ? in[i] : 0.0f);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = warp_sum(lane < blockDim.x / 32 ? of_warp[lane] : 0.0f);
    if (lane == 0) sums[blockIdx.x] = value;
  }
}
