// Hopper's matrix arithmetic, to the bit. It is not documented; what is known of it:
//
// - Products of float16, bfloat16 and tf32 are exact. With C they are aligned to the largest
//   exponent (of a product: the sum of its factors' exponents; zeros do not count), cut off below
//   2^-25 of it, and added exactly. The sum is rounded once: toward zero to float, to nearest even
//   to float16. tf32 ignores the lower 13 bits of its operands and adds four products at a time.
// - A sum with a NaN, with infinities of both signs or with zero times infinity is the NaN
//   0x7fffffff or 0x7fff. A zero is positive, also one that a float16 is rounded to.
// - Integers wrap around, or saturate after the whole sum.
// - double is a chain of fused multiply-adds in ascending order; of several NaN operands that of B
//   wins, then that of C.
//
// First described in MMA-Sim (arXiv 2511.10909) and by Khattak and Mikaitis (arXiv 2512.07004);
// compared bit for bit with an H200 on random, denormal, cancelling and special operands.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "softdev/run/device_calls.h"
#include "softdev/run/no_sanitize.h"

namespace td::softdev {
namespace {

constexpr int kRows = 16, kColumns = 8;
constexpr int kFraction = 25;      // bits kept below the largest exponent
constexpr int kNone = -2000;       // exponent of zero
constexpr int kSpecial = 1 << 20;  // exponent of infinity and NaN

#define TD_INLINE [[gnu::always_inline]] inline TD_ON_WARP_STACK

// The significand with its sign, one digit before the point (none: denormal), or infinity or NaN.
struct Number {
  float significand;
  int exponent;
};

TD_INLINE double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
}

template <int kBits, int kMantissa>
TD_INLINE Number decode(std::uint32_t bits) {
  constexpr int kTop = (1 << (kBits - 1 - kMantissa)) - 1, kBias = kTop / 2;
  constexpr auto kUnit = 1.0f / (1 << kMantissa);
  int field = static_cast<int>(bits >> kMantissa) & kTop;
  auto mantissa = static_cast<int>(bits & ((1u << kMantissa) - 1));
  float size = static_cast<float>(mantissa + (field ? 1 << kMantissa : 0)) * kUnit;
  float special =
      mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  size = field == kTop ? special : size;
  int exponent = (field ? field : 1) - kBias;
  exponent = size == 0 ? kNone : exponent;
  exponent = field == kTop ? kSpecial : exponent;
  return {bits >> (kBits - 1) & 1 ? -size : size, exponent};
}

// Operands of a step, spread out.
template <int kDepth>
struct Operands {
  float a[kRows][kDepth], b[kDepth][kColumns];
  int a_exponent[kRows][kDepth], b_exponent[kDepth][kColumns];
};

// x 2^(exponent - largest + 25) without what is behind the point; below 2^27. Anything for infinity
// and NaN.
TD_INLINE int aligned(float x, int exponent, int largest) {
  int field = std::max(exponent - largest + kFraction + 127, 0);
  return static_cast<int>(x * std::bit_cast<float>(field << 23));
}

// D of one row, exact, or infinite or NaN.
template <int kDepth>
TD_INLINE void row_sums(const Operands<kDepth>& in, int row, const float* c, double* sums) {
  Number addend[kColumns];
  int largest[kColumns];
  for (int n = 0; n < kColumns; ++n) {
    addend[n] = decode<32, 23>(std::bit_cast<std::uint32_t>(c[n]));
    largest[n] = addend[n].exponent;
  }
  for (int k = 0; k < kDepth; ++k)
    for (int n = 0; n < kColumns; ++n)
      largest[n] = std::max(largest[n], in.a_exponent[row][k] + in.b_exponent[k][n]);
  // Two sums of at most 8 terms and C: each fits.
  int even[kColumns], odd[kColumns] = {};
  for (int n = 0; n < kColumns; ++n)
    even[n] = aligned(addend[n].significand, addend[n].exponent, largest[n]);
  for (int k = 0; k < kDepth; k += 2)
    for (int n = 0; n < kColumns; ++n) {
      even[n] += aligned(in.a[row][k] * in.b[k][n], in.a_exponent[row][k] + in.b_exponent[k][n],
                         largest[n]);
      odd[n] += aligned(in.a[row][k + 1] * in.b[k + 1][n],
                        in.a_exponent[row][k + 1] + in.b_exponent[k + 1][n], largest[n]);
    }
  bool special = false;
  for (int n = 0; n < kColumns; ++n) {
    special |= largest[n] > kSpecial / 2;
    sums[n] = (static_cast<double>(even[n]) + odd[n]) *
              power_of_two(std::clamp(largest[n], -500, 500) - kFraction);
  }
  if (!special) return;
  // IEEE's rules for infinities and NaN are those of the unit.
  for (int n = 0; n < kColumns; ++n) {
    double sum = addend[n].significand;
    for (int k = 0; k < kDepth; ++k) sum += in.a[row][k] * in.b[k][n];
    if (!std::isfinite(sum)) sums[n] = sum;
  }
}

// Toward zero, except that what is too large becomes infinite.
TD_INLINE float to_float(double x) {
  if (x != x) return std::bit_cast<float>(0x7fffffffu);
  auto kept = std::bit_cast<std::uint64_t>(x) & ~((std::uint64_t{1} << 29) - 1);
  auto cut = static_cast<float>(std::bit_cast<double>(kept));
  bool above = std::fabs(static_cast<double>(cut)) > std::fabs(x) && std::fabs(x) < 1;
  if (above) cut = std::bit_cast<float>(std::bit_cast<std::uint32_t>(cut) - 1);
  return cut + 0.0f;  // no negative zero
}

TD_INLINE std::uint32_t to_half(double x) {
  std::uint32_t sign = std::bit_cast<std::uint64_t>(x) >> 63 << 15;
  double size = std::fabs(x);
  if (x != x) return 0x7fff;
  if (size <= 0x1p-25) return 0;
  if (size >= 65520) return sign | 0x7c00;
  // The smallest step of float16 at this size; adding 2^52 steps rounds to a whole number of them.
  int exponent = std::max(static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52) - 1023, -14);
  double large = power_of_two(exponent - 10 + 52);
  auto steps = static_cast<std::uint32_t>((size + large - large) * power_of_two(10 - exponent));
  // A carry into the next exponent is a carry of the encoding.
  return sign | (static_cast<std::uint32_t>(exponent + 14) * 1024 + steps);
}

