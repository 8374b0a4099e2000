// Three devices, three workers and a time limit: what the environment sets, before the device
// starts.
#include <chrono>
#include <cstdlib>
#include <set>

#include "support.h"

namespace td::softdev::test {

namespace {

const int prepared = [] {
  setenv("TREADLE_SOFT_DEVICES", "3", 1);
  setenv("TREADLE_SOFT_WORKERS", "3", 1);
  setenv("TREADLE_LAUNCH_TIMEOUT", "0.2", 1);
  return 0;
}();

TEST_F(Soft, SeveralDevices) {
  (void)prepared;
  int count = 0, workers = 0;
  OK(cuDeviceGetCount(&count));
  ASSERT_EQ(count, 3);
  OK(cuDeviceGetAttribute(&workers, MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(workers, 3);
  CUdeviceptr mine = alloc(40);
  CUcontext second = nullptr;
  OK(cuDevicePrimaryCtxRetain(&second, 2));
  EXPECT_NE(second, context_);
  OK(cuCtxPushCurrent_v2(second));
  CUdevice device = 0;
  OK(cuCtxGetDevice(&device));
  EXPECT_EQ(device, 2);
  CUdeviceptr theirs = alloc(40);
  int ordinal = -1;
  OK(cuPointerGetAttribute(&ordinal, POINTER_DEVICE_ORDINAL, theirs));
  EXPECT_EQ(ordinal, 2);
  // A module of another context is not this one's.
  CUfunction f = nullptr;
  EXPECT_EQ(td_soft_cuModuleGetFunction(&f, module_, "empty"), CUDA_ERROR_INVALID_HANDLE);
  CUmodule module = nullptr;
  OK(cuModuleLoadDataEx(&module, image_of("kernels").data(), 0, nullptr, nullptr));
  OK(cuModuleGetFunction(&f, module, "trap"));
  OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  // The fault is that device's alone.
  CUcontext popped = nullptr;
  OK(cuCtxPopCurrent_v2(&popped));
  OK(cuMemsetD8_v2(mine, 1, 40));
  EXPECT_EQ(download<unsigned char>(mine, 40), std::vector<unsigned char>(40, 1));
  OK(cuDevicePrimaryCtxRelease_v2(2));
  EXPECT_EQ(td_soft_cuDevicePrimaryCtxRelease_v2(2), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Soft, IdentitiesDiffer) {
  std::set<std::string> ids;
  for (int device = 0; device < 3; ++device) {
    CUuuid uuid;
    OK(cuDeviceGetUuid_v2(&uuid, device));
    ids.emplace(uuid.bytes, sizeof uuid.bytes);
    char bus[32];
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
    ids.insert(bus);
  }
  EXPECT_EQ(ids.size(), 6u);
}

TEST_F(Soft, EndlessKernelsTimeOut) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "ThreadSanitizer holds signals back until the next call, and an endless loop makes none";
#endif
  for (int turn = 0; turn < 3; ++turn) {
    auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(launch("spin", 8, 32, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
    std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    EXPECT_GT(waited.count(), 0.15);
    EXPECT_LT(waited.count(), 5.0);
    EXPECT_NE(std::string(td_soft_last_fault()).find("TREADLE_LAUNCH_TIMEOUT"), std::string::npos);
    recover();
    // Short kernels are not bothered.
    CUdeviceptr out = alloc(100 * sizeof(int));
    for (int i = 0; i < 200; ++i)
      ASSERT_EQ(launch("triple", 1, 100, nullptr, out, 100), CUDA_SUCCESS);
    EXPECT_EQ(download<int>(out, 100)[99], 297);
  }
}

}  // namespace

}  // namespace td::softdev::test
