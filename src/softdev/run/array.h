// CUDA arrays: one-, two- and three-dimensional images, layered ones and cube maps, and their
// mipmapped form. The storage is plain rows with a pitch, in device memory that has no address for
// the user. Texture and surface objects (texture.h) look at it through ArrayShape.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/cuda_abi.h"
#include "softdev/run/context.h"

namespace td::softdev {

// Where the texels are. Widths and heights count texels, pitch and slice bytes. depth counts
// planes: of a 3D array, or the layers (six of each cube) of a layered one.
struct ArrayShape {
  unsigned char* data = nullptr;
  std::size_t pitch = 0, slice = 0;
  std::uint32_t width = 0, height = 1, depth = 1;
  std::uint32_t format = 0;     // CUarray_format
  std::uint8_t channels = 1;    // 1, 2, 4
  std::uint8_t texel = 0;       // bytes of a texel
  std::uint8_t dimensions = 1;  // 1, 2, 3; layers do not count
  bool layered = false, cube = false;
};

// Bytes of one channel; 0 for a format that is not known.
std::uint32_t channel_bytes(unsigned format);

}  // namespace td::softdev

struct CUarray_st {
  std::atomic<bool> alive{false};
  CUcontext context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  td::softdev::ArrayShape shape;
  CUmipmappedArray mipmap = nullptr;  // whose level it is; such a level is not destroyed by itself
  void clear() {
    alive = false;
    context = nullptr;
    mipmap = nullptr;
    shape = {};
  }
};

struct CUmipmappedArray_st {
  std::atomic<bool> alive{false};
  CUcontext context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  std::vector<CUarray> levels;
  void clear() {
    alive = false;
    context = nullptr;
    levels.clear();
  }
};

namespace td::softdev {

// Refuses what CUDA's rules and the limits of the device refuse.
CUresult make_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, CUarray* out);
CUresult make_mipmapped_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                              unsigned levels, CUmipmappedArray* out);
void destroy_array(CUarray array);
void destroy_mipmapped_array(CUmipmappedArray array);
bool is_live(CUarray array);
bool is_live(CUmipmappedArray array);
// Arrays and mipmapped arrays of a context that ends.
void destroy_arrays_of(Context& context);

}  // namespace td::softdev
