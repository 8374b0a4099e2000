// Work-groups of 256. PoCL 3 has no sub-group shuffles: the values go through local memory.
__kernel void shuffle_reduction(__global const float* x, __global float* sums, int n) {
  __local float part[256];
  int t = get_local_id(0), i = get_global_id(0), lane = t % 32, warp = t / 32;
  part[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 16; distance > 0; distance /= 2) {
    if (lane < distance) part[t] += part[t + distance];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int distance = 4; distance > 0; distance /= 2) {
    if (t < distance) part[32 * t] += part[32 * (t + distance)];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(0)] = part[0];
}
