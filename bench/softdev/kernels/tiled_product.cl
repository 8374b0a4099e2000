// n is a multiple of 16.
__kernel void tiled_product(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float tile_a[16][16], tile_b[16][16];
  int x = get_local_id(0), y = get_local_id(1);
  int row = get_group_id(1) * 16 + y, column = get_group_id(0) * 16 + x;
  float sum = 0;
  for (int start = 0; start < n; start += 16) {
    tile_a[y][x] = a[row * n + start + x];
    tile_b[y][x] = b[(start + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
