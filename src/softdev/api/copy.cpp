// Copies: linear ones by the kind of their sides, unified ones, pitched ones, those of arrays,
// those between devices.
#include <cstring>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/array.h"
#include "softdev/run/capture.h"
#include "softdev/run/memory.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

// Pageable uploads up to this size are copied aside instead of waiting for the stream.
constexpr std::size_t kStageUpTo = std::size_t{256} << 10;

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// When the call returns, as CUDA documents it. A synchronous copy waits unless both sides are
// device memory. An asynchronous copy waits where host memory is pageable, except that small
// uploads are staged.
CUresult start(Context& context, CUstream_st& stream, const CheckedCopy& copy, bool synchronous) {
  if (copy.region.bytes() == 0) return CUDA_SUCCESS;
  auto host = [](const char* at) {
    return Arena::get().host_holds(reinterpret_cast<std::uintptr_t>(at), 0);
  };
  bool wait = copy.to_pageable;
  if (synchronous)
    wait = wait || copy.from_pageable || host(copy.region.to) || host(copy.region.from);
  bool stage = copy.from_pageable && !wait && copy.region.bytes() <= kStageUpTo;
  if (copy.from_pageable && !stage) wait = true;
  Ref<Op> op =
      stage ? make_staged_copy_op(context, copy.region) : make_copy_op(context, copy.region);
  Scheduler::get().enqueue(stream.queue, *op, nullptr, wait);
  return wait ? context.wait(*op) : static_cast<CUresult>(CUDA_SUCCESS);
}

// Before a copy: what a capture of streams forbids. A synchronous copy would wait, and waits in the
// default stream.
CUresult refuse_copy(Context& context, CUstream_st& stream, bool synchronous) {
  if (!any_capture()) return CUDA_SUCCESS;
  if (!synchronous) return refuse_implicit(context, stream);
  if (CUresult error = refuse_captured(context, stream)) return error;
  return refuse_unsafe();
}

CUresult copy(const CUDA_MEMCPY3D& params, CUstream handle, bool synchronous) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    CheckedCopy checked;
    if (CUresult error = check_copy(params, &checked)) return error;
    if (is_captured(stream) && !synchronous) return submit(context, stream, CopyWork{params});
    if (CUresult error = refuse_copy(context, stream, synchronous)) return error;
    return start(context, stream, checked, synchronous);
  });
}

enum class Kind { host, device };

CUDA_MEMCPY3D typed_copy(Kind to_kind, std::uintptr_t to, Kind from_kind, std::uintptr_t from,
                         std::size_t bytes) {
  CUDA_MEMCPY3D params = linear_copy(to, from, bytes);
  params.dstMemoryType = to_kind == Kind::host ? MEMORYTYPE_HOST : MEMORYTYPE_DEVICE;
  params.dstHost = reinterpret_cast<void*>(to);
  params.srcMemoryType = from_kind == Kind::host ? MEMORYTYPE_HOST : MEMORYTYPE_DEVICE;
  params.srcHost = reinterpret_cast<const void*>(from);
  return params;
}

