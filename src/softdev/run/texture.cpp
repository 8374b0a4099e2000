#include "softdev/run/texture.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::uint32_t kPlaces = 1u << 20;
constexpr std::size_t kLinearTexels = std::size_t{1} << 28;
// Less than the device's attribute: every allocation must do.
constexpr std::size_t kAlignment = 256, kPitchAlignment = 32;

struct Place {
  // Odd while the object exists, and different each time that the place is used again.
  std::atomic<std::uint32_t> generation{0};
  TextureObject object;
};
// Handle: generation in the high half, place + 1 in the low half.
struct Table {
  std::mutex mutex;
  Place* places = nullptr;
  std::atomic<std::uint32_t> used{0};
  std::vector<std::uint32_t> free;
};
Table& table() {
  static auto& instance = *[] {
    auto* made = new Table;
    void* memory = mmap(nullptr, kPlaces * sizeof(Place), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) made->places = static_cast<Place*>(memory);
    base::guard_across_fork(made->mutex, base::LockRank::context);
    return made;
  }();
  return instance;
}

Place* find_place(unsigned long long handle) {
  auto index = static_cast<std::uint32_t>(handle) - 1;
  auto generation = static_cast<std::uint32_t>(handle >> 32);
  if (index >= table().used.load(std::memory_order_acquire)) return nullptr;
  Place& place = table().places[index];
  bool living = place.generation.load(std::memory_order_acquire) == generation && generation % 2;
  return living ? &place : nullptr;
}

const TextureObject* find(unsigned long long handle, bool surface) {
  Place* place = find_place(handle);
  return place && place->object.surface == surface ? &place->object : nullptr;
}

