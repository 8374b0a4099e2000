#include "softdev/run/surface.h"

#include <algorithm>

namespace td::softdev {

// Clamping moves an access as a whole: the last one starts at the last multiple of its size. A
// negative layer clamps to the last one (on a GPU it is unsigned), a negative plane of a 3D array
// to the first.
SurfaceResult find_in_surface(const ArrayShape& shape, const SurfaceAccess& access,
                              unsigned char** at) {
  *at = nullptr;
  const auto bytes = static_cast<std::int64_t>(access.bytes);
  const std::int64_t row = std::int64_t{shape.width} * shape.texel;
  std::int64_t x = access.x, y = access.y, plane = access.plane;
  if (x & (bytes - 1)) return SurfaceResult::misaligned;
  bool inside =
      x >= 0 && x + bytes <= row && y >= 0 && y < shape.height && plane >= 0 && plane < shape.depth;
  if (!inside) {
    if (access.boundary == Boundary::trap) return SurfaceResult::outside;
    if (access.boundary == Boundary::zero || row < bytes) return SurfaceResult::done;
    x = std::clamp<std::int64_t>(x, 0, (row - bytes) / bytes * bytes);
    y = std::clamp<std::int64_t>(y, 0, shape.height - 1);
    bool from_end = plane < 0 && (shape.layered || shape.cube);
    plane = from_end ? shape.depth - 1 : std::clamp<std::int64_t>(plane, 0, shape.depth - 1);
  }
  *at = shape.data + static_cast<std::size_t>(plane) * shape.slice +
        static_cast<std::size_t>(y) * shape.pitch + static_cast<std::size_t>(x);
  return SurfaceResult::done;
}

}  // namespace td::softdev
