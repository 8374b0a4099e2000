// Kernels: attributes, parameters, occupancy, all forms of launches.
#include <algorithm>
#include <numeric>

#include "support.h"

namespace td::test {
namespace {

constexpr const char* kSource = R"(
extern "C" __global__ void plain(int* out, char tag, double value) { out[threadIdx.x] = tag + (int)value; }
extern "C" __global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void shared(int* out) {
  __shared__ int tile[4096];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void count(int* out) { atomicAdd(out, 1); }
extern "C" __global__ void nothing() {}
extern "C" __global__ void carved() {}
__constant__ int table[10];
extern "C" __global__ void uses_table(int* out) { out[0] = table[3]; }
)";

class Function : public DriverTest {
 protected:
  CUfunction get(const char* name) { return function_of(kSource, name); }
  int attribute(const char* name, int which) {
    int value = -1;
    EXPECT_EQ(
        api().cuFuncGetAttribute(&value, static_cast<cuda::FunctionAttribute>(which), get(name)),
        0);
    return value;
  }
  int active(const char* name, int threads, std::size_t shared) {
    int blocks = -1;
    EXPECT_EQ(
        api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, get(name), threads, shared), 0);
    return blocks;
  }
};

TEST_F(Function, Attributes) {
  EXPECT_EQ(attribute("plain", cuda::FUNC_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute("bounded", cuda::FUNC_MAX_THREADS_PER_BLOCK), 128);
  EXPECT_EQ(attribute("plain", cuda::FUNC_SHARED_SIZE_BYTES), 0);
  EXPECT_EQ(attribute("shared", cuda::FUNC_SHARED_SIZE_BYTES), 16384);
  EXPECT_GE(attribute("uses_table", cuda::FUNC_CONST_SIZE_BYTES), 40);
  EXPECT_EQ(attribute("plain", cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
  EXPECT_EQ(attribute("shared", cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152 - 16384);
  EXPECT_EQ(attribute("plain", cuda::FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
  EXPECT_EQ(attribute("plain", cuda::FUNC_CLUSTER_SIZE_MUST_BE_SET), 0);
  EXPECT_GE(attribute("plain", cuda::FUNC_BINARY_VERSION), 50);
  int value = 0;
  EXPECT_EQ(api().cuFuncGetAttribute(&value, 999, get("plain")), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncGetAttribute(&value, 0, nullptr), cuda::CUDA_ERROR_INVALID_HANDLE);
  CUfunction carved = get("carved");
  EXPECT_EQ(api().cuFuncSetAttribute(carved, cuda::FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, 50), 0);
  EXPECT_EQ(attribute("carved", cuda::FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT), 50);
  EXPECT_EQ(api().cuFuncSetAttribute(carved, cuda::FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncSetAttribute(carved, cuda::FUNC_NUM_REGS, 10),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Function, Parameters) {
  std::size_t offset = 0, size = 0;
  CUresult result = api().cuFuncGetParamInfo(get("plain"), 0, &offset, &size);
  if (result == cuda::CUDA_ERROR_NOT_SUPPORTED) GTEST_SKIP() << "older than CUDA 12.4";
  const std::size_t offsets[] = {0, 8, 16}, sizes[] = {8, 1, 8};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(api().cuFuncGetParamInfo(get("plain"), i, &offset, &size), 0);
    EXPECT_EQ(offset, offsets[i]);
    EXPECT_EQ(size, sizes[i]);
  }
  EXPECT_EQ(api().cuFuncGetParamInfo(get("plain"), 3, &offset, &size),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Function, Preferences) {
  CUfunction plain = get("plain");
  CUmodule module = nullptr;
  ASSERT_EQ(api().cuFuncGetModule(&module, plain), 0);
  EXPECT_EQ(module, module_of(kSource));
  EXPECT_EQ(api().cuFuncSetCacheConfig(plain, 2), 0);
  EXPECT_EQ(api().cuFuncSetCacheConfig(plain, 9), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncSetSharedMemConfig(plain, 1), 0);
  int state = -1;
  CUresult result = api().cuFuncLoad(plain);
  if (result == cuda::CUDA_ERROR_NOT_SUPPORTED) return;
  EXPECT_EQ(result, 0);
  EXPECT_EQ(api().cuFuncIsLoaded(&state, plain), 0);
  EXPECT_EQ(state, 1);
}

TEST_F(Function, ActiveBlocks) {
  // Limits of compute capability 9.0: 32 blocks, 2048 threads, 228 KiB with one reserved a block.
  if (device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR) != 9) GTEST_SKIP() << "not a Hopper";
  EXPECT_EQ(active("nothing", 32, 0), 32);
  EXPECT_EQ(active("nothing", 33, 0), 32);
  EXPECT_EQ(active("nothing", 128, 0), 16);
  EXPECT_EQ(active("nothing", 1024, 0), 2);
  EXPECT_EQ(active("nothing", 96, 0), 21);
  EXPECT_EQ(active("nothing", 32, 16384), 13);
  EXPECT_EQ(active("nothing", 32, 40000), 5);
  EXPECT_EQ(active("shared", 32, 0), 13);
  EXPECT_EQ(active("shared", 32, 32768), 4);
  EXPECT_EQ(active("shared", 32, 32769), 0) << "48 KiB in all until the function's limit is raised";
  EXPECT_EQ(active("bounded", 128, 0), 16);
  EXPECT_EQ(active("bounded", 256, 0), 8) << "launch bounds are not asked";
  int blocks = -1;
  EXPECT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, get("nothing"), 512,
                                                                       0, 0),
            0);
  EXPECT_EQ(blocks, 4);
  EXPECT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, get("nothing"), 32, 0),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Function, PotentialBlockSize) {
  if (device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR) != 9) GTEST_SKIP() << "not a Hopper";
  int processors = device()->attribute(cuda::MULTIPROCESSOR_COUNT), grid = 0, block = 0;
  ASSERT_EQ(api().cuOccupancyMaxPotentialBlockSize(&grid, &block, get("nothing"), nullptr, 0, 0),
            0);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * processors);
  ASSERT_EQ(api().cuOccupancyMaxPotentialBlockSize(&grid, &block, get("bounded"), nullptr, 0, 0),
            0);
  EXPECT_EQ(block, 128);
  EXPECT_EQ(grid, 16 * processors);
  ASSERT_EQ(api().cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, get("nothing"), nullptr,
                                                            0, 256, 0),
            0);
  EXPECT_EQ(block, 256);
  EXPECT_EQ(grid, 8 * processors);
  // 64 bytes of shared memory for each thread: that does not limit two blocks of 1024.
  auto shared = [](int threads) { return static_cast<std::size_t>(threads) * 64; };
  ASSERT_EQ(
      api().cuFuncSetAttribute(get("nothing"), cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536), 0);
  ASSERT_EQ(api().cuOccupancyMaxPotentialBlockSize(&grid, &block, get("nothing"), shared, 0, 0), 0);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * processors);
}

TEST_F(Function, PotentialBlockSizeLeavesTheCarveOutAside) {
  if (device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR) != 9) GTEST_SKIP() << "not a Hopper";
  CUfunction function = function_of(kSource, "carved");
  ASSERT_EQ(api().cuFuncSetAttribute(function, cuda::FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT, 5), 0);
  int blocks = 0, grid = 0, block = 0;
  ASSERT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 30000), 0);
  EXPECT_EQ(blocks, 1) << "5 percent, raised to what one block needs";
  ASSERT_EQ(api().cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 30000, 0), 0);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * device()->attribute(cuda::MULTIPROCESSOR_COUNT));
}