// Takes a place for a finished object.
CUresult publish(const TextureObject& made, unsigned long long* out) {
  std::lock_guard lock(table().mutex);
  if (!table().places) return CUDA_ERROR_OUT_OF_MEMORY;
  std::uint32_t index = table().used.load(std::memory_order_relaxed);
  if (!table().free.empty()) {
    index = table().free.back();
    table().free.pop_back();
  } else if (index < kPlaces) {
    new (&table().places[index]) Place;
    table().used.store(index + 1, std::memory_order_release);
  } else {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Place& place = table().places[index];
  place.object = made;
  std::uint32_t generation = place.generation.load(std::memory_order_relaxed) + 1;
  place.generation.store(generation, std::memory_order_release);
  *out = std::uint64_t{generation} << 32 | (index + 1);
  return CUDA_SUCCESS;
}

void release_locked(std::uint32_t index) {
  Place& place = table().places[index];
  if (place.generation.load(std::memory_order_relaxed) % 2 == 0) return;
  place.generation.fetch_add(1, std::memory_order_acq_rel);
  table().free.push_back(index);
}

bool valid_channels(unsigned channels) { return channels == 1 || channels == 2 || channels == 4; }

// A texture straight over device memory.
CUresult over_memory(CUdeviceptr address, unsigned format, unsigned channels, std::size_t width,
                     std::size_t height, std::size_t pitch, ArrayShape* out) {
  std::uint32_t texel = channel_bytes(format) * channels;
  if (!texel || !valid_channels(channels) || width == 0 || address % kAlignment)
    return CUDA_ERROR_INVALID_VALUE;
  std::size_t row = width * texel;
  if (height && (pitch < row || pitch % kPitchAlignment || height > 65000 || width > 131072))
    return CUDA_ERROR_INVALID_VALUE;
  std::size_t span = height ? (height - 1) * pitch + row : row;
  if (!Arena::get().holds(address, span)) return CUDA_ERROR_INVALID_VALUE;
  out->data = reinterpret_cast<unsigned char*>(address);
  out->pitch = height ? pitch : row;
  out->slice = out->pitch * std::max<std::size_t>(1, height);
  out->width = static_cast<std::uint32_t>(width);
  out->height = static_cast<std::uint32_t>(std::max<std::size_t>(1, height));
  out->format = format;
  out->channels = static_cast<std::uint8_t>(channels);
  out->texel = static_cast<std::uint8_t>(texel);
  out->dimensions = height ? 2 : 1;
  return CUDA_SUCCESS;
}

CUresult resolve_linear(const CUDA_RESOURCE_DESC& resource, TextureObject* out) {
  const auto& linear = resource.res.linear;
  std::uint32_t texel = channel_bytes(linear.format) * linear.numChannels;
  if (!texel || linear.sizeInBytes < texel) return CUDA_ERROR_INVALID_VALUE;
  std::size_t width = linear.sizeInBytes / texel;
  if (width > kLinearTexels) return CUDA_ERROR_INVALID_VALUE;
  out->linear_memory = true;
  return over_memory(linear.devPtr, linear.format, linear.numChannels, width, 0, 0, &out->level[0]);
}

CUresult resolve(const CUDA_RESOURCE_DESC& resource, TextureObject* out) {
  switch (resource.resType) {
    case RESOURCE_ARRAY:
      if (!is_live(resource.res.array.hArray)) return CUDA_ERROR_INVALID_HANDLE;
      out->level[0] = resource.res.array.hArray->shape;
      return CUDA_SUCCESS;
    case RESOURCE_MIPMAPPED_ARRAY: {
      CUmipmappedArray array = resource.res.mipmap.hMipmappedArray;
      if (!is_live(array)) return CUDA_ERROR_INVALID_HANDLE;
      out->levels = static_cast<std::uint8_t>(array->levels.size());
      for (std::size_t i = 0; i < array->levels.size(); ++i)
        out->level[i] = array->levels[i]->shape;
      return CUDA_SUCCESS;
    }
    case RESOURCE_LINEAR:
      return resolve_linear(resource, out);
    case RESOURCE_PITCH2D: {
      const auto& p = resource.res.pitch2D;
      if (p.height == 0) return CUDA_ERROR_INVALID_VALUE;
      return over_memory(p.devPtr, p.format, p.numChannels, p.width, p.height, p.pitchInBytes,
                         &out->level[0]);
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// CUresourceViewFormat 1..24: three numbers of channels for each of these formats.
constexpr unsigned kViewFormats[] = {
    FORMAT_UNSIGNED_INT8,  FORMAT_SIGNED_INT8,  FORMAT_UNSIGNED_INT16, FORMAT_SIGNED_INT16,
    FORMAT_UNSIGNED_INT32, FORMAT_SIGNED_INT32, FORMAT_HALF,           FORMAT_FLOAT};
constexpr unsigned kViewChannels[] = {1, 2, 4};

// Narrows and reinterprets the levels. Block-compressed formats are not supported.
CUresult apply_view(const CUDA_RESOURCE_VIEW_DESC& view, TextureObject* object) {
  if (object->linear_memory || view.firstMipmapLevel > view.lastMipmapLevel ||
      view.lastMipmapLevel >= object->levels || view.firstLayer > view.lastLayer)
    return CUDA_ERROR_INVALID_VALUE;
  // The size of the whole resource, whatever the first level.
  if (view.width != object->level[0].width) return CUDA_ERROR_INVALID_VALUE;
  if (view.format > 24) return CUDA_ERROR_NOT_SUPPORTED;
  std::uint8_t levels = 0;
  for (unsigned from = view.firstMipmapLevel; from <= view.lastMipmapLevel; ++from) {
    ArrayShape shape = object->level[from];
    if (view.format) {
      unsigned format = kViewFormats[(view.format - 1) / 3];
      unsigned channels = kViewChannels[(view.format - 1) % 3];
      if (channel_bytes(format) * channels != shape.texel) return CUDA_ERROR_INVALID_VALUE;
      shape.format = format;
      shape.channels = static_cast<std::uint8_t>(channels);
    }
    if (shape.layered || shape.cube) {
      if (view.lastLayer >= shape.depth) return CUDA_ERROR_INVALID_VALUE;
      shape.data += view.firstLayer * shape.slice;
      shape.depth = view.lastLayer - view.firstLayer + 1;
    }
    object->level[levels++] = shape;
  }
  object->levels = levels;
  return CUDA_SUCCESS;
}

Reading reading_of(const ArrayShape& shape, unsigned channel, unsigned flags) {
  if (shape.format == FORMAT_FLOAT) return Reading::float32;
  if (shape.format == FORMAT_HALF) return Reading::float16;
  if ((flags & TEXTURE_READ_AS_INTEGER) || channel_bytes(shape.format) == 4) return Reading::word;
  // The last of two or four channels is alpha, which is linear.
  bool alpha = channel > 0 && channel + 1 == shape.channels;
  switch (shape.format) {
    case FORMAT_UNSIGNED_INT8:
      return (flags & TEXTURE_SRGB) && !alpha ? Reading::srgb8 : Reading::unorm8;
    case FORMAT_SIGNED_INT8:
      return Reading::snorm8;
    case FORMAT_UNSIGNED_INT16:
      return Reading::unorm16;
    default:
      return Reading::snorm16;
  }
}

// Fractions of 16 bits as NVIDIA's driver makes them of a border's color: cut or rounded downwards.
std::int32_t unorm16_of(float color) {
  if (color >= 1) return 65535;
  auto cut = static_cast<std::int32_t>((color > 0 ? color : 0.0f) * 65536);
  return cut - (cut >> 15);
}
std::int32_t snorm16_of(float color) {
  float bounded = std::clamp(color == color ? color : 0.0f, -1.0f, 1.0f);
  return static_cast<std::int32_t>(std::ceil(bounded * 32767.0f - 0.5f));
}
// The byte whose linear value is nearest.
std::int32_t srgb8_of(float color) {
  double linear = std::clamp(color == color ? color : 0.0f, 0.0f, 1.0f);
  double encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<std::int32_t>(std::lround(255 * encoded));
}

// To float16, cut; large numbers become the largest one.
std::int32_t half_of(float value) {
  auto sign = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(value) >> 16 & 0x8000);
  float size = std::fabs(value);
  if (size != size) return sign | 0x7e00;
  if (std::isinf(size)) return sign | 0x7c00;
  if (size >= 65504) return sign | 0x7bff;
  if (size < 0x1p-14f) return sign | static_cast<std::int32_t>(size * 0x1p24f);
  return sign |
         static_cast<std::int32_t>((std::bit_cast<std::uint32_t>(size) >> 13) - (112u << 10));
}

// A border's color as a texel's bits in memory: integers that are not fractions take the low bits
// of the float.
std::int32_t border_of(float color, const ArrayShape& shape, Reading reading) {
  auto bits = std::bit_cast<std::int32_t>(color);
  switch (reading) {
    case Reading::float16:
      return half_of(color);
    case Reading::unorm8:
      return (unorm16_of(color) + 128) / 257;
    case Reading::unorm16:
      return unorm16_of(color);
    case Reading::snorm8:
      return static_cast<std::int32_t>(std::lround(snorm16_of(color) * 127 / 32767.0));
    case Reading::snorm16:
      return snorm16_of(color);
    case Reading::srgb8:
      return srgb8_of(color);
    default:
      break;
  }
  switch (shape.format) {
    case FORMAT_UNSIGNED_INT8:
      return static_cast<std::uint8_t>(bits);
    case FORMAT_SIGNED_INT8:
      return static_cast<std::int8_t>(bits);
    case FORMAT_UNSIGNED_INT16:
      return static_cast<std::uint16_t>(bits);
    case FORMAT_SIGNED_INT16:
      return static_cast<std::int16_t>(bits);
    default:
      return bits;
  }
}

// A level of detail in 256ths, rounded downwards.
std::int32_t level_of(float level) {
  return static_cast<std::int32_t>(std::floor(std::clamp(level, -4096.0f, 4096.0f) * 256));
}

CUresult apply_modes(const CUDA_TEXTURE_DESC& texture, TextureObject* object) {
  constexpr unsigned kKnownFlags = 0x01 | 0x02 | 0x10 | 0x20 | 0x40;
  if ((texture.flags & ~kKnownFlags) || texture.filterMode > FILTER_LINEAR ||
      texture.mipmapFilterMode > FILTER_LINEAR)
    return CUDA_ERROR_INVALID_VALUE;
  object->normalized_coordinates = texture.flags & TEXTURE_NORMALIZED_COORDINATES;
  for (int i = 0; i < 3; ++i) {
    unsigned mode = texture.addressMode[i];
    if (mode > ADDRESS_BORDER) return CUDA_ERROR_INVALID_VALUE;
    // Wrapping needs normalised coordinates; without them CUDA clamps.
    bool wraps = mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR;
    if (wraps && !object->normalized_coordinates) mode = ADDRESS_CLAMP;
    object->address_mode[i] = static_cast<std::uint8_t>(mode);
  }
  const ArrayShape& shape = object->level[0];
  for (unsigned c = 0; c < shape.channels; ++c) {
    object->reading[c] = reading_of(shape, c, texture.flags);
    object->border[c] = border_of(texture.borderColor[c], shape, object->reading[c]);
  }
  object->linear = texture.filterMode == FILTER_LINEAR;
  // Only floats can be mixed.
  if (object->linear && object->reading[0] == Reading::word) return CUDA_ERROR_INVALID_VALUE;
  object->linear_mipmap = texture.mipmapFilterMode == FILTER_LINEAR;
  object->level_bias = level_of(texture.mipmapLevelBias);
  object->min_level = std::max(0, level_of(texture.minMipmapLevelClamp));
  object->max_level = std::max(0, level_of(texture.maxMipmapLevelClamp));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult make_texture(Context& context, const CUDA_RESOURCE_DESC& resource,
                      const CUDA_TEXTURE_DESC& texture, const CUDA_RESOURCE_VIEW_DESC* view,
                      CUtexObject* out) {
  if (resource.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  TextureObject made;
  if (CUresult error = resolve(resource, &made)) return error;
  if (view)
    if (CUresult error = apply_view(*view, &made)) return error;
  if (CUresult error = apply_modes(texture, &made)) return error;
  made.resource = resource;
  made.texture = texture;
  made.has_view = view != nullptr;
  if (view) made.view = *view;
  made.context = &context;
  return publish(made, out);
}

// A surface reads and writes the elements of an array. As in NVIDIA's driver the array need not
// have been made with ARRAY_SURFACE_LDST.
CUresult make_surface(Context& context, const CUDA_RESOURCE_DESC& resource, CUsurfObject* out) {
  if (resource.flags != 0 || resource.resType != RESOURCE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  TextureObject made;
  if (CUresult error = resolve(resource, &made)) return error;
  made.surface = true;
  made.resource = resource;
  made.context = &context;
  return publish(made, out);
}

const TextureObject* find_texture(CUtexObject handle) { return find(handle, false); }
const TextureObject* find_surface(CUsurfObject handle) { return find(handle, true); }

void destroy_texture(unsigned long long handle) {
  std::lock_guard lock(table().mutex);
  if (find_place(handle)) release_locked(static_cast<std::uint32_t>(handle) - 1);
}

void destroy_textures_of(Context& context) {
  std::lock_guard lock(table().mutex);
  for (std::uint32_t i = 0; i < table().used.load(std::memory_order_acquire); ++i)
    if (table().places[i].object.context == &context) release_locked(i);
}

}  // namespace td::softdev
