// CUDA arrays, and texture and surface objects over them: what kernels read with tex2D and its kin
// and write with surf2Dwrite. A kernel takes the object's handle as a cudaTextureObject_t or any
// other parameter of 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "treadle/device.h"
#include "treadle/kernel.h"

namespace [[gnu::visibility("default")]] td {

namespace driver {
class TexelArrayState;
class TexelObjectState;
}  // namespace driver

// CUDA's numbers (cudaChannelFormatKind).
enum class ChannelKind : int { signed_integer = 0, unsigned_integer = 1, floating = 2 };

// 1, 2 or 4 channels of 8, 16 or 32 bits; floating ones have 16 or 32.
struct ChannelFormat {
  int bits = 32;
  int channels = 1;
  ChannelKind kind = ChannelKind::floating;
  std::size_t texel_bytes() const { return static_cast<std::size_t>(bits / 8 * channels); }
};

// Opaque memory of width x height x depth texels. height 0: one-dimensional; depth 0: a plane.
// flags are CUDA's: 1 layered (depth counts layers), 2 for surfaces, 4 cube map, 8 for tex2Dgather.
class TexelArray {
 public:
  // Throws ValueError for a format that no array has, DriverError for sizes beyond the device's.
  static TexelArray create(const Device& device, const ChannelFormat& format, std::size_t width,
                           std::size_t height = 0, std::size_t depth = 0, unsigned flags = 0);
  // The whole image from or to packed rows in host memory; returns when it is done.
  void upload(const void* host) const;
  void download(void* host) const;
  // The same in device memory, in the order of the current stream.
  void upload(DevicePointer from) const;
  void download(DevicePointer to) const;

  std::size_t bytes() const;  // of the image, packed
  const std::shared_ptr<driver::TexelArrayState>& state() const { return state_; }

 private:
  explicit TexelArray(std::shared_ptr<driver::TexelArrayState> state) : state_(std::move(state)) {}
  std::shared_ptr<driver::TexelArrayState> state_;
};

// CUDA's numbers: 0 wrap, 1 clamp, 2 mirror, 3 border.
struct TextureModes {
  unsigned address[3] = {0, 0, 0};
  bool linear = false;            // filter; else the nearest texel
  bool normalized_float = false;  // 8- and 16-bit integers are read as [0, 1] or [-1, 1]
  bool normalized_coordinates = false;
  bool srgb = false;
  float border[4] = {0, 0, 0, 0};
  unsigned max_anisotropy = 0;
};

// A texture or surface object. It keeps its array alive, but not memory that it was given by
// address.
class TexelObject {
 public:
  static TexelObject texture(const TexelArray& array, const TextureModes& modes);
  // `bytes` of linear memory for tex1Dfetch. The address must be a multiple of the device's texture
  // alignment, as those of allocations are.
  static TexelObject texture(const Device& device, DevicePointer memory, std::size_t bytes,
                             const ChannelFormat& format, const TextureModes& modes);
  // Rows of `width` texels that begin `pitch` bytes apart.
  static TexelObject texture(const Device& device, DevicePointer memory, std::size_t width,
                             std::size_t height, std::size_t pitch, const ChannelFormat& format,
                             const TextureModes& modes);
  static TexelObject surface(const TexelArray& array);

  std::uint64_t handle() const;

 private:
  explicit TexelObject(std::shared_ptr<driver::TexelObjectState> state)
      : state_(std::move(state)) {}
  std::shared_ptr<driver::TexelObjectState> state_;
};

}  // namespace td