TEST_F(Function, AvailableSharedMemory) {
  if (device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR) != 9) GTEST_SKIP() << "not a Hopper";
  std::size_t bytes = 0;
  ASSERT_EQ(api().cuOccupancyAvailableDynamicSMemPerBlock(&bytes, get("bounded"), 1, 128), 0);
  EXPECT_EQ(bytes, 49152u) << "what a launch may ask for until the function's limit is raised";
  ASSERT_EQ(
      api().cuFuncSetAttribute(get("bounded"), cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448),
      0);
  ASSERT_EQ(api().cuOccupancyAvailableDynamicSMemPerBlock(&bytes, get("bounded"), 1, 128), 0);
  EXPECT_EQ(bytes, 232448u);
  ASSERT_EQ(api().cuOccupancyAvailableDynamicSMemPerBlock(&bytes, get("bounded"), 2, 128), 0);
  EXPECT_EQ(bytes, 233472u / 2);
}

// ---- launches ----

TEST_F(Function, CooperativeLaunch) {
  Buffer out(4);
  CUdeviceptr address = out;
  void* params[] = {&address};
  int most = active("count", 64, 0) * device()->attribute(cuda::MULTIPROCESSOR_COUNT);
  write(out, std::vector<int>{0});
  ASSERT_EQ(api().cuLaunchCooperativeKernel(get("count"), most, 1, 1, 64, 1, 1, 0, nullptr, params),
            0);
  EXPECT_EQ(read<int>(out, 1)[0], most * 64);
  EXPECT_EQ(
      api().cuLaunchCooperativeKernel(get("count"), most + 1, 1, 1, 64, 1, 1, 0, nullptr, params),
      cuda::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  EXPECT_EQ(read<int>(out, 1)[0], most * 64);
}

TEST_F(Function, LaunchWithAttributes) {
  Buffer out(4);
  CUdeviceptr address = out;
  void* params[] = {&address};
  TestStream stream;
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = cuda::LAUNCH_PRIORITY;
  attributes[0].value.priority = 0;
  attributes[1].id = cuda::LAUNCH_COOPERATIVE;
  attributes[1].value.cooperative = 1;
  CUlaunchConfig config{3, 1, 1, 32, 1, 1, 0, stream, attributes, 2};
  write(out, std::vector<int>{0});
  ASSERT_EQ(api().cuLaunchKernelEx(&config, get("count"), params, nullptr), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(read<int>(out, 1)[0], 96);
  config.gridDimX = 1000000;
  EXPECT_EQ(api().cuLaunchKernelEx(&config, get("count"), params, nullptr),
            cuda::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  config.numAttrs = 0;
  config.gridDimX = 5;
  std::size_t size = 8;
  void* extra[] = {cuda::LAUNCH_PARAM_BUFFER_POINTER, &address, cuda::LAUNCH_PARAM_BUFFER_SIZE,
                   &size, cuda::LAUNCH_PARAM_END};
  ASSERT_EQ(api().cuLaunchKernelEx(&config, get("count"), nullptr, extra), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(read<int>(out, 1)[0], 96 + 160);
  config.blockDimX = 1025;
  EXPECT_EQ(api().cuLaunchKernelEx(&config, get("count"), params, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuLaunchKernelEx(nullptr, get("count"), params, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

// Measured on an H200: a packed buffer that is too long is refused, one that is too short is not.
TEST_F(Function, PackedBuffersOfTheWrongLength) {
  Buffer out(4096);
  struct {
    CUdeviceptr out;
    char tag;
    double value;
    double more;
  } packed{out, 5, 2.0, 0};
  auto launch = [&](std::size_t size) {
    void* extra[] = {cuda::LAUNCH_PARAM_BUFFER_POINTER, &packed, cuda::LAUNCH_PARAM_BUFFER_SIZE,
                     &size, cuda::LAUNCH_PARAM_END};
    return api().cuLaunchKernel(get("plain"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
  };
  EXPECT_EQ(launch(24), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(out, 1)[0], 7);
  EXPECT_EQ(launch(32), cuda::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_EQ(launch(16), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuCtxSynchronize(), 0);
  EXPECT_EQ(api().cuLaunchKernel(get("plain"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE)
      << "no parameters at all";
  EXPECT_EQ(api().cuLaunchKernel(get("nothing"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            0);
  EXPECT_EQ(api().cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            cuda::CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api().cuCtxSynchronize(), 0);
}

TEST_F(Function, BeyondItsLaunchBounds) {
  Buffer out(4096);
  CUdeviceptr address = out;
  void* params[] = {&address};
  EXPECT_EQ(api().cuLaunchKernel(get("bounded"), 1, 1, 1, 129, 1, 1, 0, nullptr, params, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuLaunchKernel(get("bounded"), 1, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr),
            0);
  EXPECT_EQ(api().cuCtxSynchronize(), 0);
}

// PyCUDA calls it before each launch.
TEST_F(Function, ShapesOfOldPrograms) {
  EXPECT_EQ(api().cuFuncSetBlockShape(get("plain"), 32, 2, 1), 0);
  EXPECT_EQ(api().cuFuncSetSharedSize(get("plain"), 128), 0);
}

}  // namespace
}  // namespace td::test
