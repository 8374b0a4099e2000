// The functions that generated code calls (kernel_abi.h, runtime.h), except printing.
#include "softdev/run/runtime.h"

#include <unistd.h>

#include <cstdio>

#include "softdev/run/executor.h"
#include "softdev/run/fault.h"
#include "softdev/run/no_sanitize.h"

using td::softdev::BlockFrame;
using td::softdev::Executor;
using td::softdev::Leave;

namespace {

Executor& executor_of(BlockFrame* block) { return *static_cast<Executor*>(block->scheduler); }

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

TD_ON_WARP_STACK void td_rt_trap(BlockFrame* block, std::uint32_t kind, std::uint32_t,
                                 std::uint32_t, std::uint32_t line) {
  Leave leave;
  leave.cause = Leave::Cause::trap;
  leave.trap_kind = kind;
  leave.line = line;
  executor_of(block).leave_now(leave);
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
  for (std::uint32_t lane = 0; lane < td::softdev::kWarpSize; ++lane) {
    if (!(lane_mask >> lane & 1)) continue;
    std::uint32_t thread = first_thread + lane;
    char out[2048];
    int length = std::snprintf(
        out, sizeof out,
        "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", text[1], line,
        text[2], block->block_idx[0], block->block_idx[1], block->block_idx[2], thread % size[0],
        thread / size[0] % size[1], thread / size[0] / size[1], text[0]);
    if (length > 0 && write(STDERR_FILENO, out, static_cast<std::size_t>(length)) < 0) break;
  }
  Leave leave;
  leave.cause = Leave::Cause::assertion;
  leave.line = line;
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
