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

// What a channel's bits in memory mean to a fetch.
enum class Reading : std::uint8_t {
  word,  // an integer, extended to 32 bits
  float32,
  float16,
  unorm8,  // fractions of 255 and so on
  unorm16,
  snorm8,
  snorm16,
  srgb8,
};

struct TextureObject {
  bool surface = false;
  std::uint8_t levels = 1;
  // Of each level, seen through the resource view: format, channels, layers.
  ArrayShape level[kMaxLevels];
  std::uint8_t address_mode[3] = {};  // CUaddress_mode
  bool linear = false;                // filter within a level
  bool linear_mipmap = false;         // and between levels
  bool normalized_coordinates = false;
  bool linear_memory = false;   // one-dimensional, without addressing modes and filters
  Reading reading[4] = {};      // of each channel
  std::int32_t border[4] = {};  // what counts as a texel outside, as if loaded from memory
  std::int32_t level_bias = 0, min_level = 0, max_level = 0;  // in 256ths
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
