#include "softdev/run/fair_run.h"

#include <sched.h>
#include <time.h>

#include "base/text.h"
#include "softdev/run/context.h"

namespace td::softdev {

namespace {

// Turns of a stalled block before another one is started beside it.
constexpr std::uint32_t kPatience = 4;
// Blocks that are kept ready when a launch has ended.
constexpr std::size_t kKeptBlocks = 4;

// What all blocks here wait for is done by another thread of the process, which may want this core.
void let_others_run(std::size_t rounds) {
  constexpr std::size_t kSpinRounds = 64;
  if (rounds < kSpinRounds) {
    sched_yield();
  } else {
    timespec pause{0, 20000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

std::uint64_t GridBarrier::arrive(bool* possible) {
  std::uint64_t generation = generation_.load(std::memory_order_acquire) + 1;
  std::uint64_t counts = counts_.fetch_add(std::uint64_t{1} << 32) + (std::uint64_t{1} << 32);
  std::uint64_t arrived = counts >> 32, ended = counts & 0xffffffffu;
  *possible = ended == 0 || arrived + ended < blocks_;
  if (arrived == blocks_) {
    counts_.fetch_sub(arrived << 32);
    generation_.fetch_add(1, std::memory_order_release);
  }
  return generation;
}

bool GridBarrier::block_ended() {
  std::uint64_t counts = counts_.fetch_add(1) + 1;
  std::uint64_t arrived = counts >> 32, ended = counts & 0xffffffffu;
  return arrived == 0 || arrived + ended < blocks_;
}

bool FairRunner::in_stack_guard(std::uintptr_t address) const {
  for (const auto& block : running_)
    if (block->in_stack_guard(address)) return true;
  return false;
}

bool FairRunner::take_unit(const FairLaunch& launch, std::uint64_t* unit) {
  if (launch.resident->fetch_add(1) >= launch.most_resident && !running_.empty()) {
    launch.resident->fetch_sub(1);
    return false;
  }
  if (next_ < end_) {
    *unit = next_++;
    return true;
  }
  if (launch.op->take_unit(unit)) {
    ++extra_units;
    return true;
  }
  launch.resident->fetch_sub(1);
  return false;
}

const char* FairRunner::start_block(const FairLaunch& launch, std::uint64_t unit) {
  if (free_.empty()) free_.push_back(std::make_unique<FairBlock>());
  if (const char* problem = free_.back()->prepare(launch.shape)) return problem;
  running_.push_back(std::move(free_.back()));
  free_.pop_back();
  status_.push_back(FairBlock::Status::stalled);
  const std::uint32_t* grid = launch.frame->grid;
  std::uint32_t index[3] = {static_cast<std::uint32_t>(unit % grid[0]),
                            static_cast<std::uint32_t>(unit / grid[0] % grid[1]),
                            static_cast<std::uint32_t>(unit / grid[0] / grid[1])};
  running_.back()->start(executor_, *launch.frame, index, launch.code);
  return nullptr;
}

void FairRunner::remove(const FairLaunch& launch, std::size_t at) {
  launch.resident->fetch_sub(1);
  free_.push_back(std::move(running_[at]));
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
  status_.erase(status_.begin() + static_cast<std::ptrdiff_t>(at));
}

bool FairRunner::can_resume(const FairLaunch& launch, const FairBlock& block) const {
  return launch.grid->passed(block.grid_generation);
}

// One turn of the block at `at`.
std::string FairRunner::step(const FairLaunch& launch, std::size_t at, bool* stalled) {
  FairBlock& block = *running_[at];
  current_ = &block;
  FairBlock::Status status = status_[at] = block.resume();
  current_ = nullptr;
  *stalled = !block.made_progress();
  switch (status) {
    case FairBlock::Status::stuck:
      current_ = &block;
      return block.describe_stuck();
    case FairBlock::Status::finished:
      remove(launch, at);
      if (!launch.grid->block_ended())
        return "blocks wait at the grid barrier, and others have ended without reaching it";
      return "";
    case FairBlock::Status::at_grid_barrier: {
      bool possible = true;
      if (launch.grid->blocks() > launch.most_resident)
        return base::cat("the grid barrier needs all ", launch.grid->blocks(),
                         " blocks on the device at once, which has room for ", launch.most_resident,
                         ": launch fewer blocks");
      block.grid_generation = launch.grid->arrive(&possible);
      *stalled = true;
      if (!possible)
        return "blocks wait at the grid barrier, and others have ended without reaching it";
      return "";
    }
    case FairBlock::Status::stalled:
      break;
  }
  return "";
}

std::string FairRunner::run(const FairLaunch& launch, std::uint64_t begin, std::uint64_t end) {
  next_ = begin;
  end_ = end;
  extra_units = 0;
  // The child of a fork finds blocks that its parent's thread was running.
  running_.clear();
  status_.clear();
  std::size_t at = 0;
  std::uint32_t stalls = 0;
  std::size_t idle = 0;    // blocks that were passed over since one has run
  std::size_t barren = 0;  // turns in a row that have brought nothing
  std::atomic<CUresult>& error = launch.op->context().error;
  while (error.load(std::memory_order_relaxed) == 0) {
    std::uint64_t unit;
    if (running_.empty() || stalls >= kPatience || idle >= running_.size()) {
      stalls = 0;
      if (take_unit(launch, &unit)) {
        if (const char* problem = start_block(launch, unit)) return problem;
        at = running_.size() - 1;
      } else if (idle > 0) {
        sched_yield();
      }
      idle = 0;
    }
    if (running_.empty()) break;
    if (at >= running_.size()) at = 0;
    if (status_[at] == FairBlock::Status::at_grid_barrier && !can_resume(launch, *running_[at])) {
      ++at;
      ++idle;
      continue;
    }
    idle = 0;
    std::size_t count = running_.size();
    bool stalled = false;
    std::string problem = step(launch, at, &stalled);
    if (!problem.empty()) return problem;
    stalls = stalled ? stalls + 1 : 0;
    barren = stalled ? barren + 1 : 0;
    if (barren > 0 && barren % (kPatience * count) == 0) let_others_run(barren / count);
    if (running_.size() == count) ++at;
  }
  return "";
}

void FairRunner::abandon(const FairLaunch& launch) {
  while (!running_.empty()) remove(launch, running_.size() - 1);
  current_ = nullptr;
  if (free_.size() > kKeptBlocks) free_.resize(kKeptBlocks);
}

}  // namespace td::softdev
