extern "C" __global__ void mandelbrot(int* counts, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cr = -2.0f + 3.0f * x / width, ci = -1.5f + 3.0f * y / height, zr = 0, zi = 0;
  int count = 0;
  while (count < limit && zr * zr + zi * zi < 4.0f) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    ++count;
  }
  counts[y * width + x] = count;
}
