// Random sequences of all that a pool can be asked, beside a model that knows what must hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "paper_device.h"
#include "treadle/error.h"

namespace td::test {
namespace {

using driver::MemoryPool;

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Model {
 public:
  Model(driver::DeviceState& state, std::uint64_t seed) : random_(seed), pool_(state.pool()) {
    for (int k = 0; k < 4; ++k) streams_.push_back(new_stream());
    streams_[0] = nullptr;
  }

  void step() {
    const std::size_t dice = below(1000);
    if (dice < 430) return allocate();
    if (dice < 800) return drop_block();
    if (dice < 870) return work();
    if (dice < 930) return finish();
    if (dice < 950) return begin_capture();
    if (dice < 970) return end_capture();
    if (dice < 985) return drop_graph();
    if (dice < 990) return retire();
    if (dice < 994) return limit();
    if (dice < 997) return resize_device();
    if (paper_.capturing.empty()) pool_.free_all_blocks();
  }

  // What must hold after every step.
  void check() {
    const driver::PoolStatistics now = pool_.statistics();
    ASSERT_EQ(now.used, used_);
    ASSERT_EQ(now.used + now.cached, paper_.held);
    ASSERT_EQ(now.free_blocks == 0, now.cached == 0);
    ASSERT_EQ(paper_.faults, 0u);
  }

  // Everything ends, in any order; nothing is left.
  void finish_all() {
    while (!paper_.capturing.empty()) end_capture();
    graphs_.clear();
    forget_ungraphed();
    while (!blocks_.empty()) {
      drop_block();
      check();
    }
    pool_.set_limit(0);
    pool_.free_all_blocks();
    check();
    ASSERT_EQ(used_, 0u);
    ASSERT_EQ(paper_.held, 0u);
  }

 private:
  struct Block {
    std::size_t bytes;
    CUstream stream;
    bool owned = true;                // not yet freed
    std::vector<std::size_t> graphs;  // that use it, captures under way too
  };
  // Memory that came back; another stream may have it only when `stream` was idle since.
  struct Freed {
    std::size_t bytes;
    CUstream stream;
  };

  std::size_t below(std::size_t bound) { return random_() % bound; }
  CUstream new_stream() { return reinterpret_cast<CUstream>(next_stream_ += 16); }
  CUstream any_stream() { return streams_[below(streams_.size())]; }
  std::size_t size() {
    switch (below(8)) {
      case 0:
        return 1 + below(40 * kMiB);
      case 1:
        return 3 * kMiB;
      case 2:
        return 1 + below(4 * kMiB);
      case 3:
        return 700;
      default:
        return 1 + below(100'000);
    }
  }

  void allocate() {
    const CUstream stream = any_stream();
    const std::size_t asked = size(), bytes = (asked + 511) / 512 * 512;
    CUdeviceptr address = 0;
    const bool may_give_back = paper_.capturing.empty();
    try {
      address = pool_.allocate(asked, stream);
    } catch (const OutOfMemory&) {
      // All that was free has gone back, and still it does not fit.
      const std::size_t most = limit_ ? std::min(limit_, paper_.capacity) : paper_.capacity;
      ASSERT_TRUE(!may_give_back || paper_.held + bytes > most);
      settle();
      return;
    }
    settle();
    ASSERT_TRUE(PaperDevice::holds(address, bytes));
    auto after = blocks_.lower_bound(address);
    ASSERT_TRUE(after == blocks_.end() || after->first >= address + bytes) << "overlaps";
    if (after != blocks_.begin()) {
      auto before = std::prev(after);
      ASSERT_LE(before->first + before->second.bytes, address) << "overlaps";
    }
    for (auto at = freed_.begin(); at != freed_.end();) {
      const bool touched = at->first < address + bytes && address < at->first + at->second.bytes;
      ASSERT_TRUE(!touched || at->second.stream == stream) << "work of another stream is left";
      at = touched ? freed_.erase(at) : std::next(at);
    }
    Block& block = blocks_[address] = {bytes, stream, true, {}};
    note_capture(block, stream);
    used_ += bytes;
    ASSERT_TRUE(!limit_ || paper_.held <= std::max(limit_, held_at_limit_));
  }
  void note_capture(Block& block, CUstream stream) {
    if (auto at = captures_.find(stream); at != captures_.end()) block.graphs.push_back(at->second);
  }
  void drop_block() {
    std::vector<CUdeviceptr> owned;
    for (auto& [address, block] : blocks_)
      if (block.owned) owned.push_back(address);
    if (owned.empty()) return;
    const CUdeviceptr address = owned[below(owned.size())];
    Block& block = blocks_.at(address);
    // Mostly where it was made; its stream may be gone.
    CUstream stream = below(8) ? block.stream : any_stream();
    if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) stream = nullptr;
    if (block.graphs.empty()) note_capture(block, stream);
    block.owned = false;
    block.stream = stream;
    pool_.free(address, stream);
    forget_ungraphed();
  }
  // Blocks that neither an owner nor a graph has are free.
  void forget_ungraphed() {
    for (auto at = blocks_.begin(); at != blocks_.end();) {
      Block& block = at->second;
      std::erase_if(block.graphs, [&](std::size_t graph) {
        return !graphs_.contains(graph) &&
               std::none_of(captures_.begin(), captures_.end(),
                            [&](auto& row) { return row.second == graph; });
      });
      if (block.owned || !block.graphs.empty()) {
        ++at;
        continue;
      }
      if (paper_.busy.contains(block.stream)) freed_[at->first] = {block.bytes, block.stream};
      used_ -= block.bytes;
      at = blocks_.erase(at);
    }
  }
  void work() {
    if (CUstream stream = any_stream(); !paper_.capturing.contains(stream))
      paper_.busy.insert(stream);
  }
  void finish() {
    paper_.finish(any_stream());
    settle();
  }
  // Work may have ended, within a call of the pool too.
  void settle() {
    std::erase_if(freed_, [&](auto& row) { return !paper_.busy.contains(row.second.stream); });
  }
  void begin_capture() {
    const CUstream stream = any_stream();
    if (!stream || captures_.contains(stream) || captures_.size() > 1) return;
    pool_.begin_capture(stream);
    paper_.capturing.insert(stream);
    captures_[stream] = next_graph_++;
  }
  void end_capture() {
    if (captures_.empty()) return;
    auto at = captures_.begin();
    graphs_[at->second] = pool_.end_capture(at->first);
    paper_.capturing.erase(at->first);
    captures_.erase(at);
  }
  void drop_graph() {
    if (graphs_.empty()) return;
    graphs_.erase(std::next(graphs_.begin(), static_cast<long>(below(graphs_.size()))));
    forget_ungraphed();
  }
  void retire() {
    CUstream& stream = streams_[1 + below(streams_.size() - 1)];
    if (captures_.contains(stream)) return;
    pool_.retire_stream(stream);
    stream = new_stream();
  }
  void limit() {
    limit_ = below(2) ? 0 : kMiB * (1 + below(400));
    pool_.set_limit(limit_);
    settle();
    held_at_limit_ = paper_.held;
  }
  void resize_device() { paper_.capacity = paper_.held + (below(2) ? below(100) : 100'000) * kMiB; }

  std::mt19937_64 random_;
  PaperDevice& paper_ = PaperDevice::get();
  MemoryPool& pool_;
  std::uintptr_t next_stream_ = 0x1000;
  std::vector<CUstream> streams_;
  std::map<CUdeviceptr, Block> blocks_;
  std::map<CUdeviceptr, Freed> freed_;
  std::map<CUstream, std::size_t> captures_;
  std::map<std::size_t, std::shared_ptr<void>> graphs_;
  std::size_t next_graph_ = 1, used_ = 0, limit_ = 0, held_at_limit_ = 0;
};

class PoolModel : public ::testing::TestWithParam<int> {};

TEST_P(PoolModel, HoldsForAnySequence) {
  PaperDevice& paper = PaperDevice::get();
  paper.start_over();
  ASSERT_EQ(paper.held, 0u);
  auto state = paper.state();
  for (std::uint64_t program = 0; program < 40; ++program) {
    paper.start_over();
    Model model(*state, static_cast<std::uint64_t>(GetParam()) * 1000 + program);
    for (int step = 0; step < 1000; ++step) {
      model.step();
      model.check();
      if (HasFatalFailure()) FAIL() << "program " << program << ", step " << step;
    }
    model.finish_all();
    if (HasFatalFailure()) FAIL() << "program " << program << ", at its end";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PoolModel, ::testing::Range(0, 8));

}  // namespace
}  // namespace td::test
