// Kernels and shorthands of the tests of capture and graphs.
#pragma once

#include "support.h"

namespace td::test {

class GraphTest : public DriverTest {
 protected:
  static constexpr const char* kKernels = R"(
extern "C" __global__ void add(int* p, int by) { p[threadIdx.x] += by; }
extern "C" __global__ void times(int* p, int by) { p[threadIdx.x] *= by; }
)";
  static constexpr int kCount = 64;
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(api().cuMemAlloc(&memory_, 4 * kCount), 0);
    clear(0);
    add_ = function_of(kKernels, "add");
    times_ = function_of(kKernels, "times");
  }
  void TearDown() override { EXPECT_EQ(api().cuMemFree(memory_), 0); }
  void clear(int value) {
    write(memory_, std::vector<int>(kCount, value));
    ASSERT_EQ(api().cuCtxSynchronize(), 0);
  }
  CUresult launch(CUfunction function, int by, CUstream stream) {
    void* params[] = {&memory_, &by};
    return api().cuLaunchKernel(function, 1, 1, 1, kCount, 1, 1, 0, stream, params, nullptr);
  }
  void expect(int value) { EXPECT_EQ(read<int>(memory_, kCount), std::vector<int>(kCount, value)); }
  // Instantiates and runs a graph `times` times.
  void run(CUgraph graph, int times = 1) {
    TestStream stream;
    CUgraphExec exec = nullptr;
    ASSERT_EQ(api().cuGraphInstantiate(&exec, graph, 0), 0);
    for (int i = 0; i < times; ++i) ASSERT_EQ(api().cuGraphLaunch(exec, stream), 0);
    ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
    EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
  }
  static std::size_t node_count(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_EQ(api().cuGraphGetNodes(graph, nullptr, &count), 0);
    return count;
  }
  static std::size_t edge_count(CUgraph graph) {
    std::size_t count = 0;
    CUresult result = api().cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count);
    if (result == cuda::CUDA_ERROR_NOT_SUPPORTED)
      result = api().cuGraphGetEdges(graph, nullptr, nullptr, &count);
    EXPECT_EQ(result, 0);
    return count;
  }
  CUdeviceptr memory_ = 0;
  CUfunction add_ = nullptr, times_ = nullptr;
};

}  // namespace td::test
