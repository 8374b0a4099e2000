#include "softdev/run/texture_fetch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "softdev/run/fault.h"
#include "softdev/run/no_sanitize.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

// Eight lanes at a time: arrays of constant length, which the compiler makes vectors of.
constexpr int kLanes = 8;
template <class T>
struct Lanes {
  alignas(32) T at[kLanes];
};
using Ints = Lanes<std::int32_t>;
using Floats = Lanes<float>;
using Doubles = Lanes<double>;

#define TD_LANES TD_ON_WARP_STACK __attribute__((always_inline)) inline

// For |x| < 2^31.
TD_LANES double floor_of(double x) {
  auto whole = static_cast<std::int32_t>(x);
  return whole - (whole > x ? 1 : 0);
}

template <class T>
TD_LANES void read_operand(const T* from, std::uint32_t width, std::uint32_t first, Lanes<T>& to) {
  for (int l = 0; l < kLanes; ++l) to.at[l] = 0;
  if (!from) return;
  if (width < kLanes)
    to.at[0] = from[0];
  else
    for (int l = 0; l < kLanes; ++l) to.at[l] = from[first + l];
}

// ---- coordinates ----

// In texels. Wrapped coordinates lie between 0 and the size (mirrored ones, twice the size),
// others at most a little outside of what is the edge for them.
TD_LANES void to_texels(const Floats& given, bool normalized, unsigned mode, std::uint32_t size,
                        Doubles& texels) {
  Doubles x;
  for (int l = 0; l < kLanes; ++l) {
    float c = given.at[l];
    x.at[l] = __builtin_fabsf(c) >= 0x1p-126f ? c : 0.0f;
  }
  if (!normalized) {
    for (int l = 0; l < kLanes; ++l) texels.at[l] = std::min(std::max(x.at[l], -2.0), size + 2.0);
    return;
  }
  const double grid = size <= 32768 ? 0x1p21 : 0x1p22;
  double last = 3 * grid;
  if (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR) {
    const double period = mode == ADDRESS_WRAP ? 1 : 2;
    for (int l = 0; l < kLanes; ++l) {
      double c = __builtin_fabs(x.at[l]) < 0x1p24 ? x.at[l] : 0.0;
      x.at[l] = c - period * floor_of(c / period);
    }
    last = period * grid - 1;
  }
  for (int l = 0; l < kLanes; ++l) {
    double cut = floor_of(std::min(std::max(x.at[l], -2.0), 3.0) * grid);
    texels.at[l] = std::min(cut, last) * (size / grid);
  }
}

// Texels along one axis: two and the weight of the second in 256ths. -1: outside of a border.
struct Axis {
  Ints first, second, weight;
};

TD_LANES void address(Ints& index, unsigned mode, std::int32_t size) {
  std::int32_t* i = index.at;
  switch (mode) {
    case ADDRESS_WRAP:
      for (int l = 0; l < kLanes; ++l)
        i[l] = i[l] < 0 ? i[l] + size : i[l] >= size ? i[l] - size : i[l];
      return;
    case ADDRESS_MIRROR:
      for (int l = 0; l < kLanes; ++l) {
        std::int32_t j = i[l] < 0 ? i[l] + 2 * size : i[l] >= 2 * size ? i[l] - 2 * size : i[l];
        i[l] = j < size ? j : 2 * size - 1 - j;
      }
      return;
    case ADDRESS_BORDER:
      for (int l = 0; l < kLanes; ++l) i[l] = i[l] < size ? std::max(i[l], -1) : -1;
      return;
    default:
      for (int l = 0; l < kLanes; ++l) i[l] = std::min(std::max(i[l], 0), size - 1);
  }
}

TD_LANES void place_nearest(const Doubles& texels, unsigned mode, std::uint32_t size, Axis& axis) {
  for (int l = 0; l < kLanes; ++l)
    axis.first.at[l] = static_cast<std::int32_t>(floor_of(texels.at[l]));
  address(axis.first, mode, static_cast<std::int32_t>(size));
  axis.second = axis.first;
  axis.weight = {};
}

TD_LANES void place_linear(const Doubles& texels, unsigned mode, std::uint32_t size, Axis& axis) {
  const auto last = static_cast<std::int32_t>(size) - 1;
  for (int l = 0; l < kLanes; ++l) {
    auto at = static_cast<std::int32_t>(floor_of(texels.at[l] * 256 - 127.5));
    std::int32_t index = at >> 8;
    bool at_edge = mode == ADDRESS_CLAMP && (index < 0 || index >= last);
    axis.first.at[l] = index;
    axis.second.at[l] = index + 1;
    axis.weight.at[l] = at_edge ? 0 : at & 255;
  }
  address(axis.first, mode, last + 1);
  address(axis.second, mode, last + 1);
}

