// Blocks of 256.
extern "C" __global__ void tree_reduction(const float* x, float* sums, int n) {
  __shared__ float part[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}
