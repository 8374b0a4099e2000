// What the driver knows of an address.
#include <cstring>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/memory.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

template <class T>
CUresult give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult attribute_of(const Allocation& a, CUdeviceptr address, CUpointer_attribute attribute,
                      void* value) {
  switch (attribute) {
    case POINTER_CONTEXT:
      return give(value, a.context ? a.context : &context_of(a.device));
    case POINTER_MEMORY_TYPE:
      return give<unsigned>(value, a.on_host() ? MEMORYTYPE_HOST : MEMORYTYPE_DEVICE);
    case POINTER_DEVICE_POINTER:
      return give(value, address);
    case POINTER_HOST_POINTER:
      if (!a.on_host() && a.kind != MemoryKind::managed) return CUDA_ERROR_INVALID_VALUE;
      return give(value, address);
    case POINTER_SYNC_MEMOPS:
    case POINTER_IS_LEGACY_IPC_CAPABLE:
    case POINTER_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give<int>(value, 0);
    case POINTER_BUFFER_ID:
      return give<unsigned long long>(value, a.id);
    case POINTER_IS_MANAGED:
      return give<unsigned>(value, a.kind == MemoryKind::managed);
    case POINTER_DEVICE_ORDINAL:
      return give<int>(value, a.device);
    case POINTER_RANGE_START:
    case POINTER_MAPPING_BASE:
      return give<CUdeviceptr>(value, a.base);
    case POINTER_RANGE_SIZE:
    case POINTER_MAPPING_SIZE:
      return give<std::size_t>(value, a.bytes);
    case POINTER_MAPPED:
      return give<int>(value, 1);
    case POINTER_ALLOWED_HANDLE_TYPES:
      return give<unsigned long long>(value, 0);
    case POINTER_ACCESS_FLAGS:
      return give<unsigned>(value, ACCESS_READWRITE);
    case POINTER_MEMPOOL_HANDLE:
      return give(value, a.pool);
    case POINTER_MEMORY_BLOCK_ID:
      return give<unsigned long long>(value, a.id);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// What cuPointerGetAttributes answers for memory that the driver does not know.
CUresult attribute_of_unknown(CUpointer_attribute attribute, void* value) {
  switch (attribute) {
    case POINTER_MEMORY_TYPE:
    case POINTER_IS_MANAGED:
    case POINTER_SYNC_MEMOPS:
    case POINTER_MAPPED:
    case POINTER_ACCESS_FLAGS:
    case POINTER_IS_LEGACY_IPC_CAPABLE:
    case POINTER_IS_GPU_DIRECT_RDMA_CAPABLE:
      return give<int>(value, 0);
    case POINTER_DEVICE_ORDINAL:
      return give<int>(value, DEVICE_INVALID);
    default:
      return attribute >= POINTER_CONTEXT && attribute <= POINTER_MEMORY_BLOCK_ID
                 ? give<unsigned long long>(value, 0)
                 : CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

CUresult td_soft_cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                                       CUdeviceptr address) {
  return in_context([&](Context&) -> CUresult {
    Allocation allocation;
    if (!value || attribute < POINTER_CONTEXT || attribute > 21 ||
        !Arena::get().find(address, &allocation))
      return CUDA_ERROR_INVALID_VALUE;
    return attribute_of(allocation, address, attribute, value);
  });
}

// Says "nothing" instead of an error for memory that the driver does not know.
CUresult td_soft_cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                        void** values, CUdeviceptr address) {
  return in_context([&](Context&) -> CUresult {
    if (count == 0 || !attributes || !values) return CUDA_ERROR_INVALID_VALUE;
    Allocation allocation;
    bool known = Arena::get().find(address, &allocation);
    for (unsigned i = 0; i < count; ++i) {
      if (!values[i]) return CUDA_ERROR_INVALID_VALUE;
      CUresult result = known ? attribute_of(allocation, address, attributes[i], values[i])
                              : CUDA_ERROR_INVALID_VALUE;
      if (result != CUDA_SUCCESS) result = attribute_of_unknown(attributes[i], values[i]);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

// Copies to and from this memory always wait as SYNC_MEMOPS asks for, where it matters.
CUresult td_soft_cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                       CUdeviceptr address) {
  return in_context([&](Context&) -> CUresult {
    Allocation allocation;
    if (!value || attribute != POINTER_SYNC_MEMOPS || !Arena::get().find(address, &allocation))
      return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
