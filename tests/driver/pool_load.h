// Streams of requests that wear a memory pool: how sizes are drawn, and in which order blocks die.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "driver/state.h"

namespace td::test {

struct Load {
  enum class Sizes {
    uniform_1m,   // 1 byte to 1 MiB
    uniform_4m,   // 1 byte to 4 MiB
    uniform_64m,  // 1 byte to 64 MiB
    log_uniform,  // 512 bytes to 256 MiB, each octave as often
    powers,       // 512 bytes to 256 MiB: a power of two, or one more or less
    mixed,        // nine of ten up to 64 KiB, the others up to 128 MiB
    phases,       // one of the above after the other
  } sizes;
  enum class Lifetimes { random, first_out_first, last_out_first } lifetimes;
  std::size_t live;  // blocks in use at most
};

inline std::string name(const Load& load) {
  constexpr const char* kSizes[] = {"Uniform1MiB", "Uniform4MiB", "Uniform64MiB", "LogUniform",
                                    "Powers",      "Mixed",       "Phases"};
  constexpr const char* kLifetimes[] = {"Random", "Fifo", "Lifo"};
  return std::string(kSizes[static_cast<int>(load.sizes)]) + "_" +
         kLifetimes[static_cast<int>(load.lifetimes)] + "_" + std::to_string(load.live);
}

// Draws sizes. `progress` from 0 to 1 chooses the phase.
class Sizes {
 public:
  Sizes(Load::Sizes sizes, std::uint64_t seed) : sizes_(sizes), random_(seed) {}
  std::size_t next(double progress = 0) {
    if (sizes_ != Load::Sizes::phases) return draw(sizes_);
    return draw(static_cast<Load::Sizes>(static_cast<int>(progress * 20) % 6));
  }
  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  std::size_t draw(Load::Sizes sizes) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    switch (sizes) {
      case Load::Sizes::uniform_1m:
        return 1 + below(kMiB);
      case Load::Sizes::uniform_4m:
        return 1 + below(4 * kMiB);
      case Load::Sizes::uniform_64m:
        return 1 + below(64 * kMiB);
      case Load::Sizes::powers:
        return (std::size_t{512} << below(20)) + below(3) - 1;
      case Load::Sizes::mixed:
        return 1 + below(below(10) ? kMiB / 16 : 128 * kMiB);
      case Load::Sizes::log_uniform:
      case Load::Sizes::phases:
        break;
    }
    double octave = 9 + 19 * std::uniform_real_distribution<double>()(random_);
    return static_cast<std::size_t>(std::exp2(octave));
  }
  Load::Sizes sizes_;
  std::mt19937_64 random_;
};

class Wear {
 public:
  Wear(const Load& load, driver::MemoryPool& pool, std::size_t steps)
      : load_(load), pool_(pool), steps_(steps), sizes_(load.sizes, 20) {}
  ~Wear() {
    for (Block& block : live_) pool_.free(block.address, nullptr);
  }
  // Frees as many as make room, then allocates; calls `each`; and again.
  template <class Each>
  void run(Each each) {
    for (std::size_t step = 0; step < steps_; ++step) {
      while (full()) drop();
      std::size_t bytes = sizes_.next(static_cast<double>(step) / static_cast<double>(steps_));
      live_.push_back({pool_.allocate(bytes, nullptr), bytes});
      used_ += (bytes + 511) / 512 * 512;
      each();
    }
  }
  std::size_t used() const { return used_; }

 private:
  struct Block {
    CUdeviceptr address;
    std::size_t bytes;
  };
  std::size_t below(std::size_t bound) { return sizes_.below(bound); }

  // A stack grows and shrinks to random depths; anything else stays full.
  bool full() {
    if (load_.lifetimes != Load::Lifetimes::last_out_first) return live_.size() >= load_.live;
    if (shrinking_ && live_.size() <= depth_) {
      shrinking_ = false;
      depth_ = live_.size() + 1 + below(load_.live - live_.size());
    } else if (!shrinking_ && live_.size() >= depth_) {
      shrinking_ = true;
      depth_ = below(live_.size() + 1);
      if (depth_ == live_.size() && depth_) --depth_;
    }
    return shrinking_ && live_.size() > depth_;
  }
  void drop() {
    Block block{};
    switch (load_.lifetimes) {
      case Load::Lifetimes::first_out_first:
        block = live_.front();
        live_.pop_front();
        break;
      case Load::Lifetimes::random:
        std::swap(live_[below(live_.size())], live_.back());
        [[fallthrough]];
      case Load::Lifetimes::last_out_first:
        block = live_.back();
        live_.pop_back();
    }
    used_ -= (block.bytes + 511) / 512 * 512;
    pool_.free(block.address, nullptr);
  }
  Load load_;
  driver::MemoryPool& pool_;
  std::size_t steps_, used_ = 0, depth_ = 1;
  bool shrinking_ = false;
  std::deque<Block> live_;
  Sizes sizes_;
};

}  // namespace td::test
