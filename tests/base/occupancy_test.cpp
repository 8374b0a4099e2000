// The occupancy calculator by hand: cases whose every step is written beside them. The many random
// ones, against NVIDIA's calculator, are in tests/python/test_occupancy.py.
#include "base/occupancy.h"

#include <gtest/gtest.h>

#include "treadle/error.h"

using namespace td;

namespace {

constexpr unsigned bit(OccupancyLimit limit) { return static_cast<unsigned>(limit); }

TEST(Occupancy, RegistersLimit) {
  // A warp takes 40 * 32 = 1280 registers. A quarter of 65536 holds 12 such warps, all four 48;
  // that is 6 blocks of 8.
  Occupancy found = occupancy(multiprocessor(9, 0), {.registers = 40}, 256, 0);
  EXPECT_EQ(found.by_registers, 6);
  EXPECT_EQ(found.blocks, 6);
  EXPECT_EQ(found.active_warps, 48);
  EXPECT_EQ(found.registers, 8 * 1280);
  EXPECT_EQ(found.limited_by, bit(OccupancyLimit::registers));
}

TEST(Occupancy, WarpsRoundUpToPartitions) {
  // 2 * 8192 registers would fit 65536 for 9 warps of 7168, were they not dealt to 4 partitions:
  // 12 * 7168 = 86016.
  Occupancy found = occupancy(multiprocessor(8, 0), {.registers = 224}, 9 * 32, 0);
  EXPECT_EQ(found.by_registers, 0);
  EXPECT_EQ(found.blocks, 0);
}

TEST(Occupancy, SharedMemoryWithTheSystemsPart) {
  // 16384 + 1024 are 136 units of 128 bytes; 228 KB hold 13.
  Occupancy found = occupancy(multiprocessor(9, 0), {}, 32, 16384);
  EXPECT_EQ(found.shared, 17408u);
  EXPECT_EQ(found.blocks, 13);
  EXPECT_FALSE(found.needs_opt_in);
  EXPECT_TRUE(occupancy(multiprocessor(9, 0), {}, 32, 49153).needs_opt_in);
  EXPECT_EQ(occupancy(multiprocessor(9, 0), {}, 32, 227 * 1024).blocks, 1);
  EXPECT_EQ(occupancy(multiprocessor(9, 0), {}, 32, 227 * 1024 + 1).blocks, 0);
}

TEST(Occupancy, PreferredShareRoundsUpToASizeThatExists) {
  // 20 % of 228 KB are 45.6: 64 is the next. A block that needs more gets more.
  KernelNeeds needs{.carve_out = 20};
  EXPECT_EQ(occupancy(multiprocessor(9, 0), needs, 32, 0).shared_in_all, 64u * 1024);
  EXPECT_EQ(occupancy(multiprocessor(9, 0), needs, 32, 120 * 1024).shared_in_all, 132u * 1024);
}

TEST(Occupancy, EveryTieIsNamed) {
  Occupancy found = occupancy(multiprocessor(7, 5), {.registers = 64}, 64, 0);
  EXPECT_EQ(found.blocks, 16);
  EXPECT_EQ(found.limited_by, bit(OccupancyLimit::threads) | bit(OccupancyLimit::registers) |
                                  bit(OccupancyLimit::blocks));
}

TEST(Occupancy, BestBlock) {
  // 2048 threads are filled by 2 blocks of 1024 and by 4 of 512: the larger block counts.
  BestBlock best = best_block(multiprocessor(9, 0), {}, 132, 0);
  EXPECT_EQ(best.threads, 1024);
  EXPECT_EQ(best.min_grid, 264);
  // 16 blocks of 100 threads, 21 of 96, 32 of 64: 1600, 2016, 2048.
  EXPECT_EQ(best_block(multiprocessor(9, 0), {.max_threads = 100}, 1, 0).threads, 64);
  EXPECT_EQ(best_block(multiprocessor(9, 0), {.shared = 300 * 1024}, 1, 0).threads, 0);
}

TEST(Occupancy, SharedMemoryThatFits) {
  EXPECT_EQ(shared_that_fits(multiprocessor(9, 0), {}, 128, 2), 233472 / 2 - 1024);
  EXPECT_EQ(shared_that_fits(multiprocessor(9, 0), {}, 128, 1), 227 * 1024);
  EXPECT_EQ(shared_that_fits(multiprocessor(9, 0), {}, 128, 17), -1) << "threads allow 16";
  EXPECT_EQ(shared_that_fits(multiprocessor(9, 0), {.shared = 40000}, 128, 6), -1);
  EXPECT_THROW(shared_that_fits(multiprocessor(9, 0), {}, 128, 0), ValueError);
}

TEST(Occupancy, RefusesWhatCannotBe) {
  const Multiprocessor& on = multiprocessor(12, 1);
  EXPECT_THROW(multiprocessor(6, 1), ValueError);
  EXPECT_THROW(occupancy(on, {}, 0, 0), ValueError);
  EXPECT_THROW(occupancy(on, {.registers = -1}, 32, 0), ValueError);
  EXPECT_THROW(occupancy(on, {.barriers = 17}, 32, 0), ValueError);
  EXPECT_EQ(occupancy(on, {.registers = 256}, 32, 0).by_registers, 0);
  EXPECT_EQ(occupancy(on, {}, INT_MAX, 0).blocks, 0);
  EXPECT_EQ(occupancy(on, {}, 32, SIZE_MAX).blocks, 0);
  EXPECT_EQ(occupancy(on, {.shared = SIZE_MAX - 500}, 32, 4096).blocks, 0);
}

}  // namespace
