// Running sums inside each block of 256 elements: in round r every thread adds the value 2^r places before it.
extern "C" __global__ void block_scan(const int* in, int* out, int n) {
  __shared__ int sums[256];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    int before = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += before;
    __syncthreads();
  }
  if (i < n) out[i] = sums[t];
}
