#include "texture_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace td::test {

using namespace td::cuda;

namespace {

double half_number(std::uint32_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

// ---- coordinates

double texel_coordinate(double c, const Sampler& sampler, unsigned mode, int size, int longest) {
  if (std::isnan(c) || std::fabs(c) < 0x1p-126) c = 0;
  if (!sampler.normalized_coordinates) return c;
  // From 2^24 on all floats are even: a whole number of periods.
  if ((mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR) && std::fabs(c) >= 0x1p24) c = 0;
  double grid = longest > 65536 ? 0x1p23 : longest > 8192 ? 0x1p22 : 0x1p21;
  return std::floor(c * grid) * size / grid;  // exact: 24 bits by 17
}

// The texel that an index means; -1: none.
int texel_index(double index, unsigned mode, bool normalized, int size) {
  if ((mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR) && !normalized) mode = ADDRESS_CLAMP;
  auto modulo = [](double x, double n) { return static_cast<int>(x - n * std::floor(x / n)); };
  switch (mode) {
    case ADDRESS_WRAP:
      return modulo(index, size);
    case ADDRESS_MIRROR: {
      int at = modulo(index, 2.0 * size);
      return at < size ? at : 2 * size - 1 - at;
    }
    case ADDRESS_BORDER:
      return index < 0 || index >= size ? -1 : static_cast<int>(index);
    default:
      return static_cast<int>(std::fmin(std::fmax(index, 0), size - 1));
  }
}

struct Pair {
  int texel[2];
  int weight;  // of the second, in 256ths
};

Pair choose(double given, const Sampler& sampler, int axis, int size, int longest) {
  unsigned mode = sampler.mode[axis];
  bool normalized = sampler.normalized_coordinates;
  double c = texel_coordinate(given, sampler, mode, size, longest);
  if (!sampler.linear) {
    int only = texel_index(std::floor(c), mode, normalized, size);
    return {{only, only}, 0};
  }
  double fixed = std::isinf(c) ? c : std::floor(256 * c - 127.5);
  double first = std::isinf(c) ? c : std::floor(fixed / 256);
  int weight = std::isinf(c) ? 0 : static_cast<int>(fixed - 256 * first);
  bool clamps = mode == ADDRESS_CLAMP || (mode != ADDRESS_BORDER && !normalized);
  if (clamps && (first < 0 || first >= size - 1)) weight = 0;
  return {
      {texel_index(first, mode, normalized, size), texel_index(first + 1, mode, normalized, size)},
      weight};
}

// n * weight / 256, halves upwards.
int part(int n, int weight) { return (n * weight + 128) / 256; }

// ---- texels and their sums

bool is_floating(const Image& image) {
  return image.format == FORMAT_FLOAT || image.format == FORMAT_HALF;
}

double number(const Image& image, std::int32_t raw) {
  if (image.format == FORMAT_FLOAT) return std::bit_cast<float>(raw);
  if (image.format == FORMAT_HALF) return half_number(static_cast<std::uint32_t>(raw));
  return raw;
}

struct Weighted {
  double value;
  int weight;
};

// A sum as the hardware forms it: cut to `bits` below the largest, in units of 1/256.
double cut_sum(const std::vector<Weighted>& texels, int bits) {
  int top = -10000;
  for (const Weighted& t : texels)
    if (t.weight && t.value != 0) top = std::max(top, std::ilogb(t.value));
  double sum = 0;
  for (const Weighted& t : texels)
    if (t.weight && t.value != 0)
      sum += std::ldexp(std::trunc(std::ldexp(t.value, bits - 1 - top)), top - bits + 1) * t.weight;
  return sum / 256;
}

// To a number of `bits` bits, halves away from zero.
double round_away(double x, int bits, int least_exponent) {
  if (x == 0) return x;
  int unit = std::max(std::ilogb(x), least_exponent) - bits + 1;
  return std::ldexp(std::round(std::ldexp(x, -unit)), unit);
}

float mixed(const Image& image, const std::vector<std::vector<Weighted>>& planes) {
  double total = 0;
  if (is_floating(image)) {
    bool half = image.format == FORMAT_HALF;
    for (const auto& plane : planes) total += cut_sum(plane, half ? 15 : 28);
    return static_cast<float>(half ? round_away(total, 11, -14) : round_away(total, 24, -126));
  }
  for (const auto& plane : planes)
    for (const Weighted& t : plane) total += t.value * t.weight;
  switch (image.format) {
    case FORMAT_UNSIGNED_INT8:
      return static_cast<float>(std::floor(total * 257 / 256 + 0.5)) / 65535;
    case FORMAT_UNSIGNED_INT16:
      return static_cast<float>(std::floor(total / 256 + 0.5)) / 65535;
    case FORMAT_SIGNED_INT8: {
      // Stretched from 128ths by a factor of 1 + 257 / 2^15, applied to the upper 12 bits.
      double more = std::floor(std::floor(total / 16) * 16 * 257 / 32768 + 0.5);
      return std::max(static_cast<float>(total + more) / 32767, -1.0f);
    }
    default:
      return std::max(static_cast<float>(std::floor(total / 256 + 0.5)) / 32767, -1.0f);
  }
}

std::uint32_t plain(const Image& image, const Sampler& sampler, std::int32_t raw) {
  if (image.format == FORMAT_HALF)
    return std::bit_cast<std::uint32_t>(static_cast<float>(number(image, raw)));
  if (!sampler.fractions || is_floating(image)) return static_cast<std::uint32_t>(raw);
  float largest = image.format == FORMAT_UNSIGNED_INT8    ? 255
                  : image.format == FORMAT_SIGNED_INT8    ? 127
                  : image.format == FORMAT_UNSIGNED_INT16 ? 65535
                                                          : 32767;
  return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(raw) / largest, -1.0f));
}

