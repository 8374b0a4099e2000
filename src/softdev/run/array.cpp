#include "softdev/run/array.h"

#include <algorithm>
#include <bit>

#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::size_t kRowAlignment = 32, kDataAlignment = 512;

// What exists, for the end of its context.
struct Registry {
  std::mutex mutex;
  HandlePool<CUarray_st> arrays;
  HandlePool<CUmipmappedArray_st> mipmaps;
  std::vector<CUarray> live_arrays;
  std::vector<CUmipmappedArray> live_mipmaps;
};
Registry& registry() { return base::guarded_instance<Registry>(); }

template <class Handle>
void forget(std::vector<Handle>& list, Handle handle) {
  list.erase(std::remove(list.begin(), list.end(), handle), list.end());
}

// Sizes beyond which CUDA refuses an array of this many dimensions (compute capability 9.0).
bool within_limits(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  bool layered = d.Flags & ARRAY_LAYERED, cube = d.Flags & ARRAY_CUBEMAP;
  if (cube)
    return d.Width == d.Height && d.Width <= 32768 &&
           (layered ? d.Depth % 6 == 0 && d.Depth > 0 && d.Depth <= 2046 : d.Depth == 6);
  if (layered) return d.Width <= 32768 && d.Height <= 32768 && d.Depth > 0 && d.Depth <= 2048;
  if (d.Depth) {
    // The limits of the device's attributes, or its alternate ones: less wide, but deeper.
    bool alternate = d.Width <= 8192 && d.Height <= 8192 && d.Depth <= 32768;
    return d.Height > 0 &&
           (alternate || (d.Width <= 16384 && d.Height <= 16384 && d.Depth <= 16384));
  }
  return d.Width <= 131072 && d.Height <= 65536;
}

CUresult check(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  constexpr unsigned kKnownFlags =
      ARRAY_LAYERED | ARRAY_SURFACE_LDST | ARRAY_CUBEMAP | ARRAY_TEXTURE_GATHER;
  bool channels = d.NumChannels == 1 || d.NumChannels == 2 || d.NumChannels == 4;
  if (!channel_bytes(d.Format) || !channels || d.Width == 0 || (d.Flags & ~kKnownFlags))
    return CUDA_ERROR_INVALID_VALUE;
  if ((d.Flags & ARRAY_TEXTURE_GATHER) && (d.Height == 0 || d.Depth > 0))
    return CUDA_ERROR_INVALID_VALUE;
  return within_limits(d) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ArrayShape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  ArrayShape shape;
  shape.format = d.Format;
  shape.channels = static_cast<std::uint8_t>(d.NumChannels);
  shape.texel = static_cast<std::uint8_t>(channel_bytes(d.Format) * d.NumChannels);
  shape.width = static_cast<std::uint32_t>(d.Width);
  shape.height = static_cast<std::uint32_t>(std::max<std::size_t>(1, d.Height));
  shape.depth = static_cast<std::uint32_t>(std::max<std::size_t>(1, d.Depth));
  shape.layered = d.Flags & ARRAY_LAYERED;
  shape.cube = d.Flags & ARRAY_CUBEMAP;
  bool planes = d.Depth > 0 && !shape.layered && !shape.cube;
  shape.dimensions = static_cast<std::uint8_t>(planes ? 3 : d.Height > 0 ? 2 : 1);
  std::size_t row = std::size_t{shape.width} * shape.texel;
  shape.pitch = (row + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  shape.slice = shape.pitch * shape.height;
  return shape;
}

CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR d, unsigned level) {
  auto half = [&](std::size_t& size) {
    if (size) size = std::max<std::size_t>(1, size >> level);
  };
  half(d.Width);
  half(d.Height);
  if (!(d.Flags & (ARRAY_LAYERED | ARRAY_CUBEMAP))) half(d.Depth);
  return d;
}

