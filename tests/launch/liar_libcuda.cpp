// A driver that reports a device, gives memory, accepts every kernel and runs none.
#include <cstdlib>
#include <cstring>

#include "base/cuda_abi.h"

#define TD_LIE extern "C" __attribute__((visibility("default"))) CUresult

TD_LIE cuDriverGetVersion(int* version) { return *version = 13000, 0; }
TD_LIE cuDeviceGetCount(int* count) { return *count = 1, 0; }
TD_LIE cuDeviceGet(CUdevice* device, int) { return *device = 0, 0; }
TD_LIE cuDeviceGetName(char* name, int, CUdevice) {
  return std::strcpy(name, "a driver that runs nothing"), 0;
}
TD_LIE cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == td::cuda::COMPUTE_CAPABILITY_MAJOR   ? 9
           : attribute == td::cuda::COMPUTE_CAPABILITY_MINOR ? 0
                                                             : 1024;
  return 0;
}
TD_LIE cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  return *context = reinterpret_cast<CUcontext>(16), 0;
}
TD_LIE cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return *address = reinterpret_cast<CUdeviceptr>(std::calloc(bytes + 256, 1)), 0;
}
TD_LIE cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  return *address = std::calloc(bytes + 4096, 1), 0;
}
TD_LIE cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
  return *module = reinterpret_cast<CUmodule>(32), 0;
}
TD_LIE cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  return *function = reinterpret_cast<CUfunction>(48), 0;
}
