#include "driver/repetition.h"

namespace td::driver {

void Repetition::note(std::uint64_t value) {
  if (history_.empty()) history_.resize(kHistory);
  const bool foretold = known_ && history_[expected_ % kHistory] == value;
  run_ = foretold ? run_ + 1 : 0;
  history_[count_++ % kHistory] = value;
  if (after_.size() > kHistory) after_.clear();
  std::size_t& seen = after_[context()];
  // A position that the ring has overwritten foretells nothing.
  if (foretold) {
    ++expected_;
  } else {
    known_ = seen && count_ - seen < kHistory;
    expected_ = seen;
  }
  seen = count_;
}

// Equal hashes of different contexts foretell wrongly, which ends the run.
std::uint64_t Repetition::context() const {
  std::uint64_t hash = 0;
  for (std::size_t back = 1; back <= kContext && back <= count_; ++back)
    hash = hash * 0x9E3779B97F4A7C15u + history_[(count_ - back) % kHistory];
  return hash;
}

}  // namespace td::driver