// ---- texels ----

// A texel of each lane and its weight in the result.
struct Corner {
  Lanes<std::int64_t> offset;
  Ints inside, weight;
};

TD_LANES void place_corner(const ArrayShape& shape, const Ints& x, const Ints& y, const Ints& plane,
                           Corner& corner) {
  for (int l = 0; l < kLanes; ++l) {
    bool inside = (x.at[l] | y.at[l] | plane.at[l]) >= 0;
    std::int64_t offset = static_cast<std::int64_t>(shape.slice) * plane.at[l] +
                          static_cast<std::int64_t>(shape.pitch) * y.at[l] +
                          static_cast<std::int64_t>(shape.texel) * x.at[l];
    corner.offset.at[l] = inside ? offset : 0;
    corner.inside.at[l] = inside;
  }
}

template <class T>
TD_LANES void load_as(const unsigned char* data, const Corner& corner, Ints& raw) {
  for (int l = 0; l < kLanes; ++l) {
    T value;
    std::memcpy(&value, data + corner.offset.at[l], sizeof value);
    raw.at[l] = static_cast<std::int32_t>(value);
  }
}

// One channel as it lies in memory, extended to 32 bits.
TD_LANES void load_channel(const TextureObject& object, const ArrayShape& shape,
                           const Corner& corner, unsigned channel, Ints& raw) {
  const unsigned char* data = shape.data + channel * (shape.texel / shape.channels);
  switch (shape.format) {
    case FORMAT_UNSIGNED_INT8:
      load_as<std::uint8_t>(data, corner, raw);
      break;
    case FORMAT_SIGNED_INT8:
      load_as<std::int8_t>(data, corner, raw);
      break;
    case FORMAT_UNSIGNED_INT16:
    case FORMAT_HALF:
      load_as<std::uint16_t>(data, corner, raw);
      break;
    case FORMAT_SIGNED_INT16:
      load_as<std::int16_t>(data, corner, raw);
      break;
    default:
      load_as<std::int32_t>(data, corner, raw);
  }
  for (int l = 0; l < kLanes; ++l)
    raw.at[l] = corner.inside.at[l] ? raw.at[l] : object.border[channel];
}

TD_LANES float half_value(std::int32_t bits) {
  auto magnitude = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
  float value = std::bit_cast<float>(magnitude) * 0x1p112f;
  bool finite = (bits & 0x7c00) != 0x7c00;
  auto result = finite ? std::bit_cast<std::uint32_t>(value) : magnitude | 0x7f800000u;
  return std::bit_cast<float>(result | static_cast<std::uint32_t>(bits & 0x8000) << 16);
}

// Linear values of sRGB in units of 2^-14, as read from an H200: about eight significant bits.
constexpr std::uint16_t kLinearOfSrgb[256] = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
    66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
    169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
    332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
    564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
    864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
    1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
    1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
    2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
    2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
    3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
    4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
    5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
    6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
    7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
    8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
    11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
    13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

// What is read of a channel without filtering.
TD_LANES void convert(Reading reading, const Ints& raw, std::uint32_t* out) {
  Floats value;
  switch (reading) {
    case Reading::word:
    case Reading::float32:
      for (int l = 0; l < kLanes; ++l) out[l] = static_cast<std::uint32_t>(raw.at[l]);
      return;
    case Reading::float16:
      for (int l = 0; l < kLanes; ++l) value.at[l] = half_value(raw.at[l]);
      break;
    case Reading::unorm8:
      for (int l = 0; l < kLanes; ++l) value.at[l] = static_cast<float>(raw.at[l]) / 255.0f;
      break;
    case Reading::unorm16:
      for (int l = 0; l < kLanes; ++l) value.at[l] = static_cast<float>(raw.at[l]) / 65535.0f;
      break;
    case Reading::snorm8:
      for (int l = 0; l < kLanes; ++l)
        value.at[l] = std::max(static_cast<float>(raw.at[l]) / 127.0f, -1.0f);
      break;
    case Reading::snorm16:
      for (int l = 0; l < kLanes; ++l)
        value.at[l] = std::max(static_cast<float>(raw.at[l]) / 32767.0f, -1.0f);
      break;
    case Reading::srgb8:
      for (int l = 0; l < kLanes; ++l)
        value.at[l] = static_cast<float>(kLinearOfSrgb[raw.at[l] & 255]) * 0x1p-14f;
      break;
  }
  std::memcpy(out, value.at, sizeof value);
}

