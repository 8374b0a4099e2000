// Control flow that lanes take differently. Each kernel's body is also compiled for the host, one
// thread at a time: the oracle.
#include <gtest/gtest.h>

#include "harness.h"

namespace simt_test {
namespace {

class Control : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Control, testing::ValuesIn(widths));

// The same text for both sides.
#define BOTH(...) \
  struct Host {   \
    __VA_ARGS__   \
  };              \
  const char* text = #__VA_ARGS__

std::string kernel_around(const std::string& body) {
  std::string text = body;
  for (std::size_t at = 0; (at = text.find("static", at)) != std::string::npos;)
    text.replace(at, 6, "__device__");
  return text + R"(
    extern "C" __global__ void run(const int* in, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = work(i, in, n);
    })";
}

template <typename Work>
void compare(const char* body, int width, Work work) {
  Program program(kernel_around(body), width);
  int n = 997;
  Guarded in(n * 4), out(n * 4);
  for (int i = 0; i < n; ++i) in.as<int>()[i] = (i * 7919 + 13) % 101;
  program.launch("run", {8}, {128}, 0, in.as<int>(), out.as<int>(), n);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(out.as<int>()[i], work(i, in.as<int>(), n)) << "thread " << i;
}

TEST_P(Control, NestedLoopsBreakContinue) {
  BOTH(static int work(int i, const int* in, int n) {
    int sum = 0;
    for (int a = 0; a < in[i] % 7 + 1; ++a) {
      if (in[(i + a) % n] % 5 == 0) continue;
      for (int b = 0; b < in[(i + a) % n] % 6; ++b) {
        if ((a + b + i) % 11 == 0) break;
        if ((a ^ b) % 3 == 1) continue;
        sum += a * 31 + b * in[(i + b) % n];
      }
      if (sum > 2000) break;
      sum ^= a;
    }
    return sum;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, GotoOutOfTwoLoops) {
  BOTH(static int work(int i, const int* in, int n) {
    int sum = i, rounds = 0;
    for (int a = 0; a < 9; ++a) {
      for (int b = 0; b < 5 + i % 3; ++b) {
        sum += in[(i * 3 + a * b) % n];
        ++rounds;
        if (sum % 13 == 7) goto found;
        if (sum % 17 == 3) goto next;
      }
      sum -= a;
    next:
      sum += 2;
    }
    return -sum;
  found:
    return sum * 100 + rounds;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, SwitchWithFallThrough) {
  BOTH(static int work(int i, const int* in, int n) {
    int r = 0;
    for (int k = 0; k < 4; ++k) {
      switch (in[(i + k) % n] % 9) {
        case 0:
          r += 5;
          [[fallthrough]];
        case 1:
          r += 7;
          break;
        case 2:
          continue;
        case 5:
          r *= 3;
          break;
        case 7:
          return r - k;
        case 8:
          r -= in[(i * k) % n] / (k + 1);
          [[fallthrough]];
        default:
          r += 1;
      }
      r ^= k;
    }
    return r;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, WhileWithDifferentTripCounts) {
  BOTH(static int work(int i, const int*, int) {
    unsigned x = i + 1;
    int steps = 0;
    while (x != 1) {
      x = x % 2 ? 3 * x + 1 : x / 2;
      ++steps;
    }
    do {
      steps += 3;
    } while (steps % 5 != i % 5);
    return steps;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, EarlyReturnsInsideLoops) {
  BOTH(static int work(int i, const int* in, int n) {
    if (i % 10 == 3) return -1;
    for (int k = 0; k < n; ++k) {
      if (in[k] == i % 101) return k;
      if (k > 50 && i % 2) return k * 1000 + i;
    }
    return -2;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, Irreducible) {
  BOTH(static int work(int i, const int* in, int n) {
    int x = in[i], k = 0;
    if (x % 2) goto second;
  first:
    x += 3;
    ++k;
    if (k > 20) return x;
  second:
    x = x * 2 % 1009;
    ++k;
    if (x % 5 == i % 5) goto done;
    if (k < 30) goto first;
  done:
    return x * 64 + k;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, UniformLoopAroundDivergence) {
  BOTH(static int work(int i, const int* in, int n) {
    int a = 0, b = 1;
    for (int k = 0; k < n / 50; ++k) {
      int v = in[(i + k * 3) % n];
      if (v > 50) {
        if (v % 2)
          a += v;
        else
          b = b * 3 + v;
      } else if (v > 20) {
        for (int j = v; j > 20; j -= 7) a ^= j;
      }
      if (k % 4 == 2) a += b & 15;
    }
    return a * 31 + b;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, LiveOutsOfDivergentLoops) {
  BOTH(static int work(int i, const int* in, int n) {
    int last = -1, at = 0, square = 0;
    for (int k = 0;; ++k) {
      int v = in[(i + k) % n];
      square = k * k;
      if (v < 30) {
        last = v;
        at = k;
        break;
      }
      if (k == i % 12) {
        at = -k;
        break;
      }
      last = v * 2;
    }
    return last * 10000 + at * 100 + square;
  });
  compare(text, GetParam(), Host::work);
}

// The value that leaves the loop is the one from before the last back edge, which no instruction of
// the loop reads.
TEST_P(Control, LiveOutThatOnlyThePhiHolds) {
  BOTH(static int work(int i, const int* in, int n) {
    int b = in[i];
    if (b % 3 == 0) {
      int w = 0;
      while (in[(i + 2) % n] <= in[(i + 4) % n] && ++w < 12) b = i;
    } else {
      b = b * 3;
    }
    return b;
  });
  compare(text, GetParam(), Host::work);
}

TEST_P(Control, SideEffectsOnlyInLiveLanes) {
  Program program(R"(
    extern "C" __global__ void run(const int* in, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      int k = 0;
      while (in[i] > k) {
        out[i] += k;
        if (k == 40) return;
        ++k;
        if (k % 8 == 5) out[i] += 100;
      }
      out[i] *= 2;
    })",
                  GetParam());
  int n = 997;
  Guarded in(n * 4), out(n * 4);
  for (int i = 0; i < n; ++i) in.as<int>()[i] = (i * 7919 + 13) % 101;
  program.launch("run", {8}, {128}, 0, in.as<int>(), out.as<int>(), n);
  for (int i = 0; i < n; ++i) {
    int want = 0, k = 0;
    bool returned = false;
    while (in.as<int>()[i] > k) {
      want += k;
      if (k == 40) {
        returned = true;
        break;
      }
      ++k;
      if (k % 8 == 5) want += 100;
    }
    if (!returned) want *= 2;
    ASSERT_EQ(out.as<int>()[i], want) << i;
  }
}

// Reads at a page end inside divergent loops: a dead lane that still loads would fault.
TEST_P(Control, DivergentLoopsAtAPageEnd) {
  Program program(R"(
    extern "C" __global__ void sums(const int* data, const int* end, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) {
        const int* p = data + i;
        int sum = 0;
        while (p < end) { sum += *p; p += 3; }
        out[i] = sum;
      }
    }
    extern "C" __global__ void chase(const int* next, int* out, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      int at = i, steps = 0;
      while (at >= 0) { at = next[at]; ++steps; }
      out[i] = steps;
    })",
                  GetParam());
  int n = 300;
  Guarded data(n * 4), out(n * 4);
  for (int i = 0; i < n; ++i) data.as<int>()[i] = i;
  program.launch("sums", {4}, {96}, 0, data.as<int>(), data.as<int>() + n, out.as<int>(), n);
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int k = i; k < n; k += 3) sum += k;
    ASSERT_EQ(out.as<int>()[i], sum);
  }
  for (int i = 0; i < n; ++i) data.as<int>()[i] = i + 1 + i % 5 < n ? i + 1 + i % 5 : -1;
  program.launch("chase", {4}, {96}, 0, data.as<int>(), out.as<int>(), n);
  for (int i = 0; i < n; ++i) {
    int steps = 0;
    for (int at = i; at >= 0; at = data.as<int>()[at]) ++steps;
    ASSERT_EQ(out.as<int>()[i], steps);
  }
}

}  // namespace
}  // namespace simt_test
