// Work-groups of 256.
__kernel void tree_reduction(__global const float* x, __global float* sums, int n) {
  __local float part[256];
  int t = get_local_id(0), i = get_global_id(0);
  part[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (t < half_size) part[t] += part[t + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(0)] = part[0];
}
