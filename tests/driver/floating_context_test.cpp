// Floating contexts (cuCtxCreate): life, stack, flags, limits, isolation; and what is asked of any
// context.
#include <set>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

class FloatingContext : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    primary_ = current();
    ASSERT_EQ(api().cuCtxCreate_v2(&context_, cuda::CTX_SCHED_YIELD, device()->handle()), 0);
    api().cuCtxSetCurrent(context_);  // device() has switched back
  }
  void TearDown() override {
    if (context_) {
      EXPECT_EQ(api().cuCtxDestroy(context_), 0);
    }
    api().cuCtxSetCurrent(primary_);
  }
  static CUcontext current() {
    CUcontext context = nullptr;
    EXPECT_EQ(api().cuCtxGetCurrent(&context), 0);
    return context;
  }
  CUcontext primary_ = nullptr, context_ = nullptr;
};

TEST_F(FloatingContext, IsCurrentUntilDestroyed) {
  CUcontext made = nullptr;
  ASSERT_EQ(api().cuCtxCreate(&made, nullptr, 0, 0), 0);
  EXPECT_EQ(current(), made);
  CUdevice device = -1;
  EXPECT_EQ(api().cuCtxGetDevice(&device), 0);
  EXPECT_EQ(device, 0);
  CUdeviceptr memory = 0;
  EXPECT_EQ(api().cuMemAlloc(&memory, 100), 0);
  EXPECT_EQ(api().cuCtxDestroy(made), 0);
  EXPECT_EQ(current(), context_) << "destroying the current context pops it";
  CUcontext third = nullptr;
  ASSERT_EQ(api().cuCtxCreate_v3(&third, nullptr, 0, 0, 0), 0);
  CUcontext popped = nullptr;
  EXPECT_EQ(api().cuCtxPopCurrent(&popped), 0);
  EXPECT_EQ(popped, third);
  EXPECT_EQ(api().cuCtxDestroy(third), 0);
  EXPECT_EQ(current(), context_);
}

TEST_F(FloatingContext, MemoryIsGoneWithTheContext) {
  CUcontext made = nullptr;
  ASSERT_EQ(api().cuCtxCreate_v2(&made, 0, 0), 0);
  CUdeviceptr memory = 0;
  ASSERT_EQ(api().cuMemAlloc(&memory, 4096), 0);
  ASSERT_EQ(api().cuCtxDestroy(made), 0);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  EXPECT_NE(api().cuMemGetAddressRange(&base, &bytes, memory), 0);
}

TEST_F(FloatingContext, EachHasItsOwnKernels) {
  const char* source = "extern \"C\" __global__ void put(int* p) { *p = 41; }";
  const std::string& image = image_of(source);
  api().cuCtxSetCurrent(context_);
  CUmodule here = nullptr;
  ASSERT_EQ(api().cuModuleLoadDataEx(&here, image.data(), 0, nullptr, nullptr), 0);
  CUfunction put = nullptr;
  ASSERT_EQ(api().cuModuleGetFunction(&put, here, "put"), 0);
  CUdeviceptr memory = 0;
  ASSERT_EQ(api().cuMemAlloc(&memory, 4), 0);
  void* params[] = {&memory};
  ASSERT_EQ(api().cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), 0);
  int value = 0;
  ASSERT_EQ(api().cuMemcpyDtoH(&value, memory, 4), 0);
  EXPECT_EQ(value, 41);
  ASSERT_EQ(api().cuMemFree(memory), 0);
}