// ---- filtering ----

// Weights of a row and its neighbour that add up to `total`.
TD_LANES void weigh(const Ints& total, const Axis& x, const Axis& y, Corner* corners) {
  for (int l = 0; l < kLanes; ++l) {
    std::int32_t a = x.weight.at[l], b = y.weight.at[l];
    std::int32_t right = (total.at[l] * a + 128) >> 8, left = total.at[l] - right;
    std::int32_t below_right = (right * b + 128) >> 8;
    std::int32_t above_left = (left * (256 - b) + 128) >> 8;
    corners[0].weight.at[l] = above_left;
    corners[1].weight.at[l] = right - below_right;
    corners[2].weight.at[l] = left - above_left;
    corners[3].weight.at[l] = below_right;
  }
}

// Adds the weighted sum of four floating-point texels, cut to `bits` bits below the largest.
TD_LANES void add_floats(const Ints* values, const Corner* corners, int bits, Doubles& sum) {
  constexpr std::uint32_t kExponent = 0x7f800000u;
  for (int l = 0; l < kLanes; ++l) {
    std::uint32_t top = 0;
    float value[4];
    double plain = 0, cut = 0;
    for (int k = 0; k < 4; ++k) {
      auto word = static_cast<std::uint32_t>(values[k].at[l]);
      word = (word & kExponent) && corners[k].weight.at[l] ? word : word & 0x80000000u;
      value[k] = std::bit_cast<float>(word);
      top = std::max(top, word & kExponent);
    }
    const int up = bits - 1 + 127 - static_cast<int>(top >> 23);
    const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + up) << 52);
    const double back = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - up) << 52);
    for (int k = 0; k < 4; ++k) {
      double weight = corners[k].weight.at[l];
      plain += weight != 0 ? value[k] * weight : 0.0;
      cut += static_cast<std::int32_t>(value[k] * scale) * weight;
    }
    // Infinities and NaN follow IEEE's rules; zeros keep their sign.
    bool exact = top != 0 && top != kExponent;
    sum.at[l] += (exact ? cut * back : plain) * 0x1p-8;
  }
}

// To float or float16 (a float with 10 bits), halves away from zero.
TD_LANES void round_float(const Doubles& sum, std::uint32_t* out) {
  for (int l = 0; l < kLanes; ++l) {
    auto bits = std::bit_cast<std::uint64_t>(sum.at[l]);
    bits = (bits + (std::uint64_t{1} << 28)) & ~((std::uint64_t{1} << 29) - 1);
    double rounded = std::bit_cast<double>(bits);
    bool normal = !(__builtin_fabs(rounded) < 0x1p-126);
    float value = static_cast<float>(normal ? rounded : rounded * 0);
    out[l] = std::bit_cast<std::uint32_t>(value);
  }
}
TD_LANES void round_half(const Doubles& sum, std::uint32_t* out) {
  for (int l = 0; l < kLanes; ++l) {
    auto bits = std::bit_cast<std::uint64_t>(sum.at[l]);
    bits = (bits + (std::uint64_t{1} << 41)) & ~((std::uint64_t{1} << 42) - 1);
    double magnitude = __builtin_fabs(sum.at[l]);
    double small = floor_of(std::min(magnitude, 1.0) * 0x1p24 + 0.5) * 0x1p-24;
    double rounded =
        magnitude < 0x1p-14 ? __builtin_copysign(small, sum.at[l]) : std::bit_cast<double>(bits);
    out[l] = std::bit_cast<std::uint32_t>(static_cast<float>(rounded));
  }
}

// Weighted sums of integers, in 256ths, as fractions of 16 bits.
TD_LANES void round_fraction(Reading reading, const Ints& sum, std::uint32_t* out) {
  Floats value;
  for (int l = 0; l < kLanes; ++l) {
    std::int32_t s = sum.at[l];
    switch (reading) {
      case Reading::unorm8:
        value.at[l] = static_cast<float>((s * 257 + 128) >> 8) / 65535.0f;
        break;
      case Reading::unorm16:
        value.at[l] = static_cast<float>((s + 128) >> 8) / 65535.0f;
        break;
      case Reading::snorm8:
        s += ((s >> 4) * 257 + 1024) >> 11;
        value.at[l] = std::max(static_cast<float>(s) / 32767.0f, -1.0f);
        break;
      default:
        value.at[l] = std::max(static_cast<float>((s + 128) >> 8) / 32767.0f, -1.0f);
    }
  }
  std::memcpy(out, value.at, sizeof value);
}

