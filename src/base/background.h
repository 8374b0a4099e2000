// Work behind the callers' back: one thread of low priority, started when it is first needed, does
// one job after the other. Jobs are compilations that nobody has to wait for: their outcome makes
// later work faster and changes no result.
//
// The end of the process drops the jobs that have not begun. The one in progress is waited for,
// since the compiler's own data is destroyed with the process; when that takes more than a second,
// the process ends without the exit handlers that are left (the streams are flushed).
//
// fork() waits for the job in progress as well. A child has the jobs that have not begun, and a
// thread of its own once somebody asks, waits or says keep_going().
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>

namespace td::base {

class Background {
 public:
  enum class Urgency : char {
    awaited,  // callers make do with something slower meanwhile
    someday,  // begun when nothing awaited is left
  };

  static Background& get();

  // `job` must not throw. It may take any lock of a rank above LockRank::job (base/fork.h).
  void ask(std::function<void()> job, Urgency urgency);
  // In the child of a fork: goes on with the jobs that it has from its parent.
  void keep_going();
  // Returns when no job is left (also none of other threads), at the end of the process at once.
  void wait();

 private:
  Background();
  bool start_locked();
  void work();
  bool do_one();
  void end(int status);

  std::mutex busy_;   // held while a job is done; rank job
  std::mutex mutex_;  // guards what follows; rank jobs
  std::deque<std::function<void()>> awaited_, someday_;
  bool working_ = false;
  int process_ = 0;  // whose thread is there
  std::atomic<bool> ending_{false};
  std::atomic<unsigned> asked_{0}, done_{0};  // counts that threads wait on
};

}  // namespace td::base
