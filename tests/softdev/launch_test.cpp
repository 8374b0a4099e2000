// Launches: limits, parameters, blocks, barriers, facts that kernels see.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "support.h"

namespace td::softdev::test {

namespace {

TEST_F(Soft, EveryThreadRunsOnce) {
  const int n = 10003;
  CUdeviceptr out = alloc(n * sizeof(int));
  OK(cuMemsetD32_v2(out, 0xffffffff, n));
  ASSERT_EQ(launch("triple", 40, 256, nullptr, out, n), CUDA_SUCCESS);
  std::vector<int> got = download<int>(out, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(got[i], 3 * i);
}

TEST_F(Soft, EveryBlockOfAGridRunsOnce) {
  struct Grid {
    unsigned x, y, z;
  };
  for (Grid g :
       {Grid{1, 1, 1}, Grid{7, 5, 3}, Grid{100000, 1, 1}, Grid{3, 1000, 2}, Grid{1, 1, 333}}) {
    std::size_t blocks = std::size_t{g.x} * g.y * g.z;
    CUdeviceptr counts = alloc(blocks * sizeof(int));
    OK(cuMemsetD32_v2(counts, 0, blocks));
    void* params[] = {&counts};
    OK(cuLaunchKernel(kernel("count"), g.x, g.y, g.z, 64, 1, 1, 0, nullptr, params, nullptr));
    for (int count : download<int>(counts, blocks)) ASSERT_EQ(count, 1);
    OK(cuMemFree_v2(counts));
  }
}

TEST_F(Soft, KernelsSeeTheLaunch) {
  CUdeviceptr out = alloc(2 * 3 * 4 * 12 * sizeof(int));
  void* params[] = {&out};
  OK(cuLaunchKernel(kernel("facts"), 2, 3, 4, 8, 4, 2, 500, nullptr, params, nullptr));
  std::vector<int> got = download<int>(out, 2 * 3 * 4 * 12);
  for (int z = 0, at = 0; z < 4; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 2; ++x, at += 12) {
        std::vector<int> row(got.begin() + at, got.begin() + at + 10),
            expected = {x, y, z, 2, 3, 4, 8, 4, 2, 500};
        EXPECT_EQ(row, expected);
        EXPECT_EQ(got[at + 11], 0);
      }
}

TEST_F(Soft, LimitsAreCudas) {
  CUfunction f = kernel("empty");
  auto result = [&](unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned shared = 0) {
    return td_soft_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, nullptr, nullptr, nullptr);
  };
  EXPECT_EQ(result(1, 1, 1, 1024, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(result(1, 1, 1, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result(1, 1, 1, 1, 1024, 1), CUDA_SUCCESS);
  EXPECT_EQ(result(1, 1, 1, 1, 1, 64), CUDA_SUCCESS);
  EXPECT_EQ(result(1, 1, 1, 1, 1, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result(1, 1, 1, 33, 32, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result(1, 1, 65535, 1, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(result(1, 1, 65536, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result(1, 65536, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result(0x80000000u, 1, 1, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  for (int zero = 0; zero < 6; ++zero) {
    unsigned d[6] = {1, 1, 1, 1, 1, 1};
    d[zero] = 0;
    EXPECT_EQ(result(d[0], d[1], d[2], d[3], d[4], d[5]), CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(result(1, 1, 1, 1, 1, 1, 48 * 1024), CUDA_SUCCESS);
  EXPECT_EQ(result(1, 1, 1, 1, 1, 1, 48 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncSetAttribute(f, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024));
  EXPECT_EQ(result(1, 1, 1, 1, 1, 1, 227 * 1024), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuFuncSetAttribute(f, FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 * 1024 + 1),
            CUDA_ERROR_INVALID_VALUE);
  f = kernel("bounded");
  EXPECT_EQ(result(1, 1, 1, 64, 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(result(1, 1, 1, 65, 1, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuCtxSynchronize());
}

TEST_F(Soft, TheLargestGridOfXIsAccepted) {
  // Checked without running two thousand million blocks: the limit is tested before the parameters.
  EXPECT_EQ(td_soft_cuLaunchKernel(kernel("count"), 2147483647, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                                   nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuLaunchKernel(kernel("empty"), 20000000, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                                   nullptr),
            CUDA_SUCCESS);
  OK(cuCtxSynchronize());
}

TEST_F(Soft, PackedParameters) {
  CUdeviceptr out = alloc(5 * sizeof(int));
  struct {
    CUdeviceptr out;
    int n;
  } packed = {out, 5};
  std::size_t size = sizeof packed;
  void* extra[] = {LAUNCH_PARAM_BUFFER_POINTER, &packed, LAUNCH_PARAM_BUFFER_SIZE, &size,
                   LAUNCH_PARAM_END};
  OK(cuLaunchKernel(kernel("triple"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(download<int>(out, 5), (std::vector<int>{0, 3, 6, 9, 12}));
  // Too short: n reads as zero, and nothing is written. Too long is refused.
  OK(cuMemsetD8_v2(out, 0xff, 20));
  size = 8;
  OK(cuLaunchKernel(kernel("triple"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(download<int>(out, 5), std::vector<int>(5, -1));
  size = 24;
  EXPECT_EQ(td_soft_cuLaunchKernel(kernel("triple"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  void* both[] = {&packed.out, &packed.n};
  EXPECT_EQ(td_soft_cuLaunchKernel(kernel("triple"), 1, 1, 1, 32, 1, 1, 0, nullptr, both, extra),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(
      td_soft_cuLaunchKernel(kernel("triple"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
      CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Soft, ParametersAreCopiedAtTheCall) {
  CUdeviceptr out = alloc(sizeof(int));
  unsigned char bytes[600];
  int expected = 0;
  for (int i = 0; i < 600; ++i) expected += bytes[i] = static_cast<unsigned char>(i * 7);
  void* params[] = {bytes, &out};
  OK(cuLaunchKernel(kernel("large_params"), 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  std::memset(bytes, 0, sizeof bytes);
  EXPECT_EQ(download<int>(out, 1)[0], expected);
}

TEST_F(Soft, BarriersWithEveryBlockSize) {
  CUdeviceptr out = alloc(3 * 1024 * sizeof(int));
  for (unsigned threads = 1; threads <= 1024;
       threads = threads < 130 ? threads + 1 : threads + 31) {
    ASSERT_EQ(launch("mirror", 3, threads, nullptr, out), CUDA_SUCCESS);
    std::vector<int> got = download<int>(out, 3 * threads);
    for (unsigned b = 0; b < 3; ++b)
      for (unsigned t = 0; t < threads; ++t)
        ASSERT_EQ(got[b * threads + t], static_cast<int>(b * 1000000 + threads - 1 - t)) << threads;
  }
}

TEST_F(Soft, ManyBlocksWithBarriers) {
  const unsigned blocks = 5000, threads = 192;
  CUdeviceptr out = alloc(blocks * threads * sizeof(int));
  ASSERT_EQ(launch("mirror", blocks, threads, nullptr, out), CUDA_SUCCESS);
  std::vector<int> got = download<int>(out, blocks * threads);
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned t = 0; t < threads; ++t)
      ASSERT_EQ(got[b * threads + t], static_cast<int>(b * 1000000 + threads - 1 - t));
}

TEST_F(Soft, BarriersCountWarpsThatHaveLeft) {
  CUdeviceptr errors = alloc(sizeof(int));
  OK(cuMemsetD32_v2(errors, 0, 1));
  for (int exit_every : {0, 1, 2, 3, 7})
    for (unsigned threads : {32u, 33u, 64u, 500u, 1024u})
      ASSERT_EQ(launch("rounds", 20, threads, nullptr, errors, 40, exit_every), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(errors, 1)[0], 0);
}

TEST_F(Soft, BarrierReductions) {
  const int rounds = 7;
  CUdeviceptr out = alloc(rounds * 3 * sizeof(unsigned)), errors = alloc(sizeof(int));
  OK(cuMemsetD32_v2(errors, 0, 1));
  for (unsigned threads : {1u, 2u, 32u, 40u, 96u, 1000u}) {
    ASSERT_EQ(launch("votes", 1, threads, nullptr, out, rounds, errors), CUDA_SUCCESS);
    std::vector<unsigned> got = download<unsigned>(out, rounds * 3);
    for (unsigned r = 0; r < rounds; ++r) {
      unsigned count = 0;
      for (unsigned t = 0; t < threads; ++t) count += (t + r) % 3 == 0;
      EXPECT_EQ(got[r * 3], count);
      EXPECT_EQ(got[r * 3 + 1], count == threads);
      EXPECT_EQ(got[r * 3 + 2], count > 0);
    }
  }
  EXPECT_EQ(download<int>(errors, 1)[0], 0);
}

TEST_F(Soft, ObjectsHaveConstantsDataAndFunctions) {
  CUdeviceptr out = alloc(4 * sizeof(float));
  for (int turn = 0; turn < 3; ++turn) {
    ASSERT_EQ(launch("functions", 1, 1, nullptr, out, 2), CUDA_SUCCESS);
    std::vector<float> got = download<float>(out, 4);
    EXPECT_FLOAT_EQ(got[0], std::sin(0.5f) + 8.0f);
    EXPECT_EQ(got[1], 30);
    EXPECT_EQ(got[2], 3 + turn);
    EXPECT_EQ(got[3], turn);
  }
}

TEST_F(Soft, StacksGrowWithTheKernel) {
  CUdeviceptr errors = alloc(sizeof(int));
  OK(cuMemsetD32_v2(errors, 0, 1));
  ASSERT_EQ(launch("local", 20, 32, nullptr, errors), CUDA_SUCCESS);
  ASSERT_EQ(launch("local_barrier", 6, 300, nullptr, errors), CUDA_SUCCESS);
  ASSERT_EQ(launch("local", 3, 32, nullptr, errors), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(errors, 1)[0], 0);
}

TEST_F(Soft, DeviceVariables) {
  CUdeviceptr counter = 0, pointer = 0;
  std::size_t bytes = 0;
  OK(cuModuleGetGlobal_v2(&counter, &bytes, module_, "counter"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(download<int>(counter, 1)[0], 3);
  OK(cuModuleGetGlobal_v2(&pointer, nullptr, module_, "pointer"));
  EXPECT_EQ(download<CUdeviceptr>(pointer, 1)[0], counter);
  ASSERT_EQ(launch("variables", 1, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(download<int>(counter, 1)[0], 8);
  EXPECT_EQ(td_soft_cuModuleGetGlobal_v2(&counter, &bytes, module_, "none"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Soft, FunctionFacts) {
  CUfunction f = kernel("facts");
  std::size_t offset = 1, size = 0;
  OK(cuFuncGetParamInfo(f, 0, &offset, &size));
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(size, 8u);
  EXPECT_EQ(td_soft_cuFuncGetParamInfo(f, 1, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  OK(cuFuncGetAttribute(&value, FUNC_SHARED_SIZE_BYTES, f));
  EXPECT_EQ(value, 1000);
  OK(cuFuncGetAttribute(&value, FUNC_CONST_SIZE_BYTES, f));
  EXPECT_EQ(value, 16);
  OK(cuFuncGetAttribute(&value, FUNC_MAX_THREADS_PER_BLOCK, kernel("bounded")));
  EXPECT_EQ(value, 64);
  const char* name = nullptr;
  OK(cuFuncGetName(&name, f));
  EXPECT_STREQ(name, "facts");
  unsigned count = 0;
  OK(cuModuleGetFunctionCount(&count, module_));
  std::vector<CUfunction> all(count);
  OK(cuModuleEnumerateFunctions(all.data(), count, module_));
  EXPECT_NE(std::find(all.begin(), all.end(), f), all.end());
  EXPECT_EQ(td_soft_cuModuleGetFunction(&f, module_, "none"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(Soft, ALaunchCostsMicroseconds) {
  CUfunction f = kernel("empty");
  auto once = [&] {
    td_soft_cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    td_soft_cuCtxSynchronize();
  };
  for (int i = 0; i < 1000; ++i) once();
  double best = 1e9;
  for (int batch = 0; batch < 20; ++batch) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 500; ++i) once();
    std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / 500);
  }
  RecordProperty("microseconds", std::to_string(best));
  std::printf("launch and synchronise: %.2f us\n", best);
  EXPECT_LT(best, 50.0);  // a guard against sleeping on the way, not a benchmark
}

}  // namespace

}  // namespace td::softdev::test
