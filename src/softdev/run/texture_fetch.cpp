#include "softdev/run/texture_fetch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "softdev/run/fault.h"
#include "softdev/run/no_sanitize.h"

// This file is compiled twice, for processors with and without AVX2: CMakeLists.txt gives the name
// of the one function that is visible. Loops go over the lanes, so that the compiler makes vectors.
namespace td::softdev {

namespace {

using namespace td::cuda;

template <class T>
struct Lanes {
  alignas(64) T at[32];
};
using Ints = Lanes<std::int32_t>;
using Floats = Lanes<float>;
using Doubles = Lanes<double>;

#define TD_LANES TD_ON_WARP_STACK static

// For |x| < 2^31.
TD_LANES inline double floor_of(double x) {
  auto whole = static_cast<std::int32_t>(x);
  return whole - (whole > x ? 1 : 0);
}

// ---- coordinates ----

// Steps of a normalized coordinate between 0 and 1.
TD_LANES double grid_of(const ArrayShape& shape) {
  const std::uint32_t longest =
      std::max(std::max(shape.width, shape.height), shape.dimensions == 3 ? shape.depth : 1);
  return longest <= 8192 ? 0x1p21 : longest <= 65536 ? 0x1p22 : 0x1p23;
}

// How coordinates along one axis become texels.
struct AxisModes {
  double grid;  // 0: coordinates count texels
  unsigned mode;
  std::int32_t size;
  bool linear;
};

// In texels. Wrapped coordinates lie between 0 and the size (mirrored ones, twice the size),
// others at most a little outside of what is the edge for them.
TD_LANES void to_texels(const float* given, const AxisModes& modes, int n, Doubles& texels) {
  for (int l = 0; l < n; ++l) {
    float c = given ? given[l] : 0.0f;
    texels.at[l] = __builtin_fabsf(c) >= 0x1p-126f ? c : 0.0f;
  }
  if (modes.grid == 0) {
    const double beyond = modes.size + 2.0;
    for (int l = 0; l < n; ++l) texels.at[l] = std::min(std::max(texels.at[l], -2.0), beyond);
    return;
  }
  double last = 3 * modes.grid;
  if (modes.mode == ADDRESS_WRAP || modes.mode == ADDRESS_MIRROR) {
    const double period = modes.mode == ADDRESS_WRAP ? 1 : 2;
    for (int l = 0; l < n; ++l) {
      double c = __builtin_fabs(texels.at[l]) < 0x1p24 ? texels.at[l] : 0.0;
      texels.at[l] = c - period * floor_of(c / period);
    }
    last = period * modes.grid - 1;
  }
  const double step = modes.size / modes.grid;
  for (int l = 0; l < n; ++l) {
    double cut = floor_of(std::min(std::max(texels.at[l], -2.0), 3.0) * modes.grid);
    texels.at[l] = std::min(cut, last) * step;
  }
}

// Texels along one axis: two and the weight of the second in 256ths. -1: outside of a border.
struct Axis {
  Ints first, second, weight;
};

TD_LANES void address(std::int32_t* i, const AxisModes& modes, int n) {
  const std::int32_t size = modes.size;
  switch (modes.mode) {
    case ADDRESS_WRAP:
      for (int l = 0; l < n; ++l) i[l] += (i[l] < 0 ? size : 0) - (i[l] >= size ? size : 0);
      return;
    case ADDRESS_MIRROR:
      for (int l = 0; l < n; ++l) {
        std::int32_t j = i[l] + (i[l] < 0 ? 2 * size : 0) - (i[l] >= 2 * size ? 2 * size : 0);
        i[l] = j < size ? j : 2 * size - 1 - j;
      }
      return;
    case ADDRESS_BORDER:
      for (int l = 0; l < n; ++l) i[l] = i[l] < size ? std::max(i[l], -1) : -1;
      return;
    default:
      for (int l = 0; l < n; ++l) i[l] = std::min(std::max(i[l], 0), size - 1);
  }
}

TD_LANES void place_axis(const float* given, const AxisModes& modes, int n, Axis& axis) {
  Doubles texels;
  to_texels(given, modes, n, texels);
  if (!modes.linear) {
    for (int l = 0; l < n; ++l)
      axis.first.at[l] = static_cast<std::int32_t>(floor_of(texels.at[l]));
    address(axis.first.at, modes, n);
    return;
  }
  const std::int32_t last = modes.size - 1;
  for (int l = 0; l < n; ++l) {
    auto at = static_cast<std::int32_t>(floor_of(texels.at[l] * 256 - 127.5));
    axis.first.at[l] = at >> 8;
    axis.weight.at[l] = at & 255;
  }
  if (modes.mode == ADDRESS_CLAMP)
    for (int l = 0; l < n; ++l)
      axis.weight.at[l] = axis.first.at[l] < 0 || axis.first.at[l] >= last ? 0 : axis.weight.at[l];
  for (int l = 0; l < n; ++l) axis.second.at[l] = axis.first.at[l] + 1;
  address(axis.first.at, modes, n);
  address(axis.second.at, modes, n);
}

struct Axes {
  Axis x, y, z;
};

// A layer is unsigned to the hardware: negative ones are the last.
TD_LANES void place_layer(const ArrayShape& shape, const TextureFetch& call, int n, Ints& plane) {
  const bool cube = call.op == TextureOp::cube || call.op == TextureOp::cube_layered;
  const std::uint32_t planes = cube ? 6 : 1, last = shape.depth / planes - 1;
  const bool layered = call.op == TextureOp::line_layered || call.op == TextureOp::plane_layered ||
                       call.op == TextureOp::cube_layered;
  for (int l = 0; l < n; ++l) {
    auto layer = layered && call.layer ? static_cast<std::uint32_t>(call.layer[l]) : 0;
    auto face = cube && call.z ? static_cast<std::int32_t>(call.z[l]) : 0;
    face = std::min(std::max(face, 0), static_cast<std::int32_t>(planes) - 1);
    plane.at[l] = static_cast<std::int32_t>(std::min(layer, last) * planes) + face;
  }
}

TD_LANES void place(const TextureObject& object, const ArrayShape& shape, const TextureFetch& call,
                    bool linear, int n, Axes& axes) {
  const double grid = object.normalized_coordinates ? grid_of(shape) : 0;
  auto modes = [&](int axis, std::uint32_t size) TD_ON_WARP_STACK {
    return AxisModes{grid, object.address_mode[axis], static_cast<std::int32_t>(size), linear};
  };
  const bool line = call.op == TextureOp::line || call.op == TextureOp::line_layered;
  place_axis(call.x, modes(0, shape.width), n, axes.x);
  place_axis(line ? nullptr : call.y, modes(1, shape.height), n, axes.y);
  if (call.op == TextureOp::volume)
    place_axis(call.z, modes(2, shape.depth), n, axes.z);
  else
    place_layer(shape, call, n, axes.z.first);
}

// ---- texels ----

// A texel of each lane and its weight in the result.
struct Corner {
  Lanes<std::int64_t> offset;
  Ints inside, weight;
};

TD_LANES void place_corner(const ArrayShape& shape, const Ints& x, const Ints& y, const Ints& plane,
                           int n, Corner& corner) {
  const auto slice = static_cast<std::int64_t>(shape.slice);
  const auto pitch = static_cast<std::int64_t>(shape.pitch);
  const std::int64_t texel = shape.texel;
  for (int l = 0; l < n; ++l) corner.inside.at[l] = (x.at[l] | y.at[l] | plane.at[l]) >= 0 ? -1 : 0;
  for (int l = 0; l < n; ++l) {
    std::int64_t offset = slice * plane.at[l] + pitch * y.at[l] + texel * x.at[l];
    corner.offset.at[l] = offset & corner.inside.at[l];
  }
}

template <class T>
TD_LANES inline void load_as(const unsigned char* data, const Corner& corner, int n, Ints& raw) {
  for (int l = 0; l < n; ++l) {
    T value;
    std::memcpy(&value, data + corner.offset.at[l], sizeof value);
    raw.at[l] = static_cast<std::int32_t>(value);
  }
}

// One channel as it lies in memory, extended to 32 bits. The one place that may fault.
TD_RT_TEXT TD_LANES void load_channel(const ArrayShape& shape, const Corner& corner,
                                      unsigned channel, std::int32_t border, int n, Ints& raw) {
  const unsigned char* data = shape.data + channel * (shape.texel / shape.channels);
  switch (shape.format) {
    case FORMAT_UNSIGNED_INT8:
      load_as<std::uint8_t>(data, corner, n, raw);
      break;
    case FORMAT_SIGNED_INT8:
      load_as<std::int8_t>(data, corner, n, raw);
      break;
    case FORMAT_UNSIGNED_INT16:
    case FORMAT_HALF:
      load_as<std::uint16_t>(data, corner, n, raw);
      break;
    case FORMAT_SIGNED_INT16:
      load_as<std::int16_t>(data, corner, n, raw);
      break;
    default:
      load_as<std::int32_t>(data, corner, n, raw);
  }
  for (int l = 0; l < n; ++l)
    raw.at[l] = (raw.at[l] & corner.inside.at[l]) | (border & ~corner.inside.at[l]);
}

TD_LANES inline std::uint32_t float_of_half(std::int32_t bits) {
  auto magnitude = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
  auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  auto result = (bits & 0x7c00) != 0x7c00 ? finite : magnitude | 0x7f800000u;
  return result | static_cast<std::uint32_t>(bits & 0x8000) << 16;
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

// Fractions of the largest number; the lowest of a signed type counts as the one above it.
TD_LANES void to_fractions(const Ints& raw, float largest, int n, std::uint32_t* out) {
  for (int l = 0; l < n; ++l)
    out[l] = std::bit_cast<std::uint32_t>(std::max(static_cast<float>(raw.at[l]) / largest, -1.0f));
}

// What is read of a channel without filtering.
TD_LANES void convert(Reading reading, const Ints& raw, int n, std::uint32_t* out) {
  switch (reading) {
    case Reading::word:
    case Reading::float32:
      std::memcpy(out, raw.at, static_cast<unsigned>(n) * sizeof *out);
      return;
    case Reading::float16:
      for (int l = 0; l < n; ++l) out[l] = float_of_half(raw.at[l]);
      return;
    case Reading::unorm8:
      return to_fractions(raw, 255, n, out);
    case Reading::unorm16:
      return to_fractions(raw, 65535, n, out);
    case Reading::snorm8:
      return to_fractions(raw, 127, n, out);
    case Reading::snorm16:
      return to_fractions(raw, 32767, n, out);
    case Reading::srgb8:
      for (int l = 0; l < n; ++l)
        out[l] = std::bit_cast<std::uint32_t>(static_cast<float>(kLinearOfSrgb[raw.at[l] & 255]) *
                                              0x1p-14f);
      return;
  }
}

// ---- filtering ----

// Weights of a row and its neighbour that add up to `total`.
TD_LANES void weigh(const Ints& total, const Axis& x, const Axis& y, int n, Corner* corners) {
  for (int l = 0; l < n; ++l) {
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
TD_LANES void add_floats(Ints* values, const Corner* corners, int bits, int n, Doubles& sum) {
  constexpr std::int32_t kExponent = 0x7f800000, kSign = static_cast<std::int32_t>(0x80000000u);
  Ints top{};
  Doubles cut{}, plain{};
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < n; ++l) {
      std::int32_t word = values[k].at[l];
      bool counts = (word & kExponent) != 0 && corners[k].weight.at[l] != 0;
      word &= counts ? -1 : kSign;
      values[k].at[l] = word;
      top.at[l] = std::max(top.at[l], word & kExponent);
    }
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < n; ++l) {
      auto up = static_cast<std::uint64_t>(1023 + bits - 1 + 127 - (top.at[l] >> 23)) << 52;
      double value = std::bit_cast<float>(values[k].at[l]), weight = corners[k].weight.at[l];
      cut.at[l] += static_cast<std::int32_t>(value * std::bit_cast<double>(up)) * weight;
      plain.at[l] += value * weight;
    }
  // Infinities and NaN follow IEEE's rules; zeros keep their sign.
  for (int l = 0; l < n; ++l) {
    auto back = static_cast<std::uint64_t>(1023 - 8 - (bits - 1 + 127) + (top.at[l] >> 23)) << 52;
    bool exact = top.at[l] != 0 && top.at[l] != kExponent;
    double exact_sum = cut.at[l] * std::bit_cast<double>(back), other = plain.at[l] * 0x1p-8;
    sum.at[l] += exact ? exact_sum : other;
  }
}

TD_LANES void add_numbers(const Ints* values, const Corner* corners, int n, Doubles& sum) {
  for (int k = 0; k < 4; ++k)
    for (int l = 0; l < n; ++l) sum.at[l] += values[k].at[l] * corners[k].weight.at[l];
}

// To float, halves away from zero.
TD_LANES void round_float(const Doubles& sum, int n, std::uint32_t* out) {
  for (int l = 0; l < n; ++l) {
    auto bits = std::bit_cast<std::uint64_t>(sum.at[l]);
    bits = (bits + (std::uint64_t{1} << 28)) & ~((std::uint64_t{1} << 29) - 1);
    double rounded = std::bit_cast<double>(bits);
    double kept = __builtin_fabs(rounded) < 0x1p-126 ? rounded * 0 : rounded;
    out[l] = std::bit_cast<std::uint32_t>(static_cast<float>(kept));
  }
}
// To float16 likewise.
TD_LANES void round_half(const Doubles& sum, int n, std::uint32_t* out) {
  for (int l = 0; l < n; ++l) {
    auto bits = std::bit_cast<std::uint64_t>(sum.at[l]);
    bits = (bits + (std::uint64_t{1} << 41)) & ~((std::uint64_t{1} << 42) - 1);
    double magnitude = __builtin_fabs(sum.at[l]);
    double small = floor_of(std::min(magnitude, 1.0) * 0x1p24 + 0.5) * 0x1p-24;
    small = std::bit_cast<double>(std::bit_cast<std::uint64_t>(small) | (bits >> 63 << 63));
    double rounded = magnitude < 0x1p-14 ? small : std::bit_cast<double>(bits);
    out[l] = std::bit_cast<std::uint32_t>(static_cast<float>(rounded));
  }
}

// Weighted sums of integers, in 256ths, as fractions of 16 bits.
TD_LANES void round_fraction(Reading reading, const Doubles& sum, int n, std::uint32_t* out) {
  Ints s;
  for (int l = 0; l < n; ++l) s.at[l] = static_cast<std::int32_t>(sum.at[l]);
  if (reading == Reading::snorm8) {
    for (int l = 0; l < n; ++l) s.at[l] += ((s.at[l] >> 4) * 257 + 1024) >> 11;
  } else {
    const std::int32_t factor = reading == Reading::unorm8 ? 257 : 1;
    for (int l = 0; l < n; ++l) s.at[l] = (s.at[l] * factor + 128) >> 8;
  }
  bool is_signed = reading == Reading::snorm8 || reading == Reading::snorm16;
  to_fractions(s, is_signed ? 32767 : 65535, n, out);
}

TD_LANES void add_channel(Reading reading, Ints* raw, const Corner* corners, int n, Doubles& sum) {
  switch (reading) {
    case Reading::word:
    case Reading::float32:
      return add_floats(raw, corners, 28, n, sum);
    case Reading::float16:
      for (int k = 0; k < 4; ++k)
        for (int l = 0; l < n; ++l)
          raw[k].at[l] = static_cast<std::int32_t>(float_of_half(raw[k].at[l]));
      return add_floats(raw, corners, 15, n, sum);
    case Reading::srgb8:
      for (int k = 0; k < 4; ++k)
        for (int l = 0; l < n; ++l) raw[k].at[l] = kLinearOfSrgb[raw[k].at[l] & 255];
      return add_numbers(raw, corners, n, sum);
    default:
      return add_numbers(raw, corners, n, sum);
  }
}

TD_LANES void round_channel(Reading reading, Doubles& sum, int n, std::uint32_t* out) {
  switch (reading) {
    case Reading::word:
    case Reading::float32:
      return round_float(sum, n, out);
    case Reading::float16:
      return round_half(sum, n, out);
    case Reading::srgb8:
      for (int l = 0; l < n; ++l) sum.at[l] *= 0x1p-22;
      return round_half(sum, n, out);
    default:
      return round_fraction(reading, sum, n, out);
  }
}

// ---- fetches ----

using Words = Lanes<std::uint32_t>[4];

TD_LANES void fetch_nearest(const TextureObject& object, const ArrayShape& shape,
                            const TextureFetch& call, int n, Words& found) {
  Axes axes;
  Corner corner;
  Ints raw;
  place(object, shape, call, false, n, axes);
  place_corner(shape, axes.x.first, axes.y.first, axes.z.first, n, corner);
  for (unsigned c = 0; c < shape.channels; ++c) {
    load_channel(shape, corner, c, object.border[c], n, raw);
    convert(object.reading[c], raw, n, found[c].at);
  }
}

// Adds one level with its weight in 256ths.
TD_LANES void add_level(const TextureObject& object, const ArrayShape& shape,
                        const TextureFetch& call, const Ints& share, int n, Doubles* sums) {
  Axes axes;
  Corner corners[4];
  Ints raw[4], total;
  place(object, shape, call, object.linear, n, axes);
  if (!object.linear) {
    axes.x.second = axes.x.first;
    axes.y.second = axes.y.first;
    axes.z.second = axes.z.first;
    axes.x.weight = axes.y.weight = axes.z.weight = {};
  }
  const int planes = call.op == TextureOp::volume ? 2 : 1;
  for (int z = 0; z < planes; ++z) {
    for (int l = 0; l < n; ++l) {
      std::int32_t near =
          planes == 2 ? (share.at[l] * (256 - axes.z.weight.at[l]) + 128) >> 8 : share.at[l];
      total.at[l] = z ? share.at[l] - near : near;
    }
    const Ints& plane = z ? axes.z.second : axes.z.first;
    place_corner(shape, axes.x.first, axes.y.first, plane, n, corners[0]);
    place_corner(shape, axes.x.second, axes.y.first, plane, n, corners[1]);
    place_corner(shape, axes.x.first, axes.y.second, plane, n, corners[2]);
    place_corner(shape, axes.x.second, axes.y.second, plane, n, corners[3]);
    weigh(total, axes.x, axes.y, n, corners);
    for (unsigned c = 0; c < shape.channels; ++c) {
      for (int k = 0; k < 4; ++k) load_channel(shape, corners[k], c, object.border[c], n, raw[k]);
      add_channel(object.reading[c], raw, corners, n, sums[c]);
    }
  }
}

// `fraction`: of the next level, in 256ths; null when only one is read.
TD_LANES void fetch_mixed(const TextureObject& object, unsigned level, const Ints* fraction,
                          const TextureFetch& call, int n, Words& found) {
  Doubles sums[4] = {};
  Ints share{};
  for (int l = 0; l < n; ++l) share.at[l] = fraction ? 256 - fraction->at[l] : 256;
  add_level(object, object.level[level], call, share, n, sums);
  if (fraction) add_level(object, object.level[level + 1], call, *fraction, n, sums);
  for (unsigned c = 0; c < object.level[level].channels; ++c)
    round_channel(object.reading[c], sums[c], n, found[c].at);
}

// One component of the four texels that linear filtering would mix, counterclockwise from below.
TD_LANES void fetch_gather(const TextureObject& object, const TextureFetch& call, int n,
                           Words& found) {
  const ArrayShape& shape = object.level[0];
  const unsigned component = call.component;
  if (component >= shape.channels) return;
  Axes axes;
  Corner corner;
  Ints raw;
  place(object, shape, call, true, n, axes);
  const Ints* corners[4][2] = {{&axes.x.first, &axes.y.second},
                               {&axes.x.second, &axes.y.second},
                               {&axes.x.second, &axes.y.first},
                               {&axes.x.first, &axes.y.first}};
  for (int k = 0; k < 4; ++k) {
    place_corner(shape, *corners[k][0], *corners[k][1], axes.z.first, n, corner);
    load_channel(shape, corner, component, object.border[component], n, raw);
    convert(object.reading[component], raw, n, found[k].at);
  }
}

// By number of texel; zeros outside.
TD_LANES void fetch_linear_memory(const TextureObject& object, const TextureFetch& call, int n,
                                  Words& found) {
  const ArrayShape& shape = object.level[0];
  Corner corner;
  Ints raw, index;
  const Ints zero{};
  for (int l = 0; l < n; ++l) {
    auto at = static_cast<std::uint32_t>(call.layer ? call.layer[l] : 0);
    index.at[l] = at < shape.width ? static_cast<std::int32_t>(at) : -1;
  }
  place_corner(shape, index, zero, zero, n, corner);
  for (unsigned c = 0; c < shape.channels; ++c) {
    load_channel(shape, corner, c, 0, n, raw);
    convert(object.reading[c], raw, n, found[c].at);
  }
}

// Levels of detail in 256ths: cut, biased, and within the object's bounds.
TD_LANES void choose_levels(const TextureObject& object, const TextureFetch& call, int n,
                            Ints& chosen) {
  const std::int32_t last = (object.levels - 1) * 256;
  const std::int32_t low = std::min(object.min_level, last),
                     high = std::min(object.max_level, last);
  for (int l = 0; l < n; ++l) {
    float wanted = call.level && call.level[l] == call.level[l] ? call.level[l] : 0.0f;
    auto cut = static_cast<std::int32_t>(std::min(std::max(wanted, -4096.0f), 4096.0f) * 256);
    std::int32_t biased = call.has_level ? cut + object.level_bias : 0;
    chosen.at[l] = std::max(std::min(biased, high), low);
  }
}

// Lanes that read the same level, or the same two, at a time.
TD_LANES void fetch_levels(const TextureObject& object, const TextureFetch& call, int n,
                           Words& out) {
  const bool between = object.linear_mipmap;
  Ints levels, fraction;
  Words found{};
  choose_levels(object, call, n, levels);
  for (std::uint32_t left = call.lanes; left;) {
    auto whole = [&](int l) TD_ON_WARP_STACK {
      return static_cast<unsigned>(levels.at[l] + (between ? 0 : 128)) >> 8;
    };
    const unsigned mine = whole(__builtin_ctz(left));
    std::uint32_t same = 0, fractions = 0;
    for (int l = 0; l < n; ++l) {
      bool here = (left >> l & 1) && whole(l) == mine;
      fraction.at[l] = here && between ? levels.at[l] & 255 : 0;
      fractions |= static_cast<std::uint32_t>(fraction.at[l]);
      same |= std::uint32_t{here} << l;
    }
    if (object.linear || fractions)
      fetch_mixed(object, mine, fractions ? &fraction : nullptr, call, n, found);
    else
      fetch_nearest(object, object.level[mine], call, n, found);
    for (int c = 0; c < 4; ++c)
      for (int l = 0; l < n; ++l) out[c].at[l] = same >> l & 1 ? found[c].at[l] : out[c].at[l];
    left &= ~same;
  }
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

}  // namespace

TD_ON_WARP_STACK void TD_TEXTURE_FETCH(const TextureObject& object, const TextureFetch& call) {
  const auto n = static_cast<int>(call.width);
  Words out{};
  if (!fits(object, call.op)) {
    // zeros
  } else if (call.op == TextureOp::linear) {
    fetch_linear_memory(object, call, n, out);
  } else if (call.op == TextureOp::gather) {
    fetch_gather(object, call, n, out);
  } else if (object.levels > 1) {
    fetch_levels(object, call, n, out);
  } else if (object.linear) {
    fetch_mixed(object, 0, nullptr, call, n, out);
  } else {
    fetch_nearest(object, object.level[0], call, n, out);
  }
  for (unsigned c = 0; c < 4; ++c)
    std::memcpy(call.out + c * call.width, out[c].at, call.width * sizeof(std::uint32_t));
}

}  // namespace td::softdev
