// The host's side of exact_rows.def, in terms other than those of the device headers.
#pragma once

#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace numerics {

// The processor's rounding modes; the operation must read its operands from volatile variables.
template <class Run>
auto rounded(int mode, Run run) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile auto result = run();
  std::fesetround(before);
  return static_cast<decltype(run())>(result);
}
template <class Run>
auto nearest(Run run) {
  return rounded(FE_TONEAREST, run);
}
template <class Run>
auto to_zero(Run run) {
  return rounded(FE_TOWARDZERO, run);
}
template <class Run>
auto up(Run run) {
  return rounded(FE_UPWARD, run);
}
template <class Run>
auto down(Run run) {
  return rounded(FE_DOWNWARD, run);
}

enum class Mode { nearest, to_zero, up, down };

// Saturates. NaN is 0 between 32-bit types, the sign bit alone where a side has 64 bits.
template <class To, class From>
To to_int(From x, Mode mode) {
  using Limits = std::numeric_limits<To>;
  if (x != x) {
    if (sizeof(To) == 4 && sizeof(From) == 4) return 0;
    return static_cast<To>(1ull << (8 * sizeof(To) - 1));
  }
  const long double exact = x;
  const long double whole = mode == Mode::nearest   ? std::nearbyint(exact)
                            : mode == Mode::to_zero ? std::trunc(exact)
                            : mode == Mode::up      ? std::ceil(exact)
                                                    : std::floor(exact);
  if (whole <= static_cast<long double>(Limits::min())) return Limits::min();
  if (whole >= static_cast<long double>(Limits::max())) return Limits::max();
  return static_cast<To>(whole);
}

inline int count_bits(unsigned long long x) {
  int count = 0;
  for (; x; x >>= 1) count += x & 1;
  return count;
}
inline int leading_zeros(unsigned long long x, int width) {
  int count = 0;
  while (count < width && !(x >> (width - 1 - count) & 1)) ++count;
  return count;
}
inline int first_bit(unsigned long long x) {
  for (int i = 0; i < 64; ++i)
    if (x >> i & 1) return i + 1;
  return 0;
}
inline unsigned long long reversed(unsigned long long x, int width) {
  unsigned long long result = 0;
  for (int i = 0; i < width; ++i) result |= (x >> i & 1) << (width - 1 - i);
  return result;
}
// The fourth bit of a selector's nibble means nothing (as an H200 answers).
inline unsigned bytes_of(unsigned x, unsigned y, unsigned selector) {
  unsigned result = 0;
  for (int i = 3; i >= 0; --i) {
    const unsigned from = selector >> (4 * i) & 7, word = from < 4 ? x : y;
    result = result << 8 | static_cast<unsigned char>(word >> (8 * (from & 3)));
  }
  return result;
}
inline long long floor_half(long long x) { return (x - (x & 1)) / 2; }

template <class A, class B>
long long dot(unsigned x, unsigned y, unsigned z, int count) {
  long long sum = z;
  for (int i = 0; i < count; ++i)
    sum += static_cast<long long>(static_cast<A>(x >> (8 * sizeof(A) * static_cast<unsigned>(i)))) *
           static_cast<B>(y >> (8 * i));
  return sum;
}

// PTX's description of fns, bit by bit.
inline unsigned find_bit(unsigned mask, int base, int offset) {
  if (offset == 0) return mask >> base & 1 ? static_cast<unsigned>(base) : ~0u;
  int left = std::abs(offset);
  for (int place = base; place >= 0 && place < 32; place += offset > 0 ? 1 : -1)
    if ((mask >> place & 1) && --left == 0) return static_cast<unsigned>(place);
  return ~0u;
}

inline long part(unsigned word, int width, bool is_signed, int index) {
  const unsigned bits = word >> (width * index) & ((1u << width) - 1);
  return is_signed && bits >> (width - 1) ? static_cast<long>(bits) - (1l << width)
                                          : static_cast<long>(bits);
}
inline unsigned packed(int width, bool is_signed, long (*f)(long, long, long), unsigned x,
                       unsigned y, unsigned z = 0) {
  unsigned result = 0;
  for (int i = 0; i < 32 / width; ++i) {
    const long value =
        f(part(x, width, is_signed, i), part(y, width, is_signed, i), part(z, width, is_signed, i));
    result |= (static_cast<unsigned>(value) & ((1u << width) - 1)) << (width * i);
  }
  return result;
}
inline unsigned total(int width, bool is_signed, unsigned x, unsigned y) {
  long sum = 0;
  for (int i = 0; i < 32 / width; ++i)
    sum += std::labs(part(x, width, is_signed, i) - part(y, width, is_signed, i));
  return static_cast<unsigned>(sum);
}

}  // namespace numerics
