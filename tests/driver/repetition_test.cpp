// What counts as a sequence that repeats itself.
#include "driver/repetition.h"

#include <gtest/gtest.h>

#include <random>

namespace td::test {
namespace {

using driver::Repetition;

std::vector<std::uint64_t> random_numbers(std::size_t count, std::uint64_t below) {
  std::mt19937_64 random(4);
  std::vector<std::uint64_t> numbers(count);
  for (auto& number : numbers) number = random() % below;
  return numbers;
}

TEST(Repetition, NewNumbersForetellNothing) {
  Repetition seen;
  for (std::uint64_t number = 0; number < 100'000; ++number) {
    seen.note(number);
    ASSERT_EQ(seen.run(), 0u);
  }
}

// Few different numbers too: what follows four of them is known once they have come before.
TEST(Repetition, SecondRoundIsForetold) {
  for (std::size_t period : {1, 2, 3, 5, 30, 500, 4000})
    for (std::uint64_t below : {std::uint64_t{1} << 40, std::uint64_t{16}}) {
      auto round = random_numbers(period, below);
      Repetition seen;
      for (int k = 0; k < 3; ++k)
        for (std::uint64_t number : round) seen.note(number);
      for (int k = 0; k < 20; ++k) {
        for (std::uint64_t number : round) seen.note(number);
        EXPECT_GE(seen.run(), period - std::min<std::size_t>(period, 50)) << period << " " << below;
      }
    }
}

TEST(Repetition, OneOtherNumberEndsTheRunAndItComesBack) {
  auto round = random_numbers(100, 1 << 20);
  Repetition seen;
  for (int k = 0; k < 3; ++k)
    for (std::uint64_t number : round) seen.note(number);
  EXPECT_GE(seen.run(), 150u);
  seen.note(std::uint64_t{1} << 50);
  EXPECT_EQ(seen.run(), 0u);
  for (std::uint64_t number : round) seen.note(number);
  EXPECT_GE(seen.run(), 90u);
}

// Sixteen numbers at random agree with the past now and then, never for long.
TEST(Repetition, ChanceIsNoRepetition) {
  Repetition seen;
  std::size_t longest = 0;
  for (std::uint64_t number : random_numbers(1'000'000, 16)) {
    seen.note(number);
    longest = std::max(longest, seen.run());
  }
  EXPECT_LE(longest, 7u);
}

TEST(Repetition, WhatIsTooLongAgoForetellsNothing) {
  auto round = random_numbers(50'000, std::uint64_t{1} << 40);
  Repetition seen;
  for (int k = 0; k < 3; ++k)
    for (std::uint64_t number : round) {
      seen.note(number);
      ASSERT_EQ(seen.run(), 0u);
    }
}

}  // namespace
}  // namespace td::test
