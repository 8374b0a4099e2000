// Philox4x32-10 against the known answers of its authors' distribution (Random123, kat_vectors).
// The device's own text is compiled here for the host; Random in device_test.cpp shows that a
// device gives the same numbers.
#define TD_FN static inline
#define __device__
#define __noinline__
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
#pragma GCC diagnostic ignored "-Wunused-function"
#include "kernels/philox.cuh"

#include <gtest/gtest.h>

namespace {

struct Known {
  unsigned long long block, stream, key;
  unsigned words[4];
};

constexpr Known kKnown[] = {
    {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {~0ull, ~0ull, ~0ull, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {0x85a308d3243f6a88,
     0x0370734413198a2e,
     0x299f31d0a4093822,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST(Philox, KnownAnswers) {
  for (const Known& known : kKnown) {
    td_words r = td_philox(known.block, known.stream, known.key);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(r.w[k], known.words[k]);
  }
}

TEST(Philox, UniformNumbersStayBelowOne) {
  EXPECT_EQ(td_unit(0u), 0.0f);
  EXPECT_LT(td_unit(~0u), 1.0f);
  EXPECT_LT(td_unit(~0ull), 1.0);
  EXPECT_EQ(td_unit(1u << 31), 0.5f);
}

TEST(Philox, BoundedIntegersCoverTheRange) {
  EXPECT_EQ(td_below(0, 10), 0u);
  EXPECT_EQ(td_below(~0ull, 10), 9u);
  EXPECT_EQ(td_below(1234, 0), 1234u);
  unsigned below[4];
  td_below(td_words{{0, ~0u, 1u << 31, 0}}, 10, 0, 0, 0, below);
  EXPECT_EQ(below[0], 0u);
  EXPECT_EQ(below[1], 9u);
  EXPECT_EQ(below[2], 5u);
}

TEST(Philox, WordsThatWouldBeTooManyAreDrawnAgain) {
  // Of 2^32 words, 3 * 2^30 go to as many values once each, and 2^30 are left over.
  constexpr unsigned kRange = 3u << 30;
  constexpr unsigned kUneven = 1u << 30;
  unsigned long long next = 3ull * (1u << 30) * td_philox(5, 1ull << 40, 7).w[2];
  ASSERT_GE(static_cast<unsigned>(next), kUneven);
  unsigned below[4];
  td_below(td_words{{1, 1, 0, 1}}, kRange, kUneven, 5, 7, below);
  EXPECT_EQ(below[2], static_cast<unsigned>(next >> 32));
  EXPECT_EQ(below[3], 0u);
}

}  // namespace
