// IEEE binary16 and bfloat16 to and from float, in portable integer arithmetic: round to nearest
// even, denormals and NaN kept.
#pragma once

#include <cstdint>
#include <cstring>

namespace td::softdev {

inline float half_to_float(std::uint16_t half) {
  std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  std::uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ffu, bits;
  if (exponent == 0x1f) {
    bits = sign | 0x7f800000u | fraction << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | fraction << 13;
  } else {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    std::memcpy(&bits, &magnitude, sizeof bits);
    bits |= sign;
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint16_t float_to_half(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u)
    return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds past the largest half
  if (magnitude < 0x38800000u) {
    // Below the smallest normal: adding 0.5 makes the float unit round to multiples of 2^-24.
    float absolute, shifted;
    std::memcpy(&absolute, &magnitude, sizeof absolute);
    shifted = absolute + 0.5f;
    std::memcpy(&bits, &shifted, sizeof bits);
    return static_cast<std::uint16_t>(sign | (bits - 0x3f000000u));
  }
  std::uint32_t rounded = magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

inline float bfloat_to_float(std::uint16_t bfloat) {
  std::uint32_t bits = static_cast<std::uint32_t>(bfloat) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint16_t float_to_bfloat(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<std::uint16_t>(value == value ? rounded : (bits >> 16 & 0x8000u) | 0x7fc0u);
}

}  // namespace td::softdev
