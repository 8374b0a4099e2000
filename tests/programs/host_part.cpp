// A file without device code that includes the runtime API.
#include <cuda_runtime.h>

float4 host_part(int* devices) {
  cudaGetDeviceCount(devices);
  return make_float4(1, 2, 3, 4);
}
