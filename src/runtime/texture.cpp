// Texture and surface objects, and mipmapped arrays.
#include <iterator>

#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

CUarray driver_array(cudaArray_t array) { return reinterpret_cast<CUarray>(array); }
CUmipmappedArray driver_array(cudaMipmappedArray_const_t array) {
  return reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray_t>(array));
}

// False for a format that no texture has.
bool to_driver(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* to) {
  *to = {};
  to->resType = from.resType;
  auto& res = to->res;
  switch (from.resType) {
    case cudaResourceTypeArray:
      res.array.hArray = driver_array(from.res.array.array);
      return true;
    case cudaResourceTypeMipmappedArray:
      res.mipmap.hMipmappedArray = driver_array(from.res.mipmap.mipmap);
      return true;
    case cudaResourceTypeLinear:
      res.linear.devPtr = address_of(from.res.linear.devPtr);
      res.linear.sizeInBytes = from.res.linear.sizeInBytes;
      return format_of(from.res.linear.desc, &res.linear.format, &res.linear.numChannels);
    case cudaResourceTypePitch2D:
      res.pitch2D.devPtr = address_of(from.res.pitch2D.devPtr);
      res.pitch2D.width = from.res.pitch2D.width;
      res.pitch2D.height = from.res.pitch2D.height;
      res.pitch2D.pitchInBytes = from.res.pitch2D.pitchInBytes;
      return format_of(from.res.pitch2D.desc, &res.pitch2D.format, &res.pitch2D.numChannels);
  }
  return true;  // the driver refuses it
}

cudaResourceDesc from_driver(const CUDA_RESOURCE_DESC& from) {
  cudaResourceDesc to{};
  to.resType = static_cast<cudaResourceType>(from.resType);
  const auto& res = from.res;
  switch (to.resType) {
    case cudaResourceTypeArray:
      to.res.array.array = reinterpret_cast<cudaArray_t>(res.array.hArray);
      break;
    case cudaResourceTypeMipmappedArray:
      to.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(res.mipmap.hMipmappedArray);
      break;
    case cudaResourceTypeLinear:
      to.res.linear = {reinterpret_cast<void*>(res.linear.devPtr),
                       description_of(res.linear.format, res.linear.numChannels),
                       res.linear.sizeInBytes};
      break;
    case cudaResourceTypePitch2D:
      to.res.pitch2D = {reinterpret_cast<void*>(res.pitch2D.devPtr),
                        description_of(res.pitch2D.format, res.pitch2D.numChannels),
                        res.pitch2D.width, res.pitch2D.height, res.pitch2D.pitchInBytes};
      break;
  }
  return to;
}

enum : unsigned { kTrilinear = 0x20, kSeamless = 0x40 };

CUDA_TEXTURE_DESC to_driver(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC to{};
  for (int i = 0; i < 3; ++i) to.addressMode[i] = from.addressMode[i];
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  to.filterMode = from.filterMode;
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = from.mipmapFilterMode;
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  to.flags = (from.readMode == cudaReadModeElementType ? TEXTURE_READ_AS_INTEGER : 0u) |
             (from.normalizedCoords ? TEXTURE_NORMALIZED_COORDINATES : 0u) |
             (from.sRGB ? TEXTURE_SRGB : 0u) |
             (from.disableTrilinearOptimization ? kTrilinear : 0u) |
             (from.seamlessCubemap ? kSeamless : 0u);
  return to;
}

cudaTextureDesc from_driver(const CUDA_TEXTURE_DESC& from) {
  cudaTextureDesc to{};
  for (int i = 0; i < 3; ++i)
    to.addressMode[i] = static_cast<cudaTextureAddressMode>(from.addressMode[i]);
  for (int i = 0; i < 4; ++i) to.borderColor[i] = from.borderColor[i];
  to.filterMode = static_cast<cudaTextureFilterMode>(from.filterMode);
  to.maxAnisotropy = from.maxAnisotropy;
  to.mipmapFilterMode = static_cast<cudaTextureFilterMode>(from.mipmapFilterMode);
  to.mipmapLevelBias = from.mipmapLevelBias;
  to.minMipmapLevelClamp = from.minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  to.readMode =
      from.flags & TEXTURE_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  to.normalizedCoords = (from.flags & TEXTURE_NORMALIZED_COORDINATES) != 0;
  to.sRGB = (from.flags & TEXTURE_SRGB) != 0;
  to.disableTrilinearOptimization = (from.flags & kTrilinear) != 0;
  to.seamlessCubemap = (from.flags & kSeamless) != 0;
  return to;
}

// The format of the resource's texels; 0 when the driver will find that there is none.
unsigned format_of_texels(const CUDA_RESOURCE_DESC& resource, const cudaResourceViewDesc* view) {
  if (view && view->format) {
    constexpr unsigned kFormats[] = {
        FORMAT_UNSIGNED_INT8,  FORMAT_SIGNED_INT8,  FORMAT_UNSIGNED_INT16, FORMAT_SIGNED_INT16,
        FORMAT_UNSIGNED_INT32, FORMAT_SIGNED_INT32, FORMAT_HALF,           FORMAT_FLOAT};
    const unsigned number = (view->format - 1u) / 3;
    return number < std::size(kFormats) ? kFormats[number] : 0;
  }
  if (resource.resType == RESOURCE_LINEAR) return resource.res.linear.format;
  if (resource.resType == RESOURCE_PITCH2D) return resource.res.pitch2D.format;
  CUarray array = resource.res.array.hArray;
  if (resource.resType == RESOURCE_MIPMAPPED_ARRAY &&
      api().cuMipmappedArrayGetLevel(&array, resource.res.mipmap.hMipmappedArray, 0))
    return 0;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  return api().cuArray3DGetDescriptor(&descriptor, array) ? 0 : descriptor.Format;
}

