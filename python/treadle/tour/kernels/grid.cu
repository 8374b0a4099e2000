// Two and three dimensions: x is the fastest index, as in memory.
extern "C" __global__ void scale_2d(const float* in, float* out, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = 2.0f * in[y * width + x] + y;
}

extern "C" __global__ void number_3d(int* out, int depth, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) out[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}