// The linear copies of the fast path. Sides that are said to be device memory must be known memory.
CUresult linear(Kind to_kind, std::uintptr_t to, Kind from_kind, std::uintptr_t from,
                std::size_t bytes, CUstream handle, bool synchronous) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (bytes == 0) {
      bool known = (to_kind == Kind::host || Arena::get().holds(to, 0)) &&
                   (from_kind == Kind::host || Arena::get().holds(from, 0));
      return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    if (is_captured(stream) && !synchronous)
      return submit(context, stream, CopyWork{typed_copy(to_kind, to, from_kind, from, bytes)});
    if (CUresult error = refuse_copy(context, stream, synchronous)) return error;
    CheckedCopy checked;
    checked.region = {.to = reinterpret_cast<char*>(to),
                      .from = reinterpret_cast<const char*>(from),
                      .width = bytes};
    checked.to_pageable = to_kind == Kind::host && is_pageable(to);
    checked.from_pageable = from_kind == Kind::host && is_pageable(from);
    // Memory that the driver knows must be known in its whole length.
    if (!checked.to_pageable && !Arena::get().holds(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (!checked.from_pageable && !Arena::get().holds(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
    return start(context, stream, checked, synchronous);
  });
}

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& p) {
  CUDA_MEMCPY3D out{};
  out.srcXInBytes = p.srcXInBytes;
  out.srcY = p.srcY;
  out.srcMemoryType = p.srcMemoryType;
  out.srcHost = p.srcHost;
  out.srcDevice = p.srcDevice;
  out.srcArray = p.srcArray;
  out.srcPitch = p.srcPitch;
  out.dstXInBytes = p.dstXInBytes;
  out.dstY = p.dstY;
  out.dstMemoryType = p.dstMemoryType;
  out.dstHost = p.dstHost;
  out.dstDevice = p.dstDevice;
  out.dstArray = p.dstArray;
  out.dstPitch = p.dstPitch;
  out.WidthInBytes = p.WidthInBytes;
  out.Height = p.Height;
  out.Depth = 1;
  return out;
}

CUresult copy_2d(const CUDA_MEMCPY2D* params, CUstream stream, bool synchronous) {
  if (!params) return initialized ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
  return copy(as_3d(*params), stream, synchronous);
}

CUresult copy_3d(const CUDA_MEMCPY3D* params, CUstream stream, bool synchronous) {
  if (!params) return initialized ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
  return copy(*params, stream, synchronous);
}

bool is_usable(CUcontext context) { return is_context(context) && context->active; }

CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER* params, CUstream stream, bool synchronous) {
  return in_context([&](Context&) -> CUresult {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    // The contexts say whose arrays and device memory it is; addresses are unique here.
    for (auto [type, context] : {std::pair{params->srcMemoryType, params->srcContext},
                                 std::pair{params->dstMemoryType, params->dstContext}})
      if ((type == MEMORYTYPE_DEVICE || type == MEMORYTYPE_ARRAY) && context && !is_usable(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    CUDA_MEMCPY3D plain;
    static_assert(sizeof plain == sizeof *params);
    std::memcpy(&plain, params, sizeof plain);
    plain.reserved0 = plain.reserved1 = nullptr;
    return copy(plain, stream, synchronous);
  });
}

CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   std::size_t bytes, CUstream stream, bool synchronous) {
  return in_context([&](Context&) -> CUresult {
    if (!is_usable(to_context) || !is_usable(from_context)) return CUDA_ERROR_INVALID_CONTEXT;
    return linear(Kind::device, to, Kind::device, from, bytes, stream, synchronous);
  });
}

// One side is an array of one dimension, from byte `offset` on; the other one memory.
CUDA_MEMCPY3D array_copy(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                         std::uintptr_t memory, unsigned type, std::size_t bytes) {
  CUDA_MEMCPY3D p = linear_copy(memory, memory, bytes);
  p.srcMemoryType = p.dstMemoryType = type;
  p.srcHost = p.dstHost = reinterpret_cast<void*>(memory);
  if (to) {
    p.dstMemoryType = MEMORYTYPE_ARRAY;
    p.dstArray = to;
    p.dstXInBytes = to_offset;
  }
  if (from) {
    p.srcMemoryType = MEMORYTYPE_ARRAY;
    p.srcArray = from;
    p.srcXInBytes = from_offset;
  }
  return p;
}

CUresult linear_array(const CUDA_MEMCPY3D& params, CUstream stream, bool synchronous) {
  // A missing array would look like memory.
  bool to_array = params.dstMemoryType == MEMORYTYPE_ARRAY;
  bool from_array = params.srcMemoryType == MEMORYTYPE_ARRAY;
  if (!to_array && !from_array)
    return initialized ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_NOT_INITIALIZED;
  return copy(params, stream, synchronous);
}

}  // namespace

