// The order of work: operations, the graph of what waits for what, and the threads that run them.
//
// An operation (Op) is a kernel launch, a copy, an event record, a host function. Streams are
// nothing but edges: each operation waits for the one before it in its stream; the legacy default
// stream adds edges to and from all blocking streams; cuStreamWaitEvent adds one edge. An operation
// whose edges are all satisfied is ready.
//
// Ready operations are run by a pool of one thread a core, and by any host thread that synchronises
// ("helping"): it takes work itself instead of sleeping, so a tiny launch with a synchronisation
// behind it never changes threads. The right to run is an Executor (stacks, shared memory); there
// are as many as cores, so helping never oversubscribes the machine. An operation of many units
// (blocks of a grid, pieces of a copy) is shared by all threads which ask: they take chunks from
// its atomic counter.
//
// Host functions run on a thread of their own, since they may block: neither the pool nor a helper
// may be held up.
//
// One mutex guards the graph. Nothing is ever run under it except instant operations (event times).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "softdev/run/executor.h"
#include "softdev/run/ref.h"

struct CUctx_st;

namespace td::softdev {

using Context = ::CUctx_st;

class Op : public RefCounted {
 public:
  enum class Kind : std::uint8_t {
    work,     // by the pool and helpers, in units
    instant,  // at once, by whoever makes it ready, under the scheduler's mutex
    host,     // on the thread of host functions
    polled,   // nothing is run; over when poll() says so
  };
  Op(Kind kind, Context& context) : kind_(kind), context_(context) {}

  // Runs units [begin, end). Called by several threads with disjoint ranges. Must not throw.
  virtual void run(Executor* executor, std::uint64_t begin, std::uint64_t end) = 0;
  // Whether it is run even when its context has failed.
  virtual bool runs_after_failure() const { return false; }
  // Of a polled operation: whether it is over. Under the scheduler's mutex.
  virtual bool poll() { return true; }
  // Units that the last run on this executor has taken besides.
  virtual std::uint64_t extra_units(Executor&) const { return 0; }
  // Whether TREADLE_LAUNCH_TIMEOUT holds for it.
  virtual bool time_limited() const { return false; }

  // Takes one more unit while it runs, beyond those it was called for; the executor's FairRunner
  // keeps count.
  bool take_unit(std::uint64_t* unit) {
    *unit = next_.fetch_add(1, std::memory_order_relaxed);
    return *unit < total_;
  }
  bool has_units() const { return next_.load(std::memory_order_relaxed) < total_; }

  bool done() const { return done_.load(std::memory_order_acquire); }
  Context& context() const { return context_; }

 protected:
  // Splits the work in `total` units that threads take `chunk` at a time. Before the operation is
  // enqueued.
  void set_units(std::uint64_t total, std::uint64_t chunk) {
    total_ = total;
    chunk_ = chunk;
  }

 private:
  friend class Scheduler;
  const Kind kind_;
  std::int8_t priority_ = 0;  // of its stream: smaller goes first
  std::atomic<bool> done_{false};
  std::uint32_t waits_for_ = 0;  // under the mutex
  Context& context_;
  std::uint64_t total_ = 1, chunk_ = 1;
  std::atomic<std::uint64_t> next_{0}, finished_{0};
  std::atomic<std::int64_t> started_{
      0};  // when the first unit was taken, steady clock; only kept with a time limit
  std::vector<Ref<Op>> successors_;  // under the mutex
};

// What the scheduler keeps of a stream; guarded by its mutex.
struct StreamQueue {
  Ref<Op> last;          // the newest operation; may be done
  bool blocking = true;  // synchronises with the legacy default stream
  std::int8_t priority = 0;
  bool destroyed = false;
};

// One operation of a group, and the indices of those of the group that it waits for.
struct GroupItem {
  Ref<Op> op;
  std::vector<std::uint32_t> after;
};

class Scheduler {
 public:
  static Scheduler& get();

  // Appends an operation to a stream of its context, with an optional extra dependency (a recorded
  // event). caller_waits: the calling thread is about to wait for it and will run it itself if it
  // can, so no thread is woken.
  void enqueue(StreamQueue& stream, Op& op, Op* after = nullptr, bool caller_waits = false);

  // Appends a whole graph of operations, which may be of several contexts, as one step of a stream
  // of `context`. Returns the step's end.
  Ref<Op> enqueue_group(StreamQueue& stream, Context& context, const std::vector<GroupItem>& items,
                        Op* after);

  // Returns when the operation is done (run or cancelled), helping meanwhile.
  void wait(Op& op);
  void wait_all(Context& context);
  Ref<Op> last(StreamQueue& stream);
  // True when nothing enqueued in the stream is unfinished.
  bool idle(StreamQueue& stream);

  // Cuts short what runs for contexts that have failed: all threads leave their kernels' code,
  // soon.
  void interrupt_failed();

  std::uint32_t workers() const { return static_cast<std::uint32_t>(executors_.size()); }
  std::mutex& mutex() { return mutex_; }

 private:
  Scheduler();
  struct Claim {
    Ref<Op> op;
    Executor* executor = nullptr;
    std::uint64_t begin = 0, end = 0;
  };
  // "locked": the caller holds mutex_.
  bool claim_locked(Claim& out);
  void release_executor_locked(Claim& claim);
  void run(Claim& claim, const Op* stop_when_done);
  void finish_units(Op& op, std::uint64_t count);
  void add_edge_locked(Op* before, Op& op);
  void append_locked(StreamQueue& stream, Op& op, Op* after);
  void poll_loop();
  void make_ready_locked(Op& op);
  void complete_locked(Op& op);
  void wake_worker_locked();
  void start_threads_locked();
  void start_thread(void (Scheduler::*loop)());
  void worker_loop();
  void host_loop();
  void watch_loop();
  void adopt_fork();

  std::mutex mutex_;
  std::condition_variable work_ready_, op_done_, host_ready_, poll_wanted_;
  std::deque<Ref<Op>> ready_, host_queue_;
  std::vector<Ref<Op>> polled_;
  std::vector<Ref<Op>> becoming_ready_;  // worklist of make_ready_locked
  std::atomic<std::size_t> ready_count_{0};
  std::vector<Executor*> executors_, free_executors_;
  bool threads_started_ = false, host_thread_started_ = false, poll_thread_started_ = false,
       cascading_ = false;
  std::uint32_t sleeping_workers_ = 0, spinning_workers_ = 0, sleeping_waiters_ = 0;
  int spin_rounds_ = 0;

  std::mutex watch_mutex_;
  std::condition_variable watch_wanted_;
  bool watch_thread_started_ = false, watching_ = false;
  std::int64_t time_limit_ = 0;  // nanoseconds of a launch; 0 = none
};

// Waits for ready() by spinning with pauses. True when it became ready.
template <class Ready>
bool spin_until(const Ready& ready, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    if (ready()) return true;
    __builtin_ia32_pause();
  }
  return ready();
}

std::int64_t steady_nanoseconds();

}  // namespace td::softdev
