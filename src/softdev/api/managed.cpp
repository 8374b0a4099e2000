// Advice and prefetches of managed memory.
#include "softdev/run/managed.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/memory.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

// The old functions name a device, or the CPU by a number.
CUmemLocation location_of(CUdevice device) {
  if (device == DEVICE_CPU) return {LOCATION_HOST, 0};
  return {LOCATION_DEVICE, device};
}

CUresult prefetch(CUdeviceptr address, std::size_t bytes, CUmemLocation location, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (CUresult error = note_prefetch(address, bytes, location)) return error;
    return submit(context, stream, EmptyWork{});
  });
}

CUresult give_advice(CUdeviceptr address, std::size_t bytes, int advice, CUmemLocation location) {
  return in_context([&](Context&) { return advise(address, bytes, advice, location); });
}

}  // namespace

extern "C" {

CUresult td_soft_cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device,
                                    CUstream stream) {
  return prefetch(address, bytes, location_of(device), stream);
}
CUresult td_soft_cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes,
                                       CUmemLocation location, unsigned flags, CUstream stream) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return prefetch(address, bytes, location, stream);
}

CUresult td_soft_cuMemAdvise(CUdeviceptr address, std::size_t bytes, int advice, CUdevice device) {
  return give_advice(address, bytes, advice, location_of(device));
}
CUresult td_soft_cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, int advice,
                                CUmemLocation location) {
  return give_advice(address, bytes, advice, location);
}

CUresult td_soft_cuMemRangeGetAttribute(void* value, std::size_t value_bytes, int attribute,
                                        CUdeviceptr address, std::size_t bytes) {
  return in_context(
      [&](Context&) { return range_attribute(address, bytes, attribute, value, value_bytes); });
}

CUresult td_soft_cuMemRangeGetAttributes(void** values, std::size_t* value_bytes, int* attributes,
                                         std::size_t count, CUdeviceptr address,
                                         std::size_t bytes) {
  return in_context([&](Context&) -> CUresult {
    if (!values || !value_bytes || !attributes || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i)
      if (CUresult error =
              range_attribute(address, bytes, attributes[i], values[i], value_bytes[i]))
        return error;
    return CUDA_SUCCESS;
  });
}

// Which streams may use the memory while the host does: host and device share it at all times here.
CUresult td_soft_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, std::size_t bytes,
                                        unsigned flags) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    Allocation allocation;
    bool whole = Arena::get().find(address, &allocation) &&
                 allocation.kind == MemoryKind::managed && allocation.base == address &&
                 (bytes == 0 || bytes == allocation.bytes);
    if (!whole || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE))
      return CUDA_ERROR_INVALID_VALUE;
    return submit(context, stream, EmptyWork{});
  });
}

}  // extern "C"
