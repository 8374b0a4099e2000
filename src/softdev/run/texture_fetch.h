// What a texture fetch computes, to the bit that an H200 gives.
//
// The texture unit works with fixed-point numbers. Measured on an H200 (compute capability 9.0),
// and in agreement with the section "Texture Fetching" of the CUDA C++ Programming Guide where that
// says anything:
//
// - A coordinate that is NaN or denormal counts as zero. A normalized one is cut to a multiple of
//   2^-21 (2^-22 when the longest side has more than 8192 texels, 2^-23 beyond 65536), then
//   multiplied by the size.
// - Linear filtering: with f = floor(256 x - 127.5), x in texels, the first texel is f / 256 and
// the
//   second has weight f % 256, in 256ths. Where clamping decides the texel, the second has weight
//   0.
// - Weights of several dimensions are products rounded to 256ths such that they add up to 256: of
//   the level, of the plane in it, of the column in that, of the row in that. Halves go to the near
//   plane, to the right column, and to the outer corners.
// - 8- and 16-bit texels are mixed as 16-bit fractions, rounded to nearest, halves upwards.
// - float (float16) texels are mixed four at a time (a row and its neighbour): those with a weight
//   are cut to 28 (15) bits below the largest exponent of them, the sum is exact, sums of planes
//   and levels are added, and the total is rounded to float (float16), halves away from zero. In
//   three dimensions, when the sums of the planes cancel, an H200 may differ in the last bit.
//   An infinity or NaN whose weight rounds to 0 does not count; on an H200 it sometimes does.
// - A one-dimensional array is one row of a plane, fetched at y = 0, where the second address mode
//   applies too.
#pragma once

#include "softdev/run/texture.h"

namespace td::softdev {

// One fetch of up to 32 threads through one object. An operand is an array of `width` numbers, or
// null for zero in each.
struct TextureFetch {
  TextureOp op = TextureOp::linear;
  bool has_level = false;    // level of detail given; else the finest
  unsigned component = 0;    // of TextureOp::gather
  std::uint32_t lanes = 0;   // who fetches
  std::uint32_t width = 0;   // 1, or a multiple of 8 up to 32
  const float* x = nullptr;  // for cubes: s and t on the face, and the face's number
  const float* y = nullptr;
  const float* z = nullptr;
  const float* level = nullptr;
  const std::int32_t* layer = nullptr;  // TextureOp::linear: the texel
  std::uint32_t* out = nullptr;         // four arrays of `width` words
};

// Lanes that do not fetch get anything. A fetch of a form that the object does not have (three
// coordinates for a plane) gives zeros, as on a GPU. May fault where the memory of the object has
// been freed. The same code for processors with AVX2 and for all.
void fetch_avx2(const TextureObject& object, const TextureFetch& call);
void fetch_plain(const TextureObject& object, const TextureFetch& call);

}  // namespace td::softdev
