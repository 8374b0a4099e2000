// Hand-written stand-ins for generated code: warp and block functions of kernel_abi.h, compiled by
// the host compiler to a relocatable object that the device's own loader loads. One loop turn is
// one thread.
#include <cstddef>
#include <cstdint>

#include "softdev/simt/kernel_abi.h"

using namespace td::softdev;

extern "C" {
void* memcpy(void*, const void*, std::size_t);
float sinf(float);
double pow(double, double);
}

namespace {

template <class T>
T param(const BlockFrame* block, std::size_t offset) {
  return *reinterpret_cast<const T*>(block->launch->params + offset);
}

std::uint32_t linear_block(const BlockFrame* block) {
  const std::uint32_t* grid = block->launch->grid;
  return block->block_idx[0] + grid[0] * (block->block_idx[1] + grid[1] * block->block_idx[2]);
}

std::uint32_t warp_end(const BlockFrame* block, std::uint32_t first) {
  std::uint32_t end = first + 32;
  return end < block->launch->threads ? end : block->launch->threads;
}

std::uint32_t warp_mask(const BlockFrame* block, std::uint32_t first) {
  std::uint32_t lanes = warp_end(block, first) - first;
  return lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
}

int* shared_ints(const BlockFrame* block) { return reinterpret_cast<int*>(block->shared); }

std::uint64_t cycles() { return __builtin_ia32_rdtsc(); }

const int kTable[4] = {10, 20, 30, 40};
int mutable_data[4] = {1, 2, 3, 4};
int zeroed[64];

}  // namespace

