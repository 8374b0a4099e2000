#include "softdev/run/executor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "softdev/run/fair_run.h"

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
#endif

extern "C" [[noreturn]] __attribute__((visibility("hidden"))) TD_ON_WARP_STACK void
td_warp_finished(td::softdev::BlockFrame* block) {
  static_cast<td::softdev::Executor*>(block->scheduler)->warp_finished();
}

namespace td::softdev {

namespace {

// An access may jump over a guard of one page: frames hold local arrays of 32 lanes.
constexpr std::size_t kGuardBytes = 64 * 1024;
// What td_rt_*, SLEEF and libm need beyond the generated code's own frame.
constexpr std::size_t kCallReserve = 32 * 1024;
constexpr std::size_t kMinStack = 64 * 1024;

// initial-exec: the fault handler reads it, and a lazily allocated thread-local must not be touched
// there.
__attribute__((tls_model("initial-exec"))) thread_local Executor* thread_executor = nullptr;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

}  // namespace

Executor* Executor::current() { return thread_executor; }
void Executor::set_current(Executor* executor) { thread_executor = executor; }

Executor::Executor(std::uint32_t index) : index_(index) {
  std::size_t bytes = kSharedSlack + kMaxSharedOptIn + kSharedSlack;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  frame_.shared = static_cast<unsigned char*>(memory) + kSharedSlack;
  frame_.worker = index;
  frame_.scheduler = this;
}

const char* Executor::map_stacks(StackBlock& block, std::uint32_t count, std::size_t stack_bytes) {
  if (block.base && block.stack_bytes >= stack_bytes) return nullptr;
  if (block.base) munmap(block.base, block.bytes);
  block = {};
  std::size_t stride = kGuardBytes + stack_bytes, bytes = stride * count + kGuardBytes;
  void* memory =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return "no address space for the kernel's stacks";
  auto* base = static_cast<unsigned char*>(memory);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (mprotect(base + i * stride + kGuardBytes, stack_bytes, PROT_READ | PROT_WRITE) != 0) {
      munmap(memory, bytes);
      return "no memory for the kernel's stacks";
    }
  }
  block = {base, bytes, stride, stack_bytes, count};
  return nullptr;
}

const char* Executor::reserve_stacks(std::size_t bytes, bool for_warps) {
  std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t needed = round_up(bytes + kCallReserve, page);
  if (needed < kMinStack) needed = kMinStack;
  if (const char* problem = map_stacks(main_stack_, 1, for_warps ? kMinStack : needed))
    return problem;
  if (!for_warps) return nullptr;
  bool had = warp_stacks_.base && warp_stacks_.stack_bytes >= needed;
  if (const char* problem = map_stacks(warp_stacks_, kMaxWarps, needed)) return problem;
  if (had) return nullptr;
  for (std::uint32_t i = 0; i < kMaxWarps; ++i) {
    // Staggered: equal page offsets of all warps would collide in the first-level cache.
    std::size_t stagger = (i % 16) * 256;
    warps_[i].stack_top = warp_stacks_.base + i * warp_stacks_.stride + kGuardBytes +
                          warp_stacks_.stack_bytes - stagger;
  }
  return nullptr;
}

bool Executor::in_stack_guard(std::uintptr_t address) const {
  for (const StackBlock* block : {&main_stack_, &warp_stacks_}) {
    auto base = reinterpret_cast<std::uintptr_t>(block->base);
    if (!base || address < base || address >= base + block->bytes) continue;
    return (address - base) % block->stride < kGuardBytes;
  }
  return fair_runner_ && fair_runner_->in_stack_guard(address);
}

FairRunner& Executor::fair_runner() {
  if (!fair_runner_) fair_runner_ = new FairRunner(*this);
  return *fair_runner_;
}

const BlockFrame& Executor::running_frame() const {
  FairBlock* block = fair_runner_ ? fair_runner_->current() : nullptr;
  return block ? block->frame() : frame_;
}

const ThreadFrame* Executor::running_thread() const {
  FairBlock* block = fair_runner_ ? fair_runner_->current() : nullptr;
  return block ? block->current_thread() : nullptr;
}

