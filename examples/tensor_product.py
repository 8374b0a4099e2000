"""A product of float16 matrices on the tensor cores (wmma), summed in float.

The software device calculates it as an H200 does, to the bit; <mma.h> comes with Treadle.
"""

import numpy as np
import treadle as td

SOURCE = r"""
#include <mma.h>
using namespace nvcuda;

// c = a b, row-major. Each warp makes a tile of 16 rows and 16 columns; m, n and k are multiples of 16.
extern "C" __global__ void product(const half* a, const half* b, float* c, int n, int k) {
  int row = blockIdx.y * 16, column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
  if (column >= n) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> tile_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> tile_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(tile_a, a + row * k + i, k);
    wmma::load_matrix_sync(tile_b, b + i * n + column, n);
    wmma::mma_sync(sum, tile_a, tile_b, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
"""

m, n, k = 128, 144, 256
rng = np.random.default_rng(1)
a = rng.standard_normal((m, k)).astype(np.float16)
b = rng.standard_normal((k, n)).astype(np.float16)
c = td.zeros((m, n), np.float32)
warps = 4
product = td.RawKernel(SOURCE, "product")
product((-(-n // (16 * warps)), m // 16), (32 * warps,), (td.asarray(a), td.asarray(b), c, n, k))

exact = a.astype(np.float64) @ b.astype(np.float64)
error = np.abs(td.asnumpy(c) - exact).max()
# 16 sums, each cut off 25 bits below its largest term and at float's 24 bits.
assert error < 16 * 2.0**-23 * np.abs(exact).max()
print(f"{m} x {n} sums of {k} products; the largest error is {error:.1e}")
