// Faults of kernels: each becomes a CUDA error of the context, and the process goes on.
#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

namespace td::softdev::test {

namespace {

class Faults : public Soft {
 protected:
  std::string fault() { return td_soft_last_fault(); }
  CUresult poke(CUdeviceptr base, long long offset, int block = 0, unsigned grid = 1) {
    CUresult launched = launch("poke", grid, 32, nullptr, base, offset, block);
    return launched != CUDA_SUCCESS ? launched : td_soft_cuCtxSynchronize();
  }
};

TEST_F(Faults, AnIndexErrorOfAnySizeIsAnIllegalAddress) {
  const long long sizes[] = {256,       4096,     65536, 1ll << 20, 1ll << 28, (1ll << 31) - 1,
                             1ll << 33, 1ll << 35};
  for (long long miss : sizes)
    for (int side : {-1, 1}) {
      CUdeviceptr a = alloc(4096);
      ASSERT_EQ(poke(a, 4095), CUDA_SUCCESS);
      EXPECT_EQ(poke(a, side > 0 ? 4096 + miss : -miss - 4096), CUDA_ERROR_ILLEGAL_ADDRESS)
          << side * miss;
      recover();
    }
}

TEST_F(Faults, TheTextNamesKernelBlockAndTheMiss) {
  CUdeviceptr a = alloc(40000);
  EXPECT_EQ(poke(a, 40000 + 1000, 5, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(fault().find("kernel poke, block (5, 0, 0)"), std::string::npos) << fault();
  EXPECT_NE(fault().find("1000 bytes past the end of the allocation of 40000 bytes"),
            std::string::npos)
      << fault();
  recover();
}

TEST_F(Faults, UseAfterFree) {
  CUdeviceptr a = alloc(100000);
  ASSERT_EQ(poke(a, 0), CUDA_SUCCESS);
  OK(cuMemFree_v2(a));
  EXPECT_EQ(poke(a, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  recover();
}

TEST_F(Faults, ErrorsAreSticky) {
  CUdeviceptr a = alloc(1000), address = 0;
  EXPECT_EQ(poke(8, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
  char host[8];
  EXPECT_EQ(td_soft_cuMemFree_v2(a), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(td_soft_cuMemAlloc_v2(&address, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(td_soft_cuMemcpyDtoH_v2(host, a, 8), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(td_soft_cuStreamQuery(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(td_soft_cuModuleUnload(module_), CUDA_ERROR_ILLEGAL_ADDRESS);
  int value = 0;
  OK(cuDeviceGetAttribute(&value, WARP_SIZE, 0));
  recover();
  CUdeviceptr fresh = alloc(1000);
  EXPECT_EQ(poke(fresh, 999), CUDA_SUCCESS);
}

TEST_F(Faults, EachKindHasItsCode) {
  CUdeviceptr out = alloc(64);
  struct Row {
    const char* kernel;
    CUresult code;
    const char* text;
  };
  const Row rows[] = {
      {"trap", CUDA_ERROR_LAUNCH_FAILED, "__trap() at kernel.cu:42 (trap), thread (0, 0, 0)"},
      {"illegal", CUDA_ERROR_ILLEGAL_INSTRUCTION, "illegal instruction"},
      {"deep", CUDA_ERROR_HARDWARE_STACK_ERROR, "stack overflow"},
      {"assert", CUDA_ERROR_ASSERT, "assert"},
  };
  for (const Row& row : rows) {
    ASSERT_EQ(launch(row.kernel, 3, 32, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(td_soft_cuCtxSynchronize(), row.code) << row.kernel;
    EXPECT_NE(fault().find(row.text), std::string::npos) << fault();
    recover();
  }
  out = alloc(64);
  ASSERT_EQ(launch("divide", 1, 1, nullptr, out, 7, 2), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(out, 1)[0], 3);
  ASSERT_EQ(launch("divide", 1, 1, nullptr, out, 7, 0), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(fault().find("division by zero"), std::string::npos) << fault();
  recover();
  ASSERT_EQ(launch("jump", 1, 1, nullptr, CUdeviceptr{8}), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_INVALID_PC);
  recover();
  EXPECT_EQ(poke(0x8000000000000000ull, 0), CUDA_ERROR_ILLEGAL_ADDRESS);  // not a canonical address
  recover();
  out = alloc(64);
  ASSERT_EQ(launch("copy", 1, 1, nullptr, out, CUdeviceptr{16}, CUdeviceptr{8}), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  recover();
  ASSERT_EQ(launch("print", 1, 1, nullptr, CUdeviceptr{16}), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  recover();
}

TEST_F(Faults, AssertsPrintCudasLine) {
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(launch("assert", 1, 32, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_ASSERT);
  EXPECT_EQ(
      ::testing::internal::GetCapturedStderr(),
      "kernel.cu:7: void check(int): block: [0,0,0], thread: [1,0,0] Assertion `x > 0` failed.\n");
  recover();
}

TEST_F(Faults, OneThousandFaultsInARow) {
  for (int i = 0; i < 1000; ++i) {
    CUdeviceptr a = alloc(1000);
    if (i % 2) {
      ASSERT_EQ(launch("poke_barrier", 4, 256, nullptr, a, 1ll << 30, i % 8), CUDA_SUCCESS);
      ASSERT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    } else {
      ASSERT_EQ(poke(a, 1ll << 30, i % 16, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    recover();
    if (i % 50) continue;
    // Stacks and shared memory are whole again.
    CUdeviceptr out = alloc(256 * sizeof(int));
    ASSERT_EQ(launch("mirror", 1, 256, nullptr, out), CUDA_SUCCESS);
    std::vector<int> got = download<int>(out, 256);
    for (int t = 0; t < 256; ++t) ASSERT_EQ(got[t], 255 - t);
  }
}

TEST_F(Faults, AFaultStopsOtherBlocksAndLaterWork) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "ThreadSanitizer holds signals back until the next call, and an endless loop makes none";
#endif
  CUdeviceptr counts = alloc(4);
  void* params[] = {&counts};
  CUfunction count = kernel("count");
  CUstream other = nullptr;
  OK(cuStreamCreateWithPriority(&other, STREAM_NON_BLOCKING, 0));
  // One kernel never ends by itself; the fault of another one ends it.
  ASSERT_EQ(launch("spin", 1, 1, other), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(launch("trap", 1, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(td_soft_cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr),
            CUDA_ERROR_LAUNCH_FAILED);
  recover();
  // A grid of nearly endless size is cut short as well.
  CUdeviceptr a = alloc(100);
  EXPECT_EQ(poke(a, 1ll << 40, 10, 0x7fffffff), CUDA_ERROR_ILLEGAL_ADDRESS);
  recover();
}

TEST_F(Faults, PrintedTextComesAtSynchronisation) {
  std::string format = "%d %lld %5.2f|%s|%c 100%%\n";
  CUdeviceptr text = alloc(format.size() + 1);
  OK(cuMemcpyHtoD_v2(text, format.c_str(), format.size() + 1));
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(launch("print", 2, 1, nullptr, text), CUDA_SUCCESS);
  OK(cuCtxSynchronize());
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "7 -3  1.50|abc|z 100%\n7 -3  1.50|abc|z 100%\n");
}

// A callback is told that the context has failed; a host function behind a fault is not called.
TEST_F(Faults, CallbacksAreToldOfTheFault) {
  struct Seen {
    std::atomic<bool> go{false};
    std::atomic<int> status{-1}, host_calls{0};
  } seen;
  CUdeviceptr a = alloc(4096);
  OK(cuLaunchHostFunc(
      nullptr,
      [](void* data) {
        auto& seen = *static_cast<Seen*>(data);
        while (!seen.go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      &seen));
  EXPECT_EQ(launch("poke", 1, 32, nullptr, a, 1ll << 20, 0), CUDA_SUCCESS);
  OK(cuStreamAddCallback(
      nullptr,
      [](CUstream, CUresult status, void* data) { static_cast<Seen*>(data)->status = status; },
      &seen, 0));
  OK(cuLaunchHostFunc(nullptr, [](void* data) { ++static_cast<Seen*>(data)->host_calls; }, &seen));
  seen.go = true;
  EXPECT_EQ(td_soft_cuStreamSynchronize(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(seen.status, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(seen.host_calls, 0);
  recover();
}

}  // namespace

}  // namespace td::softdev::test