extern "C" {

CUresult td_soft_cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return linear(Kind::device, to, Kind::host, number(from), bytes, nullptr, true);
}
CUresult td_soft_cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return linear(Kind::host, number(to), Kind::device, from, bytes, nullptr, true);
}
CUresult td_soft_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return linear(Kind::device, to, Kind::device, from, bytes, nullptr, true);
}
CUresult td_soft_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                      CUstream stream) {
  return linear(Kind::device, to, Kind::host, number(from), bytes, stream, false);
}
CUresult td_soft_cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
  return linear(Kind::host, number(to), Kind::device, from, bytes, stream, false);
}
CUresult td_soft_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                      CUstream stream) {
  return linear(Kind::device, to, Kind::device, from, bytes, stream, false);
}

CUresult td_soft_cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(linear_copy(to, from, bytes), nullptr, true);
}
CUresult td_soft_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                               CUstream stream) {
  return copy(linear_copy(to, from, bytes), stream, false);
}

CUresult td_soft_cuMemcpy2D_v2(const CUDA_MEMCPY2D* params) {
  return copy_2d(params, nullptr, true);
}
CUresult td_soft_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* params) {
  return copy_2d(params, nullptr, true);
}
CUresult td_soft_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* params, CUstream stream) {
  return copy_2d(params, stream, false);
}
CUresult td_soft_cuMemcpy3D_v2(const CUDA_MEMCPY3D* params) {
  return copy_3d(params, nullptr, true);
}
CUresult td_soft_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* params, CUstream stream) {
  return copy_3d(params, stream, false);
}
CUresult td_soft_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* params) {
  return copy_3d_peer(params, nullptr, true);
}
CUresult td_soft_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* params, CUstream stream) {
  return copy_3d_peer(params, stream, false);
}
CUresult td_soft_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                              CUcontext from_context, std::size_t bytes) {
  return copy_peer(to, to_context, from, from_context, bytes, nullptr, true);
}
CUresult td_soft_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                   CUcontext from_context, std::size_t bytes, CUstream stream) {
  return copy_peer(to, to_context, from, from_context, bytes, stream, false);
}

CUresult td_soft_cuMemcpyDtoA_v2(CUarray to, std::size_t offset, CUdeviceptr from,
                                 std::size_t bytes) {
  return linear_array(array_copy(to, offset, nullptr, 0, from, MEMORYTYPE_DEVICE, bytes), nullptr,
                      true);
}
CUresult td_soft_cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t offset,
                                 std::size_t bytes) {
  return linear_array(array_copy(nullptr, 0, from, offset, to, MEMORYTYPE_DEVICE, bytes), nullptr,
                      true);
}
CUresult td_soft_cuMemcpyHtoA_v2(CUarray to, std::size_t offset, const void* from,
                                 std::size_t bytes) {
  return linear_array(array_copy(to, offset, nullptr, 0, number(from), MEMORYTYPE_HOST, bytes),
                      nullptr, true);
}
CUresult td_soft_cuMemcpyAtoH_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return linear_array(array_copy(nullptr, 0, from, offset, number(to), MEMORYTYPE_HOST, bytes),
                      nullptr, true);
}
CUresult td_soft_cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from,
                                 std::size_t from_offset, std::size_t bytes) {
  return linear_array(array_copy(to, to_offset, from, from_offset, 0, MEMORYTYPE_DEVICE, bytes),
                      nullptr, true);
}
CUresult td_soft_cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from,
                                      std::size_t bytes, CUstream stream) {
  return linear_array(array_copy(to, offset, nullptr, 0, number(from), MEMORYTYPE_HOST, bytes),
                      stream, false);
}
CUresult td_soft_cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes,
                                      CUstream stream) {
  return linear_array(array_copy(nullptr, 0, from, offset, number(to), MEMORYTYPE_HOST, bytes),
                      stream, false);
}

}  // extern "C"
