// Each work-group sorts 512 numbers in local memory with 256 work-items.
__kernel void bitonic_sort(__global const int* in, __global int* out) {
  __local int part[512];
  int t = get_local_id(0), start = get_group_id(0) * 512;
  part[t] = in[start + t];
  part[t + 256] = in[start + t + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int low = 2 * t - (t & (stride - 1)), high = low + stride;
      bool ascending = (low & size) == 0;
      int a = part[low], b = part[high];
      if ((a > b) == ascending) {
        part[low] = b;
        part[high] = a;
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[start + t] = part[t];
  out[start + t + 256] = part[t + 256];
}
