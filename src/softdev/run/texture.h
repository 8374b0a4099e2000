// Texture and surface objects: what a handle stands for.
//
// Handles are numbers given out by a table in one reserved range of addresses, so that code on any
// thread can turn a handle into its object with a comparison and no lock, and a handle that was
// never made, or was destroyed, is recognised. TextureObject is plain data: everything that a fetch
// needs is resolved when the object is made.
#pragma once

#include <cstdint>

#include "base/cuda_abi.h"
#include "softdev/run/array.h"

namespace td::softdev {

inline constexpr unsigned kMaxLevels = 18;  // 131072 texels wide, halved down to one

struct TextureObject {
  bool surface = false;
  std::uint8_t levels = 1;
  // Of each level, seen through the resource view: format, channels, layers.
  ArrayShape level[kMaxLevels];
  std::uint8_t address_mode[3] = {};  // CUaddress_mode
  bool linear = false;                // filter within a level
  bool linear_mipmap = false;         // and between levels
  bool normalized_coordinates = false;
  // Elements are read as what they are; else 8- and 16-bit integers become floats of [0, 1] or [-1,
  // 1].
  bool read_element = true;
  bool srgb = false;
  bool linear_memory = false;  // one-dimensional, without addressing modes and filters
  float level_bias = 0, min_level = 0, max_level = 0;
  float border[4] = {};
  // As given, for those who ask.
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
  bool has_view = false;
  CUcontext context = nullptr;
};

CUresult make_texture(Context& context, const CUDA_RESOURCE_DESC& resource,
                      const CUDA_TEXTURE_DESC& texture, const CUDA_RESOURCE_VIEW_DESC* view,
                      CUtexObject* out);
CUresult make_surface(Context& context, const CUDA_RESOURCE_DESC& resource, CUsurfObject* out);
// Null for a handle that is not one of a living object of the kind.
const TextureObject* find_texture(CUtexObject handle);
const TextureObject* find_surface(CUsurfObject handle);
// Both kinds. The handle must be one of a living object.
void destroy_texture(unsigned long long handle);
void destroy_textures_of(Context& context);

}  // namespace td::softdev
