#include "base/background.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fork.h"
#include "base/plugin.h"

namespace td::base {

namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr int kNiceness = 10;

// Signals are for the threads of the program. Faults stay: the software device catches those of its
// compiler.
void block_signals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

}  // namespace

Background& Background::get() {
  static Background& background = *new Background;
  return background;
}

// Exit handlers run in the reverse order of their registration, and ours has to be the first: it is
// registered once more when the main thread begins to end the process.
Background::Background() {
  guard_across_fork(busy_, LockRank::job);
  guard_across_fork(mutex_, LockRank::jobs);
  auto end_at_exit = [] { on_exit([](int status, void*) { get().end(status); }, nullptr); };
  end_at_exit();
  before_exit_handlers(end_at_exit);
}

void Background::ask(std::function<void()> job, Urgency urgency) {
  std::lock_guard lock(mutex_);
  if (ending_) return;
  (urgency == Urgency::awaited ? awaited_ : someday_).push_back(std::move(job));
  start_locked();
  ++asked_;
  asked_.notify_one();
}

void Background::keep_going() {
  std::lock_guard lock(mutex_);
  if (!awaited_.empty() || !someday_.empty()) start_locked();
}

void Background::wait() {
  for (;;) {
    const unsigned seen = done_;
    {
      std::lock_guard lock(mutex_);
      const bool idle = awaited_.empty() && someday_.empty() && !working_;
      if (idle || ending_ || !start_locked()) return;
    }
    done_.wait(seen);
  }
}

// False when this process has no thread and cannot have one; a later call tries again.
bool Background::start_locked() {
  if (process_ == getpid()) return true;
  sigset_t before;
  block_signals(&before);
  try {
    std::thread([this] { work(); }).detach();
    process_ = getpid();
  } catch (const std::system_error&) {
    process_ = 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return process_ != 0;
}

// The thread is never left: its thread_local objects would be destroyed beside the static ones. The
// first job opens the compiler, with the loader's lock held, which other threads may wait for: the
// priority falls behind it.
void Background::work() {
  bool low = false;
  for (;;) {
    const unsigned seen = asked_;
    if (!do_one())
      asked_.wait(seen);
    else if (!std::exchange(low, true))
      setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNiceness);
  }
}

// False when there is nothing to do. A job is taken from its queue with `busy_` held, so that a
// fork finds it in the queue or done.
bool Background::do_one() {
  std::lock_guard busy(busy_);
  std::function<void()> job;
  {
    std::lock_guard lock(mutex_);
    auto& queue = awaited_.empty() ? someday_ : awaited_;
    if (queue.empty() || ending_) return false;
    job = std::move(queue.front());
    queue.pop_front();
    working_ = true;
  }
  job();
  job = nullptr;
  {
    std::lock_guard lock(mutex_);
    working_ = false;
  }
  ++done_;
  done_.notify_all();
  return true;
}

void Background::end(int status) {
  ending_ = true;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!busy_.try_lock()) {
    if (std::chrono::steady_clock::now() > deadline) {
      std::fflush(nullptr);
      _exit(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  busy_.unlock();
  ++done_;
  done_.notify_all();
}

}  // namespace td::base