using Registers = const std::uint32_t (*)[32];
using Results = std::uint32_t (*)[32];

// Halves of the depth [first_half, first_half + kHalves): A has two words in each (row and row +
// 8), B one. `number` decodes element i of a word of kPack.
template <int kPack, int kHalves, class Decode>
TD_INLINE void spread(Registers in, int first_half, Operands<4 * kPack * kHalves>& to,
                      const Decode& number) {
  for (int half = 0; half < kHalves; ++half)
    for (int part = 0; part < 3; ++part) {
      const std::uint32_t* words =
          in[part == 2 ? 4 + first_half + half : 2 * (first_half + half) + part];
      for (int i = 0; i < kPack; ++i) {
        Number numbers[32];
        for (int lane = 0; lane < 32; ++lane) numbers[lane] = number(words[lane], i);
        for (int lane = 0; lane < 32; ++lane) {
          int outer = lane / 4 + part * 8, depth = 4 * kPack * half + lane % 4 * kPack + i;
          if (part == 2) {
            to.b[depth][lane / 4] = numbers[lane].significand;
            to.b_exponent[depth][lane / 4] = numbers[lane].exponent;
          } else {
            to.a[outer][depth] = numbers[lane].significand;
            to.a_exponent[outer][depth] = numbers[lane].exponent;
          }
        }
      }
    }
}

// Word w of a lane in C and D.
TD_INLINE int row_of(int lane, int w) { return lane / 4 + w / 2 * 8; }
TD_INLINE int column_of(int lane, int w) { return lane % 4 * 2 + w % 2; }

template <int kBits, int kMantissa>
TD_INLINE void multiply_16(Registers in, double (*sums)[kColumns], const float (*c)[kColumns]) {
  Operands<16> operands;
  spread<2, 2>(in, 0, operands, [](std::uint32_t word, int i) TD_ON_WARP_STACK {
    return decode<kBits, kMantissa>(word >> 16 * i & 0xffff);
  });
  for (int row = 0; row < kRows; ++row) row_sums(operands, row, c[row], sums[row]);
}

TD_INLINE void multiply_tf32(Registers in, double (*sums)[kColumns], float (*c)[kColumns]) {
  for (int half = 0; half < 2; ++half) {
    Operands<4> operands;
    spread<1, 1>(in, half, operands, [](std::uint32_t word, int) TD_ON_WARP_STACK {
      return decode<32, 23>(word & ~0x1fffu);
    });
    for (int row = 0; row < kRows; ++row) {
      row_sums(operands, row, c[row], sums[row]);
      for (int n = 0; n < kColumns; ++n) c[row][n] = to_float(sums[row][n]);
    }
  }
}

