// A kernel whose author forgot `if (i < n)`: the threads past the end write into whatever lies there.
extern "C" __global__ void no_bounds_check(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 1.0f;
}

// Writes a terabyte behind its array.
extern "C" __global__ void far_away(float* out) { out[1ll << 38] = 1.0f; }
