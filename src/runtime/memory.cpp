// Allocation, and what an address is.
#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

CUmemoryPool pool_of(cudaMemPool_t pool) { return reinterpret_cast<CUmemoryPool>(pool); }
CUmemLocation place_of(const cudaMemLocation& location) { return {location.type, location.id}; }

template <class F>
cudaError_t on_device(int device, F&& function) {
  return call([&]() -> CUresult {
    CUdevice handle = 0;
    if (CUresult error = api().cuDeviceGet(&handle, device)) return error;
    return function(handle);
  });
}

}  // namespace

TD_RUNTIME cudaError_t cudaMalloc(void** address, size_t bytes) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = nullptr;
    if (bytes == 0) return CUDA_SUCCESS;
    return api().cuMemAlloc(reinterpret_cast<CUdeviceptr*>(address), bytes);
  });
}
TD_RUNTIME cudaError_t cudaFree(void* address) {
  return call(
      [&]() -> CUresult { return address ? api().cuMemFree(address_of(address)) : CUDA_SUCCESS; });
}

// ---- page-locked host memory
TD_RUNTIME cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = nullptr;
    return bytes ? api().cuMemHostAlloc(address, bytes, flags) : CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaMallocHost(void** address, size_t bytes) {
  return cudaHostAlloc(address, bytes, 0);
}
TD_RUNTIME cudaError_t cudaFreeHost(void* address) {
  return call([&]() -> CUresult { return address ? api().cuMemFreeHost(address) : CUDA_SUCCESS; });
}
TD_RUNTIME cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&] {
    return api().cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(device), host, flags);
  });
}
TD_RUNTIME cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&] { return api().cuMemHostGetFlags(flags, host); });
}
TD_RUNTIME cudaError_t cudaHostRegister(void* host, size_t bytes, unsigned flags) {
  return call([&] { return api().cuMemHostRegister(host, bytes, flags); });
}
TD_RUNTIME cudaError_t cudaHostUnregister(void* host) {
  return call([&] { return api().cuMemHostUnregister(host); });
}

// ---- managed memory
TD_RUNTIME cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return api().cuMemAllocManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, flags);
  });
}
TD_RUNTIME cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, int device,
                                            cudaStream_t stream) {
  return call([&] {
    return api().cuMemPrefetchAsync_v1(address_of(address), bytes, device, stream_of(stream));
  });
}
TD_RUNTIME cudaError_t cudaMemAdvise(const void* address, size_t bytes, cudaMemoryAdvise advice,
                                     int device) {
  return call([&] { return api().cuMemAdvise_v1(address_of(address), bytes, advice, device); });
}
TD_RUNTIME cudaError_t cudaMemPrefetchAsync_v2(const void* address, size_t bytes,
                                               cudaMemLocation location, unsigned flags,
                                               cudaStream_t stream) {
  return call([&] {
    return api().cuMemPrefetchAsync(address_of(address), bytes, place_of(location), flags,
                                    stream_of(stream));
  });
}
TD_RUNTIME cudaError_t cudaMemAdvise_v2(const void* address, size_t bytes, cudaMemoryAdvise advice,
                                        cudaMemLocation location) {
  return call(
      [&] { return api().cuMemAdvise(address_of(address), bytes, advice, place_of(location)); });
}
TD_RUNTIME cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, size_t bytes,
                                                unsigned flags) {
  return call([&] {
    return api().cuStreamAttachMemAsync(stream_of(stream), address_of(address), bytes, flags);
  });
}

// ---- pitched memory
TD_RUNTIME cudaError_t cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return api().cuMemAllocPitch(reinterpret_cast<CUdeviceptr*>(address), pitch, width, height, 4);
  });
}
TD_RUNTIME cudaError_t cudaMalloc3D(cudaPitchedPtr* address, cudaExtent extent) {
  if (address == nullptr) return note(cudaErrorInvalidValue);
  address->xsize = extent.width;
  address->ysize = extent.height;
  return cudaMallocPitch(&address->ptr, &address->pitch, extent.width,
                         extent.height * extent.depth);
}

// ---- in stream order, from pools
TD_RUNTIME cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t stream) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return api().cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(address), bytes, stream_of(stream));
  });
}
TD_RUNTIME cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  return call([&]() -> CUresult {
    return address ? api().cuMemFreeAsync(address_of(address), stream_of(stream)) : CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaMallocFromPoolAsync(void** address, size_t bytes, cudaMemPool_t pool,
                                               cudaStream_t stream) {
  return call([&]() -> CUresult {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return api().cuMemAllocFromPoolAsync(reinterpret_cast<CUdeviceptr*>(address), bytes,
                                         pool_of(pool), stream_of(stream));
  });
}
TD_RUNTIME cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return on_device(device, [&](CUdevice handle) {
    return api().cuDeviceGetDefaultMemPool(reinterpret_cast<CUmemoryPool*>(pool), handle);
  });
}
TD_RUNTIME cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return on_device(device, [&](CUdevice handle) {
    return api().cuDeviceGetMemPool(reinterpret_cast<CUmemoryPool*>(pool), handle);
  });
}
TD_RUNTIME cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return on_device(
      device, [&](CUdevice handle) { return api().cuDeviceSetMemPool(handle, pool_of(pool)); });
}
TD_RUNTIME cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                               void* value) {
  return call([&] { return api().cuMemPoolSetAttribute(pool_of(pool), attribute, value); });
}
TD_RUNTIME cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute,
                                               void* value) {
  return call([&] { return api().cuMemPoolGetAttribute(pool_of(pool), attribute, value); });
}
TD_RUNTIME cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return call([&] { return api().cuMemPoolTrimTo(pool_of(pool), keep); });
}

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps) &&
              sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));

TD_RUNTIME cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call([&] {
    return api().cuMemPoolCreate(reinterpret_cast<CUmemoryPool*>(pool),
                                 reinterpret_cast<const CUmemPoolProps*>(properties));
  });
}
TD_RUNTIME cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call([&] { return api().cuMemPoolDestroy(pool_of(pool)); });
}
TD_RUNTIME cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                            size_t count) {
  return call([&] {
    return api().cuMemPoolSetAccess(pool_of(pool), reinterpret_cast<const CUmemAccessDesc*>(access),
                                    count);
  });
}
TD_RUNTIME cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                            cudaMemLocation* location) {
  return call([&] {
    return api().cuMemPoolGetAccess(reinterpret_cast<unsigned*>(flags), pool_of(pool),
                                    reinterpret_cast<CUmemLocation*>(location));
  });
}

TD_RUNTIME cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return call([&] { return api().cuMemGetInfo(available, total); });
}

TD_RUNTIME cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* result,
                                                const void* address) {
  if (result == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> CUresult {
    *result = {};
    result->device = cudaInvalidDeviceId;
    int type = 0;
    unsigned managed = 0;
    auto get = [&](void* value, int attribute) {
      return api().cuPointerGetAttribute(value, attribute, address_of(address)) == CUDA_SUCCESS;
    };
    if (!get(&type, POINTER_MEMORY_TYPE)) return CUDA_SUCCESS;
    get(&result->device, POINTER_DEVICE_ORDINAL);
    get(&managed, POINTER_IS_MANAGED);
    result->type = managed                   ? cudaMemoryTypeManaged
                   : type == MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                             : cudaMemoryTypeDevice;
    if (!get(&result->devicePointer, POINTER_DEVICE_POINTER)) result->devicePointer = nullptr;
    if (!get(&result->hostPointer, POINTER_HOST_POINTER)) result->hostPointer = nullptr;
    return CUDA_SUCCESS;
  });
}