// Four corners for each part: a plane of a level.
struct Part {
  const ArrayShape* shape;
  Corner corners[4];
};

TD_LANES void mix(const TextureObject& object, Reading reading, unsigned channel, const Part* parts,
                  int count, std::uint32_t* out) {
  Doubles sum{};
  Ints whole{};
  for (int p = 0; p < count; ++p) {
    Ints raw[4];
    for (int k = 0; k < 4; ++k)
      load_channel(object, *parts[p].shape, parts[p].corners[k], channel, raw[k]);
    const Corner* corners = parts[p].corners;
    switch (reading) {
      case Reading::word:
      case Reading::float32:
        add_floats(raw, corners, 28, sum);
        break;
      case Reading::float16:
        for (Ints& values : raw)
          for (int l = 0; l < kLanes; ++l)
            values.at[l] = std::bit_cast<std::int32_t>(half_value(values.at[l]));
        add_floats(raw, corners, 15, sum);
        break;
      case Reading::srgb8:
        for (int k = 0; k < 4; ++k)
          for (int l = 0; l < kLanes; ++l)
            sum.at[l] += kLinearOfSrgb[raw[k].at[l] & 255] * corners[k].weight.at[l] * 0x1p-22;
        break;
      default:
        for (int k = 0; k < 4; ++k)
          for (int l = 0; l < kLanes; ++l) whole.at[l] += raw[k].at[l] * corners[k].weight.at[l];
    }
  }
  if (reading == Reading::float32 || reading == Reading::word)
    round_float(sum, out);
  else if (reading == Reading::float16 || reading == Reading::srgb8)
    round_half(sum, out);
  else
    round_fraction(reading, whole, out);
}

// ---- fetches ----

// The lanes of one chunk that read the same level, and what they read.
struct Chunk {
  std::uint32_t lanes;  // bit l: lane l
  Floats x, y, z;
  Ints layer;
  Ints fraction;  // of the next level, in 256ths
  std::uint32_t (*out)[kLanes];
};

TD_LANES void mask_out(std::uint32_t lanes, const std::uint32_t (*from)[kLanes],
                       std::uint32_t (*to)[kLanes]) {
  for (int c = 0; c < 4; ++c)
    for (int l = 0; l < kLanes; ++l) to[c][l] = lanes >> l & 1 ? from[c][l] : to[c][l];
}

// A layer is unsigned to the hardware: negative ones are the last.
TD_LANES void place_layer(const ArrayShape& shape, TextureOp op, const Chunk& chunk, Ints& plane) {
  const bool cube = op == TextureOp::cube || op == TextureOp::cube_layered;
  const std::uint32_t planes = cube ? 6 : 1, last = shape.depth / planes - 1;
  const bool layered = op == TextureOp::line_layered || op == TextureOp::plane_layered ||
                       op == TextureOp::cube_layered;
  for (int l = 0; l < kLanes; ++l) {
    std::uint32_t layer =
        layered ? std::min(static_cast<std::uint32_t>(chunk.layer.at[l]), last) : 0;
    std::uint32_t face = cube ? static_cast<std::uint32_t>(chunk.z.at[l]) : 0;
    plane.at[l] = static_cast<std::int32_t>(layer * planes + std::min(face, planes - 1));
  }
}

struct Axes {
  Axis x, y, z;
};

TD_LANES void place_along(const TextureObject& object, const Floats& given, int axis,
                          std::uint32_t size, bool linear, Axis& to) {
  const unsigned mode = object.address_mode[axis];
  Doubles texels;
  to_texels(given, object.normalized_coordinates, mode, size, texels);
  if (linear)
    place_linear(texels, mode, size, to);
  else
    place_nearest(texels, mode, size, to);
}

TD_LANES void place(const TextureObject& object, const ArrayShape& shape, TextureOp op, bool linear,
                    const Chunk& chunk, Axes& axes) {
  place_along(object, chunk.x, 0, shape.width, linear, axes.x);
  place_along(object, chunk.y, 1, shape.height, linear, axes.y);
  if (op == TextureOp::volume) {
    place_along(object, chunk.z, 2, shape.depth, linear, axes.z);
  } else {
    place_layer(shape, op, chunk, axes.z.first);
    axes.z.weight = {};
  }
}

