#include "softdev/run/print.h"

#include <cstdio>

#include "base/fork.h"

namespace td::softdev {

// Contexts are never destroyed, so the lock may stay on the list.
PrintBuffer::PrintBuffer() { base::guard_across_fork(mutex_, base::LockRank::print); }
PrintBuffer::~PrintBuffer() = default;

void PrintBuffer::append(std::string_view text) {
  std::lock_guard lock(mutex_);
  calls_.emplace_back(text);
  bytes_ += text.size();
  while (bytes_ > capacity_ && calls_.size() > 1) {
    bytes_ -= calls_.front().size();
    calls_.pop_front();
  }
  any_ = true;
}

void PrintBuffer::flush() {
  if (!any_.load(std::memory_order_acquire)) return;
  std::deque<std::string> calls;
  {
    std::lock_guard lock(mutex_);
    calls.swap(calls_);
    bytes_ = 0;
    any_ = false;
  }
  for (const std::string& text : calls) std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace td::softdev
