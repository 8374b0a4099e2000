#include "softdev/run/fork.h"

#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace td::softdev {

namespace {

struct ForkState {
  std::mutex mutex;
  std::vector<std::pair<LockRank, std::mutex*>> locks;
  std::vector<void (*)()> adopters;
};

ForkState& state() {
  static ForkState& instance = *new ForkState;
  return instance;
}

void prepare() {
  state().mutex.lock();
  for (auto& [rank, mutex] : state().locks) mutex->lock();
}

void unlock_all() {
  auto& locks = state().locks;
  for (auto it = locks.rbegin(); it != locks.rend(); ++it) it->second->unlock();
  state().mutex.unlock();
}

void child() {
  for (auto* adopt : state().adopters) adopt();
  unlock_all();
}

void install() {
  static const int once = pthread_atfork(prepare, unlock_all, child);
  (void)once;
}

}  // namespace

void guard_across_fork(std::mutex& mutex, LockRank rank) {
  install();
  std::lock_guard lock(state().mutex);
  auto& locks = state().locks;
  auto at = std::upper_bound(locks.begin(), locks.end(), rank, [](LockRank r, const auto& row) { return r < row.first; });
  locks.insert(at, {rank, &mutex});
}

void on_fork_child(void (*adopt)()) {
  install();
  std::lock_guard lock(state().mutex);
  state().adopters.push_back(adopt);
}

}  // namespace td::softdev
