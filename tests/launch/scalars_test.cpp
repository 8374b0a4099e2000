// Numbers as C types. Oracles: the compiler's own conversions, and for float16 the compiler's
// _Float16 over all values.
#include "launch/scalars.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

using namespace td;
using namespace td::launch;

template <class T>
T stored(const Scalar& value, DType dtype, Fit expected) {
  alignas(16) unsigned char bytes[16] = {};
  EXPECT_EQ(write_scalar(value, dtype, bytes), expected)
      << describe(value) << " as " << info(dtype).numpy;
  T out;
  std::memcpy(&out, bytes, sizeof out);
  return out;
}

template <class T>
void check_range(DType dtype) {
  using Limits = std::numeric_limits<T>;
  alignas(16) unsigned char bytes[16];
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(stored<T>(std::int64_t{Limits::min()}, dtype, Fit::exact), Limits::min());
    EXPECT_EQ(stored<T>(std::int64_t{Limits::max()}, dtype, Fit::exact), Limits::max());
    EXPECT_EQ(stored<T>(std::int64_t{-1}, dtype, Fit::exact), -1);
    if (sizeof(T) < 8) {
      EXPECT_EQ(write_scalar(std::int64_t{Limits::max()} + 1, dtype, bytes), Fit::out_of_range);
      EXPECT_EQ(write_scalar(std::int64_t{Limits::min()} - 1, dtype, bytes), Fit::out_of_range);
    }
    EXPECT_EQ(write_scalar(~std::uint64_t{0}, dtype, bytes), Fit::out_of_range);
  } else {
    EXPECT_EQ(stored<T>(std::uint64_t{Limits::max()}, dtype, Fit::exact), Limits::max());
    EXPECT_EQ(write_scalar(std::int64_t{-1}, dtype, bytes), Fit::out_of_range);
    if (sizeof(T) < 8) {
      EXPECT_EQ(write_scalar(std::uint64_t{Limits::max()} + 1, dtype, bytes), Fit::out_of_range);
    }
  }
  EXPECT_EQ(stored<T>(true, dtype, Fit::exact), T{1});
  for (double real : {2.0, 2.5, 0.0}) EXPECT_EQ(write_scalar(real, dtype, bytes), Fit::wrong_kind);
  EXPECT_EQ(write_scalar(std::complex<double>(1, 0), dtype, bytes), Fit::wrong_kind);
}

TEST(Scalars, IntegersKeepTheirValueOrAreRefused) {
  check_range<std::int8_t>(DType::int8);
  check_range<std::int16_t>(DType::int16);
  check_range<std::int32_t>(DType::int32);
  check_range<std::int64_t>(DType::int64);
  check_range<std::uint8_t>(DType::uint8);
  check_range<std::uint16_t>(DType::uint16);
  check_range<std::uint32_t>(DType::uint32);
  check_range<std::uint64_t>(DType::uint64);
  EXPECT_EQ(stored<bool>(std::int64_t{1}, DType::bool_, Fit::exact), true);
  alignas(16) unsigned char bytes[16];
  EXPECT_EQ(write_scalar(std::int64_t{2}, DType::bool_, bytes), Fit::out_of_range);
}

TEST(Scalars, RealNumbersRoundAndOverflowIsSaid) {
  EXPECT_EQ(stored<float>(2.0, DType::float32, Fit::exact), 2.0f);
  EXPECT_EQ(stored<float>(0.1, DType::float32, Fit::rounded), 0.1f);
  EXPECT_EQ(stored<double>(0.1, DType::float64, Fit::exact), 0.1);
  alignas(16) unsigned char bytes[16];
  EXPECT_EQ(write_scalar(1e39, DType::float32, bytes), Fit::out_of_range);
  EXPECT_EQ(write_scalar(65520.0, DType::float16, bytes), Fit::out_of_range);
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(stored<float>(-infinity, DType::float32, Fit::exact),
            -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(stored<float>(std::nan(""), DType::float32, Fit::exact)));
}

