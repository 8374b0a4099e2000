#include "base/hash.h"

#include <cstring>

namespace td::base {

namespace {

// splitmix64's finaliser: every input bit changes every output bit.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

}  // namespace

Hasher& Hasher::add(std::uint64_t number) {
  a_ = mix(a_ ^ number) + rotate(b_, 23);
  b_ = mix(b_ + number * 0x9fb21c651e98df25ull) ^ rotate(a_, 41);
  length_ += 8;
  return *this;
}

Hasher& Hasher::add(std::string_view bytes) {
  add(static_cast<std::uint64_t>(bytes.size()));
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    add(word);
    bytes.remove_prefix(8);
  }
  std::uint64_t tail = 0;
  if (!bytes.empty()) std::memcpy(&tail, bytes.data(), bytes.size());
  return add(tail);
}

Hash128 Hasher::finish() const { return {mix(a_ ^ length_), mix(b_ + rotate(a_, 17))}; }

std::string Hash128::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::uint64_t word : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(word >> shift) & 15];
  return out;
}

}  // namespace td::base