TEST_F(FloatingContext, FlagsAreKept) {
  unsigned flags = 99;
  ASSERT_EQ(api().cuCtxGetFlags(&flags), 0);
  EXPECT_EQ(flags & cuda::CTX_SCHED_MASK, unsigned(cuda::CTX_SCHED_YIELD));
  CUcontext refused = nullptr;
  EXPECT_EQ(api().cuCtxCreate_v2(&refused, 0x1000, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuCtxCreate_v2(&refused, cuda::CTX_SCHED_SPIN | cuda::CTX_SCHED_YIELD, 0),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuCtxCreate_v2(nullptr, 0, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuCtxCreate_v2(&refused, 0, 1000), cuda::CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(current(), context_);
  CUresult set = api().cuCtxSetFlags(cuda::CTX_SCHED_BLOCKING_SYNC);
  if (set == cuda::CUDA_ERROR_NOT_SUPPORTED) return;
  EXPECT_EQ(set, 0);
  ASSERT_EQ(api().cuCtxGetFlags(&flags), 0);
  EXPECT_EQ(flags & cuda::CTX_SCHED_MASK, unsigned(cuda::CTX_SCHED_BLOCKING_SYNC));
}

TEST_F(FloatingContext, QuestionsByHandle) {
  unsigned version = 0;
  ASSERT_EQ(api().cuCtxGetApiVersion(context_, &version), 0);
  EXPECT_GE(version, 3010u);
  unsigned long long mine = 0, other = 0;
  ASSERT_EQ(api().cuCtxGetId(context_, &mine), 0);
  ASSERT_EQ(api().cuCtxGetId(primary_, &other), 0);
  EXPECT_NE(mine, other);
  CUdevice device = -1;
  CUresult result = api().cuCtxGetDevice_v2(&device, primary_);
  if (result != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    EXPECT_EQ(result, 0);
  }
  result = api().cuCtxSynchronize_v2(primary_);
  if (result != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    EXPECT_EQ(result, 0);
  }
  EXPECT_EQ(current(), context_);
}

// Deprecated, still used by old programs: PyCUDA ends its contexts so.
TEST_F(FloatingContext, AttachAndDetach) {
  CUcontext made = nullptr, attached = nullptr;
  ASSERT_EQ(api().cuCtxCreate_v2(&made, 0, 0), 0);
  ASSERT_EQ(api().cuCtxAttach(&attached, 0), 0);
  EXPECT_EQ(attached, made);
  EXPECT_EQ(api().cuCtxDetach(made), 0);
  EXPECT_EQ(current(), made) << "one use is left";
  EXPECT_EQ(api().cuCtxDetach(made), 0);
  EXPECT_EQ(current(), context_);
}

TEST_F(FloatingContext, DestroyedElsewhere) {
  CUresult later = 0;
  std::thread([&] {
    api().cuCtxSetCurrent(context_);
    std::thread([&] { EXPECT_EQ(api().cuCtxDestroy(context_), 0); }).join();
    CUdeviceptr memory = 0;
    later = api().cuMemAlloc(&memory, 16);
  }).join();
  EXPECT_EQ(later, cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED);
  context_ = nullptr;
}

TEST_F(FloatingContext, StreamsOfAnotherContextAreRefusedForKernels) {
  CUstream stream = nullptr;
  ASSERT_EQ(api().cuStreamCreateWithPriority(&stream, cuda::STREAM_NON_BLOCKING, 0), 0);
  CUfunction touch = function_of("extern \"C\" __global__ void touch() {}", "touch");
  api().cuCtxSetCurrent(primary_);
  EXPECT_NE(api().cuLaunchKernel(touch, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), 0);
  EXPECT_EQ(api().cuStreamSynchronize(stream), 0) << "waiting works from any context";
  EXPECT_EQ(api().cuStreamQuery(stream), 0);
  api().cuCtxSetCurrent(context_);
  EXPECT_EQ(api().cuStreamDestroy(stream), 0);
}

TEST_F(FloatingContext, CacheAndSharedMemoryPreferences) {
  for (int config : {1, 2, 3, 0}) {
    ASSERT_EQ(api().cuCtxSetCacheConfig(config), 0);
    int now = -1;
    ASSERT_EQ(api().cuCtxGetCacheConfig(&now), 0);
    EXPECT_TRUE(now >= 0 && now <= 3);
  }
  EXPECT_EQ(api().cuCtxSetCacheConfig(17), cuda::CUDA_ERROR_INVALID_VALUE);
  int banks = -1;
  EXPECT_EQ(api().cuCtxGetSharedMemConfig(&banks), 0);
  EXPECT_EQ(api().cuCtxSetSharedMemConfig(0), 0);
  EXPECT_EQ(api().cuCtxResetPersistingL2Cache(), 0);
}

TEST_F(FloatingContext, Limits) {
  for (cuda::Limit limit : {cuda::LIMIT_STACK_SIZE, cuda::LIMIT_MALLOC_HEAP_SIZE}) {
    std::size_t before = 0, now = 0;
    ASSERT_EQ(api().cuCtxGetLimit(&before, limit), 0) << limit;
    ASSERT_EQ(api().cuCtxSetLimit(limit, 2 * before), 0) << limit;
    ASSERT_EQ(api().cuCtxGetLimit(&now, limit), 0) << limit;
    EXPECT_GE(now, 2 * before);
  }
  std::size_t value = 0;
  EXPECT_EQ(api().cuCtxGetLimit(&value, 1000), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuCtxGetLimit(nullptr, cuda::LIMIT_STACK_SIZE), cuda::CUDA_ERROR_INVALID_VALUE);
}

// Pieces of 16 KiB until malloc gives null; then they are freed and asked for again.
TEST_F(FloatingContext, HeapHasItsLimit) {
  const char* source = R"(
    extern "C" __global__ void fill(int* count) {
      void* pieces[4096];
      for (int round = 0; round < 2; ++round) {
        int n = 0;
        while (n < 4096 && (pieces[n] = malloc(16384)) != nullptr) ++n;
        count[round] = n;
        while (n > 0) free(pieces[--n]);
      }
    })";
  const std::string& image = image_of(source);
  api().cuCtxSetCurrent(context_);
  ASSERT_EQ(api().cuCtxSetLimit(cuda::LIMIT_MALLOC_HEAP_SIZE, 24u << 20), 0);
  CUmodule here = nullptr;
  ASSERT_EQ(api().cuModuleLoadDataEx(&here, image.data(), 0, nullptr, nullptr), 0);
  CUfunction fill = nullptr;
  ASSERT_EQ(api().cuModuleGetFunction(&fill, here, "fill"), 0);
  CUdeviceptr memory = 0;
  ASSERT_EQ(api().cuMemAlloc(&memory, 8), 0);
  void* params[] = {&memory};
  ASSERT_EQ(api().cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), 0);
  int count[2] = {};
  ASSERT_EQ(api().cuMemcpyDtoH(count, memory, 8), 0);
  EXPECT_GT(count[0], (24 << 20) / 16384 / 2);
  EXPECT_LT(count[0], 4096);
  EXPECT_EQ(count[0], count[1]);
  EXPECT_EQ(api().cuCtxSetLimit(cuda::LIMIT_MALLOC_HEAP_SIZE, 32u << 20),
            cuda::CUDA_ERROR_INVALID_VALUE)
      << "after a kernel has used the heap";
}

TEST_F(FloatingContext, PrimaryFlags) {
  api().cuCtxSetCurrent(primary_);
  unsigned before = 0, now = 0;
  int active = 0;
  ASSERT_EQ(api().cuDevicePrimaryCtxGetState(0, &before, &active), 0);
  EXPECT_EQ(active, 1);
  ASSERT_EQ(api().cuDevicePrimaryCtxSetFlags(0, cuda::CTX_SCHED_SPIN), 0);
  ASSERT_EQ(api().cuDevicePrimaryCtxGetState(0, &now, &active), 0);
  EXPECT_EQ(now & cuda::CTX_SCHED_MASK, unsigned(cuda::CTX_SCHED_SPIN));
  EXPECT_EQ(api().cuDevicePrimaryCtxSetFlags(0, 0x1000), cuda::CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(api().cuDevicePrimaryCtxSetFlags(0, before), 0);
  EXPECT_EQ(api().cuCtxDestroy(primary_), cuda::CUDA_ERROR_INVALID_CONTEXT);
}

}  // namespace
}  // namespace td::test