extern "C" {

// ---- without barriers ----

void empty_block(BlockFrame*) {}

// (int* out, int n): out[i] = 3 i
void triple_block(BlockFrame* block) {
  auto* out = param<int*>(block, 0);
  int n = param<int>(block, 8);
  for (std::uint32_t t = 0; t < block->launch->threads; ++t) {
    int i = static_cast<int>(block->block_idx[0] * block->launch->threads + t);
    if (i < n) out[i] = 3 * i;
  }
}

// (int* counts): how often each block ran
void count_block(BlockFrame* block) {
  __atomic_fetch_add(param<int*>(block, 0) + linear_block(block), 1, __ATOMIC_RELAXED);
}

// (int* cell, int expected, int* errors): a step of a chain that must run in order
void chain_block(BlockFrame* block) {
  auto* cell = param<int*>(block, 0);
  int expected = param<int>(block, 8);
  if (*cell != expected) __atomic_fetch_add(param<int*>(block, 16), 1, __ATOMIC_RELAXED);
  *cell = expected + 1;
}

// (long long cycles)
void busy_block(BlockFrame* block) {
  std::uint64_t until = cycles() + param<std::uint64_t>(block, 0);
  while (cycles() < until) __builtin_ia32_pause();
}

// (volatile int* flag): runs until the flag is set
void wait_flag_block(BlockFrame* block) {
  auto* flag = param<volatile int*>(block, 0);
  while (*flag == 0) __builtin_ia32_pause();
}

// (char* base, long long offset, int only_block): one store
void poke_block(BlockFrame* block) {
  if (linear_block(block) == param<std::uint32_t>(block, 16))
    param<volatile char*>(block, 0)[param<long long>(block, 8)] = 1;
}

// (int* out, int a, int b)
void divide_block(BlockFrame* block) {
  int a = param<volatile int>(block, 8), b = param<volatile int>(block, 12), q;
  asm volatile("cltd\n\tidivl %2" : "=a"(q) : "a"(a), "r"(b) : "rdx");
  *param<int*>(block, 0) = q;
}

void trap_block(BlockFrame* block) {
  td_rt_trap(block, static_cast<std::uint32_t>(TrapKind::trap), 0, 1, "kernel.cu:42 (trap)");
}
void illegal_block(BlockFrame*) { __builtin_trap(); }
void spin_block(BlockFrame*) {
  while (true) asm volatile("pause");
}
void jump_block(BlockFrame* block) {
  reinterpret_cast<void (*)()>(param<std::uintptr_t>(block, 0))();
}
// (void* to, const void* from, size_t bytes)
void copy_block(BlockFrame* block) {
  memcpy(param<void*>(block, 0), param<const void*>(block, 8), param<std::size_t>(block, 16));
}
void assert_block(BlockFrame* block) {
  td_rt_assert_fail(block, 0, 2, "x > 0", "kernel.cu", 7, "void check(int)");
}

__attribute__((noinline)) int descend(volatile int* parent, int depth) {
  volatile int frame[64];
  frame[0] = parent ? parent[0] + depth : depth;
  return descend(frame, depth + 1) + frame[1];
}
void deep_block(BlockFrame*) { descend(nullptr, 0); }

// (int* errors): half a megabyte of local memory
void local_block(BlockFrame* block) {
  volatile int local[1 << 17];
  for (int i = 0; i < 1 << 17; ++i) local[i] = i;
  for (int i = 0; i < 1 << 17; ++i)
    if (local[i] != i) __atomic_fetch_add(param<int*>(block, 0), 1, __ATOMIC_RELAXED);
}

// Device variables: int counter at 0, a pointer to it at 8.
void variables_block(BlockFrame* block) {
  auto* base = block->launch->globals;
  **reinterpret_cast<int**>(base + 8) += 5;
}

// (float* out, int i): constants, data and external functions of the object itself
void functions_block(BlockFrame* block) {
  auto* out = param<float*>(block, 0);
  int i = param<volatile int>(block, 8);
  out[0] = sinf(0.5f) + static_cast<float>(pow(static_cast<double>(i), 3.0));
  out[1] = static_cast<float>(kTable[i & 3]);
  out[2] = static_cast<float>(mutable_data[i & 3]++);
  out[3] = static_cast<float>(zeroed[i]++);
}

// (const char* format): arguments int 7, 8 bytes -3, double 1.5, string "abc"
void print_block(BlockFrame* block) {
  struct {
    int a;
    long long b;
    double c;
    const char* d;
    int e;
  } arguments = {7, -3, 1.5, "abc", 'z'};
  td_rt_printf(block, param<const char*>(block, 0), &arguments);
}

// (unsigned char bytes[600], int* out): sum of a large parameter
void large_params_block(BlockFrame* block) {
  int sum = 0;
  for (int i = 0; i < 600; ++i) sum += block->launch->params[i];
  *param<int*>(block, 600) = sum;
}

// (int* out): facts of the launch, as the kernel sees them
void facts_block(BlockFrame* block) {
  auto* out = param<int*>(block, 0) + linear_block(block) * 12;
  for (int i = 0; i < 3; ++i) {
    out[i] = static_cast<int>(block->block_idx[i]);
    out[3 + i] = static_cast<int>(block->launch->grid[i]);
    out[6 + i] = static_cast<int>(block->launch->block[i]);
  }
  out[9] = static_cast<int>(block->launch->dynamic_shared);
  out[10] = static_cast<int>(block->worker);
  auto address = reinterpret_cast<std::uintptr_t>(block->shared);
  // The slack on both sides can be read and written.
  volatile unsigned char* edge = block->shared;
  edge[-1024] = edge[-1024];
  edge[block->launch->static_shared + block->launch->dynamic_shared + 1023] = 0;
  out[11] = static_cast<int>(address % 256);
}

// ---- with barriers ----

// (int* out): out[t] = the value that thread n-1-t stored in shared memory
void mirror_warp(BlockFrame* block, std::uint32_t first) {
  int* shared = shared_ints(block);
  std::uint32_t n = block->launch->threads;
  auto* out = param<int*>(block, 0) + static_cast<std::size_t>(linear_block(block)) * n;
  for (std::uint32_t t = first; t < warp_end(block, first); ++t)
    shared[t] = static_cast<int>(linear_block(block) * 1000000 + t);
  td_rt_barrier(block, warp_mask(block, first));
  for (std::uint32_t t = first; t < warp_end(block, first); ++t) out[t] = shared[n - 1 - t];
}

// (int* errors, int rounds, int exit_every): each warp counts itself before each barrier; a warp
// whose number is a multiple of exit_every leaves after as many rounds as its number
void rounds_warp(BlockFrame* block, std::uint32_t first) {
  volatile int* arrived = shared_ints(block);
  auto* errors = param<int*>(block, 0);
  int rounds = param<int>(block, 8), exit_every = param<int>(block, 12);
  int warp = static_cast<int>(first / 32),
      warps = static_cast<int>((block->launch->threads + 31) / 32);
  double keep[8];  // lives across the barriers, on the warp's stack
  for (int i = 0; i < 8; ++i) keep[i] = warp * 8 + i;
  if (warp == 0)
    for (int r = 0; r < rounds; ++r) arrived[r] = 0;
  td_rt_barrier(block, warp_mask(block, first));
  for (int round = 0; round < rounds; ++round) {
    if (exit_every && warp % exit_every == 0 && round == warp) return;
    arrived[round] = arrived[round] + 1;
    td_rt_barrier(block, warp_mask(block, first));
    int expected = 0;
    for (int w = 0; w < warps; ++w) expected += !(exit_every && w % exit_every == 0 && w <= round);
    if (arrived[round] != expected) __atomic_fetch_add(errors, 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < 8; ++i)
    if (keep[i] != warp * 8 + i) __atomic_fetch_add(errors, 1, __ATOMIC_RELAXED);
}

// (unsigned* out, int rounds): out[3 round + kind] from warp 0; the predicate of thread t in round
// r is (t + r) % 3 == 0
void votes_warp(BlockFrame* block, std::uint32_t first) {
  auto* out = param<std::uint32_t*>(block, 0);
  auto* errors = param<int*>(block, 16);
  int rounds = param<int>(block, 8);
  for (int round = 0; round < rounds; ++round) {
    std::uint32_t predicate = 0;
    for (std::uint32_t t = first; t < warp_end(block, first); ++t)
      if ((t + static_cast<std::uint32_t>(round)) % 3 == 0) predicate |= 1u << (t - first);
    for (std::uint32_t kind = 0; kind < 3; ++kind) {
      std::uint32_t mine = td_rt_barrier_reduce(block, warp_mask(block, first), predicate, kind);
      if (first == 0) out[round * 3 + static_cast<int>(kind)] = mine;
      // Every warp must see the same answer.
      shared_ints(block)[first / 32] = static_cast<int>(mine);
      td_rt_barrier(block, warp_mask(block, first));
      if (shared_ints(block)[0] != static_cast<int>(mine))
        __atomic_fetch_add(errors, 1, __ATOMIC_RELAXED);
      td_rt_barrier(block, warp_mask(block, first));
    }
  }
}

// (int* errors): the same in each warp, across a barrier
void local_warp(BlockFrame* block, std::uint32_t first) {
  volatile int local[1 << 17];
  for (int i = 0; i < 1 << 17; ++i) local[i] = i + static_cast<int>(first);
  td_rt_barrier(block, warp_mask(block, first));
  for (int i = 0; i < 1 << 17; ++i)
    if (local[i] != i + static_cast<int>(first))
      __atomic_fetch_add(param<int*>(block, 0), 1, __ATOMIC_RELAXED);
}

// (char* base, long long offset, int warp): a store by one warp after a barrier
void poke_warp(BlockFrame* block, std::uint32_t first) {
  td_rt_barrier(block, warp_mask(block, first));
  if (first / 32 == param<std::uint32_t>(block, 16))
    param<volatile char*>(block, 0)[param<long long>(block, 8)] = 1;
  td_rt_barrier(block, warp_mask(block, first));
}

}  // extern "C"
