// Blocks of 256.
extern "C" __global__ void shuffle_reduction(const float* x, float* sums, int n) {
  __shared__ float part[8];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t % 32, warp = t / 32;
  float sum = i < n ? x[i] : 0;
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = lane < 8 ? part[lane] : 0;
  for (int distance = 4; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) sums[blockIdx.x] = sum;
}
