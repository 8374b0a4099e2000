// Inclusive prefix sums in three passes; work-groups of 256, n a multiple of 256.
__kernel void scan_blocks(__global const float* in, __global float* out, __global float* sums) {
  __local float part[2][256];
  int t = get_local_id(0), i = get_global_id(0), from = 0;
  part[0][t] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < 256; distance *= 2) {
    part[1 - from][t] = t >= distance ? part[from][t] + part[from][t - distance] : part[from][t];
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = part[from][t];
  if (t == 255) sums[get_group_id(0)] = part[from][t];
}

// One work-item: there are 256 times fewer sums than numbers.
__kernel void scan_sums(__global float* sums, int count) {
  float before = 0;
  for (int i = 0; i < count; ++i) {
    float sum = sums[i];
    sums[i] = before;
    before += sum;
  }
}

__kernel void add_sums(__global float* out, __global const float* sums) {
  out[get_global_id(0)] += sums[get_group_id(0)];
}