TEST(Scalars, IntegersIntoRealTypesMustBeExact) {
  EXPECT_EQ(stored<double>(std::int64_t{7}, DType::float64, Fit::exact), 7.0);
  EXPECT_EQ(stored<float>(std::int64_t{16777216}, DType::float32, Fit::exact), 16777216.0f);
  alignas(16) unsigned char bytes[16];
  EXPECT_EQ(write_scalar(std::int64_t{16777217}, DType::float32, bytes), Fit::rounded);
  EXPECT_EQ(write_scalar((std::int64_t{1} << 53) + 1, DType::float64, bytes), Fit::rounded);
  EXPECT_EQ(write_scalar(~std::uint64_t{0}, DType::float64, bytes), Fit::rounded);
  EXPECT_EQ(write_scalar(std::int64_t{1} << 62, DType::float32, bytes), Fit::exact);
  EXPECT_EQ(write_scalar(std::int64_t{2049}, DType::float16, bytes), Fit::rounded);
  EXPECT_EQ(write_scalar(std::int64_t{70000}, DType::float16, bytes), Fit::out_of_range);
}

#ifdef __FLT16_MANT_DIG__
TEST(Scalars, HalfAgreesWithTheCompilerEverywhere) {
  std::size_t compared = 0;
  auto check = [&](double value) {
    alignas(16) unsigned char bytes[16];
    write_scalar(value, DType::float16, bytes);
    std::uint16_t ours, theirs;
    std::memcpy(&ours, bytes, 2);
    auto half = static_cast<_Float16>(value);
    std::memcpy(&theirs, &half, 2);
    if (!std::isnan(value)) {
      EXPECT_EQ(ours, theirs) << value;
    }
    ++compared;
  };
  for (unsigned bits = 0; bits < 65536; ++bits) {
    auto pattern = static_cast<std::uint16_t>(bits);
    _Float16 half;
    std::memcpy(&half, &pattern, 2);
    auto value = static_cast<double>(half);
    TypedScalar typed{DType::float16, {}};
    std::memcpy(typed.bytes, &pattern, 2);
    double read = std::get<double>(value_of(typed));
    EXPECT_TRUE(read == value || (std::isnan(read) && std::isnan(value))) << bits;
    check(value);
    if (!std::isfinite(value)) continue;
    _Float16 after;
    auto next = static_cast<std::uint16_t>(bits + 1);
    std::memcpy(&after, &next, 2);
    if (!std::isfinite(static_cast<double>(after))) continue;
    double middle = (value + static_cast<double>(after)) / 2;
    check(middle);
    check(std::nextafter(middle, 1e9));
    check(std::nextafter(middle, -1e9));
  }
  EXPECT_GT(compared, 200000u);
}
#endif

TEST(Scalars, ComplexNumbersTakeRealOnes) {
  using F = std::complex<float>;
  using D = std::complex<double>;
  EXPECT_EQ(stored<F>(D(1, -2), DType::complex64, Fit::exact), F(1, -2));
  EXPECT_EQ(stored<D>(D(0.1, 2), DType::complex128, Fit::exact), D(0.1, 2));
  EXPECT_EQ(stored<F>(2.5, DType::complex64, Fit::exact), F(2.5f, 0));
  EXPECT_EQ(stored<D>(std::int64_t{3}, DType::complex128, Fit::exact), D(3, 0));
}

TEST(Scalars, Words) {
  EXPECT_EQ(describe(2.5), "2.5 (float)");
  EXPECT_EQ(describe(0.1), "0.1 (float)");
  EXPECT_EQ(describe(std::int64_t{-7}), "-7 (int)");
  EXPECT_EQ(describe(true), "True (bool)");
  EXPECT_EQ(describe(std::complex<double>(1, -2)), "1-2j (complex)");
  EXPECT_EQ(range_text(DType::int32), "-2147483648 to 2147483647");
  EXPECT_EQ(range_text(DType::uint8), "0 to 255");
  EXPECT_EQ(range_text(DType::int64), "-9223372036854775808 to 9223372036854775807");
  EXPECT_EQ(range_text(DType::uint64), "0 to 18446744073709551615");
  EXPECT_EQ(range_text(DType::float32), "");
}

}  // namespace
