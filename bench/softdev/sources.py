"""Kernels of a given length, to measure how long compiling takes.

A stage is eight lines: a loop over neighbours in shared memory, a branch that threads take differently, and a barrier.
"""

STAGE = """\
  for (int k = 0; k < {trips}; ++k) {{
    float y = part[(t + k * {step} + {shift}) & 31];
    if (y > x) x = x * {scale}f + y;
    else x = fmaf(y, {scale}f, -x) + sqrtf(fabsf(y) + {shift}.0f);
  }}
  __syncthreads();
  part[t] = x;
  __syncthreads();
"""

SMALL = """\
extern "C" __global__ void work(float* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = values[i];
  float y = x * 2.0f + 1.0f;
  float z = sqrtf(x * x + y * y);
  if (z > 3.0f) z -= 3.0f;
  values[i] = z + y;
}
"""


def kernel(lines):
    """CUDA C++ of about `lines` lines with a kernel `work(float*, int)` for blocks of 32."""
    if lines < 20:
        return SMALL
    stages = "".join(
        STAGE.format(trips="n & 7", step=i % 5 + 1, shift=i % 13 + 1, scale=f"0.{i % 7 + 1}")
        for i in range((lines - 8) // 8)
    )
    return (
        'extern "C" __global__ void work(float* values, int n) {\n'
        "  __shared__ float part[32];\n"
        "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
        "  float x = values[i];\n"
        "  part[t] = x;\n"
        "  __syncthreads();\n" + stages + "  values[i] = x;\n}\n"
    )
