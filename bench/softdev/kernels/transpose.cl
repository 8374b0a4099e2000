// Work-groups of (32, 8) move tiles of 32 x 32 through local memory; n is a multiple of 32.
__kernel void transpose(__global const float* in, __global float* out, int n) {
  __local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1);
  int x = get_group_id(0) * 32 + tx, y = get_group_id(1) * 32 + ty;
  for (int j = 0; j < 32; j += 8) tile[ty + j][tx] = in[(y + j) * n + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  x = get_group_id(1) * 32 + tx;
  y = get_group_id(0) * 32 + ty;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[tx][ty + j];
}
