// What lives across barriers, and where warps go on: each case is computed again on the host,
// thread by thread and phase by phase.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace simt_test {
namespace {

class Phases : public testing::TestWithParam<int> {
 protected:
  Program program(const std::string& source) const {
    return Program(source, std::max(GetParam(), 0), GetParam() < 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Simt, Phases, testing::ValuesIn(barrier_modes));

constexpr unsigned block_sizes[] = {1, 31, 32, 33, 100, 256};

// A value of the block (step), a function of the thread (t * 3), and a thread's own (mine) live
// across barriers in two nested loops; the way differs from round to round, alike for all threads.
TEST_P(Phases, ValuesOfThreeKindsInNestedLoops) {
  Program kernel = program(R"(
    extern "C" __global__ void rotate(const int* in, int* out, int rounds) {
      __shared__ int s[256];
      int t = threadIdx.x, n = blockDim.x, mine = in[t], thrice = t * 3;
      s[t] = mine;
      __syncthreads();
      int step = 1;
      for (int r = 0; r < rounds; ++r) {
        for (int k = 0; k <= r; ++k) {
          int next = s[(t + step) % n];
          __syncthreads();
          s[t] = next + mine;
          step = step * 2 + 1;
          if (step > 40) step -= 39;
          __syncthreads();
        }
        if (r & 1) {
          mine ^= s[n - 1 - t];
          __syncthreads();
          s[t] += thrice;
        } else {
          mine += s[t] >> 1;
        }
        __syncthreads();
      }
      out[t] = mine * 5 + s[t] + step;
    })");
  for (unsigned n : block_sizes)
    for (int rounds : {0, 1, 4}) {
      std::vector<int> in(n), out(n, -1), mine(n), s(n), old(n);
      for (unsigned t = 0; t < n; ++t) in[t] = int(t * 7 + 3) % 64;
      s = mine = in;
      int step = 1;
      for (int r = 0; r < rounds; ++r) {
        for (int k = 0; k <= r; ++k) {
          old = s;
          for (unsigned t = 0; t < n; ++t) s[t] = old[(t + unsigned(step)) % n] + mine[t];
          step = step * 2 + 1;
          if (step > 40) step -= 39;
        }
        old = s;
        for (unsigned t = 0; t < n; ++t) {
          if (r & 1) {
            mine[t] ^= old[n - 1 - t];
            s[t] += int(t) * 3;
          } else {
            mine[t] += s[t] >> 1;
          }
        }
      }
      kernel.launch("rotate", {1}, {n}, 0, in.data(), out.data(), rounds);
      for (unsigned t = 0; t < n; ++t)
        ASSERT_EQ(out[t], mine[t] * 5 + s[t] + step) << n << " threads, " << rounds << " rounds";
    }
}

// The number of rounds is found out at the barrier itself.
TEST_P(Phases, RoundsUntilNobodyWantsMore) {
  Program kernel = program(R"(
    extern "C" __global__ void settle(int* values, int* rounds) {
      __shared__ int s[256];
      int t = threadIdx.x, n = blockDim.x, count = 0;
      s[t] = values[t];
      __syncthreads();
      int again = 1;
      while (again) {
        int left = t ? s[t - 1] : s[t];
        __syncthreads();
        bool grows = left > s[t];
        if (grows) s[t] = left;
        ++count;
        again = __syncthreads_or(grows);
      }
      values[t] = s[t];
      rounds[t] = count;
    })");
  for (unsigned n : block_sizes) {
    std::vector<int> values(n), rounds(n, -1), largest(n);
    for (unsigned t = 0; t < n; ++t) values[t] = int(t * 37 + 11) % 101;
    int passes = 1;
    std::vector<int> s = values;
    for (bool grows = true; grows; passes += grows) {
      std::vector<int> old = s;
      grows = false;
      for (unsigned t = 1; t < n; ++t)
        if (old[t - 1] > s[t]) {
          s[t] = old[t - 1];
          grows = true;
        }
    }
    kernel.launch("settle", {1}, {n}, 0, values.data(), rounds.data());
    EXPECT_EQ(values, s);
    EXPECT_EQ(rounds, std::vector<int>(n, passes)) << n;
  }
}

// Warps take different ways between barriers, in a loop of their own length too, and what they
// found there is used behind the next barrier.
TEST_P(Phases, WarpsOnDifferentWaysBetweenBarriers) {
  Program kernel = program(R"(
    extern "C" __global__ void ways(const int* in, int* out, int limit) {
      __shared__ int s[256];
      int t = threadIdx.x, warp = t / 32, n = blockDim.x, found = -1;
      s[t] = in[t];
      __syncthreads();
      int k = 0;
      while (k < warp * 3 && s[(t + k) % n] != limit) ++k;
      int last = k * 2;
      if (warp & 1) found = s[n - 1 - t] + last;
      __syncthreads();
      s[t] = found + k;
      __syncthreads();
      if (warp == 2) {
        out[t] = s[0] - last;
        return;
      }
      out[t] = s[n - 1 - t] + found;
    })");
  for (unsigned n : block_sizes) {
    const int limit = 13;
    std::vector<int> in(n), out(n, -1), s(n), found(n, -1), k(n);
    for (unsigned t = 0; t < n; ++t) in[t] = int(t * 5 + 1) % 61;
    for (unsigned t = 0; t < n; ++t) {
      int warp = int(t) / 32;
      while (k[t] < warp * 3 && in[(t + unsigned(k[t])) % n] != limit) ++k[t];
      if (warp & 1) found[t] = in[n - 1 - t] + 2 * k[t];
      s[t] = found[t] + k[t];
    }
    kernel.launch("ways", {1}, {n}, 0, in.data(), out.data(), limit);
    for (unsigned t = 0; t < n; ++t)
      ASSERT_EQ(out[t], t / 32 == 2 ? s[0] - 2 * k[t] : s[n - 1 - t] + found[t]) << n << " " << t;
  }
}

// A parameter decides which barriers there are.
TEST_P(Phases, BarriersThatAParameterChooses) {
  Program kernel = program(R"(
    extern "C" __global__ void choose(int* values, int way, int rounds) {
      __shared__ int s[256];
      int t = threadIdx.x, n = blockDim.x, x = values[t];
      if (way > 0) {
        s[t] = x;
        __syncthreads();
        x += s[n - 1 - t];
        if (way > 1) {
          for (int r = 0; r < rounds; ++r) {
            __syncthreads();
            s[t] = x + r;
            __syncthreads();
            x += s[(t + 1) % n];
          }
        }
      } else {
        x = -x;
      }
      values[t] = x;
    })");
  for (unsigned n : block_sizes)
    for (int way : {0, 1, 2}) {
      const int rounds = 3;
      std::vector<int> x(n);
      for (unsigned t = 0; t < n; ++t) x[t] = int(t * 11 + 2) % 97;
      std::vector<int> values = x, s = x;
      for (unsigned t = 0; t < n; ++t) x[t] = way > 0 ? x[t] + s[n - 1 - t] : -x[t];
      for (int r = 0; r < (way > 1 ? rounds : 0); ++r) {
        for (unsigned t = 0; t < n; ++t) s[t] = x[t] + r;
        for (unsigned t = 0; t < n; ++t) x[t] += s[(t + 1) % n];
      }
      kernel.launch("choose", {1}, {n}, 0, values.data(), way, rounds);
      EXPECT_EQ(values, x) << n << " threads, way " << way;
    }
}

}  // namespace
}  // namespace simt_test
