// Inclusive prefix sums in three passes; blocks of 256, n a multiple of 256.
extern "C" __global__ void scan_blocks(const float* in, float* out, float* sums) {
  __shared__ float part[2][256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
  part[0][t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < 256; distance *= 2) {
    part[1 - from][t] = t >= distance ? part[from][t] + part[from][t - distance] : part[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[i] = part[from][t];
  if (t == 255) sums[blockIdx.x] = part[from][t];
}

// One thread: there are 256 times fewer sums than numbers.
extern "C" __global__ void scan_sums(float* sums, int count) {
  float before = 0;
  for (int i = 0; i < count; ++i) {
    float sum = sums[i];
    sums[i] = before;
    before += sum;
  }
}

extern "C" __global__ void add_sums(float* out, const float* sums) {
  out[blockIdx.x * 256 + threadIdx.x] += sums[blockIdx.x];
}