TD_INLINE void multiply_float(Registers in, Results out, MmaKind kind) {
  float c[kRows][kColumns];
  double sums[kRows][kColumns];
  for (int w = 0; w < 4; ++w)
    for (int lane = 0; lane < 32; ++lane)
      c[row_of(lane, w)][column_of(lane, w)] = std::bit_cast<float>(in[6 + w][lane]);
  if (kind == MmaKind::tf32_f32)
    multiply_tf32(in, sums, c);
  else if (kind == MmaKind::bf16_f32)
    multiply_16<16, 7>(in, sums, c);
  else
    multiply_16<16, 10>(in, sums, c);
  for (int w = 0; w < 4; ++w)
    for (int lane = 0; lane < 32; ++lane) {
      double sum = sums[row_of(lane, w)][column_of(lane, w)];
      out[w][lane] =
          kind == MmaKind::f16_f16 ? to_half(sum) : std::bit_cast<std::uint32_t>(to_float(sum));
    }
}

template <class Byte>
TD_INLINE void multiply_bytes(Registers in, Results out, bool saturate) {
  std::int32_t a[kRows][16], b[16][kColumns];
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      int depth = lane % 4 * 4 + i;
      a[lane / 4][depth] = static_cast<Byte>(in[0][lane] >> 8 * i);
      a[lane / 4 + 8][depth] = static_cast<Byte>(in[1][lane] >> 8 * i);
      b[depth][lane / 4] = static_cast<Byte>(in[4][lane] >> 8 * i);
    }
  for (int w = 0; w < 4; ++w)
    for (int lane = 0; lane < 32; ++lane) {
      std::int64_t sum = static_cast<std::int32_t>(in[6 + w][lane]);
      for (int k = 0; k < 16; ++k) sum += a[row_of(lane, w)][k] * b[k][column_of(lane, w)];
      if (saturate)
        sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max());
      out[w][lane] = static_cast<std::uint32_t>(sum);
    }
}

TD_INLINE double quiet(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) | std::uint64_t{1} << 51);
}
TD_INLINE double multiply_add(double a, double b, double c) {
  if (b != b) return quiet(b);
  if (c != c) return quiet(c);
  return a != a ? quiet(a) : std::fma(a, b, c);
}

TD_INLINE double double_of(Registers in, int word, int lane) {
  return std::bit_cast<double>(in[word][lane] | std::uint64_t{in[word + 1][lane]} << 32);
}

// m8n8k4: A(r, k) is in lane 4 r + k, B(k, n) in lane 4 n + k.
TD_INLINE void multiply_double(Registers in, Results out) {
  for (int lane = 0; lane < 32; ++lane)
    for (int w = 0; w < 2; ++w) {
      double sum = double_of(in, 6 + 2 * w, lane);
      for (int k = 0; k < 4; ++k)
        sum = multiply_add(double_of(in, 0, lane / 4 * 4 + k),
                           double_of(in, 4, column_of(lane, w) * 4 + k), sum);
      auto bits = std::bit_cast<std::uint64_t>(sum);
      out[2 * w][lane] = static_cast<std::uint32_t>(bits);
      out[2 * w + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
    }
}

TD_INLINE void multiply(Registers in, Results out, MmaKind kind) {
  switch (kind) {
    case MmaKind::s8_s32:
    case MmaKind::s8_s32_sat:
      return multiply_bytes<std::int8_t>(in, out, kind == MmaKind::s8_s32_sat);
    case MmaKind::u8_s32:
    case MmaKind::u8_s32_sat:
      return multiply_bytes<std::uint8_t>(in, out, kind == MmaKind::u8_s32_sat);
    case MmaKind::f64_f64:
      return multiply_double(in, out);
    default:
      return multiply_float(in, out, kind);
  }
}

[[gnu::target("avx2,fma")]] TD_ON_WARP_STACK void multiply_avx2(Registers in, Results out,
                                                                MmaKind kind) {
  multiply(in, out, kind);
}
TD_ON_WARP_STACK void multiply_any(Registers in, Results out, MmaKind kind) {
  multiply(in, out, kind);
}

}  // namespace
}  // namespace td::softdev

extern "C" TD_ON_WARP_STACK void td_rt_mma(const std::uint32_t (*registers)[32],
                                           std::uint32_t (*result)[32], std::uint32_t kind) {
  using namespace td::softdev;
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  (avx2 ? multiply_avx2 : multiply_any)(registers, result, static_cast<MmaKind>(kind));
}
