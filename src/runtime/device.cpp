// Devices: numbers, properties, limits, peers.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

bool exists(int device) {
  return device >= 0 && device < provider().device_count && device < kMaxDevices;
}

int attribute(CUdevice device, int number) {
  int value = 0;
  return api().cuDeviceGetAttribute(&value, number, device) == CUDA_SUCCESS ? value : 0;
}

// Which attribute fills which integer field.
struct PropertyRow {
  int cudaDeviceProp::* field;
  int attribute;
};
const PropertyRow kProperties[] = {
    {&cudaDeviceProp::regsPerBlock, cudaDevAttrMaxRegistersPerBlock},
    {&cudaDeviceProp::warpSize, cudaDevAttrWarpSize},
    {&cudaDeviceProp::maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock},
    {&cudaDeviceProp::clockRate, cudaDevAttrClockRate},
    {&cudaDeviceProp::major, cudaDevAttrComputeCapabilityMajor},
    {&cudaDeviceProp::minor, cudaDevAttrComputeCapabilityMinor},
    {&cudaDeviceProp::deviceOverlap, cudaDevAttrGpuOverlap},
    {&cudaDeviceProp::multiProcessorCount, cudaDevAttrMultiProcessorCount},
    {&cudaDeviceProp::kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
    {&cudaDeviceProp::integrated, cudaDevAttrIntegrated},
    {&cudaDeviceProp::canMapHostMemory, cudaDevAttrCanMapHostMemory},
    {&cudaDeviceProp::computeMode, cudaDevAttrComputeMode},
    {&cudaDeviceProp::concurrentKernels, cudaDevAttrConcurrentKernels},
    {&cudaDeviceProp::ECCEnabled, cudaDevAttrEccEnabled},
    {&cudaDeviceProp::pciBusID, cudaDevAttrPciBusId},
    {&cudaDeviceProp::pciDeviceID, cudaDevAttrPciDeviceId},
    {&cudaDeviceProp::pciDomainID, cudaDevAttrPciDomainId},
    {&cudaDeviceProp::asyncEngineCount, cudaDevAttrAsyncEngineCount},
    {&cudaDeviceProp::unifiedAddressing, cudaDevAttrUnifiedAddressing},
    {&cudaDeviceProp::memoryClockRate, cudaDevAttrMemoryClockRate},
    {&cudaDeviceProp::memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth},
    {&cudaDeviceProp::l2CacheSize, cudaDevAttrL2CacheSize},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor},
    {&cudaDeviceProp::streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported},
    {&cudaDeviceProp::globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported},
    {&cudaDeviceProp::localL1CacheSupported, cudaDevAttrLocalL1CacheSupported},
    {&cudaDeviceProp::regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor},
    {&cudaDeviceProp::managedMemory, cudaDevAttrManagedMemory},
    {&cudaDeviceProp::concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess},
    {&cudaDeviceProp::pageableMemoryAccess, cudaDevAttrPageableMemoryAccess},
    {&cudaDeviceProp::cooperativeLaunch, cudaDevAttrCooperativeLaunch},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor},
    {&cudaDeviceProp::hostRegisterSupported, cudaDevAttrHostRegisterSupported},
    {&cudaDeviceProp::memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported},
    {&cudaDeviceProp::clusterLaunch, cudaDevAttrClusterLaunch},
    {&cudaDeviceProp::maxTexture1D, cudaDevAttrMaxTexture1DWidth},
};

void fill_sizes(CUdevice device, cudaDeviceProp* p) {
  std::size_t total = 0;
  api().cuDeviceTotalMem(&total, device);
  p->totalGlobalMem = total;
  p->sharedMemPerBlock = attribute(device, MAX_SHARED_MEMORY_PER_BLOCK);
  p->sharedMemPerMultiprocessor = attribute(device, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  p->sharedMemPerBlockOptin = attribute(device, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  p->reservedSharedMemPerBlock = attribute(device, RESERVED_SHARED_MEMORY_PER_BLOCK);
  p->memPitch = attribute(device, MAX_PITCH);
  p->totalConstMem = attribute(device, TOTAL_CONSTANT_MEMORY);
  p->textureAlignment = attribute(device, TEXTURE_ALIGNMENT);
  p->texturePitchAlignment = attribute(device, cudaDevAttrTexturePitchAlignment);
  p->surfaceAlignment = attribute(device, cudaDevAttrSurfaceAlignment);
  for (int i = 0; i < 3; ++i) {
    p->maxThreadsDim[i] = attribute(device, MAX_BLOCK_DIM_X + i);
    p->maxGridSize[i] = attribute(device, MAX_GRID_DIM_X + i);
    p->maxTexture3D[i] = attribute(device, cudaDevAttrMaxTexture3DWidth + i);
  }
  p->maxTexture2D[0] = attribute(device, cudaDevAttrMaxTexture2DWidth);
  p->maxTexture2D[1] = attribute(device, cudaDevAttrMaxTexture2DHeight);
}

}  // namespace

TD_RUNTIME cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return note(cudaErrorInvalidValue);
  *count = std::min(provider().device_count, kMaxDevices);
  return note(*count ? cudaSuccess : cudaErrorNoDevice);
}

