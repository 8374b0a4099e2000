// Work-groups of 256; n is a multiple of 256. Position and mass in one float4.
__kernel void nbody(__global const float4* bodies, __global float4* forces, int n) {
  __local float4 tile[256];
  int i = get_global_id(0), t = get_local_id(0);
  float4 me = bodies[i];
  float fx = 0, fy = 0, fz = 0;
  for (int start = 0; start < n; start += 256) {
    tile[t] = bodies[start + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 256; ++j) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float inverse = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + 1e-4f);
      float s = tile[j].w * inverse * inverse * inverse;
      fx += s * dx;
      fy += s * dy;
      fz += s * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  forces[i] = (float4)(fx, fy, fz, 0);
}