TD_ON_WARP_STACK bool Executor::in_stack(std::uintptr_t address) const {
  for (const StackBlock* block : {&main_stack_, &warp_stacks_})
    if (address - reinterpret_cast<std::uintptr_t>(block->base) < block->bytes) return true;
  return false;
}

bool Executor::guarded(void (*body)(void*), void* argument) {
  leave_ = {};
  leave_text_[0] = 0;
  unsigned char* top = main_stack_.base + kGuardBytes + main_stack_.stack_bytes;
  // td_call_on_stack sets recovery_ before it calls body; a signal between the two finds no
  // generated code to leave.
  armed_ = true;
  int left = td_call_on_stack(body, argument, &recovery_, top);
  armed_ = false;
#if defined(__SANITIZE_ADDRESS__)
  if (left) {
    for (const StackBlock* block : {&main_stack_, &warp_stacks_})
      for (std::uint32_t i = 0; i < block->count; ++i)
        __asan_unpoison_memory_region(block->base + i * block->stride + kGuardBytes,
                                      block->stack_bytes);
  }
#endif
  return left == 0;
}

TD_ON_WARP_STACK void Executor::leave_now(const Leave& leave) {
  leave_ = leave;
  td_leave(recovery_);
}

TD_ON_WARP_STACK void Executor::start_warp(Warp& warp, WarpFunction function,
                                           std::uint32_t first_thread) {
  auto* frame = reinterpret_cast<void**>(warp.stack_top) - 7;
  frame[0] = &frame_;                                                             // r15
  frame[1] = reinterpret_cast<void*>(&td_warp_finished);                          // r14
  frame[2] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(first_thread));  // r13
  frame[3] = &frame_;                                                             // r12
  frame[4] = reinterpret_cast<void*>(function);                                   // rbx
  frame[5] = nullptr;                                                             // rbp
  frame[6] = reinterpret_cast<void*>(&td_warp_entry);
  warp.stack_pointer = frame;
  warp.barriers = 0;
}

// Why a ring needs no counters: a warp that reaches a barrier passes control to the next unfinished
// warp. When control comes back to it, every other unfinished warp has run from its previous
// barrier to this one. So whoever is resumed may go on, and a barrier cannot dead-lock.
TD_ON_WARP_STACK void Executor::run_warps(WarpFunction function, std::uint32_t threads) {
  std::uint32_t count = (threads + kWarpSize - 1) / kWarpSize;
  for (std::uint32_t i = 0; i < count; ++i) {
    Warp& warp = warps_[i];
    start_warp(warp, function, i * kWarpSize);
    warp.next = &warps_[i + 1 == count ? 0 : i + 1];
    warp.previous = &warps_[i == 0 ? count - 1 : i - 1];
  }
  reductions_[0] = reductions_[1] = {};
  current_warp_ = &warps_[0];
  td_switch(&block_stack_pointer_, warps_[0].stack_pointer);
}

TD_ON_WARP_STACK void Executor::run_single_warp(WarpFunction function) {
  Warp& warp = warps_[0];
  warp.next = warp.previous = &warp;
  warp.barriers = 0;
  reductions_[0] = reductions_[1] = {};
  current_warp_ = &warp;
  function(&frame_, 0);
}

TD_ON_WARP_STACK std::uint32_t Executor::barrier_reduce(std::uint32_t mask, std::uint32_t predicate,
                                                        std::uint32_t kind) {
  std::uint64_t number = current_warp_->barriers + 1;
  BarrierReduction& reduction = reductions_[number % 2];
  if (reduction.barrier != number) reduction = {number, 0, true};
  reduction.count += static_cast<std::uint32_t>(__builtin_popcount(mask & predicate));
  reduction.all = reduction.all && (mask & ~predicate) == 0;
  barrier();
  if (kind == 0) return reduction.count;
  if (kind == 1) return reduction.all;
  return reduction.count != 0;
}

TD_ON_WARP_STACK void Executor::warp_finished() {
  Warp* warp = current_warp_;
  if (warp->next == warp) {
    td_switch(&warp->stack_pointer, block_stack_pointer_);
  } else {
    warp->previous->next = warp->next;
    warp->next->previous = warp->previous;
    current_warp_ = warp->next;
    td_switch(&warp->stack_pointer, warp->next->stack_pointer);
  }
  __builtin_unreachable();
}

}  // namespace td::softdev
