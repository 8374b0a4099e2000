// The caching pool: sizes, reuse, limits, streams, exhaustion. Runs on every provider, the stand-in
// driver included.
#include <algorithm>
#include <random>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

using driver::Memory;
using driver::MemoryPool;
using driver::PoolStatistics;

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Pool : public DriverTest {
 protected:
  void SetUp() override {
    state = device();
    pool = &state->pool();
    pool->free_all_blocks();
    before = pool->statistics();
  }
  void TearDown() override {
    pool->set_limit(0);
    pool->free_all_blocks();
    EXPECT_EQ(pool->statistics().used, before.used);
  }
  std::size_t cached() { return pool->statistics().cached; }
  std::size_t held() { return pool->statistics().used + pool->statistics().cached; }

  std::shared_ptr<driver::DeviceState> state;
  MemoryPool* pool = nullptr;
  PoolStatistics before;
};

TEST_F(Pool, EmptyRequestGivesNoAddress) {
  EXPECT_EQ(pool->allocate(0, nullptr), 0u);
  pool->free(0, nullptr);
}

TEST_F(Pool, SizesAreRoundedTo512) {
  CUdeviceptr a = pool->allocate(1, nullptr), b = pool->allocate(513, nullptr);
  EXPECT_EQ(pool->statistics().used - before.used, 512u + 1024u);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(b % 256, 0u);
  pool->free(a, nullptr);
  pool->free(b, nullptr);
}

TEST_F(Pool, FreedBlockIsReusedWithoutTheDriver) {
  for (std::size_t bytes : {std::size_t{100}, 64 * 1024ul, 3 * kMiB}) {
    CUdeviceptr a = pool->allocate(bytes, nullptr);
    std::size_t calls = pool->statistics().allocations;
    pool->free(a, nullptr);
    CUdeviceptr b = pool->allocate(bytes, nullptr);
    EXPECT_EQ(a, b);
    EXPECT_EQ(pool->statistics().allocations, calls);
    pool->free(b, nullptr);
  }
}

TEST_F(Pool, NeighboursCoalesce) {
  std::vector<CUdeviceptr> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(pool->allocate(kMiB / 2, nullptr));
  EXPECT_EQ(pool->statistics().used - before.used + cached(), 2 * kMiB);
  for (CUdeviceptr part : parts) pool->free(part, nullptr);
  std::size_t calls = pool->statistics().allocations;
  CUdeviceptr a = pool->allocate(kMiB, nullptr), b = pool->allocate(kMiB, nullptr);
  EXPECT_EQ(pool->statistics().allocations, calls) << "four freed quarters serve two halves";
  pool->free(a, nullptr);
  pool->free(b, nullptr);
}

TEST_F(Pool, BestFitLeavesTheLargerBlockWhole) {
  CUdeviceptr large = pool->allocate(20 * kMiB, nullptr),
              fitting = pool->allocate(6 * kMiB, nullptr);
  pool->free(large, nullptr);
  pool->free(fitting, nullptr);
  CUdeviceptr a = pool->allocate(5 * kMiB, nullptr);
  EXPECT_EQ(a, fitting);
  CUdeviceptr b = pool->allocate(20 * kMiB, nullptr);
  EXPECT_EQ(b, large);
  pool->free(a, nullptr);
  pool->free(b, nullptr);
}

TEST_F(Pool, WasteIsBounded) {
  std::vector<CUdeviceptr> live;
  std::size_t asked = 0;
  for (std::size_t bytes = kMiB + 512; bytes < 8 * kMiB; bytes += kMiB) {
    live.push_back(pool->allocate(bytes, nullptr));
    asked += bytes;
  }
  EXPECT_LE(held() - before.used, asked + live.size() * 2 * kMiB);
  for (CUdeviceptr block : live) pool->free(block, nullptr);
}

// A free block of 32 MiB stands in the way of 48 MiB under a limit of 64 MiB: nothing is in use, so
// it must succeed.
TEST_F(Pool, LimitCountsCachedBlocksThatCanBeFreed) {
  pool->set_limit(before.used + 64 * kMiB);
  CUdeviceptr a = pool->allocate(32 * kMiB, nullptr);
  pool->free(a, nullptr);
  CUdeviceptr b = pool->allocate(48 * kMiB, nullptr);
  EXPECT_NE(b, 0u);
  EXPECT_LE(held(), before.used + 64 * kMiB);
  pool->free(b, nullptr);
}

