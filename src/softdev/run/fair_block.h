// One block in fair mode: fibers that take turns, each a warp of vector code, one thread of scalar
// code, or the whole block.
//
// A fiber runs until it waits (barrier, warp-level operation, grid barrier), yields or finishes;
// then the next ready one runs. When each has had its turn, control goes back to whoever runs the
// blocks (fair_run.h), so that blocks take turns too. Nothing is ever waited for by spinning here.
//
// Barriers count threads, as on Volta and later: one is complete when all threads of the block that
// have not finished have arrived, wherever in the code. A warp-level operation is complete when all
// threads of its mask that have not finished have called the same one with the same mask. When no
// fiber can go on, the block is stuck: describe_stuck() names what is waited for and by whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "softdev/run/executor.h"
#include "softdev/simt/kernel_abi.h"

namespace td::softdev {

inline constexpr std::uint32_t kMaxBarriers = 16;

struct FairShape {
  std::uint32_t threads = 0;     // of the block
  std::uint32_t lanes = 0;       // threads of a fiber: 1, 32 or all
  std::size_t stack_bytes = 0;   // of a fiber
  std::size_t shared_bytes = 0;  // static and dynamic
};

// What a block runs: the function that fits the shape's lanes is used.
struct FairCode {
  WarpFunction warp = nullptr;
  BlockFunction block = nullptr;
  ThreadFunction thread = nullptr;
};

struct Fiber {
  enum class State : std::uint8_t { ready, barrier, warp_op, active_mask, grid, finished };
  State state = State::ready;
  void* stack_pointer = nullptr;
  Fiber* next = nullptr;  // of the ready queue
  std::uint32_t first = 0, lanes = 0;
  ThreadFrame thread{};  // of a single thread
  const char* place = nullptr;
  // What it waits for.
  std::uint32_t barrier = 0;
  BarrierKind kind = BarrierKind::sync;
  WarpOp op = WarpOp::sync;
  std::uint32_t mask = 0, b = 0, c = 0;
  std::uint64_t value = 0, result = 0;
};

// Computes a warp-level operation for the lanes of `group`; fibers[l] is lane l.
void compute_warp_op(Fiber* fibers, std::uint32_t group);

class FairBlock {
 public:
  enum class Status : std::uint8_t { finished, stalled, at_grid_barrier, stuck };

  FairBlock() = default;
  ~FairBlock();
  FairBlock(const FairBlock&) = delete;
  FairBlock& operator=(const FairBlock&) = delete;

  // Makes stacks and shared memory large enough; null when done, else what failed.
  const char* prepare(const FairShape& shape);
  // Puts all fibers at their beginning.
  void start(Executor& executor, const LaunchFrame& launch, const std::uint32_t index[3],
             const FairCode& code);
  // Lets fibers run; a block that has been at the grid barrier goes on behind it.
  Status resume();
  // Since the last call: a fiber finished, or the block came past the grid barrier. (Barriers and
  // warp-level operations say nothing: loops that wait have them in each round.)
  bool made_progress();
  std::string describe_stuck() const;
  bool in_stack_guard(std::uintptr_t address) const;
  BlockFrame& frame() { return frame_; }
  // The thread that runs, or ran last, null when fibers are not single threads.
  const ThreadFrame* current_thread() const;
  std::uint64_t grid_generation = 0;  // what it waits for; kept by fair_run

  // For td_rt_*: called on a fiber's stack.
  void yield();
  std::uint32_t barrier(std::uint32_t id, std::uint32_t threads, std::uint32_t lanes,
                        std::uint32_t holds, BarrierKind kind, const char* place);
  std::uint64_t warp_op(ThreadFrame* thread, WarpOp op, std::uint32_t mask, std::uint64_t value,
                        std::uint32_t b, std::uint32_t c, const char* place);
  void grid_barrier(const char* place);
  [[noreturn]] void fiber_finished();

 private:
  struct Barrier {
    std::uint32_t arrived = 0, threads = 0, holds = 0;
  };
  void start_fiber(std::uint32_t number, const FairCode& code);
  void make_ready(Fiber& fiber);
  Fiber* take_ready();
  void wait();
  void leave_to_runner(Fiber& fiber, Status status);
  void release_barrier_if_complete(std::uint32_t id);
  bool complete_warp_op(Fiber& one);
  void release_active_masks();
  Status status_without_ready() const;
  void describe_group(std::string& out, const Fiber& leader) const;
  std::uint32_t count() const { return (shape_.threads + shape_.lanes - 1) / shape_.lanes; }

  BlockFrame frame_{};
  FairShape shape_;
  std::unique_ptr<Fiber[]> fibers_;
  std::uint32_t room_ = 0;  // fibers that fibers_ and the stacks hold
  unsigned char *memory_ = nullptr, *stacks_ = nullptr;
  std::size_t memory_bytes_ = 0, stack_bytes_ = 0, shared_room_ = 0;
  Fiber *ready_first_ = nullptr, *ready_last_ = nullptr, *current_ = nullptr;
  std::uint32_t ready_ = 0, turns_ = 0, alive_ = 0, waiting_active_masks_ = 0;
  bool progress_ = false;
  Status status_ = Status::finished;
  void* runner_stack_pointer_ = nullptr;
  Barrier barriers_[kMaxBarriers];
};

}  // namespace td::softdev