TD_LANES void fetch_nearest(const TextureObject& object, const ArrayShape& shape, TextureOp op,
                            const Chunk& chunk, std::uint32_t (*found)[kLanes]) {
  Axes axes;
  place(object, shape, op, false, chunk, axes);
  Corner corner;
  place_corner(shape, axes.x.first, axes.y.first, axes.z.first, corner);
  for (unsigned c = 0; c < shape.channels; ++c) {
    Ints raw;
    load_channel(object, shape, corner, c, raw);
    convert(object.reading[c], raw, found[c]);
  }
}

// The parts of one level; `share` is its weight in 256ths.
TD_LANES int add_parts(const TextureObject& object, const ArrayShape& shape, TextureOp op,
                       const Chunk& chunk, const Ints& share, Part* parts) {
  Axes axes;
  place(object, shape, op, object.linear, chunk, axes);
  const int planes = op == TextureOp::volume ? 2 : 1;
  for (int z = 0; z < planes; ++z) {
    const Ints& plane = z ? axes.z.second : axes.z.first;
    Corner* corners = parts[z].corners;
    parts[z].shape = &shape;
    place_corner(shape, axes.x.first, axes.y.first, plane, corners[0]);
    place_corner(shape, axes.x.second, axes.y.first, plane, corners[1]);
    place_corner(shape, axes.x.first, axes.y.second, plane, corners[2]);
    place_corner(shape, axes.x.second, axes.y.second, plane, corners[3]);
    Ints total;
    for (int l = 0; l < kLanes; ++l) {
      std::int32_t far = (share.at[l] * axes.z.weight.at[l] + 128) >> 8;
      total.at[l] = z ? far : share.at[l] - far;
    }
    weigh(total, axes.x, axes.y, corners);
  }
  return planes;
}

TD_LANES void fetch_mixed(const TextureObject& object, unsigned level, bool next, TextureOp op,
                          const Chunk& chunk, std::uint32_t (*found)[kLanes]) {
  Part parts[4];
  Ints share;
  for (int l = 0; l < kLanes; ++l) share.at[l] = next ? 256 - chunk.fraction.at[l] : 256;
  int count = add_parts(object, object.level[level], op, chunk, share, parts);
  if (next)
    count += add_parts(object, object.level[level + 1], op, chunk, chunk.fraction, parts + count);
  for (unsigned c = 0; c < object.level[level].channels; ++c)
    mix(object, object.reading[c], c, parts, count, found[c]);
}

// One component of the four texels that linear filtering would mix, against the clock from below.
TD_LANES void fetch_gather(const TextureObject& object, unsigned component, const Chunk& chunk,
                           std::uint32_t (*found)[kLanes]) {
  const ArrayShape& shape = object.level[0];
  if (component >= shape.channels) return;
  Axes axes;
  place(object, shape, TextureOp::plane, true, chunk, axes);
  const Ints* corners[4][2] = {{&axes.x.first, &axes.y.second},
                               {&axes.x.second, &axes.y.second},
                               {&axes.x.second, &axes.y.first},
                               {&axes.x.first, &axes.y.first}};
  for (int k = 0; k < 4; ++k) {
    Corner corner;
    Ints raw;
    place_corner(shape, *corners[k][0], *corners[k][1], axes.z.first, corner);
    load_channel(object, shape, corner, component, raw);
    convert(object.reading[component], raw, found[k]);
  }
}

// By number of texel; zeros outside.
TD_LANES void fetch_linear_memory(const TextureObject& object, const Chunk& chunk,
                                  std::uint32_t (*found)[kLanes]) {
  const ArrayShape& shape = object.level[0];
  Corner corner;
  Ints zero{}, index;
  for (int l = 0; l < kLanes; ++l) {
    auto at = static_cast<std::uint32_t>(chunk.layer.at[l]);
    index.at[l] = at < shape.width ? static_cast<std::int32_t>(at) : -1;
  }
  place_corner(shape, index, zero, zero, corner);
  for (unsigned c = 0; c < shape.channels; ++c) {
    Ints raw;
    load_channel(object, shape, corner, c, raw);
    convert(object.reading[c], raw, found[c]);
    for (int l = 0; l < kLanes; ++l) found[c][l] = corner.inside.at[l] ? found[c][l] : 0;
  }
}

