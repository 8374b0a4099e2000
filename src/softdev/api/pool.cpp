// Stream-ordered memory and its pools.
#include "softdev/run/pool.h"

#include <algorithm>
#include <cstring>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"
#include "softdev/run/memory.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

CUresult allocate(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!address) return CUDA_ERROR_INVALID_VALUE;
    CUmemoryPool from = pool ? pool : current_pool(context.device);
    if (!is_live(from)) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_captured(context, stream)) return error;
    std::uintptr_t at = 0;
    // NVIDIA's driver gives nothing for no bytes too.
    CUresult result = bytes ? pool_allocate(from, bytes, &at) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) *address = at;
    return result;
  });
}

CUresult with_pool(CUmemoryPool pool, const auto& body) {
  return guarded_call([&]() -> CUresult {
    return is_live(pool) ? body(*pool) : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult of_device(CUdevice device, CUmemoryPool* out, CUmemoryPool (*which)(int)) {
  return guarded_call([&]() -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *out = which(device);
    return CUDA_SUCCESS;
  });
}

template <class T>
CUresult give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult get(CUmemPoolHandle_st& pool, int attribute, void* value) {
  std::lock_guard lock(pool.mutex);
  switch (attribute) {
    case POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case POOL_REUSE_ALLOW_OPPORTUNISTIC:
    case POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return give(value, pool.reuse[attribute - 1]);
    case POOL_RELEASE_THRESHOLD:
      return give(value, pool.threshold);
    case POOL_RESERVED_CURRENT:
      return give(value, pool.reserved);
    case POOL_RESERVED_HIGH:
      return give(value, pool.reserved_high);
    case POOL_USED_CURRENT:
      return give(value, pool.used);
    case POOL_USED_HIGH:
      return give(value, pool.used_high);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set(CUmemPoolHandle_st& pool, int attribute, const void* value) {
  std::lock_guard lock(pool.mutex);
  std::uint64_t wide = 0;
  switch (attribute) {
    case POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case POOL_REUSE_ALLOW_OPPORTUNISTIC:
    case POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(&pool.reuse[attribute - 1], value, sizeof(int));
      return CUDA_SUCCESS;
    case POOL_RELEASE_THRESHOLD:
      std::memcpy(&pool.threshold, value, sizeof pool.threshold);
      return CUDA_SUCCESS;
    case POOL_RESERVED_HIGH:
    case POOL_USED_HIGH:
      // Only a reset to the current value is possible.
      std::memcpy(&wide, value, sizeof wide);
      if (wide != 0) return CUDA_ERROR_INVALID_VALUE;
      (attribute == POOL_USED_HIGH ? pool.used_high : pool.reserved_high) =
          attribute == POOL_USED_HIGH ? pool.used : pool.reserved;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

CUresult td_soft_cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return allocate(address, bytes, nullptr, stream);
}
CUresult td_soft_cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,
                                         CUstream stream) {
  return pool ? allocate(address, bytes, pool, stream)
              : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
}

CUresult td_soft_cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (address == 0) return CUDA_ERROR_INVALID_VALUE;
    Allocation allocation;
    if (!Arena::get().find(address, &allocation) || allocation.base != address ||
        allocation.on_host() || (allocation.pool && !pool_holds(allocation.pool, address)))
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = refuse_captured(context, stream)) return error;
    Ref<Op> op = make_free_op(context, address);
    Scheduler::get().enqueue(stream.queue, *op);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return of_device(device, pool, default_pool);
}
CUresult td_soft_cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return of_device(device, pool, current_pool);
}
CUresult td_soft_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return with_pool(pool, [&](CUmemPoolHandle_st& chosen) -> CUresult {
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (chosen.device != device) return CUDA_ERROR_INVALID_VALUE;
    set_current_pool(device, pool);
    return CUDA_SUCCESS;
  });
}

// Pools of device memory in this process; others (host memory, shareable handles) do not exist
// here.
CUresult td_soft_cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return guarded_call([&]() -> CUresult {
    if (!pool || !properties || properties->allocType != ALLOCATION_PINNED)
      return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != LOCATION_DEVICE || properties->handleTypes != 0)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (!valid_device(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
    *pool = make_pool(properties->location.id, properties->maxSize);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemPoolDestroy(CUmemoryPool pool) {
  return with_pool(pool, [&](CUmemPoolHandle_st& doomed) -> CUresult {
    if (doomed.is_default) return CUDA_ERROR_INVALID_VALUE;
    destroy_pool(pool);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  return with_pool(pool, [&](CUmemPoolHandle_st&) -> CUresult {
    trim_pool(pool, keep);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return with_pool(pool, [&](CUmemPoolHandle_st& of) -> CUresult {
    return value ? get(of, attribute, value) : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}
CUresult td_soft_cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return with_pool(pool, [&](CUmemPoolHandle_st& of) -> CUresult {
    return value ? set(of, attribute, value) : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

// Software devices share one memory, so that access is only remembered. The pool's own device
// always has it.
CUresult td_soft_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access,
                                    std::size_t count) {
  return with_pool(pool, [&](CUmemPoolHandle_st& of) -> CUresult {
    if (count && !access) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(of.mutex);
    for (std::size_t i = 0; i < count; ++i) {
      const CUmemLocation& place = access[i].location;
      if (place.type != LOCATION_DEVICE || !valid_device(place.id)) return CUDA_ERROR_INVALID_VALUE;
      if (place.id == of.device && access[i].flags != ACCESS_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
      of.access[place.id] = access[i].flags;
    }
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMemPoolGetAccess(unsigned* flags, CUmemoryPool pool, CUmemLocation* location) {
  return with_pool(pool, [&](CUmemPoolHandle_st& of) -> CUresult {
    if (!flags || !location || location->type != LOCATION_DEVICE || !valid_device(location->id))
      return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(of.mutex);
    auto found = of.access.find(location->id);
    *flags = location->id == of.device  ? static_cast<unsigned>(ACCESS_READWRITE)
             : found != of.access.end() ? found->second
                                        : static_cast<unsigned>(ACCESS_NONE);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
