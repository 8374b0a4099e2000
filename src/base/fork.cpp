#include "base/fork.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace td::base {

namespace {

// Registering takes no lock, since callers may hold some of those that are registered.
struct Row {
  std::mutex* mutex = nullptr;
  LockRank rank = LockRank::context;
};
constexpr std::size_t kMaxLocks = 4096;  // four a context, one a pool, a dozen besides
std::array<Row, kMaxLocks> rows;
std::array<std::atomic<bool>, kMaxLocks> filled;
std::atomic<std::size_t> used{0};

std::atomic<void (*)()> adopter{nullptr};

// What prepare() locked, in order. Only the forking thread touches it, between prepare() and
// unlock_all().
std::array<std::mutex*, kMaxLocks> locked;
std::size_t locked_count = 0;
std::mutex forking;

void prepare() {
  forking.lock();
  locked_count = 0;
  std::size_t count = std::min(used.load(), kMaxLocks);
  for (int rank = 0; rank <= static_cast<int>(LockRank::last); ++rank)
    for (std::size_t i = 0; i < count; ++i) {
      if (!filled[i].load(std::memory_order_acquire) || static_cast<int>(rows[i].rank) != rank)
        continue;
      rows[i].mutex->lock();
      locked[locked_count++] = rows[i].mutex;
    }
}

void unlock_all() {
  while (locked_count > 0) locked[--locked_count]->unlock();
  forking.unlock();
}

void child() {
  if (auto* adopt = adopter.load()) adopt();
  unlock_all();
}

void install() {
  static const int once = pthread_atfork(prepare, unlock_all, child);
  (void)once;
}

}  // namespace

void guard_across_fork(std::mutex& mutex, LockRank rank) {
  install();
  std::size_t at = used.fetch_add(1);
  if (at >= kMaxLocks) return;
  rows[at] = {&mutex, rank};
  filled[at].store(true, std::memory_order_release);
}

void on_fork_child(void (*adopt)()) {
  install();
  adopter = adopt;
}

}  // namespace td::base