// What CUDA's runtime refuses with errors of its own.
cudaError_t check_modes(const cudaTextureDesc& texture, const CUDA_RESOURCE_DESC& resource,
                        unsigned format) {
  const bool floating = format == FORMAT_FLOAT || format == FORMAT_HALF;
  const bool wide = format == FORMAT_UNSIGNED_INT32 || format == FORMAT_SIGNED_INT32;
  const bool normalized = texture.readMode == cudaReadModeNormalizedFloat;
  if (!format) return cudaSuccess;
  if (normalized && (floating || wide)) return cudaErrorInvalidNormSetting;
  if (texture.filterMode == cudaFilterModeLinear && !floating && !normalized &&
      resource.resType != RESOURCE_LINEAR)
    return cudaErrorInvalidFilterSetting;
  return cudaSuccess;
}

template <class Driver, class Object>
CUresult resource_of(CUresult (*get)(CUDA_RESOURCE_DESC*, Driver), cudaResourceDesc* out,
                     Object object) {
  CUDA_RESOURCE_DESC found{};
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = get(&found, object)) return error;
  *out = from_driver(found);
  return CUDA_SUCCESS;
}

}  // namespace

// ---- mipmapped arrays

TD_RUNTIME cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                                const cudaChannelFormatDesc* description,
                                                cudaExtent extent, unsigned levels,
                                                unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR wanted;
  if (array == nullptr) return note(cudaErrorInvalidValue);
  if (cudaError_t error = describe_array(description, extent, flags, &wanted)) return note(error);
  return call([&] {
    return api().cuMipmappedArrayCreate(reinterpret_cast<CUmipmappedArray*>(array), &wanted,
                                        levels);
  });
}
TD_RUNTIME cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return call([&]() -> CUresult {
    return array ? api().cuMipmappedArrayDestroy(driver_array(array)) : CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level,
                                                  cudaMipmappedArray_const_t array,
                                                  unsigned number) {
  return call([&] {
    return api().cuMipmappedArrayGetLevel(reinterpret_cast<CUarray*>(level), driver_array(array),
                                          number);
  });
}

// ---- textures

TD_RUNTIME cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                               const cudaResourceDesc* resource,
                                               const cudaTextureDesc* description,
                                               const cudaResourceViewDesc* view) {
  if (!texture || !resource || !description) return note(cudaErrorInvalidValue);
  CUDA_RESOURCE_DESC driver_resource;
  if (!to_driver(*resource, &driver_resource)) return note(cudaErrorInvalidChannelDescriptor);
  return call([&]() -> cudaError_t {
    unsigned format = format_of_texels(driver_resource, view);
    if (cudaError_t error = check_modes(*description, driver_resource, format)) return error;
    const CUDA_TEXTURE_DESC modes = to_driver(*description);
    CUDA_RESOURCE_VIEW_DESC part{};
    if (view)
      part = {static_cast<unsigned>(view->format),
              view->width,
              view->height,
              view->depth,
              view->firstMipmapLevel,
              view->lastMipmapLevel,
              view->firstLayer,
              view->lastLayer,
              {}};
    return error_of(
        api().cuTexObjectCreate(texture, &driver_resource, &modes, view ? &part : nullptr));
  });
}
TD_RUNTIME cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call([&] { return api().cuTexObjectDestroy(texture); });
}
TD_RUNTIME cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                                        cudaTextureObject_t texture) {
  return call([&] { return resource_of(api().cuTexObjectGetResourceDesc, resource, texture); });
}
TD_RUNTIME cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description,
                                                       cudaTextureObject_t texture) {
  return call([&]() -> CUresult {
    CUDA_TEXTURE_DESC found{};
    if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = api().cuTexObjectGetTextureDesc(&found, texture)) return error;
    *description = from_driver(found);
    return CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                            cudaTextureObject_t texture) {
  return call([&]() -> CUresult {
    CUDA_RESOURCE_VIEW_DESC found{};
    if (view == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult error = api().cuTexObjectGetResourceViewDesc(&found, texture)) return error;
    *view = {static_cast<cudaResourceViewFormat>(found.format),
             found.width,
             found.height,
             found.depth,
             found.firstMipmapLevel,
             found.lastMipmapLevel,
             found.firstLayer,
             found.lastLayer};
    return CUDA_SUCCESS;
  });
}
TD_RUNTIME cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t* texels, const cudaChannelFormatDesc* description, int device) {
  unsigned format = 0, channels = 0;
  if (texels == nullptr || description == nullptr) return note(cudaErrorInvalidValue);
  if (!format_of(*description, &format, &channels)) return note(cudaErrorInvalidChannelDescriptor);
  return call(
      [&] { return api().cuDeviceGetTexture1DLinearMaxWidth(texels, format, channels, device); });
}

// ---- surfaces

TD_RUNTIME cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                               const cudaResourceDesc* resource) {
  if (!surface || !resource) return note(cudaErrorInvalidValue);
  CUDA_RESOURCE_DESC driver_resource;
  if (!to_driver(*resource, &driver_resource)) return note(cudaErrorInvalidChannelDescriptor);
  return call([&] { return api().cuSurfObjectCreate(surface, &driver_resource); });
}
TD_RUNTIME cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call([&] { return api().cuSurfObjectDestroy(surface); });
}
TD_RUNTIME cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                                        cudaSurfaceObject_t surface) {
  return call([&] { return resource_of(api().cuSurfObjectGetResourceDesc, resource, surface); });
}
