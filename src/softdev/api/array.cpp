// CUDA arrays and mipmapped arrays.
#include "softdev/run/array.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

template <class Handle>
CUresult with_array(Handle array, const auto& body) {
  return in_context([&](Context& context) -> CUresult {
    return is_live(array) ? body(context) : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

CUresult requirements(std::size_t bytes, CUDA_ARRAY_MEMORY_REQUIREMENTS* out) {
  *out = {};
  out->size = bytes;
  out->alignment = 512;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult td_soft_cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  return in_context([&](Context& context) -> CUresult {
    if (!array || !descriptor) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR full{descriptor->Width,  descriptor->Height,      0,
                                 descriptor->Format, descriptor->NumChannels, 0};
    return make_array(context, full, array);
  });
}

CUresult td_soft_cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return in_context([&](Context& context) -> CUresult {
    return array && descriptor ? make_array(context, *descriptor, array) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  return with_array(array, [&](Context&) -> CUresult {
    if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
    const auto& full = array->descriptor;
    *descriptor = {full.Width, full.Height, full.Format, full.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  return with_array(array, [&](Context&) -> CUresult {
    if (!descriptor) return CUDA_ERROR_INVALID_VALUE;
    *descriptor = array->descriptor;
    return CUDA_SUCCESS;
  });
}

// Waits for the context's work first.
CUresult td_soft_cuArrayDestroy(CUarray array) {
  return with_array(array, [&](Context& context) -> CUresult {
    if (array->mipmap) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult error = context.synchronize()) return error;
    destroy_array(array);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray array,
                                              CUdevice device) {
  return with_array(array, [&](Context&) -> CUresult {
    if (!out || !valid_device(device)) return CUDA_ERROR_INVALID_VALUE;
    return requirements(array->shape.slice * array->shape.depth, out);
  });
}

CUresult td_soft_cuMipmappedArrayCreate(CUmipmappedArray* array,
                                        const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                        unsigned levels) {
  return in_context([&](Context& context) -> CUresult {
    if (!array || !descriptor) return CUDA_ERROR_INVALID_VALUE;
    return make_mipmapped_array(context, *descriptor, levels, array);
  });
}

CUresult td_soft_cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray array, unsigned level) {
  return with_array(array, [&](Context&) -> CUresult {
    if (!out || level >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *out = array->levels[level];
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out,
                                                       CUmipmappedArray array, CUdevice device) {
  return with_array(array, [&](Context&) -> CUresult {
    if (!out || !valid_device(device)) return CUDA_ERROR_INVALID_VALUE;
    std::size_t bytes = 0;
    for (CUarray level : array->levels) bytes += level->shape.slice * level->shape.depth;
    return requirements(bytes, out);
  });
}

CUresult td_soft_cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return with_array(array, [&](Context& context) -> CUresult {
    if (CUresult error = context.synchronize()) return error;
    destroy_mipmapped_array(array);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
