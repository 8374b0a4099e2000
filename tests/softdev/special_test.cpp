// When special code is asked for: by threads, or by the time that few threads take.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "softdev/run/special.h"

namespace td::softdev {
namespace {

std::shared_ptr<SpecialCodes> codes() {
  LoweredKernel kernel;
  kernel.name = "kernel";
  kernel.block_symbol = "kernel_block";
  // No compiler can read this: nothing is ever found, and what is asked for is asked for once.
  return std::make_shared<SpecialCodes>(std::make_shared<const std::string>("no bitcode"), kernel);
}

bool undecided(SpecialCodes& codes, unsigned blocks) {
  const unsigned grid[3] = {blocks, 1, 1}, block[3] = {256, 1, 1};
  bool result = false;
  EXPECT_EQ(codes.find(grid, block, &result), nullptr);
  return result;
}

TEST(Special, ManyThreadsDecide) {
  auto kernel = codes();
  EXPECT_TRUE(undecided(*kernel, 1));
  EXPECT_FALSE(undecided(*kernel, 5000));
  EXPECT_FALSE(undecided(*kernel, 1));
}

TEST(Special, FewThreadsThatRunForLongDecide) {
  using namespace std::chrono_literals;
  auto time = [](std::chrono::nanoseconds t) { return static_cast<std::uint64_t>(t.count()); };
  auto kernel = codes();
  EXPECT_TRUE(undecided(*kernel, 2));
  kernel->note_time(time(100us));
  EXPECT_TRUE(undecided(*kernel, 2));
  for (int k = 0; k < 10; ++k) kernel->note_time(time(1ms));
  EXPECT_FALSE(undecided(*kernel, 2));
}

}  // namespace
}  // namespace td::softdev
