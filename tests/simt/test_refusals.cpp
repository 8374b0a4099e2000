// What cannot run is refused with the user's line; what goes wrong at run time is reported, not
// ignored.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace simt_test {
namespace {

class Checks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Checks, testing::ValuesIn(widths));

class Arrivals : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Simt, Arrivals, testing::ValuesIn(barrier_modes));

TEST(Simt, RefusalsNameTheLine) {
  struct Case {
    const char *source, *place, *word;
  };
  const Case cases[] = {
      {"__device__ int f(int x) {\n if (x > 99)\n  asm volatile(\"exit;\");\n return x < 2 ? x : "
       "f(x - "
       "1) + f(x - 2); }\nextern \"C\" __global__ void k(int* p) { *p = f(*p); }",
       "kernel.cu:3", "exit"},
      {"extern \"C\" __device__ int mystery(int);\nextern \"C\" __global__ void k(int* p) { *p = "
       "mystery(*p); }",
       "kernel.cu:2", "mystery"},
  };
  for (const Case& c : cases) {
    auto reply = lower(c.source, 0);
    EXPECT_FALSE(reply.ok);
    EXPECT_NE(reply.error.find(c.place), std::string::npos) << reply.error;
    EXPECT_NE(reply.error.find(c.word), std::string::npos) << reply.error;
  }
  td::softdev::LowerRequest request;
  request.bitcode = "not bitcode";
  td::softdev::LowerReply reply;
  td_cc_lower(request, reply);
  EXPECT_FALSE(reply.ok);
  EXPECT_NE(reply.error.find("cannot be read"), std::string::npos) << reply.error;
}

// What one kernel does not get, the others of its image do.
TEST(Simt, ARefusedKernelLeavesTheOthersAlone) {
  Program program(R"(
    extern "C" __global__ void calls(int* p) { *p = __nvvm_read_ptx_sreg_pm0(); }
    extern "C" __global__ void good(int* p) { p[threadIdx.x] = threadIdx.x * 2; })",
                  0);
  ASSERT_EQ(program.reply().kernels.size(), 1u);
  std::vector<int> out(40, -1);
  program.launch("good", {1}, {40}, 0, out.data());
  for (int t = 0; t < 40; ++t) ASSERT_EQ(out[t], 2 * t);
  ASSERT_EQ(program.reply().refused.size(), 1u);
  const auto& [name, why] = program.reply().refused[0];
  EXPECT_EQ(name, "calls");
  EXPECT_NE(why.find("kernel.cu:2: the device function `llvm.nvvm.read.ptx.sreg.pm0`"),
            std::string::npos)
      << why;
}

// A check that holds ends nothing, wherever it stands.
TEST_P(Checks, InLoopsThatHold) {
  Program program(R"(
    extern "C" __global__ void run(const int* in, int* out, int n) {
      int i = threadIdx.x, sum = 0;
      for (int k = 0; k < n; ++k) {
        if (in[(i + k) % 64] < 0) __assertfail("in >= 0", "some.cu", 5, "run", 1);
        if (in[i] > 1000 + k) __builtin_trap();
        sum += in[(i + k) % 64];
      }
      out[i] = sum;
    }
    extern "C" __global__ void one(const int* in, int* out, int n) {
      int i = threadIdx.x, sum = 0;
      for (int k = 0; k < n; ++k) {
        if (in[i] < 0) __assertfail("in >= 0", "some.cu", 9, "one", 1);
        sum = sum * 3 + 1;
      }
      out[i] = sum;
    })",
                  GetParam());
  std::vector<int> in(64), out(64);
  for (int i = 0; i < 64; ++i) in[i] = i;
  Outcome outcome = program.launch("run", {1}, {64}, 0, in.data(), out.data(), 20);
  EXPECT_EQ(outcome.trap, 0u);
  EXPECT_EQ(outcome.assertion, "");
  for (int i = 0; i < 64; ++i) {
    int sum = 0;
    for (int k = 0; k < 20; ++k) sum += (i + k) % 64;
    ASSERT_EQ(out[i], sum) << "thread " << i;
  }
  outcome = program.launch("one", {1}, {64}, 0, in.data(), out.data(), 3);
  EXPECT_EQ(outcome.assertion, "");
  EXPECT_EQ(out, std::vector<int>(64, 13));
  in[63] = -1;
  outcome = program.launch("one", {1}, {64}, 0, in.data(), out.data(), 3);
  EXPECT_EQ(outcome.assertion, "some.cu:9: in >= 0");
  outcome = program.launch("run", {1}, {64}, 0, in.data(), out.data(), 20);
  EXPECT_EQ(outcome.assertion, "some.cu:5: in >= 0");
}

