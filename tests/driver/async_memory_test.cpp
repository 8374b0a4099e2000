// Stream-ordered memory: allocation and freeing in the order of a stream, pools and their
// attributes.
#include "child.h"
#include "support.h"

namespace td::test {
namespace {

class AsyncMemory : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (!device()->attribute(cuda::MEMORY_POOLS_SUPPORTED)) GTEST_SKIP() << "no memory pools";
    CUmemPoolProps properties{};
    properties.allocType = cuda::ALLOCATION_PINNED;
    properties.location = {cuda::LOCATION_DEVICE, 0};
    ASSERT_EQ(api().cuMemPoolCreate(&pool_, &properties), 0);
  }
  void TearDown() override {
    if (pool_) {
      EXPECT_EQ(api().cuMemPoolDestroy(pool_), 0);
    }
  }
  std::uint64_t attribute(int which) {
    std::uint64_t value = ~0ull;
    EXPECT_EQ(api().cuMemPoolGetAttribute(pool_, which, &value), 0);
    return value;
  }
  CUmemoryPool pool_ = nullptr;
};

TEST_F(AsyncMemory, UsedInStreamOrder) {
  TestStream stream;
  CUdeviceptr memory = 0;
  ASSERT_EQ(api().cuMemAllocAsync(&memory, 4000, stream), 0);
  std::vector<int> back(1000);
  ASSERT_EQ(api().cuMemsetD32Async(memory, 321, 1000, stream), 0);
  ASSERT_EQ(api().cuMemcpyDtoHAsync(back.data(), memory, 4000, stream), 0);
  ASSERT_EQ(api().cuMemFreeAsync(memory, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(back, std::vector<int>(1000, 321));
  EXPECT_NE(api().cuMemFreeAsync(memory, stream), 0) << "freed twice";
}

TEST_F(AsyncMemory, FreedMemoryIsUsedAgain) {
  std::uint64_t keep = ~0ull;
  ASSERT_EQ(api().cuMemPoolSetAttribute(pool_, cuda::POOL_RELEASE_THRESHOLD, &keep), 0);
  EXPECT_EQ(attribute(cuda::POOL_RELEASE_THRESHOLD), keep);
  TestStream stream;
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(api().cuMemAllocFromPoolAsync(&first, 3 << 20, pool_, stream), 0);
  ASSERT_EQ(api().cuMemFreeAsync(first, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(attribute(cuda::POOL_USED_CURRENT), 0u);
  EXPECT_GE(attribute(cuda::POOL_RESERVED_CURRENT), 3u << 20);
  ASSERT_EQ(api().cuMemAllocFromPoolAsync(&second, 3 << 20, pool_, stream), 0);
  EXPECT_EQ(second, first);
  EXPECT_GE(attribute(cuda::POOL_USED_CURRENT), 3u << 20);
  EXPECT_GE(attribute(cuda::POOL_USED_HIGH), 3u << 20);
  ASSERT_EQ(api().cuMemFreeAsync(second, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  ASSERT_EQ(api().cuMemPoolTrimTo(pool_, 0), 0);
  EXPECT_EQ(attribute(cuda::POOL_RESERVED_CURRENT), 0u);
  std::uint64_t zero = 0, one = 1;
  EXPECT_EQ(api().cuMemPoolSetAttribute(pool_, cuda::POOL_USED_HIGH, &zero), 0);
  EXPECT_EQ(attribute(cuda::POOL_USED_HIGH), 0u);
  EXPECT_EQ(api().cuMemPoolSetAttribute(pool_, cuda::POOL_USED_HIGH, &one),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(AsyncMemory, GoesBackWhenTheProgramWaits) {
  TestStream stream;
  CUdeviceptr memory = 0;
  ASSERT_EQ(api().cuMemAllocFromPoolAsync(&memory, 8 << 20, pool_, stream), 0);
  ASSERT_EQ(api().cuMemFreeAsync(memory, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(attribute(cuda::POOL_RESERVED_CURRENT), 0u) << "the release threshold is 0";
}

TEST_F(AsyncMemory, IsNotFreedBeforeTheStreamGetsThere) {
  TestStream stream, other;
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(api().cuMemAllocFromPoolAsync(&first, 1 << 20, pool_, stream), 0);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuMemsetD8Async(first, 7, 1 << 20, stream), 0);
  ASSERT_EQ(api().cuMemFreeAsync(first, stream), 0);
  ASSERT_EQ(api().cuMemAllocFromPoolAsync(&second, 1 << 20, pool_, other), 0);
  EXPECT_NE(first, second);
  ASSERT_EQ(api().cuMemsetD8Async(second, 9, 1 << 20, other), 0);
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(other), 0);
  EXPECT_EQ(read<char>(second, 1 << 20), std::vector<char>(1 << 20, 9));
  EXPECT_EQ(api().cuMemFree(second), 0) << "memory of a pool can be freed at once";
}

TEST_F(AsyncMemory, PlainMemoryCanBeFreedInAStream) {
  TestStream stream;
  CUdeviceptr memory = 0, base = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(api().cuMemAlloc(&memory, 1000), 0);
  ASSERT_EQ(api().cuMemFreeAsync(memory, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_NE(api().cuMemGetAddressRange(&base, &bytes, memory), 0);
}

TEST_F(AsyncMemory, PoolsOfADevice) {
  CUmemoryPool standard = nullptr, current = nullptr;
  ASSERT_EQ(api().cuDeviceGetDefaultMemPool(&standard, 0), 0);
  ASSERT_EQ(api().cuDeviceSetMemPool(0, pool_), 0);
  ASSERT_EQ(api().cuDeviceGetMemPool(&current, 0), 0);
  EXPECT_EQ(current, pool_);
  TestStream stream;
  CUdeviceptr memory = 0;
  ASSERT_EQ(api().cuMemAllocAsync(&memory, 1000, stream), 0);
  CUmemoryPool of = nullptr;
  ASSERT_EQ(api().cuPointerGetAttribute(&of, cuda::POINTER_MEMPOOL_HANDLE, memory), 0);
  EXPECT_EQ(of, pool_);
  ASSERT_EQ(api().cuMemFreeAsync(memory, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  ASSERT_EQ(api().cuDeviceSetMemPool(0, standard), 0);
  EXPECT_NE(api().cuMemPoolDestroy(standard), 0) << "the device's own pool";
}

TEST_F(AsyncMemory, Access) {
  CUmemLocation here{cuda::LOCATION_DEVICE, 0};
  unsigned flags = 99;
  ASSERT_EQ(api().cuMemPoolGetAccess(&flags, pool_, &here), 0);
  EXPECT_EQ(flags, unsigned(cuda::ACCESS_READWRITE));
  CUmemAccessDesc access{here, cuda::ACCESS_READWRITE};
  EXPECT_EQ(api().cuMemPoolSetAccess(pool_, &access, 1), 0);
}

// A program may end with everything alive: a pool that it made, memory in use, work in flight, a
// capture and a graph.
TEST_F(AsyncMemory, DISABLED_AliveAtExit) {
  CUmemPoolProps properties{};
  properties.allocType = cuda::ALLOCATION_PINNED;
  properties.location = {cuda::LOCATION_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0, freed = 0;
  CUstream stream = nullptr, captured = nullptr;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(api().cuMemPoolCreate(&pool, &properties), 0);
  ASSERT_EQ(api().cuStreamCreate(&stream, 0), 0);
  ASSERT_EQ(api().cuStreamCreate(&captured, cuda::STREAM_NON_BLOCKING), 0);
  ASSERT_EQ(api().cuMemAllocFromPoolAsync(&memory, 1 << 20, pool, stream), 0);
  ASSERT_EQ(api().cuMemAllocAsync(&freed, 1 << 20, stream), 0);
  ASSERT_EQ(api().cuGraphCreate(&graph, 0), 0);
  CUdeviceptr plain = 0;
  ASSERT_EQ(api().cuMemAlloc(&plain, 1 << 20), 0);
  CUDA_MEMSET_NODE_PARAMS fill{plain, 0, 1, 1, 1 << 20, 1};
  ASSERT_EQ(api().cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, nullptr), 0);
  ASSERT_EQ(api().cuGraphInstantiate(&exec, graph, 0), 0);
  ASSERT_EQ(api().cuGraphLaunch(exec, stream), 0);
  ASSERT_EQ(api().cuMemFreeAsync(freed, stream), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(captured, cuda::CAPTURE_RELAXED), 0);
}

TEST_F(AsyncMemory, ExitWithLiveObjects) {
  ChildResult child = run_child("AsyncMemory.DISABLED_AliveAtExit");
  EXPECT_EQ(child.status, 0) << child.output;
}

TEST_F(AsyncMemory, Refusals) {
  CUdeviceptr memory = 0;
  EXPECT_EQ(api().cuMemAllocAsync(&memory, 0, nullptr), 0) << "unlike cuMemAlloc";
  EXPECT_EQ(api().cuMemAllocAsync(nullptr, 16, nullptr), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAllocAsync(&memory, std::size_t{1} << 46, nullptr),
            cuda::CUDA_ERROR_OUT_OF_MEMORY);
  CUmemPoolProps properties{};
  CUmemoryPool pool = nullptr;
  EXPECT_EQ(api().cuMemPoolCreate(&pool, &properties), cuda::CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace td::test
