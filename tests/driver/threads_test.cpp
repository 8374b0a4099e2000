// Many threads at once, each with streams, memory, captures and graphs of its own, on one device.
#include <thread>

#include "graph_support.h"

namespace td::test {
namespace {

class Threads : public GraphTest {};

// One thread's work: returns the sum that its buffer must hold.
void work(CUfunction add, int seed, std::vector<int>* result) {
  device();
  TestStream stream;
  CUdeviceptr memory = 0;
  CUresult from_pool = api().cuMemAllocAsync(&memory, 4 * 64, stream);
  if (from_pool != 0) {
    ASSERT_EQ(api().cuMemAlloc(&memory, 4 * 64), 0);
  }
  ASSERT_EQ(api().cuMemsetD32Async(memory, seed, 64, stream), 0);
  CUevent event = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 0), 0);
  for (int round = 0; round < 10; ++round) {
    ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_THREAD_LOCAL), 0);
    int by = round;
    void* params[] = {&memory, &by};
    ASSERT_EQ(api().cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, params, nullptr), 0);
    ASSERT_EQ(api().cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, params, nullptr), 0);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
    ASSERT_EQ(api().cuGraphInstantiate(&exec, graph, 0), 0);
    ASSERT_EQ(api().cuGraphLaunch(exec, stream), 0);
    ASSERT_EQ(api().cuGraphLaunch(exec, stream), 0);
    ASSERT_EQ(api().cuEventRecord(event, stream), 0);
    ASSERT_EQ(api().cuEventSynchronize(event), 0);
    ASSERT_EQ(api().cuGraphExecDestroy(exec), 0);
    ASSERT_EQ(api().cuGraphDestroy(graph), 0);
  }
  result->resize(64);
  ASSERT_EQ(api().cuMemcpyDtoHAsync(result->data(), memory, 4 * 64, stream), 0);
  ASSERT_EQ(api().cuMemFreeAsync(memory, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  ASSERT_EQ(api().cuEventDestroy(event), 0);
}

TEST_F(Threads, DoNotDisturbEachOther) {
  constexpr int kThreads = 8;
  std::vector<std::vector<int>> results(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, add_, 1000 * i, &results[i]);
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i)
    EXPECT_EQ(results[i], std::vector<int>(64, 1000 * i + 4 * 45)) << i;
}

}  // namespace
}  // namespace td::test
