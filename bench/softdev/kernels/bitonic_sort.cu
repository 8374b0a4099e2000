// Each block sorts 512 numbers in shared memory with 256 threads.
extern "C" __global__ void bitonic_sort(const int* in, int* out) {
  __shared__ int part[512];
  int t = threadIdx.x, start = blockIdx.x * 512;
  part[t] = in[start + t];
  part[t + 256] = in[start + t + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int low = 2 * t - (t & (stride - 1)), high = low + stride;
      bool ascending = (low & size) == 0;
      int a = part[low], b = part[high];
      if ((a > b) == ascending) {
        part[low] = b;
        part[high] = a;
      }
    }
  __syncthreads();
  out[start + t] = part[t];
  out[start + t + 256] = part[t + 256];
}
