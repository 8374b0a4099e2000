// 256 bins; work-groups of 256, each of which counts `per_block` values in local memory first.
__kernel void clear_bins(__global unsigned* bins) { bins[get_local_id(0)] = 0; }

__kernel void histogram(__global const unsigned* values, __global unsigned* bins, int n, int per_block) {
  __local unsigned part[256];
  int t = get_local_id(0), start = get_group_id(0) * per_block, end = min(start + per_block, n);
  part[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = start + t; i < end; i += get_local_size(0)) atomic_inc(&part[values[i] & 255]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (part[t]) atomic_add(&bins[t], part[t]);
}
