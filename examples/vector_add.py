"""A kernel in CUDA C++, launched from Python. Runs on an NVIDIA GPU or, without one, on the software device."""

import numpy as np
import treadle as td
from treadle import cuda

SOURCE = r"""
extern "C" __global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
"""

n = 10_003
a = td.asarray(np.linspace(0, 1, n, dtype=np.float32))
b = td.asarray(np.linspace(5, 4, n, dtype=np.float32))
out = td.empty(n, np.float32)

vector_add = td.RawKernel(SOURCE, "vector_add")
vector_add(((n + 255) // 256,), (256,), (a, b, out, n))

np.testing.assert_allclose(td.asnumpy(out), 5, rtol=1e-6)
print(f"{n} sums are right; computed on {cuda.Device().description}")
