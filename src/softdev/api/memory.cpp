// Device memory, page-locked host memory, copies and fills.
#include "softdev/run/memory.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/transfer.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

// Device functions take addresses of device memory and of page-locked host memory (unified
// addressing).
bool usable(CUdeviceptr address, std::size_t bytes) { return Arena::get().holds(address, bytes); }

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult copy(Context& context, CUstream_st& stream, void* to, const void* from, std::size_t bytes,
              bool synchronous) {
  if (bytes == 0) return CUDA_SUCCESS;
  if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_copy(context, stream, to, from, bytes, synchronous);
}

CUresult to_device(CUdeviceptr destination, const void* source, std::size_t bytes, CUstream handle,
                   bool synchronous) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!usable(destination, bytes)) return CUDA_ERROR_INVALID_VALUE;
    bool pinned =
        !synchronous && Arena::get().host_holds(reinterpret_cast<std::uintptr_t>(source), bytes);
    if (synchronous || pinned)
      return copy(context, stream, pointer(destination), source, bytes, synchronous);
    return bytes ? enqueue_pageable_upload(context, stream, pointer(destination), source, bytes)
                 : CUDA_SUCCESS;
  });
}

// To pageable memory CUDA returns when the data are there, so an asynchronous copy waits as well.
CUresult to_host(void* destination, CUdeviceptr source, std::size_t bytes, CUstream handle,
                 bool synchronous) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!usable(source, bytes)) return CUDA_ERROR_INVALID_VALUE;
    bool pinned = !synchronous &&
                  Arena::get().host_holds(reinterpret_cast<std::uintptr_t>(destination), bytes);
    return copy(context, stream, destination, pointer(source), bytes, !pinned);
  });
}

CUresult within_device(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                       CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!usable(destination, bytes) || !usable(source, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return copy(context, stream, pointer(destination), pointer(source), bytes, false);
  });
}

template <class T>
CUresult fill(CUdeviceptr destination, T value, std::size_t count, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (count > SIZE_MAX / sizeof(T) || destination % sizeof(T) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (!usable(destination, count * sizeof(T))) return CUDA_ERROR_INVALID_VALUE;
    if (count) enqueue_fill(context, stream, pointer(destination), value, count);
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return in_context([&](Context& context) -> CUresult {
    if (free) *free = Arena::get().available(context.device);
    if (total) *total = Arena::get().total(context.device);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return in_context([&](Context& context) -> CUresult {
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t at = 0;
    CUresult result = Arena::get().allocate(context.device, bytes, 1, &at);
    if (result == CUDA_SUCCESS) *address = at;
    return result;
  });
}

// Waits for the context's work first, as CUDA does.
CUresult td_soft_cuMemFree_v2(CUdeviceptr address) {
  return in_context([&](Context& context) -> CUresult {
    if (address == 0) return CUDA_SUCCESS;
    Allocation allocation;
    if (!Arena::get().find(address, &allocation) || allocation.base != address || allocation.host)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = context.synchronize()) return error;
    return Arena::get().free(address);
  });
}

CUresult td_soft_cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes,
                                         CUdeviceptr address) {
  return in_context([&](Context&) -> CUresult {
    Allocation allocation;
    if (!Arena::get().find(address, &allocation)) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = allocation.base;
    if (bytes) *bytes = allocation.bytes;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!address || bytes == 0 || (flags & ~7u)) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t at = 0;
    CUresult result = Arena::get().allocate_host(context.device, bytes, &at);
    if (result == CUDA_SUCCESS) *address = reinterpret_cast<void*>(at);
    return result;
  });
}

CUresult td_soft_cuMemFreeHost(void* address) {
  return in_context([&](Context& context) -> CUresult {
    if (!address) return CUDA_SUCCESS;
    Allocation allocation;
    auto at = reinterpret_cast<std::uintptr_t>(address);
    if (!Arena::get().find(at, &allocation) || allocation.base != at || !allocation.host)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = context.synchronize()) return error;
    return Arena::get().free_host(at);
  });
}

CUresult td_soft_cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned flags) {
  return in_context([&](Context&) -> CUresult {
    auto at = reinterpret_cast<std::uintptr_t>(host);
    if (!address || flags != 0 || !Arena::get().host_holds(at, 1)) return CUDA_ERROR_INVALID_VALUE;
    *address = at;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                                       CUdeviceptr address) {
  return in_context([&](Context&) -> CUresult {
    Allocation allocation;
    if (!value || !Arena::get().find(address, &allocation)) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
      case POINTER_CONTEXT:
        *static_cast<CUcontext*>(value) = &context_of(allocation.device);
        return CUDA_SUCCESS;
      case POINTER_MEMORY_TYPE:
        *static_cast<unsigned*>(value) = allocation.host ? MEMORYTYPE_HOST : MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
      case POINTER_DEVICE_POINTER:
        *static_cast<CUdeviceptr*>(value) = address;
        return CUDA_SUCCESS;
      case POINTER_HOST_POINTER:
        if (!allocation.host) return CUDA_ERROR_INVALID_VALUE;
        *static_cast<void**>(value) = pointer(address);
        return CUDA_SUCCESS;
      case POINTER_IS_MANAGED:
        *static_cast<unsigned*>(value) = 0;
        return CUDA_SUCCESS;
      case POINTER_DEVICE_ORDINAL:
        *static_cast<int*>(value) = allocation.device;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

CUresult td_soft_cuMemcpyHtoD_v2(CUdeviceptr destination, const void* source, std::size_t bytes) {
  return to_device(destination, source, bytes, nullptr, true);
}
CUresult td_soft_cuMemcpyDtoH_v2(void* destination, CUdeviceptr source, std::size_t bytes) {
  return to_host(destination, source, bytes, nullptr, true);
}
CUresult td_soft_cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return within_device(destination, source, bytes, nullptr);
}
CUresult td_soft_cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void* source,
                                      std::size_t bytes, CUstream stream) {
  return to_device(destination, source, bytes, stream, false);
}
CUresult td_soft_cuMemcpyDtoHAsync_v2(void* destination, CUdeviceptr source, std::size_t bytes,
                                      CUstream stream) {
  return to_host(destination, source, bytes, stream, false);
}
CUresult td_soft_cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source,
                                      std::size_t bytes, CUstream stream) {
  return within_device(destination, source, bytes, stream);
}

CUresult td_soft_cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, std::size_t count) {
  return fill(destination, value, count, nullptr);
}
CUresult td_soft_cuMemsetD32_v2(CUdeviceptr destination, unsigned value, std::size_t count) {
  return fill(destination, value, count, nullptr);
}
CUresult td_soft_cuMemsetD8Async(CUdeviceptr destination, unsigned char value, std::size_t count,
                                 CUstream stream) {
  return fill(destination, value, count, stream);
}
CUresult td_soft_cuMemsetD32Async(CUdeviceptr destination, unsigned value, std::size_t count,
                                  CUstream stream) {
  return fill(destination, value, count, stream);
}

}  // extern "C"
