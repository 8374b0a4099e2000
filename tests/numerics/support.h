// What the tests of the device language's numbers share: arguments worth a try, and kernels over
// arrays of them on the device that TREADLE_DEVICE names.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <cstring>
#include <limits>
#include <random>

#include "../launch/support.h"

namespace numerics {

using td::test::LaunchTest;
using td::test::on_device;
using td::test::on_host;

// The same numbers in every run.
inline std::mt19937_64& random_bits() {
  static std::mt19937_64 generator(12345);
  return generator;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
bool same(T x, T y) {
  return (x != x && y != y) || to_bits(x) == to_bits(y);
}

// Zeros, ends of ranges, and neighbours of what functions treat apart.
template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> list = {T(0),
                         Limits::denorm_min(),
                         T(3) * Limits::denorm_min(),
                         Limits::min() - Limits::denorm_min(),
                         Limits::min(),
                         Limits::epsilon(),
                         T(0.25),
                         T(0.5),
                         std::nextafter(T(1), T(0)),
                         T(1),
                         std::nextafter(T(1), T(2)),
                         T(1.5),
                         T(2),
                         T(2.5),
                         T(3),
                         T(7),
                         T(10.5),
                         T(1e6),
                         T(8388609),
                         T(1e10),
                         T(4503599627370497.5),
                         Limits::max() / 2,
                         Limits::max(),
                         Limits::infinity()};
  const std::size_t positive = list.size();
  for (std::size_t i = 0; i < positive; ++i) list.push_back(-list[i]);
  list.push_back(Limits::quiet_NaN());
  return list;
}

template <class T>
T any_bits() {
  const T value = from_bits<T>(random_bits()());
  return value != value ? std::numeric_limits<T>::quiet_NaN() : value;  // no signalling NaN
}

// Any sign and exponent around 1: exponents within 2^-range … 2^range.
template <class T>
T around_one(int range) {
  const T mantissa = std::uniform_real_distribution<T>(1, 2)(random_bits());
  const int exponent = std::uniform_int_distribution<int>(-range, range)(random_bits());
  const T value = std::ldexp(mantissa, exponent);
  return random_bits()() & 1 ? value : -value;
}

inline bool on_cuda() {
  const char* device = std::getenv("TREADLE_DEVICE");
  return device && std::strncmp(device, "cuda", 4) == 0;
}

// Kernels called row0, row1, …, each with its text after the name. The software device must know
// all of them. An NVRTC may be older than a function: there what does not compile is named and left
// out.
inline std::vector<std::optional<td::Kernel>> load_rows(const std::string& before,
                                                        const std::vector<std::string>& texts) {
  const bool is_cuda = on_cuda();
  const std::size_t together = is_cuda ? 16 : texts.size();
  std::vector<std::optional<td::Kernel>> kernels(texts.size());
  auto load = [&](std::size_t first, std::size_t last) {
    std::string source = before;
    for (std::size_t i = first; i < last; ++i)
      source += "extern \"C\" __global__ void row" + std::to_string(i) + texts[i];
    const td::Module module(source);
    for (std::size_t i = first; i < last; ++i) kernels[i] = module.get("row" + std::to_string(i));
  };
  for (std::size_t first = 0; first < texts.size(); first += together) {
    const std::size_t last = std::min(first + together, texts.size());
    if (!is_cuda) {
      load(first, last);
      continue;
    }
    try {
      load(first, last);
    } catch (const td::Error&) {
      for (std::size_t i = first; i < last; ++i) {
        try {
          load(i, i + 1);
        } catch (const td::Error&) {
          std::printf("SKIPPED (not known to this NVRTC): %s\n", texts[i].c_str());
        }
      }
    }
  }
  return kernels;
}

// Three columns of arguments.
template <class T>
struct Arguments {
  std::vector<T> x, y, z;
  void add(T a, T b, T c) {
    x.push_back(a);
    y.push_back(b);
    z.push_back(c);
  }
  std::size_t size() const { return x.size(); }
};

template <class T>
std::vector<T> run_three(const td::Kernel& kernel, const Arguments<T>& arguments) {
  const int n = static_cast<int>(arguments.size());
  td::Array out = td::full({n}, -77, td::dtype_of<T>());
  kernel.launch({.grid = {static_cast<unsigned>((n + 127) / 128)}, .block = {128}},
                on_device(arguments.x), on_device(arguments.y), on_device(arguments.z), out, n);
  return on_host<T>(out);
}

}  // namespace numerics
