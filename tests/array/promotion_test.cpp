// Promotion and casting against tables that NumPy 2.4 printed (np.promote_types, np.can_cast with
// same_kind); the Python tests compare whole operations with the NumPy of the day.
#include "array/promotion.h"

#include <gtest/gtest.h>

#include "treadle/error.h"

namespace td::array {
namespace {

constexpr std::string_view kLetters = "?bhiqBHIQefdFD";  // in the order of tables/dtypes.def
constexpr const char* kPromoted[] = {
    "?bhiqBHIQefdFD", "bbhiqhiqdefdFD", "hhhiqhiqdffdFD", "iiiiqiiqddddDD", "qqqqqqqqddddDD",
    "BhhiqBHIQefdFD", "HiiiqHHIQffdFD", "IqqqqIIIQdddDD", "QddddQQQQdddDD", "eefddefddefdFD",
    "fffddffddffdFD", "ddddddddddddDD", "FFFDDFFDDFFDFD", "DDDDDDDDDDDDDD"};
constexpr const char* kSameKind[] = {
    "11111111111111", "01111000011111", "01111000011111", "01111000011111", "01111000011111",
    "01111111111111", "01111111111111", "01111111111111", "01111111111111", "00000000011111",
    "00000000011111", "00000000011111", "00000000000011", "00000000000011"};

DType letter(char c) { return static_cast<DType>(kLetters.find(c)); }

TEST(Promotion, EveryPair) {
  for (std::size_t a = 0; a < kLetters.size(); ++a)
    for (std::size_t b = 0; b < kLetters.size(); ++b) {
      EXPECT_EQ(promote(letter(kLetters[a]), letter(kLetters[b])), letter(kPromoted[a][b]))
          << a << ' ' << b;
      EXPECT_EQ(can_cast(letter(kLetters[a]), letter(kLetters[b]), Casting::same_kind),
                kSameKind[a][b] == '1');
      EXPECT_TRUE(can_cast(letter(kLetters[a]), letter(kLetters[b]), Casting::unsafe));
    }
}

DType with_scalar(DType array, Scalar scalar) {
  TypeOperand operands[] = {array, scalar};
  return result_type(operands);
}

TEST(Promotion, PythonNumbersAreWeak) {
  std::complex<double> i(0, 1);
  EXPECT_EQ(with_scalar(int8, std::int64_t{5}), int8);
  EXPECT_EQ(with_scalar(bool_, std::int64_t{5}), int64);
  EXPECT_EQ(with_scalar(int8, 1.5), float64);
  EXPECT_EQ(with_scalar(float16, 1.5), float16);
  EXPECT_EQ(with_scalar(float16, i), complex64);
  EXPECT_EQ(with_scalar(float64, i), complex128);
  EXPECT_EQ(with_scalar(complex64, 2.0), complex64);
  EXPECT_EQ(with_scalar(uint8, true), uint8);
}

Loop loop_of(Op op, std::vector<TypeOperand> operands) { return resolve(op, operands, {}); }

TEST(Promotion, LoopsOfSingleOperations) {
  EXPECT_EQ(loop_of(Op::sqrt, {int8}).result, float16);
  EXPECT_EQ(loop_of(Op::sqrt, {uint16}).result, float32);
  EXPECT_EQ(loop_of(Op::sqrt, {int32}).result, float64);
  EXPECT_EQ(loop_of(Op::divide, {int8, int8}).result, float64);
  EXPECT_EQ(loop_of(Op::hypot, {int8, uint8}).result, float16);
  EXPECT_EQ(loop_of(Op::absolute, {complex64}).result, float32);
  EXPECT_EQ(loop_of(Op::power, {bool_, bool_}).result, int8);
  EXPECT_EQ(loop_of(Op::less, {float32, float64}).result, bool_);
  EXPECT_EQ(loop_of(Op::where, {float64, int8, int16}).inputs[0], bool_);
  Loop mixed = loop_of(Op::less, {int32, uint64});
  EXPECT_EQ(mixed.inputs[0], int64);
  EXPECT_EQ(mixed.inputs[1], uint64);
}

TEST(Promotion, RefusalsAreNumPys) {
  EXPECT_THROW(loop_of(Op::subtract, {bool_, bool_}), TypeError);
  EXPECT_THROW(loop_of(Op::bitwise_and, {float32, float32}), TypeError);
  EXPECT_THROW(loop_of(Op::floor, {complex64}), TypeError);
  EXPECT_THROW(loop_of(Op::ldexp, {float32, float32}), TypeError);
  EXPECT_THROW(loop_of(Op::add, {int8, Scalar(std::int64_t{300})}), OverflowError);
  EXPECT_THROW(loop_of(Op::add, {uint64, Scalar(std::int64_t{-1})}), OverflowError);
  EXPECT_THROW(loop_of(Op::power, {int32, Scalar(std::int64_t{-1})}), ValueError);
  EXPECT_THROW(loop_of(Op::add, {int8}), TypeError);
  EXPECT_THROW(check_output_cast("add", float64, int32), TypeError);
  EXPECT_NO_THROW(check_output_cast("add", float64, float32));
}

TEST(Promotion, ReductionsWiden) {
  EXPECT_EQ(resolve(Reduction::sum, int8, {}).result, int64);
  EXPECT_EQ(resolve(Reduction::sum, bool_, {}).result, int64);
  EXPECT_EQ(resolve(Reduction::prod, uint16, {}).result, uint64);
  EXPECT_EQ(resolve(Reduction::mean, int32, {}).result, float64);
  EXPECT_EQ(resolve(Reduction::mean, float16, {}).result, float16);
  EXPECT_EQ(resolve(Reduction::argmax, float32, {}).result, int64);
  EXPECT_EQ(resolve(Reduction::max, int8, {}).result, int8);
  EXPECT_EQ(resolve(Reduction::any, float32, {}).result, bool_);
  EXPECT_EQ(resolve(Reduction::sum, int8, int8).result, int8);
}

}  // namespace
}  // namespace td::array
