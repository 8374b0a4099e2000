// Content hashes that name cache entries and detect damage: 128-bit, not cryptographic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace td::base {

struct Hash128 {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash128&) const = default;
  std::string hex() const;  // 32 lower-case digits
};

// Hashes a sequence of fields; the boundaries count, so ("ab","c") differs from ("a","bc").
class Hasher {
 public:
  Hasher& add(std::string_view bytes);
  Hasher& add(std::uint64_t number);
  Hash128 finish() const;

 private:
  std::uint64_t a_ = 0x9e3779b97f4a7c15ull, b_ = 0xc2b2ae3d27d4eb4full, length_ = 0;
};

}  // namespace td::base
