#include "softdev/run/scheduler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "softdev/run/context.h"
#include "softdev/run/device.h"
#include "softdev/run/fault.h"
#include "base/fork.h"

namespace td::softdev {

namespace {

constexpr int kSpinRounds = 2000;  // some 50 us
constexpr auto kShortestPoll = std::chrono::microseconds(5);
constexpr auto kLongestPoll = std::chrono::microseconds(250);
constexpr auto kWatchInterval = std::chrono::milliseconds(2);

pid_t thread_id() {
  static thread_local const pid_t id = static_cast<pid_t>(syscall(SYS_gettid));
  return id;
}

std::int64_t time_limit_from_environment() {
  const char* text = std::getenv("TREADLE_LAUNCH_TIMEOUT");
  double seconds = text ? std::strtod(text, nullptr) : 0;
  return seconds > 0 ? static_cast<std::int64_t>(seconds * 1e9) : 0;
}

}  // namespace

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Scheduler& Scheduler::get() {
  static Scheduler& scheduler = *new Scheduler;  // leaked: its threads run until the process ends
  return scheduler;
}

Scheduler::Scheduler() : time_limit_(time_limit_from_environment()) {
  for (std::uint32_t i = 0; i < worker_count(); ++i) executors_.push_back(new Executor(i));
  free_executors_.assign(executors_.rbegin(), executors_.rend());
  // On a single core whoever spins only keeps the other one from its work.
  spin_rounds_ = std::thread::hardware_concurrency() > 1 ? kSpinRounds : 1;
  base::guard_across_fork(mutex_, base::LockRank::scheduler);
  base::guard_across_fork(watch_mutex_, base::LockRank::print);
  base::on_fork_child([] { Scheduler::get().adopt_fork(); });
}

// ---- the graph ----

void Scheduler::add_edge_locked(Op* before, Op& op) {
  if (!before || before == &op || before->done_.load(std::memory_order_relaxed)) return;
  before->successors_.push_back(&op);
  ++op.waits_for_;
}

void Scheduler::append_locked(StreamQueue& stream, Op& op, Op* after) {
  Context& context = op.context();
  add_edge_locked(stream.last.get(), op);
  add_edge_locked(after, op);
  if (&stream == &context.default_stream.queue) {
    for (CUstream other : context.streams)
      if (other->queue.blocking) add_edge_locked(other->queue.last.get(), op);
  } else if (stream.blocking) {
    add_edge_locked(context.default_stream.queue.last.get(), op);
  }
  op.priority_ = stream.priority;
  stream.last = &op;
  ++context.unfinished;
}

void Scheduler::enqueue(StreamQueue& stream, Op& op, Op* after, bool caller_waits) {
  Ref<Op> keep(&op);
  std::lock_guard lock(mutex_);
  start_threads_locked();
  append_locked(stream, op, after);
  if (op.waits_for_ != 0) return;
  make_ready_locked(op);
  if (!ready_.empty() && !(caller_waits && op.total_ <= op.chunk_)) wake_worker_locked();
}

Ref<Op> Scheduler::enqueue_group(StreamQueue& stream, Context& context,
                                 const std::vector<GroupItem>& items, Op* after) {
  Ref<Op> begin(new MarkerOp(context)), end(new MarkerOp(context));
  std::lock_guard lock(mutex_);
  start_threads_locked();
  append_locked(stream, *begin, after);
  std::vector<bool> followed(items.size());
  for (const GroupItem& item : items) {
    Op& op = *item.op;
    op.priority_ = stream.priority;
    ++op.context().unfinished;
    if (item.after.empty()) add_edge_locked(begin.get(), op);
    for (std::uint32_t index : item.after) {
      add_edge_locked(items[index].op.get(), op);
      followed[index] = true;
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!followed[i]) add_edge_locked(items[i].op.get(), *end);
  append_locked(stream, *end, nullptr);
  if (begin->waits_for_ == 0) make_ready_locked(*begin);
  if (!ready_.empty()) wake_worker_locked();
  return end;
}

// Instant operations and those of failed contexts are completed here, and so may be their
// successors: a worklist instead of recursion.
void Scheduler::make_ready_locked(Op& first) {
  becoming_ready_.emplace_back(&first);
  if (cascading_) return;
  cascading_ = true;
  while (!becoming_ready_.empty()) {
    Ref<Op> op = std::move(becoming_ready_.back());
    becoming_ready_.pop_back();
    bool failed =
        op->context().error.load(std::memory_order_relaxed) != 0 && !op->runs_after_failure();
    if (op->kind_ == Op::Kind::instant || failed) {
      if (!failed) op->run(nullptr, 0, 1);
      complete_locked(*op);
    } else if (op->kind_ == Op::Kind::work) {
      auto place = ready_.end();
      while (place != ready_.begin() && (*std::prev(place))->priority_ > op->priority_) --place;
      ready_.insert(place, std::move(op));
      ready_count_.fetch_add(1, std::memory_order_release);
    } else if (op->kind_ == Op::Kind::polled) {
      if (op->poll()) {
        complete_locked(*op);
        continue;
      }
      polled_.push_back(std::move(op));
      if (!std::exchange(poll_thread_started_, true)) start_thread(&Scheduler::poll_loop);
      poll_wanted_.notify_one();
    } else {
      host_queue_.push_back(std::move(op));
      if (!host_thread_started_) {
        host_thread_started_ = true;
        start_thread(&Scheduler::host_loop);
      }
      host_ready_.notify_one();
    }
  }
  cascading_ = false;
}

void Scheduler::complete_locked(Op& op) {
  --op.context().unfinished;
  op.done_.store(true, std::memory_order_release);
  std::vector<Ref<Op>> successors = std::move(op.successors_);
  for (Ref<Op>& next : successors)
    if (--next->waits_for_ == 0) make_ready_locked(*next);
  if (sleeping_waiters_) op_done_.notify_all();
}

void Scheduler::finish_units(Op& op, std::uint64_t count) {
  if (op.finished_.fetch_add(count, std::memory_order_acq_rel) + count != op.total_) return;
  std::lock_guard lock(mutex_);
  complete_locked(op);
}

// ---- running ----

// Takes a piece of the oldest ready operation, and an executor unless the claim holds one already.
bool Scheduler::claim_locked(Claim& out) {
  while (!ready_.empty()) {
    if (!out.executor && free_executors_.empty()) return false;
    Op& op = *ready_.front();
    std::uint64_t begin = op.next_.fetch_add(op.chunk_, std::memory_order_relaxed);
    bool last = begin >= op.total_ || op.total_ - begin <= op.chunk_;
    if (begin < op.total_) {
      out.op = &op;
      out.begin = begin;
      out.end = last ? op.total_ : begin + op.chunk_;
    }
    if (last) {
      ready_.pop_front();
      ready_count_.fetch_sub(1, std::memory_order_release);
    }
    if (!out.op) continue;
    if (!out.executor) {
      out.executor = free_executors_.back();
      free_executors_.pop_back();
    }
    // Whoever gets work wakes the next: the pool grows while there is more to do.
    if (!ready_.empty()) wake_worker_locked();
    return true;
  }
  return false;
}

void Scheduler::release_executor_locked(Claim& claim) {
  if (!claim.executor) return;
  free_executors_.push_back(claim.executor);
  claim.executor = nullptr;
  if (!ready_.empty()) wake_worker_locked();
}

void Scheduler::wake_worker_locked() {
  if (sleeping_workers_ > 0 && spinning_workers_ == 0 && !free_executors_.empty())
    work_ready_.notify_one();
}

// A helper leaves between two chunks once `stop_when_done` is done.
void Scheduler::run(Claim& claim, const Op* stop_when_done) {
  Op& op = *claim.op;
  Executor& executor = *claim.executor;
  Context& context = op.context();
  if (time_limit_) {
    std::int64_t since = 0, now = steady_nanoseconds();
    if (op.started_.compare_exchange_strong(since, now)) since = now;
    executor.running_since.store(op.time_limited() ? since : INT64_MAX, std::memory_order_relaxed);
  }
  executor.thread.store(thread_id(), std::memory_order_relaxed);
  executor.ticket.fetch_add(1, std::memory_order_relaxed);
  executor.running.store(&context, std::memory_order_release);
  Executor::set_current(&executor);
  std::uint64_t count = 0;
  while (true) {
    if (context.error.load(std::memory_order_relaxed) == 0) {
      op.run(&executor, claim.begin, claim.end);
      count += op.extra_units(executor);
    }
    count += claim.end - claim.begin;
    if (context.error.load(std::memory_order_relaxed) != 0) {
      std::uint64_t left = op.next_.exchange(op.total_, std::memory_order_relaxed);
      if (left < op.total_) count += op.total_ - left;
      break;
    }
    if (stop_when_done && stop_when_done->done()) break;
    claim.begin = op.next_.fetch_add(op.chunk_, std::memory_order_relaxed);
    if (claim.begin >= op.total_) break;
    claim.end = std::min(claim.begin + op.chunk_, op.total_);
  }
  Executor::set_current(nullptr);
  executor.running.store(nullptr, std::memory_order_release);
  finish_units(op, count);
  claim.op = {};
  claim.begin = claim.end = 0;
}

void Scheduler::wait(Op& op) {
  if (op.done()) return;
  Claim claim;
  std::unique_lock lock(mutex_);
  while (!op.done()) {
    if (claim_locked(claim)) {
      lock.unlock();
      run(claim, &op);
      lock.lock();
      continue;
    }
    release_executor_locked(claim);
    bool may_help = !free_executors_.empty();
    lock.unlock();
    spin_until(
        [&] { return op.done() || (may_help && ready_count_.load(std::memory_order_acquire) > 0); },
        spin_rounds_);
    lock.lock();
    if (op.done() || (!ready_.empty() && !free_executors_.empty())) continue;
    ++sleeping_waiters_;
    op_done_.wait(lock, [&] { return op.done(); });
    --sleeping_waiters_;
  }
  release_executor_locked(claim);
}

void Scheduler::wait_all(Context& context) {
  std::vector<Ref<Op>> newest;
  {
    std::lock_guard lock(mutex_);
    if (context.unfinished == 0) return;
    newest.push_back(context.default_stream.queue.last);
    for (CUstream stream : context.streams) newest.push_back(stream->queue.last);
  }
  for (Ref<Op>& op : newest)
    if (op) wait(*op);
}

Ref<Op> Scheduler::last(StreamQueue& stream) {
  std::lock_guard lock(mutex_);
  return stream.last;
}

bool Scheduler::idle(StreamQueue& stream) {
  std::lock_guard lock(mutex_);
  return !stream.last || stream.last->done();
}

// ---- threads ----

void Scheduler::start_thread(void (Scheduler::*loop)()) {
  // The program's own signals stay with its threads.
  sigset_t all, before;
  sigfillset(&all);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, interrupt_signal()})
    sigdelset(&all, signal);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this, loop] { (this->*loop)(); }).detach();
  } catch (const std::system_error& error) {
    base::log(base::LogLevel::warn,
              std::string("the software device could not start a thread: ") + error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Scheduler::start_threads_locked() {
  if (threads_started_) return;
  threads_started_ = true;
  install_fault_handlers();
  for (std::size_t i = 0; i < executors_.size(); ++i) start_thread(&Scheduler::worker_loop);
  if (!time_limit_) return;
  std::lock_guard lock(watch_mutex_);
  watching_ = watch_thread_started_ = true;
  start_thread(&Scheduler::watch_loop);
}

void Scheduler::worker_loop() {
  Claim claim;
  std::unique_lock lock(mutex_);
  while (true) {
    if (claim_locked(claim)) {
      lock.unlock();
      run(claim, nullptr);
      lock.lock();
      continue;
    }
    release_executor_locked(claim);
    if (ready_.empty()) {
      ++spinning_workers_;
      lock.unlock();
      spin_until([&] { return ready_count_.load(std::memory_order_acquire) > 0; }, spin_rounds_);
      lock.lock();
      --spinning_workers_;
    }
    auto can_run = [&] { return !ready_.empty() && !free_executors_.empty(); };
    if (can_run()) continue;
    ++sleeping_workers_;
    work_ready_.wait(lock, can_run);
    --sleeping_workers_;
  }
}

void Scheduler::host_loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    host_ready_.wait(lock, [&] { return !host_queue_.empty(); });
    Ref<Op> op = std::move(host_queue_.front());
    host_queue_.pop_front();
    lock.unlock();
    if (op->context().error.load(std::memory_order_relaxed) == 0 || op->runs_after_failure())
      op->run(nullptr, 0, 1);
    lock.lock();
    complete_locked(*op);
    if (!ready_.empty()) wake_worker_locked();
  }
}