struct Place {
  Pair x, y, z;
};

Place place_in(const Image& image, const Sampler& sampler, int dimensions, float x, float y,
               float z, int layer) {
  Place place;
  const int longest = std::max({image.width, image.height, dimensions == 3 ? image.depth : 1});
  place.x = choose(x, sampler, 0, image.width, longest);
  place.y = choose(dimensions > 1 ? y : 0, sampler, 1, std::max(image.height, 1), longest);
  place.z = {{layer, layer}, 0};
  if (dimensions == 3) place.z = choose(z, sampler, 2, image.depth, longest);
  return place;
}

void add_planes(const Image& image, const Place& at, int share, int channel,
                std::vector<std::vector<Weighted>>& planes) {
  int near = part(share, 256 - at.z.weight);
  for (int z = 0; z < 2; ++z) {
    int total = z ? share - near : near;
    int right = part(total, at.x.weight), left = total - right;
    int right_below = part(right, at.y.weight), left_above = part(left, 256 - at.y.weight);
    const int weights[2][2] = {{left_above, right - right_below}, {left - left_above, right_below}};
    std::vector<Weighted> plane;
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i) {
        int tx = at.x.texel[i], ty = at.y.texel[j], tz = at.z.texel[z];
        bool outside = tx < 0 || ty < 0 || tz < 0;
        double value = outside ? 0 : number(image, image.raw(tx, ty, tz, channel));
        plane.push_back({value, weights[j][i]});
      }
    planes.push_back(plane);
  }
}

}  // namespace

int Image::channel_bytes() const {
  switch (format) {
    case FORMAT_UNSIGNED_INT8:
    case FORMAT_SIGNED_INT8:
      return 1;
    case FORMAT_UNSIGNED_INT16:
    case FORMAT_SIGNED_INT16:
    case FORMAT_HALF:
      return 2;
    default:
      return 4;
  }
}

int Image::texels() const { return width * std::max(height, 1) * std::max(depth, 1); }

void Image::fill(unsigned seed, bool positive) {
  std::mt19937 random(seed);
  data.resize(static_cast<std::size_t>(texels() * channels * channel_bytes()));
  for (int i = 0; i < texels() * channels; ++i) {
    std::uint32_t bits = random();
    // Exponents from 1/16 to 1.
    if (format == FORMAT_FLOAT) bits = (bits & 0x807fffffu) | (0x7bu + (bits >> 23 & 3)) << 23;
    if (format == FORMAT_HALF) bits = (bits & 0x83ffu) | (0xbu + (bits >> 16 & 3)) << 10;
    if (positive) bits &= format == FORMAT_HALF ? 0x7fffu : 0x7fffffffu;
    std::memcpy(&data[static_cast<std::size_t>(i * channel_bytes())], &bits,
                static_cast<std::size_t>(channel_bytes()));
  }
}

std::int32_t Image::raw(int x, int y, int z, int channel) const {
  int bytes = channel_bytes();
  auto at = static_cast<std::size_t>(
      (((z * std::max(height, 1) + y) * width + x) * channels + channel) * bytes);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &data[at], static_cast<std::size_t>(bytes));
  if (format == FORMAT_SIGNED_INT8) return static_cast<std::int8_t>(bits);
  if (format == FORMAT_SIGNED_INT16) return static_cast<std::int16_t>(bits);
  return static_cast<std::int32_t>(bits);
}

Texel sample(const Image& image, const Sampler& sampler, int dimensions, float x, float y, float z,
             int layer) {
  Texel result{};
  Place at = place_in(image, sampler, dimensions, x, y, z, layer);
  for (int c = 0; c < image.channels; ++c) {
    if (sampler.linear) {
      std::vector<std::vector<Weighted>> planes;
      add_planes(image, at, 256, c, planes);
      result[static_cast<std::size_t>(c)] = std::bit_cast<std::uint32_t>(mixed(image, planes));
    } else {
      bool outside = at.x.texel[0] < 0 || at.y.texel[0] < 0 || at.z.texel[0] < 0;
      std::int32_t raw = outside ? 0 : image.raw(at.x.texel[0], at.y.texel[0], at.z.texel[0], c);
      result[static_cast<std::size_t>(c)] = plain(image, sampler, raw);
    }
  }
  return result;
}

Texel sample_between(const Image& first, const Image& second, int fraction, const Sampler& sampler,
                     int dimensions, float x, float y, float z) {
  Texel result{};
  for (int c = 0; c < first.channels; ++c) {
    std::vector<std::vector<Weighted>> planes;
    add_planes(first, place_in(first, sampler, dimensions, x, y, z, 0), 256 - fraction, c, planes);
    add_planes(second, place_in(second, sampler, dimensions, x, y, z, 0), fraction, c, planes);
    result[static_cast<std::size_t>(c)] = std::bit_cast<std::uint32_t>(mixed(first, planes));
  }
  return result;
}

bool same(const Texel& a, const Texel& b, bool floats) {
  if (!floats) return a == b;
  for (std::size_t c = 0; c < a.size(); ++c) {
    auto x = std::bit_cast<float>(a[c]), y = std::bit_cast<float>(b[c]);
    if (!(x == y || (x != x && y != y))) return false;
  }
  return true;
}

}  // namespace td::test