TD_RUNTIME cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return note(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}

TD_RUNTIME cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) return note(cudaErrorInvalidDevice);
  set_current_device(device);
  return note(enter());
}

TD_RUNTIME cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  CUcontext context;
  return note(context_of(device, &context));
}

TD_RUNTIME cudaError_t cudaSetValidDevices(int* devices, int count) {
  if (devices == nullptr || count < 1) return note(cudaErrorInvalidValue);
  return cudaSetDevice(devices[0]);
}

TD_RUNTIME cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (device == nullptr || wanted == nullptr) return note(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

TD_RUNTIME cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return note(cudaErrorInvalidValue);
  CUdevice handle = 0;
  if (CUresult error = api().cuDeviceGet(&handle, device)) return note(error);
  *properties = {};
  api().cuDeviceGetName(properties->name, sizeof properties->name, handle);
  CUuuid uuid{};
  if (api().cuDeviceGetUuid(&uuid, handle) == CUDA_SUCCESS)
    std::memcpy(properties->uuid.bytes, uuid.bytes, 16);
  for (const PropertyRow& row : kProperties)
    properties->*row.field = attribute(handle, row.attribute);
  fill_sizes(handle, properties);
  properties->singleToDoublePrecisionPerfRatio = 2;
  return cudaSuccess;
}

TD_RUNTIME cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr number, int device) {
  CUdevice handle = 0;
  if (CUresult error = api().cuDeviceGet(&handle, device)) return note(error);
  return note(api().cuDeviceGetAttribute(value, number, handle));
}

TD_RUNTIME cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  CUdevice handle = 0;
  if (CUresult error = api().cuDeviceGet(&handle, device)) return note(error);
  return note(api().cuDeviceGetPCIBusId(id, length, handle));
}

TD_RUNTIME cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  if (device == nullptr || id == nullptr) return note(cudaErrorInvalidValue);
  char own[64];
  for (int i = 0; exists(i); ++i) {
    if (cudaDeviceGetPCIBusId(own, sizeof own, i) != cudaSuccess || std::strcmp(own, id) != 0)
      continue;
    *device = i;
    return cudaSuccess;
  }
  return note(cudaErrorInvalidValue);
}

TD_RUNTIME cudaError_t cudaDeviceSynchronize() {
  return call([] { return api().cuCtxSynchronize(); });
}
TD_RUNTIME cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

TD_RUNTIME cudaError_t cudaDeviceReset() {
  if (!exists(current_device())) return note(cudaErrorInvalidDevice);
  const cudaError_t error = note(reset_device(current_device()));
  return error;
}
TD_RUNTIME cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

TD_RUNTIME cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&] { return api().cuCtxSetLimit(limit, value); });
}
TD_RUNTIME cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&] { return api().cuCtxGetLimit(value, limit); });
}

// Preferences: devices without a choice accept and ignore them.
TD_RUNTIME cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return note(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
TD_RUNTIME cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
TD_RUNTIME cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([] { return api().cuCtxResetPersistingL2Cache(); });
}
TD_RUNTIME cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (config == nullptr) return note(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}
TD_RUNTIME cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
TD_RUNTIME cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
TD_RUNTIME cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return note(cudaErrorInvalidValue);
  *flags = cudaDeviceMapHost;
  return cudaSuccess;
}

TD_RUNTIME cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] { return api().cuCtxGetStreamPriorityRange(least, greatest); });
}

TD_RUNTIME cudaError_t cudaDriverGetVersion(int* version) {
  return note(api().cuDriverGetVersion(version));
}
TD_RUNTIME cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return note(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

TD_RUNTIME cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  CUdevice own = 0, other = 0;
  if (CUresult error = api().cuDeviceGet(&own, device)) return note(error);
  if (CUresult error = api().cuDeviceGet(&other, peer)) return note(error);
  return note(api().cuDeviceCanAccessPeer(can, own, other));
}
TD_RUNTIME cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&]() -> CUresult {
    CUcontext context = nullptr;
    if (CUresult error = context_of(peer, &context)) return error;
    return api().cuCtxEnablePeerAccess(context, flags);
  });
}
TD_RUNTIME cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&]() -> CUresult {
    CUcontext context = nullptr;
    if (CUresult error = context_of(peer, &context)) return error;
    return api().cuCtxDisablePeerAccess(context);
  });
}
TD_RUNTIME cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                                 int device, int peer) {
  CUdevice own = 0, other = 0;
  if (CUresult error = api().cuDeviceGet(&own, device)) return note(error);
  if (CUresult error = api().cuDeviceGet(&other, peer)) return note(error);
  return note(api().cuDeviceGetP2PAttribute(value, attribute, own, other));
}
