// Device memory, page-locked host memory, registered host memory.
#include "softdev/run/memory.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"
#include "softdev/run/pool.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

constexpr std::size_t kPitchAlignment = 512;

CUresult allocate(Context& context, MemoryKind kind, std::size_t bytes, unsigned flags,
                  std::uintptr_t* address) {
  if (CUresult error = refuse_unsafe()) return error;
  Allocation like{
      .bytes = bytes, .device = context.device, .kind = kind, .context = &context, .flags = flags};
  return Arena::get().allocate(like, 1, address);
}

CUresult allocate_host(void** address, std::size_t bytes, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!address || bytes == 0 || (flags & ~7u)) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t at = 0;
    CUresult result = allocate(context, MemoryKind::host, bytes, flags, &at);
    if (result == CUDA_SUCCESS) *address = reinterpret_cast<void*>(at);
    return result;
  });
}

// The allocation that starts at the address and is of a kind that `wanted` accepts.
bool starts_at(std::uintptr_t address, Allocation* out, bool (*wanted)(const Allocation&)) {
  return Arena::get().find(address, out) && out->base == address && wanted(*out);
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
    CUresult result = allocate(context, MemoryKind::device, bytes, 0, &at);
    if (result == CUDA_SUCCESS) *address = at;
    return result;
  });
}

CUresult td_soft_cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                                    std::size_t height, unsigned element) {
  return in_context([&](Context& context) -> CUresult {
    if (!address || !pitch || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    if (width > SIZE_MAX / 2 || height > SIZE_MAX / 2 / (width + kPitchAlignment))
      return CUDA_ERROR_OUT_OF_MEMORY;
    std::size_t row = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    std::uintptr_t at = 0;
    CUresult result = allocate(context, MemoryKind::device, row * height, 0, &at);
    if (result != CUDA_SUCCESS) return result;
    *address = at;
    *pitch = row;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (flags != ATTACH_GLOBAL && flags != ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t at = 0;
    CUresult result = allocate(context, MemoryKind::managed, bytes, flags, &at);
    if (result == CUDA_SUCCESS) *address = at;
    return result;
  });
}

// Waits for the context's work first, as CUDA does.
CUresult td_soft_cuMemFree_v2(CUdeviceptr address) {
  return in_context([&](Context& context) -> CUresult {
    if (address == 0) return CUDA_SUCCESS;
    Allocation allocation;
    if (!starts_at(address, &allocation, [](const Allocation& a) { return !a.on_host(); }))
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_unsafe()) return error;
    if (CUresult error = context.synchronize()) return error;
    if (allocation.pool)
      return pool_free(allocation.pool, address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (allocation.context && allocation.context != &context) allocation.context->synchronize();
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

CUresult td_soft_cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return allocate_host(address, bytes, 0);
}
CUresult td_soft_cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return allocate_host(address, bytes, flags);
}

CUresult td_soft_cuMemFreeHost(void* address) {
  return in_context([&](Context& context) -> CUresult {
    if (!address) return CUDA_SUCCESS;
    Allocation allocation;
    auto at = reinterpret_cast<std::uintptr_t>(address);
    if (!starts_at(at, &allocation, [](const Allocation& a) { return a.kind == MemoryKind::host; }))
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_unsafe()) return error;
    if (CUresult error = context.synchronize()) return error;
    return Arena::get().free(at);
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

// All host memory is mapped, whether it was asked for or not.
CUresult td_soft_cuMemHostGetFlags(unsigned* flags, void* host) {
  return in_context([&](Context&) -> CUresult {
    Allocation allocation;
    if (!flags || !Arena::get().find(reinterpret_cast<std::uintptr_t>(host), &allocation) ||
        allocation.kind != MemoryKind::host)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = allocation.flags | HOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!host || bytes == 0 || (flags & ~15u)) return CUDA_ERROR_INVALID_VALUE;
    if (flags & HOSTREGISTER_IOMEMORY) return CUDA_ERROR_NOT_SUPPORTED;
    return Arena::get().register_host({.base = reinterpret_cast<std::uintptr_t>(host),
                                       .bytes = bytes,
                                       .device = context.device,
                                       .kind = MemoryKind::registered,
                                       .context = &context,
                                       .flags = flags});
  });
}

CUresult td_soft_cuMemHostUnregister(void* host) {
  return in_context([&](Context& context) -> CUresult {
    if (!host) return CUDA_ERROR_INVALID_VALUE;
    Allocation allocation;
    auto at = reinterpret_cast<std::uintptr_t>(host);
    auto registered = [](const Allocation& a) { return a.kind == MemoryKind::registered; };
    if (!starts_at(at, &allocation, registered)) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (CUresult error = context.synchronize()) return error;
    return Arena::get().free(at);
  });
}

}  // extern "C"
