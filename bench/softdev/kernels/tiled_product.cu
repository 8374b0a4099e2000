// n is a multiple of 16.
extern "C" __global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int start = 0; start < n; start += 16) {
    tile_a[y][x] = a[row * n + start + x];
    tile_b[y][x] = b[(start + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