// Levels of detail in 256ths: cut, biased, and within the object's bounds.
TD_LANES void choose_levels(const TextureObject& object, bool given, const Floats& level,
                            Ints& chosen) {
  const std::int32_t last = (object.levels - 1) * 256;
  const std::int32_t low = std::min(object.min_level, last),
                     high = std::min(object.max_level, last);
  for (int l = 0; l < kLanes; ++l) {
    float wanted = level.at[l] == level.at[l] ? level.at[l] : 0.0f;
    auto cut = static_cast<std::int32_t>(std::min(std::max(wanted, -4096.0f), 4096.0f) * 256);
    chosen.at[l] = std::max(std::min(given ? cut + object.level_bias : 0, high), low);
  }
}

// The level that is read, or the first of the two.
TD_LANES unsigned whole_level(std::int32_t level, bool between) {
  return static_cast<unsigned>(between ? level : level + 128) >> 8;
}

TD_LANES bool fits(const TextureObject& object, TextureOp op) {
  const ArrayShape& shape = object.level[0];
  switch (op) {
    case TextureOp::linear:
      return object.linear_memory;
    case TextureOp::volume:
      return shape.dimensions == 3;
    case TextureOp::line_layered:
      return shape.layered && shape.dimensions == 1;
    case TextureOp::cube:
      return shape.cube;
    case TextureOp::cube_layered:
      return shape.cube && shape.layered;
    default:
      return !object.linear_memory && shape.dimensions < 3;
  }
}

TD_LANES void fetch_chunk(const TextureObject& object, const TextureFetch& call,
                          const Floats& level, Chunk& chunk) {
  alignas(32) std::uint32_t found[4][kLanes] = {};
  if (call.op == TextureOp::linear) return fetch_linear_memory(object, chunk, chunk.out);
  if (call.op == TextureOp::gather) return fetch_gather(object, call.component, chunk, chunk.out);
  Ints levels{};
  if (object.levels > 1) choose_levels(object, call.has_level, level, levels);
  const bool between = object.levels > 1 && object.linear_mipmap;
  std::uint32_t left = chunk.lanes;
  while (left) {
    const unsigned mine = whole_level(levels.at[__builtin_ctz(left)], between);
    std::uint32_t same = 0, fractions = 0;
    for (int l = 0; l < kLanes; ++l) {
      bool here = (left >> l & 1) && whole_level(levels.at[l], between) == mine;
      chunk.fraction.at[l] = here && between ? levels.at[l] & 255 : 0;
      same |= static_cast<std::uint32_t>(here) << l;
      fractions |= static_cast<std::uint32_t>(chunk.fraction.at[l]);
    }
    if (object.linear || fractions)
      fetch_mixed(object, mine, fractions != 0, call.op, chunk, found);
    else
      fetch_nearest(object, object.level[mine], call.op, chunk, found);
    mask_out(same, found, chunk.out);
    left &= ~same;
  }
}

TD_LANES void fetch_lanes(const TextureObject& object, const TextureFetch& call) {
  const bool possible = fits(object, call.op);
  for (std::uint32_t first = 0; first < call.width; first += kLanes) {
    Chunk chunk;
    alignas(32) std::uint32_t out[4][kLanes] = {};
    chunk.lanes = call.lanes >> first & 0xff;
    chunk.out = out;
    Floats level;
    read_operand(call.x, call.width, first, chunk.x);
    read_operand(call.y, call.width, first, chunk.y);
    read_operand(call.z, call.width, first, chunk.z);
    read_operand(call.layer, call.width, first, chunk.layer);
    read_operand(call.level, call.width, first, level);
    if (chunk.lanes && possible) fetch_chunk(object, call, level, chunk);
    const std::uint32_t count = std::min<std::uint32_t>(call.width, kLanes);
    for (std::uint32_t c = 0; c < 4; ++c)
      std::memcpy(call.out + c * call.width + first, out[c], count * sizeof out[c][0]);
  }
}

// The same code for processors with and without AVX2.
TD_RT_TEXT TD_ON_WARP_STACK __attribute__((target("avx2"))) void fetch_avx2(
    const TextureObject& object, const TextureFetch& call) {
  fetch_lanes(object, call);
}
TD_RT_TEXT TD_ON_WARP_STACK void fetch_plain(const TextureObject& object,
                                             const TextureFetch& call) {
  fetch_lanes(object, call);
}

}  // namespace

TD_ON_WARP_STACK void fetch(const TextureObject& object, const TextureFetch& call) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  avx2 ? fetch_avx2(object, call) : fetch_plain(object, call);
}

}  // namespace td::softdev