CUresult make_storage(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, CUarray* out) {
  ArrayShape shape = shape_of(descriptor);
  Allocation like{.bytes = shape.slice * shape.depth,
                  .device = context.device,
                  .kind = MemoryKind::array,
                  .context = &context};
  std::uintptr_t data = 0;
  if (CUresult error = Arena::get().allocate(like, kDataAlignment, &data)) return error;
  CUarray array = registry().arrays.make();
  array->context = &context;
  array->descriptor = descriptor;
  array->shape = shape;
  array->shape.data = reinterpret_cast<unsigned char*>(data);
  *out = array;
  return CUDA_SUCCESS;
}

void release(CUarray array) {
  Arena::get().free(reinterpret_cast<std::uintptr_t>(array->shape.data));
  registry().arrays.recycle(array);
}

}  // namespace

std::uint32_t channel_bytes(unsigned format) {
  switch (format) {
    case FORMAT_UNSIGNED_INT8:
    case FORMAT_SIGNED_INT8:
      return 1;
    case FORMAT_UNSIGNED_INT16:
    case FORMAT_SIGNED_INT16:
    case FORMAT_HALF:
      return 2;
    case FORMAT_UNSIGNED_INT32:
    case FORMAT_SIGNED_INT32:
    case FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

CUresult make_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, CUarray* out) {
  if (CUresult error = check(descriptor)) return error;
  if (CUresult error = make_storage(context, descriptor, out)) return error;
  std::lock_guard lock(registry().mutex);
  registry().live_arrays.push_back(*out);
  return CUDA_SUCCESS;
}

CUresult make_mipmapped_array(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                              unsigned levels, CUmipmappedArray* out) {
  if (CUresult error = check(descriptor)) return error;
  if (levels == 0) return CUDA_ERROR_INVALID_VALUE;
  std::size_t largest = std::max(descriptor.Width, descriptor.Height);
  if (!(descriptor.Flags & (ARRAY_LAYERED | ARRAY_CUBEMAP)))
    largest = std::max(largest, descriptor.Depth);
  // More levels than halvings down to one texel are clamped, as CUDA does.
  levels = std::min(levels, static_cast<unsigned>(std::bit_width(largest)));
  CUmipmappedArray made = registry().mipmaps.make();
  made->context = &context;
  made->descriptor = descriptor;
  for (unsigned level = 0; level < levels; ++level) {
    CUarray array = nullptr;
    if (CUresult error = make_storage(context, level_of(descriptor, level), &array)) {
      for (CUarray earlier : made->levels) release(earlier);
      registry().mipmaps.recycle(made);
      return error;
    }
    array->mipmap = made;
    made->levels.push_back(array);
  }
  std::lock_guard lock(registry().mutex);
  registry().live_mipmaps.push_back(made);
  *out = made;
  return CUDA_SUCCESS;
}

void destroy_array(CUarray array) {
  {
    std::lock_guard lock(registry().mutex);
    forget(registry().live_arrays, array);
  }
  release(array);
}

void destroy_mipmapped_array(CUmipmappedArray array) {
  {
    std::lock_guard lock(registry().mutex);
    forget(registry().live_mipmaps, array);
  }
  for (CUarray level : array->levels) release(level);
  registry().mipmaps.recycle(array);
}

bool is_live(CUarray array) { return is_alive(array); }
bool is_live(CUmipmappedArray array) { return is_alive(array); }

void destroy_arrays_of(Context& context) {
  std::vector<CUarray> arrays;
  std::vector<CUmipmappedArray> mipmaps;
  {
    std::lock_guard lock(registry().mutex);
    for (CUarray array : registry().live_arrays)
      if (array->context == &context) arrays.push_back(array);
    for (CUmipmappedArray array : registry().live_mipmaps)
      if (array->context == &context) mipmaps.push_back(array);
  }
  for (CUarray array : arrays) destroy_array(array);
  for (CUmipmappedArray array : mipmaps) destroy_mipmapped_array(array);
}

}  // namespace td::softdev
