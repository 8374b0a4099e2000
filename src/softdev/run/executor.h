// The right to run a kernel's blocks, and what is needed for it: a stack for generated code, shared
// memory, stacks of warps (coroutines), and the point where a fault lets control go.
//
// A thread holds an executor while it runs units of an operation. Generated code always runs on the
// executor's own stacks, never on the thread's: the size is known, and an overrun lands in a guard
// that we recognise.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "softdev/run/no_sanitize.h"
#include "softdev/run/switch.h"
#include "softdev/simt/kernel_abi.h"

struct CUctx_st;

namespace td::softdev {

class FairRunner;

inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kMaxThreads = 1024;
inline constexpr std::uint32_t kMaxWarps = kMaxThreads / kWarpSize;
inline constexpr std::uint32_t kMaxSharedOptIn = 227 * 1024;
inline constexpr std::uint32_t kMaxShared = 48 * 1024;
inline constexpr std::uint32_t kSharedSlack = 1024;
// Stack that a scalar function finds below its limit: for what it calls and does not check.
inline constexpr std::size_t kScalarReserve = 24 * 1024;

// One warp of the block that is running: a coroutine in the ring of unfinished warps.
struct Warp {
  void* stack_pointer = nullptr;  // saved while it does not run
  Warp* next = nullptr;
  Warp* previous = nullptr;
  unsigned char* stack_top = nullptr;
  std::uint64_t barriers = 0;  // barriers reached in this block
};

// Two accumulators of td_rt_barrier_reduce, used alternately: a warp may reach the next barrier
// before another one has read the result of this one, but never the barrier after that.
struct BarrierReduction {
  std::uint64_t barrier = 0;  // which one the fields below belong to
  std::uint32_t count = 0;
  bool all = true;
};

// How and why control left generated code.
struct Leave {
  enum class Cause : std::uint8_t {
    none,
    signal,
    stack_overflow,
    trap,
    assertion,
    interrupted,
    bad_jump
  };
  Cause cause = Cause::none;
  int signal = 0;
  int code = 0;  // si_code
  std::uintptr_t address = 0, program_counter = 0;
  std::uint32_t trap_kind = 0, line = 0;
};

class Executor {
 public:
  explicit Executor(std::uint32_t index);

  std::uint32_t index() const { return index_; }
  BlockFrame& frame() { return frame_; }

  // Makes the stacks large enough; null text when done, else what failed.
  const char* reserve_stacks(std::size_t bytes, bool for_warps);

  // Calls body(argument) on the executor's stack with faults armed. Returns false when a fault, a
  // trap or an interruption made it leave early: leave() tells. body must hold nothing that a
  // destructor would give back.
  bool guarded(void (*body)(void*), void* argument);
  const Leave& leave() const { return leave_; }
  // Says more about a leave than Leave does: who and where. "" when nothing is known.
  const char* leave_text() const { return leave_text_; }
  char* leave_text_buffer() { return leave_text_; }
  static constexpr std::size_t kLeaveText = 2048;

  // Blocks in fair mode.
  FairRunner& fair_runner();
  // The block that runs, or ran last; its thread, where single threads run, else null.
  const BlockFrame& running_frame() const;
  const ThreadFrame* running_thread() const;

  // Runs all warps of one block; inside guarded().
  void run_warps(WarpFunction function, std::uint32_t threads);
  // The ring for a block that runs as a single call.
  void run_single_warp(WarpFunction function);

  // For td_rt_*: called on a warp's stack.
  TD_ON_WARP_STACK void barrier() {
    Warp* warp = current_warp_;
    ++warp->barriers;
    Warp* next = warp->next;
    if (next == warp) return;
    current_warp_ = next;
    td_switch(&warp->stack_pointer, next->stack_pointer);
  }
  std::uint32_t barrier_reduce(std::uint32_t mask, std::uint32_t predicate, std::uint32_t kind);
  [[noreturn]] void warp_finished();
  [[noreturn]] void leave_now(const Leave& leave);

  // ---- used by the fault handler and by interruption ----
  // Where a signal sends the thread; null when it does not run generated code.
  void* recovery_point() const { return armed_ ? recovery_ : nullptr; }
  void note_leave(const Leave& leave) { leave_ = leave; }
  bool in_stack_guard(std::uintptr_t address) const;
  bool in_stack(std::uintptr_t address) const;
  // What runs here now, for those who interrupt: the context, since when (steady clock, ns), on
  // which thread. The ticket is new for each run, so that a late signal cannot hit the next one.
  std::atomic<CUctx_st*> running{nullptr};
  std::atomic<std::int64_t> running_since{0};
  std::atomic<pid_t> thread{0};
  std::atomic<std::uint64_t> ticket{0}, stop_ticket{0};

  static Executor* current();  // of the calling thread; async-signal-safe
  static void set_current(Executor* executor);

 private:
  struct StackBlock {
    unsigned char* base = nullptr;
    std::size_t bytes = 0, stride = 0, stack_bytes = 0;
    std::uint32_t count = 0;
  };
  static const char* map_stacks(StackBlock& block, std::uint32_t count, std::size_t stack_bytes);
  void start_warp(Warp& warp, WarpFunction function, std::uint32_t first_thread);

  std::uint32_t index_;
  volatile bool armed_ = false;
  void* recovery_ = nullptr;
  BlockFrame frame_{};
  Leave leave_;
  Warp* current_warp_ = nullptr;
  void* block_stack_pointer_ = nullptr;
  Warp warps_[kMaxWarps];
  BarrierReduction reductions_[2];
  StackBlock main_stack_, warp_stacks_;
  FairRunner* fair_runner_ = nullptr;
  char leave_text_[kLeaveText] = {};
};

}  // namespace td::softdev