// Looks at what polled operations wait for: often at first, then every quarter of a millisecond.
void Scheduler::poll_loop() {
  std::unique_lock lock(mutex_);
  auto pause = kShortestPoll;
  while (true) {
    if (polled_.empty()) pause = kShortestPoll;
    poll_wanted_.wait(lock, [&] { return !polled_.empty(); });
    std::vector<Ref<Op>> waiting = std::move(polled_);
    polled_.clear();
    for (Ref<Op>& op : waiting) {
      if (op->context().error.load(std::memory_order_relaxed) != 0 || op->poll())
        complete_locked(*op);
      else
        polled_.push_back(std::move(op));
    }
    if (!ready_.empty()) wake_worker_locked();
    if (polled_.size() < waiting.size()) pause = kShortestPoll;
    lock.unlock();
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPoll);
    lock.lock();
  }
}

// ---- interruption ----

void Scheduler::interrupt_failed() {
  std::lock_guard lock(watch_mutex_);
  watching_ = true;
  if (!watch_thread_started_) {
    watch_thread_started_ = true;
    start_thread(&Scheduler::watch_loop);
  }
  watch_wanted_.notify_one();
}

// Sends a signal to every thread that runs code of a failed context, or that runs too long, until
// it has left that code: a thread inside of the runtime's own functions ignores it.
void Scheduler::watch_loop() {
  std::unique_lock lock(watch_mutex_);
  while (true) {
    watch_wanted_.wait(lock, [&] { return watching_; });
    lock.unlock();
    std::this_thread::sleep_for(kWatchInterval);
    std::int64_t now = time_limit_ ? steady_nanoseconds() : 0;
    bool busy = false;
    for (Executor* executor : executors_) {
      std::uint64_t ticket = executor->ticket.load(std::memory_order_acquire);
      Context* context = executor->running.load(std::memory_order_acquire);
      if (!context) continue;
      std::int64_t since = executor->running_since.load(std::memory_order_relaxed);
      bool late = time_limit_ && since < now && now - since > time_limit_;
      if (late)
        context->fail(cuda::CUDA_ERROR_LAUNCH_TIMEOUT,
                      "a kernel ran longer than TREADLE_LAUNCH_TIMEOUT");
      if (context->error.load(std::memory_order_relaxed) == 0) continue;
      busy = true;
      executor->stop_ticket.store(ticket, std::memory_order_release);
      syscall(SYS_tgkill, getpid(), executor->thread.load(std::memory_order_relaxed),
              interrupt_signal());
    }
    lock.lock();
    watching_ = busy || time_limit_;
  }
}

// In the child of a fork, with all locks held. Threads that waited on the condition variables do
// not exist here, so the variables are made anew. Operations that were running are leaked with the
// references of the threads that ran them.
void Scheduler::adopt_fork() {
  new (&work_ready_) std::condition_variable;
  new (&op_done_) std::condition_variable;
  new (&host_ready_) std::condition_variable;
  new (&watch_wanted_) std::condition_variable;
  new (&poll_wanted_) std::condition_variable;
  poll_thread_started_ = false;
  polled_.clear();
  threads_started_ = host_thread_started_ = watch_thread_started_ = watching_ = cascading_ = false;
  sleeping_workers_ = spinning_workers_ = sleeping_waiters_ = 0;
  ready_.clear();
  host_queue_.clear();
  ready_count_ = 0;
  for (Executor* executor : executors_) executor->running = nullptr;
  free_executors_.assign(executors_.rbegin(), executors_.rend());
  for_each_context(
      [](Context& context) {
        if (context.unfinished == 0) return;
        context.unfinished = 0;
        context.error = cuda::CUDA_ERROR_NOT_INITIALIZED;
        context.default_stream.queue.last = {};
        for (CUstream stream : context.streams) stream->queue.last = {};
      },
      true);
}

}  // namespace td::softdev