TEST_F(Pool, BeyondTheLimitStatesTheSizes) {
  pool->set_limit(before.used + 8 * kMiB);
  Memory keep(state, 5 * kMiB, nullptr);
  try {
    Memory more(state, 4 * kMiB, nullptr);
    FAIL() << "9 MiB were given under a limit of 8";
  } catch (const OutOfMemory& error) {
    std::string text = error.what();
    EXPECT_EQ(error.code, cuda::CUDA_ERROR_OUT_OF_MEMORY);
    for (const char* part : {"4 MiB were asked for", "in use", "cached", "limit of", "are free"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  Memory fits(state, 2 * kMiB, nullptr);  // the pool is usable after a refusal
}

TEST_F(Pool, SmallLimitIsNotSpentOnWholeSegments) {
  pool->set_limit(before.used + 4096);
  CUdeviceptr a = pool->allocate(1000, nullptr), b = pool->allocate(1000, nullptr);
  EXPECT_NE(a, b);
  EXPECT_LE(held(), before.used + 4096);
  pool->free(a, nullptr);
  pool->free(b, nullptr);
}

TEST_F(Pool, AbsurdRequestIsOutOfMemory) {
  EXPECT_THROW(pool->allocate(std::size_t{1} << 50, nullptr), OutOfMemory);
  EXPECT_THROW(pool->allocate(SIZE_MAX, nullptr), OutOfMemory);
}

TEST_F(Pool, FullDeviceGetsCachedMemoryBack) {
  MemoryInfo info = Device(state).memory();
  std::size_t most = info.free / 8 * 5 / kMiB * kMiB;
  CUdeviceptr a = pool->allocate(most, nullptr);
  pool->free(a, nullptr);
  // Five eighths are cached; six eighths fit only when they are given back.
  CUdeviceptr b = pool->allocate(info.free / 8 * 6 / kMiB * kMiB, nullptr);
  EXPECT_NE(b, 0u);
  pool->free(b, nullptr);
}

TEST_F(Pool, MemoryKnowsItsBytes) {
  Memory memory(state, 1000, nullptr);
  EXPECT_EQ(memory.bytes(), 1000u);
  EXPECT_TRUE(memory.alive());
  Memory none(state, 0, nullptr);
  EXPECT_EQ(none.address(), 0u);
}

TEST_F(Pool, IdleStreamLendsItsBlocks) {
  TestStream one, two;
  CUdeviceptr a = pool->allocate(4 * kMiB, one);
  pool->free(a, one);
  ASSERT_EQ(0, api().cuStreamSynchronize(one));
  std::size_t calls = pool->statistics().allocations;
  CUdeviceptr b = pool->allocate(4 * kMiB, two);
  EXPECT_EQ(a, b);
  EXPECT_EQ(pool->statistics().allocations, calls);
  pool->free(b, two);
}

TEST_F(Pool, BlocksOfDestroyedStreamAreUsedAgain) {
  CUstream handle = nullptr;
  ASSERT_EQ(0, api().cuStreamCreateWithPriority(&handle, cuda::STREAM_NON_BLOCKING, 0));
  auto owner = std::make_unique<driver::StreamState>(state, handle, true);
  CUdeviceptr freed_before = pool->allocate(4 * kMiB, handle);
  CUdeviceptr freed_after = pool->allocate(6 * kMiB, handle);
  pool->free(freed_before, handle);
  owner.reset();
  pool->free(freed_after, handle);
  ASSERT_EQ(0, api().cuCtxSynchronize());
  std::size_t calls = pool->statistics().allocations;
  CUdeviceptr a = pool->allocate(4 * kMiB, nullptr), b = pool->allocate(6 * kMiB, nullptr);
  EXPECT_EQ(a, freed_before);
  EXPECT_EQ(b, freed_after);
  EXPECT_EQ(pool->statistics().allocations, calls);
  pool->free(a, nullptr);
  pool->free(b, nullptr);
}

// Random requests on several streams by several threads. Each block is filled with its own byte and
// must still hold it when it is freed: blocks that overlap, or are handed out twice, show.
TEST_F(Pool, BlocksNeverOverlap) {
  auto worker = [&](unsigned seed) {
    state->make_current();
    TestStream stream;
    std::mt19937 random(seed);
    struct Live {
      CUdeviceptr address;
      std::size_t bytes;
      unsigned char value;
    };
    std::vector<Live> live;
    auto release = [&](std::size_t index) {
      Live block = live[index];
      std::vector<unsigned char> found(block.bytes);
      ASSERT_EQ(0, api().cuMemcpyDtoHAsync(found.data(), block.address, block.bytes, stream));
      ASSERT_EQ(0, api().cuStreamSynchronize(stream));
      EXPECT_EQ(std::count(found.begin(), found.end(), block.value),
                static_cast<long>(block.bytes));
      pool->free(block.address, stream);
      live[index] = live.back();
      live.pop_back();
    };
    for (int step = 0; step < 300; ++step) {
      if (live.size() > 12 || (!live.empty() && random() % 3 == 0)) release(random() % live.size());
      std::size_t bytes = 1 + random() % (random() % 8 ? 20000 : 3 * kMiB);
      auto value = static_cast<unsigned char>(random());
      CUdeviceptr address = pool->allocate(bytes, stream);
      std::vector<unsigned char> fill(bytes, value);
      ASSERT_EQ(0, api().cuMemcpyHtoDAsync(address, fill.data(), bytes, stream));
      ASSERT_EQ(0, api().cuStreamSynchronize(stream));
      live.push_back({address, bytes, value});
    }
    while (!live.empty()) release(0);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 3; ++seed) threads.emplace_back(worker, seed);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace td::test
