// Which kernels run in fair mode (progress.h): decided from the code, and never for those that need
// vector speed without waiting.
#include <gtest/gtest.h>

#include "harness.h"

namespace simt_test {
namespace {

using td::softdev::Fairness;

struct Row {
  const char *name, *body;
  Fairness in_rows, elsewhere;
};

constexpr Fairness none = Fairness::none, warps = Fairness::warps, threads = Fairness::threads;

const Row rows[] = {
    // Nobody waits.
    {"grid_stride", "for (int i = t; i < n; i += 64) p[i] = i;", none, none},
    {"tree",
     "__shared__ int s[64]; s[t] = p[t]; if (t < 9) s[t] += 1; __syncthreads();"
     "for (int d = 32; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); } p[t] = "
     "s[0];",
     none, none},
    {"early_return",
     "if (t >= n) return; __shared__ int s[64]; s[t] = 1; __syncthreads(); p[t] = s[t ^ 1];", none,
     none},
    {"early_return_in_loop",
     "for (int i = 0; i < n; ++i) { if (p[t] == i) return; __syncthreads(); p[t + 64] = i; }", none,
     none},
    {"retry",
     "int old = *(volatile int*)p, seen; do { seen = old; old = cas(p, seen, seen + t); } "
     "while (old != seen);",
     none, none},
    {"queue", "while (true) { int i = atomic_add(p, 1); if (i >= n) break; p[i + 1] = i; }", none,
     none},
    {"probe",
     "int at = t; while (true) { int old = cas(p + at, 0, t + 1); if (old == 0) break; "
     "at = (at + 1) % n; } p[n + at] = t;",
     none, none},
    {"lock_given_back",
     "bool done = false; while (!done) { if (cas(p, 0, 1) == 0) { q[0] += 1; "
     "__atomic_exchange_n(p, 0, 0); done = q[0] != n; } }",
     none, none},
    {"warp_reduce",
     "int v = p[t]; for (int d = 16; d > 0; d /= 2) v += shfl_down(v, d); __shared__ int s[2];"
     "if (t % 32 == 0) s[t / 32] = v; __syncthreads(); if (t < 32) { v = t < 2 ? s[t] : 0; "
     "for (int d = 16; d > 0; d /= 2) v += shfl_down(v, d); if (t == 0) p[0] = v; }",
     none, none},
    {"arms_with_own_masks",
     "if (t < 16) p[t] = __nvvm_shfl_sync_idx_i32(0xffff, t, 3, 31); "
     "else p[t] = __nvvm_shfl_sync_idx_i32(0xffff0000, t, 19, 31);",
     none, none},
    {"barrier_for_a_warp",
     "if (t < 64) { p[t] = 1; __syncthreads(); q[t] = p[t ^ 1]; } else { __syncthreads(); } p[t] = "
     "2;",
     none, threads},
    {"walk", "volatile int* f = p; for (int k = t; k < n; k += 64) if (f[k] > 3) q[k] = f[k + n];",
     none, none},
    // Warps and blocks wait for one another.
    {"ready_in_turn",
     "volatile int* f = p; for (int k = t; k < n;) if (f[k] != 0) { f[2 * k + 1] = 1; k += 64; }",
     warps, warps},
    {"rounds_until_all_are_ready",
     "volatile int* f = p; int missing; do { missing = 0; for (int k = t; k < n; k += 64) "
     "if (f[k] & 1) { if (f[q[k]] > f[k]) missing = 1; else f[k] = 2; } } while (missing);",
     warps, warps},
    {"grid_in_software",
     "__syncthreads(); if (t == 0) { atomic_add(p, 1); while (atomic_add(p, 0) < n) ; } "
     "__syncthreads(); q[t] = 1;",
     warps, warps},
    {"look_back",
     "if (t == 0) { while (((volatile int*)p)[n] == 0) ; p[n + 1] = 1; } __syncthreads(); q[t] = "
     "1;",
     warps, warps},
    {"vote_in_loop",
     "int v; do { v = ((volatile int*)p)[t]; } while (!__nvvm_vote_all_sync(~0u, v != 0)); "
     "p[t + 32] = v;",
     warps, warps},
    {"named", "__nvvm_bar_sync(1); p[t] = 1;", warps, warps},
    {"grid", "p[t] = 1; __td_grid_barrier(); q[t] = p[t ^ 1];", warps, warps},
    // Lanes wait for one another.
    {"spin", "while (cas(p, 0, 1) != 0) ; q[0] += 1; __atomic_exchange_n(p, 0, 0);", threads,
     threads},
    {"spin_shared",
     "__shared__ int lock; while (__atomic_exchange_n(&lock, 1, 0) != 0) ; "
     "__atomic_exchange_n(&lock, 0, 0);",
     threads, threads},
    {"hand_over",
     "if (t % 2) { while (*(volatile int*)p == 0) ; q[t] = 1; } else *(volatile int*)p = 1;",
     threads, threads},
    {"barrier_in_arm", "if (p[t] > n) { __syncthreads(); q[t] = 1; } q[t] += 1;", threads, threads},
    {"barriers_in_both",
     "if (t % 2) { __syncthreads(); q[t] = 1; } else { __syncthreads(); q[t] = 2; }", threads,
     threads},
    {"barrier_in_uneven_loop",
     "for (int i = 0; i < p[t]; ++i) { __syncthreads(); q[t] += 1; } q[t] += 2;", threads, threads},
    {"one_call_two_places", "if (t % 2) q[t] = shfl(t, 1); else q[t] = shfl(t, 2) + 1;", threads,
     threads},
    {"barrier_for_a_row",
     "if (__nvvm_read_ptx_sreg_tid_y() == 0) { __syncthreads(); q[t] = 1; } "
     "else q[t] = 2; q[t] += 1;",
     none, threads},
};

TEST(Progress, IsDecidedFromTheCode) {
  std::string source = R"(
    __device__ inline int cas(int* p, int expected, int desired) {
      __atomic_compare_exchange_n(p, &expected, desired, false, 0, 0);
      return expected;
    })";
  for (const Row& row : rows)
    source += std::string("\nextern \"C\" __global__ void ") + row.name +
              "(int* p, int* q, int n) { int t = __nvvm_read_ptx_sreg_tid_x(); " + row.body + " }";
  auto reply = lower(source, 0);
  ASSERT_TRUE(reply.ok) << reply.error;
  for (const Row& row : rows)
    for (const auto& kernel : reply.kernels)
      if (kernel.name == row.name) {
        EXPECT_EQ(kernel.fairness_in_rows, row.in_rows) << row.name;
        EXPECT_EQ(kernel.fairness, row.elsewhere) << row.name;
        EXPECT_EQ(kernel.thread_symbol.empty(), row.elsewhere != threads) << row.name;
        EXPECT_EQ(kernel.warp_symbol.empty(), row.in_rows == threads) << row.name;
      }
}

class Calls : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Calls, testing::ValuesIn(widths));

// Through pointers, and of functions that call themselves: from vector code, lane by lane.
TEST_P(Calls, ThroughPointersAndRecursive) {
  Program program(R"(
    typedef int (*F)(int, int);
    __device__ int add(int a, int b) { return a + b; }
    __device__ int mul(int a, int b) { return a * b; }
    __device__ int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
    __device__ F table[3] = {add, mul, gcd};
    extern "C" __global__ void k(int* p, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) p[i] = table[i % 3](i, i % 7) + gcd(i, 12) * 1000;
    })",
                  GetParam());
  EXPECT_EQ(program.kernel("k").fairness_in_rows, none);
  auto gcd = [](int a, int b) {
    while (b) {
      int rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  int n = 300;
  std::vector<int> p(n + 1, -5);
  program.launch("k", {3}, {112}, 0, p.data(), n);
  for (int i = 0; i < n; ++i) {
    int first = i % 3 == 0 ? i + i % 7 : i % 3 == 1 ? i * (i % 7) : gcd(i, i % 7);
    ASSERT_EQ(p[i], first + gcd(i, 12) * 1000) << i;
  }
  EXPECT_EQ(p[n], -5);
}

}  // namespace
}  // namespace simt_test
