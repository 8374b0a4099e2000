// Runs the blocks of a launch in fair mode on one executor.
//
// Blocks are started in order. While the newest one is stalled (its threads only wait in loops, or
// at the grid barrier) another is started, as long as the modelled device has room for it; those
// that have been started take turns until they finish. So all blocks that would be resident on the
// device make progress, whatever the number of executors, and a launch whose blocks do not wait for
// one another holds one block for each executor.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "softdev/run/fair_block.h"
#include "softdev/run/scheduler.h"

namespace td::softdev {

// Arrivals of blocks at the grid barrier. One per launch.
class GridBarrier {
 public:
  explicit GridBarrier(std::uint32_t blocks) : blocks_(blocks) {}
  // Returns the generation to wait for. False in *possible: blocks have ended without arriving.
  std::uint64_t arrive(bool* possible);
  bool passed(std::uint64_t generation) const {
    return generation_.load(std::memory_order_acquire) >= generation;
  }
  // A block has ended. False: others wait for it.
  bool block_ended();
  std::uint32_t blocks() const { return blocks_; }

 private:
  const std::uint32_t blocks_;
  std::atomic<std::uint64_t> counts_{0};  // arrived << 32 | ended
  std::atomic<std::uint64_t> generation_{0};
};

struct FairLaunch {
  Op* op = nullptr;
  const LaunchFrame* frame = nullptr;
  FairCode code;
  FairShape shape;
  GridBarrier* grid = nullptr;
  std::atomic<std::uint32_t>* resident = nullptr;  // blocks of the launch that are started
  std::uint32_t most_resident = 0;
};

// Belongs to an executor and keeps what its blocks need from launch to launch.
class FairRunner {
 public:
  explicit FairRunner(Executor& executor) : executor_(executor) {}

  // Runs units [begin, end) of the launch and whatever more it takes from it; inside
  // Executor::guarded. Returns "" or why the launch has failed.
  std::string run(const FairLaunch& launch, std::uint64_t begin, std::uint64_t end);
  // After a fault: the blocks that were running are forgotten.
  void abandon(const FairLaunch& launch);

  FairBlock* current() { return current_; }
  bool in_stack_guard(std::uintptr_t address) const;
  // Units beyond its own that the last run has taken.
  std::uint64_t extra_units = 0;

 private:
  const char* start_block(const FairLaunch& launch, std::uint64_t unit);
  bool take_unit(const FairLaunch& launch, std::uint64_t* unit);
  std::string step(const FairLaunch& launch, std::size_t at, bool* stalled);
  void remove(const FairLaunch& launch, std::size_t at);
  bool can_resume(const FairLaunch& launch, const FairBlock& block) const;

  Executor& executor_;
  std::vector<std::unique_ptr<FairBlock>> running_, free_;
  std::vector<FairBlock::Status> status_;
  std::uint64_t next_ = 0, end_ = 0;
  FairBlock* current_ = nullptr;
};

}  // namespace td::softdev
