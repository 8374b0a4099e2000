#include "softdev/run/device_calls.h"

#include <bit>

#include "softdev/run/context.h"
#include "softdev/run/executor.h"
#include "softdev/run/fault.h"

using td::softdev::BlockFrame;
using td::softdev::Executor;
using td::softdev::Leave;

namespace {

Executor& executor_of(BlockFrame* block) { return *static_cast<Executor*>(block->scheduler); }

CUctx_st& context_of(BlockFrame* block) {
  return *executor_of(block).running.load(std::memory_order_relaxed);
}

// To nearest, ties to even; NaN stays a quiet NaN.
TD_RT_TEXT TD_ON_WARP_STACK std::uint16_t bf16_sum(std::uint16_t x, std::uint16_t y) {
  float sum =
      std::bit_cast<float>(std::uint32_t{x} << 16) + std::bit_cast<float>(std::uint32_t{y} << 16);
  auto bits = std::bit_cast<std::uint32_t>(sum);
  if (sum != sum) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

extern "C" {

TD_ON_WARP_STACK void* td_rt_malloc(BlockFrame* block, std::uint64_t bytes) {
  CUctx_st& context = context_of(block);
  return context.heap.allocate(&context, context.device, context.heap_limit, bytes);
}

TD_ON_WARP_STACK void td_rt_free(BlockFrame* block, void* address, std::uint32_t line) {
  if (!address || context_of(block).heap.release(address)) return;
  Leave leave;
  leave.cause = Leave::Cause::trap;
  leave.trap_kind = static_cast<std::uint32_t>(td::softdev::TrapKind::bad_free);
  leave.address = reinterpret_cast<std::uintptr_t>(address);
  leave.line = line;
  executor_of(block).leave_now(leave);
}

TD_ON_WARP_STACK std::uint32_t td_rt_address_space(BlockFrame* block, const void* address) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  auto shared = reinterpret_cast<std::uintptr_t>(block->shared);
  if (at - shared < td::softdev::kMaxSharedOptIn) return 1;
  return executor_of(block).in_stack(at) ? 2 : 0;
}

TD_RT_TEXT TD_ON_WARP_STACK void td_rt_atomic_wide(BlockFrame*, void* address, std::uint64_t* words,
                                                   std::uint32_t kind) {
  // A load is a compare and swap of zero for zero; an exchange repeats until what it saw was true.
  std::uint64_t low = kind == 1 ? words[0] : 0, high = kind == 1 ? words[1] : 0;
  std::uint64_t new_low = kind == 1 ? words[2] : kind == 0 ? words[0] : 0;
  std::uint64_t new_high = kind == 1 ? words[3] : kind == 0 ? words[1] : 0;
  bool swapped = false;
  do {
    asm volatile("lock cmpxchg16b %1"
                 : "=@ccz"(swapped), "+m"(*static_cast<unsigned __int128*>(address)), "+a"(low),
                   "+d"(high)
                 : "b"(new_low), "c"(new_high)
                 : "memory");
  } while (kind == 0 && !swapped);
  words[0] = low;
  words[1] = high;
}

TD_RT_TEXT TD_ON_WARP_STACK std::uint16_t td_rt_atomic_add_bf16(BlockFrame*, std::uint16_t* address,
                                                                std::uint16_t value) {
  std::uint16_t old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, bf16_sum(old, value), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return old;
}

}  // extern "C"
