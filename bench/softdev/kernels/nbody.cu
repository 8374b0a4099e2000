// Blocks of 256; n is a multiple of 256. Position and mass in one float4.
extern "C" __global__ void nbody(const float4* bodies, float4* forces, int n) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = bodies[i];
  float fx = 0, fy = 0, fz = 0;
  for (int start = 0; start < n; start += 256) {
    tile[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 256; ++j) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
      float s = tile[j].w * inverse * inverse * inverse;
      fx += s * dx;
      fy += s * dy;
      fz += s * dz;
    }
    __syncthreads();
  }
  forces[i] = make_float4(fx, fy, fz, 0);
}