TEST(Simt, TrapsAssertionsAndOutput) {
  Program program(R"(
    extern "C" __global__ void trap(int* p, int n) {
      int i = threadIdx.x;
      p[i] = i;
      if (i == n)
        __builtin_trap();
      p[i] = -i;
    }
    extern "C" __global__ void check(int* p, int n) {
      if (threadIdx.x >= n) __assertfail("p != 0", "some.cu", 77, "check", 1);
      p[threadIdx.x] = 1;
    }
    extern "C" __global__ void print(int n) {
      struct { int value; } arguments = {(int)threadIdx.x * 10};
      if (threadIdx.x % 2 == 1 && threadIdx.x < n) vprintf("lane %d", (const char*)&arguments);
    })",
                  0);
  std::vector<int> p(64, 100);
  Outcome outcome = program.launch("trap", {1}, {64}, 0, p.data(), 40);
  EXPECT_EQ(outcome.trap, 1u);
  EXPECT_EQ(outcome.trap_place, "kernel.cu:6 (trap)");
  outcome = program.launch("trap", {1}, {64}, 0, p.data(), 64);
  EXPECT_EQ(outcome.trap, 0u);
  EXPECT_EQ(p[63], -63);
  outcome = program.launch("check", {1}, {32}, 0, p.data(), 31);
  EXPECT_EQ(outcome.assertion, "some.cu:77: p != 0");
  outcome = program.launch("print", {1}, {32}, 0, 8);
  EXPECT_EQ(outcome.printed,
            (std::vector<std::string>{"lane %d|10", "lane %d|30", "lane %d|50", "lane %d|70"}));
}

TEST_P(Arrivals, WhoReturnsIsNotWaitedFor) {
  Program program(R"(
    extern "C" __global__ void early(int* p, int n) {
      __shared__ int s[128];
      int i = threadIdx.x;
      if (i >= n) return;
      s[i] = p[i];
      __syncthreads();
      p[i] = s[n - 1 - i];
    }
    extern "C" __global__ void both(int* p, int n) {
      __shared__ int s[128];
      int i = threadIdx.x;
      s[i] = p[i];
      if (n > 5) __syncthreads();
      else p[i] = 0;
      if (i / 32 == 1) { s[i] += 1; __syncthreads(); s[i] += 2; } else __syncthreads();
      p[i] = s[i ^ 32];
    })",
                  std::max(GetParam(), 0), GetParam() < 0);
  std::vector<int> p(128);
  Outcome outcome;
  for (int n : {1, 31, 32, 33, 64, 100}) {
    for (int i = 0; i < 128; ++i) p[i] = i;
    outcome = program.launch("early", {1}, {128}, 0, p.data(), n);
    ASSERT_EQ(outcome.trap, 0u);
    for (int i = 0; i < 128; ++i) ASSERT_EQ(p[i], i < n ? n - 1 - i : i);
  }
  for (int i = 0; i < 128; ++i) p[i] = i;
  outcome = program.launch("both", {1}, {64}, 0, p.data(), 9);
  ASSERT_EQ(outcome.trap, 0u);
  for (int i = 0; i < 64; ++i)
    ASSERT_TRUE(p[i] == (i ^ 32) + 1 || p[i] == (i ^ 32) || p[i] == (i ^ 32) + 3) << p[i];
}

TEST(Simt, Metadata) {
  Program program(R"(
    extern "C" __global__ __launch_bounds__(192) void k(double* a, char b, float* c) {
      __shared__ float s[3];
      __shared__ double d[5];
      extern __shared__ int more[];
      s[threadIdx.x % 3] = b; d[threadIdx.x % 5] = b; more[threadIdx.x] = 7;
      a[threadIdx.x] = s[0] + d[1] + more[threadIdx.x];
      c[0] = 0;
    })",
                  0);
  const auto& kernel = program.kernel("k");
  EXPECT_EQ(kernel.max_threads, 192u);
  ASSERT_EQ(kernel.params.size(), 3u);
  EXPECT_EQ(kernel.params[1].offset, 8u);
  EXPECT_EQ(kernel.params[2].offset, 16u);
  EXPECT_EQ(kernel.param_bytes, 24u);
  EXPECT_GE(kernel.static_shared, 52u);
  EXPECT_LE(kernel.static_shared, 80u);
  EXPECT_FALSE(kernel.has_barrier);
  EXPECT_GT(kernel.stack_bytes, 0u);
}

}  // namespace
}  // namespace simt_test
