// c (m x n) = a (m x k) * b (k x n), 16 x 16 tiles in shared memory; the edges may be ragged.
#define TILE 16

extern "C" __global__ void tiled_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    tile_a[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0.0f;
    tile_b[ty][tx] = column < n && start + ty < k ? b[(start + ty) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
