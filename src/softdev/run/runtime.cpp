// The functions that generated code calls (kernel_abi.h, runtime.h), except printing.
#include "softdev/run/runtime.h"

#include <unistd.h>

#include <cstdio>

#include "softdev/run/executor.h"
#include "softdev/run/fair_block.h"
#include "softdev/run/fault.h"
#include "softdev/run/no_sanitize.h"

using td::softdev::BlockFrame;
using td::softdev::Executor;
using td::softdev::FairBlock;
using td::softdev::Leave;
using td::softdev::ThreadFrame;

namespace {

Executor& executor_of(BlockFrame* block) { return *static_cast<Executor*>(block->scheduler); }

// The block in fair mode. A function that another module's pointer names may want one where its
// caller has none.
TD_ON_WARP_STACK FairBlock& fair_block_of(BlockFrame* block, const char* place) {
  if (!block->fair)
    td_rt_trap(block, static_cast<std::uint32_t>(td::softdev::TrapKind::divergent_barrier), 0, 1,
               place);
  return *static_cast<FairBlock*>(block->fair);
}

// A string that a kernel names, cut to the buffer.
TD_RT_TEXT TD_ON_WARP_STACK void copy_text(const char* from, char* to, std::size_t room) {
  std::size_t i = 0;
  if (from)
    for (; i + 1 < room && from[i]; ++i) to[i] = from[i];
  to[i] = 0;
}

}  // namespace

extern "C" {

TD_ON_WARP_STACK void td_rt_barrier(BlockFrame* block, std::uint32_t) {
  executor_of(block).barrier();
}

TD_ON_WARP_STACK std::uint32_t td_rt_barrier_reduce(BlockFrame* block, std::uint32_t mask,
                                                    std::uint32_t predicate, std::uint32_t kind) {
  return executor_of(block).barrier_reduce(mask, predicate, kind);
}

TD_ON_WARP_STACK void td_rt_trap(BlockFrame* block, std::uint32_t kind, std::uint32_t first_thread,
                                 std::uint32_t lane_mask, const char* place) {
  Leave leave;
  leave.cause = Leave::Cause::trap;
  leave.trap_kind = kind;
  Executor& executor = executor_of(block);
  const std::uint32_t* size = block->launch->block;
  std::uint32_t thread =
      first_thread + (lane_mask ? static_cast<std::uint32_t>(__builtin_ctz(lane_mask)) : 0);
  char at[512];
  copy_text(place, at, sizeof at);
  std::snprintf(executor.leave_text_buffer(), Executor::kLeaveText, "%s%s, thread (%u, %u, %u)",
                at[0] ? " at " : "", at, thread % size[0], thread / size[0] % size[1],
                thread / size[0] / size[1]);
  executor.leave_now(leave);
}

// One line per failed thread, in CUDA's words.
TD_ON_WARP_STACK void td_rt_assert_fail(BlockFrame* block, std::uint32_t first_thread,
                                        std::uint32_t lane_mask, const char* message,
                                        const char* file, std::uint32_t line,
                                        const char* function) {
  char text[3][512];
  copy_text(message, text[0], sizeof text[0]);
  copy_text(file, text[1], sizeof text[1]);
  copy_text(function, text[2], sizeof text[2]);
  Executor& executor = executor_of(block);
  const std::uint32_t* size = block->launch->block;
  bool first = true;
  for (std::uint32_t lane = 0; lane < td::softdev::kWarpSize; ++lane) {
    if (!(lane_mask >> lane & 1)) continue;
    std::uint32_t thread = first_thread + lane;
    char out[2048];
    std::uint32_t index[3] = {thread % size[0], thread / size[0] % size[1],
                              thread / size[0] / size[1]};
    int length =
        std::snprintf(out, sizeof out,
                      "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                      text[1], line, text[2], block->block_idx[0], block->block_idx[1],
                      block->block_idx[2], index[0], index[1], index[2], text[0]);
    if (first)
      std::snprintf(executor.leave_text_buffer(), Executor::kLeaveText,
                    " `%s` at %s:%u (%s), thread (%u, %u, %u)", text[0], text[1], line, text[2],
                    index[0], index[1], index[2]);
    first = false;
    if (length > 0 && write(STDERR_FILENO, out, static_cast<std::size_t>(length)) < 0) break;
  }
  Leave leave;
  leave.cause = Leave::Cause::assertion;
  executor.leave_now(leave);
}

TD_ON_WARP_STACK void td_rt_yield(BlockFrame* block) {
  if (block->fair) static_cast<FairBlock*>(block->fair)->yield();
}

TD_ON_WARP_STACK std::uint32_t td_rt_fair_barrier(BlockFrame* block, std::uint32_t id,
                                                  std::uint32_t threads, std::uint32_t lanes,
                                                  std::uint32_t holds, std::uint32_t kind,
                                                  const char* place) {
  return fair_block_of(block, place)
      .barrier(id, threads, lanes, holds, static_cast<td::softdev::BarrierKind>(kind), place);
}

TD_ON_WARP_STACK std::uint64_t td_rt_warp_op(ThreadFrame* thread, std::uint32_t op,
                                             std::uint32_t mask, std::uint64_t value,
                                             std::uint32_t b, std::uint32_t c, const char* place) {
  return fair_block_of(thread->block, place)
      .warp_op(thread, static_cast<td::softdev::WarpOp>(op), mask, value, b, c, place);
}

TD_ON_WARP_STACK void td_rt_grid_barrier(BlockFrame* block, const char* place) {
  fair_block_of(block, place).grid_barrier(place);
}

TD_ON_WARP_STACK void td_rt_stack_overflow(ThreadFrame* thread) {
  Leave leave;
  leave.cause = Leave::Cause::stack_overflow;
  Executor& executor = executor_of(thread->block);
  std::snprintf(executor.leave_text_buffer(), Executor::kLeaveText, ", thread (%u, %u, %u)",
                thread->index[0], thread->index[1], thread->index[2]);
  executor.leave_now(leave);
}

TD_RT_TEXT TD_ON_WARP_STACK void* td_rt_memcpy(void* destination, const void* source,
                                               std::size_t bytes) {
  void* to = destination;
  asm volatile("rep movsb" : "+D"(to), "+S"(source), "+c"(bytes) : : "memory");
  return destination;
}

TD_RT_TEXT TD_ON_WARP_STACK void* td_rt_memmove(void* destination, const void* source,
                                                std::size_t bytes) {
  auto* to = static_cast<unsigned char*>(destination);
  auto* from = static_cast<const unsigned char*>(source);
  if (to > from && to < from + bytes) {
    to += bytes - 1;
    from += bytes - 1;
    asm volatile("std\n\trep movsb\n\tcld" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  } else {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  }
  return destination;
}

TD_RT_TEXT TD_ON_WARP_STACK void* td_rt_memset(void* destination, int value, std::size_t bytes) {
  void* to = destination;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return destination;
}

TD_RT_TEXT TD_ON_WARP_STACK int td_rt_memcmp(const void* left, const void* right,
                                             std::size_t bytes) {
  auto* a = static_cast<const volatile unsigned char*>(left);
  auto* b = static_cast<const volatile unsigned char*>(right);
  for (std::size_t i = 0; i < bytes; ++i)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

}  // extern "C"
