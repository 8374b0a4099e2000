// Texture fetches of a GPU in plain arithmetic, one at a time: rules as measured on an H200,
// written as directly as they can be said (exact numbers, rounded where the hardware rounds).
#pragma once

#include <array>
#include <vector>

#include "base/cuda_abi.h"
#include "base/cuda_enums.h"

namespace td::test {

// An image of width x height x depth texels; layers count as depth. height 0: one-dimensional.
struct Image {
  unsigned format = cuda::FORMAT_FLOAT;
  int channels = 1;
  int width = 1, height = 0, depth = 0;
  std::vector<unsigned char> data;

  // Texels with bytes from a fixed sequence of pseudo-random numbers; floating-point ones are
  // between -1 and 1, or between 0 and 1.
  void fill(unsigned seed, bool positive = false);
  int channel_bytes() const;
  int texels() const;
  // A channel as it lies in memory, extended to 32 bits.
  std::int32_t raw(int x, int y, int z, int channel) const;
};

struct Sampler {
  unsigned mode[3] = {cuda::ADDRESS_CLAMP, cuda::ADDRESS_CLAMP, cuda::ADDRESS_CLAMP};
  bool linear = false, normalized_coordinates = false;
  bool fractions = false;  // 8- and 16-bit integers are read as [0, 1] or [-1, 1]
};

using Texel = std::array<std::uint32_t, 4>;

// What a fetch gives of `layer` in one or two dimensions, and of the whole image with three.
// Channels that the image does not have are zero. Outside of a border all is zero.
Texel sample(const Image& image, const Sampler& sampler, int dimensions, float x, float y, float z,
             int layer = 0);
// Between two levels of detail of one image, `fraction` 256ths on the way to the second.
Texel sample_between(const Image& first, const Image& second, int fraction, const Sampler& sampler,
                     int dimensions, float x, float y, float z);

// Equal, where any NaN is as good as another and zeros have no sign.
bool same(const Texel& a, const Texel& b, bool floats);

}  // namespace td::test
