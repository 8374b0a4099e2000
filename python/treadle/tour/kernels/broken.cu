extern "C" __global__ void broken(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = undeclared_name + 1.0f;
  }
}
