// Forking. A child has the memory of its parent but none of its threads. The locks of the
// background thread and all locks of the software device are taken around fork(), so a child finds
// whole data structures; the scheduler and the background thread then start anew on demand. Work of
// the device that was unfinished at the fork is lost in the child: its context fails there with
// CUDA_ERROR_NOT_INITIALIZED.
#pragma once

#include <mutex>

namespace td::base {

// Locks with a lower rank are taken first, as everywhere else: a job of the background thread may
// take any of the others, and whoever holds `requests` may ask for a job.
enum class LockRank {
  job,
  requests,
  jobs,
  context,
  code,
  scheduler,
  handles,
  heap,
  memory,
  print,
  last = print
};
// The mutex must live for ever. Takes no lock.
void guard_across_fork(std::mutex& mutex, LockRank rank);
// The one object of a type: made on first use, lives for ever, and its `mutex` is guarded.
template <class T, LockRank rank = LockRank::context>
T& guarded_instance() {
  static T& instance = *[] {
    auto* made = new T;
    guard_across_fork(made->mutex, rank);
    return made;
  }();
  return instance;
}
// Called in the child, with all locks held; there is one such function, the scheduler's.
void on_fork_child(void (*adopt)());

}  // namespace td::base
