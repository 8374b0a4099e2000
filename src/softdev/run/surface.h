// Reads and writes of surfaces: bytes of an array's rows, by the address of the byte in its row.
#pragma once

#include "softdev/run/texture.h"

namespace td::softdev {

enum class Boundary : std::uint32_t { zero, clamp, trap };  // cudaSurfaceBoundaryMode

struct SurfaceAccess {
  std::uint32_t bytes = 4;  // 1, 2, 4, 8, 16
  Boundary boundary = Boundary::trap;
  std::int32_t x = 0, y = 0, plane = 0;  // x in bytes
};

enum class SurfaceResult { done, outside, misaligned };
// Where the access lies; null in `at` where nothing is to be accessed (Boundary::zero).
SurfaceResult find_in_surface(const ArrayShape& shape, const SurfaceAccess& access,
                              unsigned char** at);

}  // namespace td::softdev
