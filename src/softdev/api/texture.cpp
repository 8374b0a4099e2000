// Texture and surface objects.
#include "softdev/run/texture.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

// Kernels in flight may fetch through the object: programs destroy it right after a launch, which a
// GPU forgives.
CUresult destroy(Context& context, unsigned long long handle) {
  CUresult error = context.synchronize();
  destroy_texture(handle);
  return error;
}

CUresult with_object(const TextureObject* (*find)(unsigned long long), unsigned long long handle,
                     const auto& body) {
  return in_context([&](Context& context) -> CUresult {
    const TextureObject* object = find(handle);
    return object ? body(context, *object) : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

template <class T>
CUresult give(T* out, const T& value) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult td_soft_cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                                   const CUDA_TEXTURE_DESC* texture,
                                   const CUDA_RESOURCE_VIEW_DESC* view) {
  return in_context([&](Context& context) -> CUresult {
    if (!object || !resource || !texture) return CUDA_ERROR_INVALID_VALUE;
    return make_texture(context, *resource, *texture, view, object);
  });
}

CUresult td_soft_cuTexObjectDestroy(CUtexObject handle) {
  return with_object(find_texture, handle, [&](Context& context, const TextureObject&) {
    return destroy(context, handle);
  });
}

CUresult td_soft_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject handle) {
  return with_object(find_texture, handle, [&](Context&, const TextureObject& object) {
    return give(out, object.resource);
  });
}
CUresult td_soft_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject handle) {
  return with_object(find_texture, handle, [&](Context&, const TextureObject& object) {
    return give(out, object.texture);
  });
}
CUresult td_soft_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject handle) {
  return with_object(find_texture, handle, [&](Context&, const TextureObject& object) -> CUresult {
    return object.has_view ? give(out, object.view)
                           : static_cast<CUresult>(CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult td_soft_cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return in_context([&](Context& context) -> CUresult {
    if (!object || !resource) return CUDA_ERROR_INVALID_VALUE;
    return make_surface(context, *resource, object);
  });
}

CUresult td_soft_cuSurfObjectDestroy(CUsurfObject handle) {
  return with_object(find_surface, handle, [&](Context& context, const TextureObject&) {
    return destroy(context, handle);
  });
}

CUresult td_soft_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject handle) {
  return with_object(find_surface, handle, [&](Context&, const TextureObject& object) {
    return give(out, object.resource);
  });
}

CUresult td_soft_cuDeviceGetTexture1DLinearMaxWidth(std::size_t* texels, unsigned format,
                                                    unsigned channels, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    bool known = channel_bytes(format) && (channels == 1 || channels == 2 || channels == 4);
    if (!texels || !known) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *texels = std::size_t{1} << 28;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
