// Graphs made by hand: nodes of every kind, dependencies, clones, executable graphs and their
// changes.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "graph_support.h"

namespace td::test {
namespace {

class Graph : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    ASSERT_EQ(api().cuGraphCreate(&graph_, 0), 0);
  }
  void TearDown() override {
    EXPECT_EQ(api().cuGraphDestroy(graph_), 0);
    GraphTest::TearDown();
  }
  CUDA_KERNEL_NODE_PARAMS kernel(CUfunction function, int* by) {
    params_[0] = &memory_;
    params_[1] = by;
    return {function, 1, 1, 1, kCount, 1, 1, 0, params_, nullptr, nullptr, nullptr};
  }
  CUgraphNode add_kernel(CUfunction function, int by, std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    auto params = kernel(function, &by);
    EXPECT_EQ(api().cuGraphAddKernelNode(&node, graph_, after.data(), after.size(), &params), 0);
    return node;
  }
  CUgraphNode add_fill(unsigned value, std::vector<CUgraphNode> after = {}) {
    CUgraphNode node = nullptr;
    CUDA_MEMSET_NODE_PARAMS fill{memory_, 0, value, 4, kCount, 1};
    EXPECT_EQ(api().cuGraphAddMemsetNode(&node, graph_, after.data(), after.size(), &fill, nullptr),
              0);
    return node;
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(api().cuGraphInstantiate(&exec, graph_, 0), 0);
    return exec;
  }
  void launch_and_wait(CUgraphExec exec) {
    TestStream stream;
    ASSERT_EQ(api().cuGraphLaunch(exec, stream), 0);
    ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  }
  void* params_[2];
  CUgraph graph_ = nullptr;
};

TEST_F(Graph, KernelsInOrder) {
  CUgraphNode first = add_kernel(add_, 4);
  CUgraphNode second = add_kernel(times_, 5, {first});
  add_kernel(add_, 1, {second});
  run(graph_);
  expect(21);
}

TEST_F(Graph, ADiamondWaitsForBothArms) {
  CUgraphNode top = add_fill(1);
  CUgraphNode bottom = nullptr;
  std::vector<CUgraphNode> arms;
  std::vector<CUdeviceptr> buffers;
  for (int i = 0; i < 8; ++i) {
    CUdeviceptr buffer = 0;
    ASSERT_EQ(api().cuMemAlloc(&buffer, 4 * kCount), 0);
    buffers.push_back(buffer);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = cuda::MEMORYTYPE_DEVICE;
    copy.srcDevice = memory_;
    copy.dstDevice = buffer;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = 4 * kCount;
    copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
    CUgraphNode arm = nullptr;
    CUcontext context = nullptr;
    api().cuCtxGetCurrent(&context);
    ASSERT_EQ(api().cuGraphAddMemcpyNode(&arm, graph_, &top, 1, &copy, context), 0);
    arms.push_back(arm);
  }
  ASSERT_EQ(api().cuGraphAddEmptyNode(&bottom, graph_, arms.data(), arms.size()), 0);
  add_kernel(add_, 1, {bottom});
  run(graph_);
  expect(2);
  for (CUdeviceptr buffer : buffers) {
    EXPECT_EQ(read<int>(buffer, kCount), std::vector<int>(kCount, 1));
    EXPECT_EQ(api().cuMemFree(buffer), 0);
  }
}

TEST_F(Graph, HostFunctionsEventsAndValues) {
  CUevent event = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 0), 0);
  Buffer flag(8);
  write(flag, std::vector<char>(8, 0));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS host{[](void* data) { *static_cast<int*>(data) += 1; }, &calls}, seen{};
  CUgraphNode host_node = nullptr, record = nullptr, wait = nullptr, values = nullptr;
  ASSERT_EQ(api().cuGraphAddHostNode(&host_node, graph_, nullptr, 0, &host), 0);
  ASSERT_EQ(api().cuGraphHostNodeGetParams(host_node, &seen), 0);
  EXPECT_EQ(seen.userData, &calls);
  ASSERT_EQ(api().cuGraphAddEventRecordNode(&record, graph_, &host_node, 1, event), 0);
  ASSERT_EQ(api().cuGraphAddEventWaitNode(&wait, graph_, &record, 1, event), 0);
  CUevent of_node = nullptr;
  ASSERT_EQ(api().cuGraphEventRecordNodeGetEvent(record, &of_node), 0);
  EXPECT_EQ(of_node, event);
  ASSERT_EQ(api().cuGraphEventWaitNodeGetEvent(wait, &of_node), 0);
  EXPECT_EQ(of_node, event);
  EXPECT_EQ(api().cuGraphEventRecordNodeSetEvent(record, event), 0);
  EXPECT_EQ(api().cuGraphEventWaitNodeSetEvent(wait, event), 0);
  CUstreamBatchMemOpParams op{};
  op.memory.operation = cuda::MEM_OP_WRITE_VALUE_32;
  op.memory.address = flag;
  op.memory.value = 9;
  CUDA_BATCH_MEM_OP_NODE_PARAMS ops{nullptr, 1, &op, 0}, ops_now{};
  api().cuCtxGetCurrent(&ops.ctx);
  CUresult result = api().cuGraphAddBatchMemOpNode(&values, graph_, &wait, 1, &ops);
  bool with_values = result == 0;
  if (with_values) {
    ASSERT_EQ(api().cuGraphBatchMemOpNodeGetParams(values, &ops_now), 0);
    EXPECT_EQ(ops_now.count, 1u);
    op.memory.value = 10;
    ASSERT_EQ(api().cuGraphBatchMemOpNodeSetParams(values, &ops), 0);
  }
  CUgraphExec exec = instantiate();
  if (with_values) {
    op.memory.value = 11;
    ASSERT_EQ(api().cuGraphExecBatchMemOpNodeSetParams(exec, values, &ops), 0);
  }
  EXPECT_EQ(api().cuGraphExecEventRecordNodeSetEvent(exec, record, event), 0);
  EXPECT_EQ(api().cuGraphExecEventWaitNodeSetEvent(exec, wait, event), 0);
  launch_and_wait(exec);
  launch_and_wait(exec);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(api().cuEventQuery(event), 0);
  if (with_values) {
    EXPECT_EQ(read<int>(flag, 1)[0], 11);
  }
  int other_calls = 0;
  host.userData = &other_calls;
  ASSERT_EQ(api().cuGraphExecHostNodeSetParams(exec, host_node, &host), 0);
  launch_and_wait(exec);
  EXPECT_EQ(other_calls, 1);
  ASSERT_EQ(api().cuGraphHostNodeSetParams(host_node, &host), 0);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
  EXPECT_EQ(api().cuEventDestroy(event), 0);
}

TEST_F(Graph, ChildGraphs) {
  CUgraph child = nullptr, inside = nullptr;
  CUgraphNode node = nullptr, last = nullptr;
  ASSERT_EQ(api().cuGraphCreate(&child, 0), 0);
  int by = 7;
  auto params = kernel(add_, &by);
  ASSERT_EQ(api().cuGraphAddKernelNode(&node, child, nullptr, 0, &params), 0);
  ASSERT_EQ(api().cuGraphAddKernelNode(&last, child, &node, 1, &params), 0);
  CUgraphNode first = add_fill(1), middle = nullptr;
  ASSERT_EQ(api().cuGraphAddChildGraphNode(&middle, graph_, &first, 1, child), 0);
  add_kernel(times_, 2, {middle});
  ASSERT_EQ(api().cuGraphChildGraphNodeGetGraph(middle, &inside), 0);
  EXPECT_NE(inside, child) << "the node has a copy";
  EXPECT_EQ(node_count(inside), 2u);
  EXPECT_EQ(api().cuGraphDestroy(child), 0);
  run(graph_);
  expect((1 + 14) * 2);
}

TEST_F(Graph, EdgesAndQuestions) {
  CUgraphNode a = add_fill(1), b = add_kernel(add_, 1), c = add_kernel(times_, 3, {a});
  ASSERT_EQ(api().cuGraphAddDependencies_v2(graph_, &a, &b, nullptr, 1), 0);
  CUresult old = api().cuGraphAddDependencies(graph_, &b, &c, 1);
  if (old != 0) {
    ASSERT_EQ(api().cuGraphAddDependencies_v2(graph_, &b, &c, nullptr, 1), 0);
  }
  EXPECT_EQ(edge_count(graph_), 3u);
  std::size_t count = 4;
  CUgraphNode nodes[4] = {};
  ASSERT_EQ(api().cuGraphGetRootNodes(graph_, nodes, &count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(nodes[0], a);
  count = 4;
  ASSERT_EQ(api().cuGraphNodeGetDependencies_v2(c, nodes, nullptr, &count), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(nodes[2], nullptr) << "the rest of the room is cleared";
  count = 4;
  ASSERT_EQ(api().cuGraphNodeGetDependentNodes_v2(a, nodes, nullptr, &count), 0);
  EXPECT_EQ(count, 2u);
  CUgraphNode from[4], to[4];
  count = 4;
  ASSERT_EQ(api().cuGraphGetEdges_v2(graph_, from, to, nullptr, &count), 0);
  EXPECT_EQ(count, 3u);
  run(graph_);
  expect(6);
  EXPECT_EQ(api().cuGraphAddDependencies_v2(graph_, &a, &a, nullptr, 1),
            cuda::CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(api().cuGraphRemoveDependencies_v2(graph_, &b, &c, nullptr, 1), 0);
  ASSERT_EQ(api().cuGraphDestroyNode(b), 0);
  EXPECT_EQ(node_count(graph_), 2u);
  run(graph_);
  expect(3);
  // The forms of older programs.
  api().cuGraphRemoveDependencies(graph_, &a, &c, 0);
  count = 0;
  api().cuGraphGetEdges(graph_, nullptr, nullptr, &count);
  api().cuGraphNodeGetDependencies(c, nullptr, &count);
  api().cuGraphNodeGetDependentNodes(c, nullptr, &count);
}

TEST_F(Graph, ACycleIsNotInstantiated) {
  CUgraphNode a = add_fill(1), b = add_kernel(add_, 1, {a});
  CUresult added = api().cuGraphAddDependencies_v2(graph_, &b, &a, nullptr, 1);
  if (added != 0) return;  // refused at once
  CUgraphExec exec = nullptr;
  EXPECT_NE(api().cuGraphInstantiate(&exec, graph_, 0), 0);
}

TEST_F(Graph, ParametersOfNodes) {
  CUgraphNode node = add_kernel(add_, 3), fill = add_fill(2), copy = nullptr;
  ASSERT_EQ(api().cuGraphAddDependencies_v2(graph_, &fill, &node, nullptr, 1), 0);
  CUDA_KERNEL_NODE_PARAMS now{};
  ASSERT_EQ(api().cuGraphKernelNodeGetParams(node, &now), 0);
  EXPECT_EQ(now.blockDimX, unsigned(kCount));
  ASSERT_NE(now.kernelParams, nullptr);
  EXPECT_EQ(*static_cast<int*>(now.kernelParams[1]), 3);
  EXPECT_EQ(*static_cast<CUdeviceptr*>(now.kernelParams[0]), memory_);
  int by = 40;
  auto changed = kernel(add_, &by);
  ASSERT_EQ(api().cuGraphKernelNodeSetParams(node, &changed), 0);
  CUDA_MEMSET_NODE_PARAMS fill_now{};
  ASSERT_EQ(api().cuGraphMemsetNodeGetParams(fill, &fill_now), 0);
  EXPECT_EQ(fill_now.value, 2u);
  fill_now.value = 100;
  ASSERT_EQ(api().cuGraphMemsetNodeSetParams(fill, &fill_now), 0);
  run(graph_);
  expect(140);
  Buffer other(4 * kCount);
  CUDA_MEMCPY3D box{}, box_now{};
  box.srcMemoryType = box.dstMemoryType = cuda::MEMORYTYPE_DEVICE;
  box.srcDevice = memory_;
  box.dstDevice = other;
  box.srcPitch = box.dstPitch = box.WidthInBytes = 4 * kCount;
  box.srcHeight = box.dstHeight = box.Height = box.Depth = 1;
  CUcontext context = nullptr;
  api().cuCtxGetCurrent(&context);
  ASSERT_EQ(api().cuGraphAddMemcpyNode(&copy, graph_, &node, 1, &box, context), 0);
  ASSERT_EQ(api().cuGraphMemcpyNodeGetParams(copy, &box_now), 0);
  EXPECT_EQ(box_now.dstDevice, CUdeviceptr(other));
  ASSERT_EQ(api().cuGraphMemcpyNodeSetParams(copy, &box), 0);
  CUkernelNodeAttrValue attribute{};
  attribute.cooperative = 1;
  ASSERT_EQ(api().cuGraphKernelNodeSetAttribute(node, cuda::LAUNCH_COOPERATIVE, &attribute), 0);
  attribute.cooperative = 0;
  ASSERT_EQ(api().cuGraphKernelNodeGetAttribute(node, cuda::LAUNCH_COOPERATIVE, &attribute), 0);
  EXPECT_EQ(attribute.cooperative, 1);
  CUgraphNode twin = add_kernel(add_, 1, {copy});
  EXPECT_EQ(api().cuGraphKernelNodeCopyAttributes(twin, node), 0);
  run(graph_);
  EXPECT_EQ(read<int>(other, kCount)[5], 140);
  expect(141);
}

TEST_F(Graph, ParametersOfExecutableNodes) {
  CUgraphNode fill = add_fill(1), node = add_kernel(add_, 1, {fill});
  CUgraphExec exec = instantiate();
  int by = 9;
  auto changed = kernel(add_, &by);
  ASSERT_EQ(api().cuGraphExecKernelNodeSetParams(exec, node, &changed), 0);
  CUDA_MEMSET_NODE_PARAMS other{memory_, 0, 20, 4, kCount, 1};
  CUcontext context = nullptr;
  api().cuCtxGetCurrent(&context);
  ASSERT_EQ(api().cuGraphExecMemsetNodeSetParams(exec, fill, &other, context), 0);
  launch_and_wait(exec);
  expect(29);
  run(graph_);
  expect(2);  // the graph itself is as it was
  unsigned enabled = 9;
  ASSERT_EQ(api().cuGraphNodeGetEnabled(exec, node, &enabled), 0);
  EXPECT_EQ(enabled, 1u);
  ASSERT_EQ(api().cuGraphNodeSetEnabled(exec, node, 0), 0);
  launch_and_wait(exec);
  expect(20);
  EXPECT_EQ(api().cuGraphExecKernelNodeSetParams(exec, fill, &changed),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
}

TEST_F(Graph, WholeUpdates) {
  CUgraphNode fill = add_fill(3);
  add_kernel(add_, 1, {fill});
  CUgraphExec exec = instantiate();
  CUgraph keep = graph_;
  ASSERT_EQ(api().cuGraphCreate(&graph_, 0), 0);
  CUgraphNode second = add_fill(50);
  add_kernel(times_, 2, {second});
  CUgraphExecUpdateResultInfo info{};
  ASSERT_EQ(api().cuGraphExecUpdate(exec, graph_, &info), 0);
  EXPECT_EQ(info.result, cuda::UPDATE_SUCCESS);
  launch_and_wait(exec);
  expect(100);
  add_kernel(add_, 1);
  EXPECT_EQ(api().cuGraphExecUpdate(exec, graph_, &info),
            cuda::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, cuda::UPDATE_TOPOLOGY_CHANGED);
  int result = -1;
  CUgraphNode node = nullptr;
  CUresult old = api().cuGraphExecUpdate_v1(exec, keep, &node, &result);
  if (old != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    EXPECT_EQ(result, cuda::UPDATE_SUCCESS);
  }
  launch_and_wait(exec);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
  EXPECT_EQ(api().cuGraphDestroy(keep), 0);
}

TEST_F(Graph, Clones) {
  CUgraphNode first = add_fill(2), second = add_kernel(add_, 3, {first});
  CUgraph clone = nullptr;
  ASSERT_EQ(api().cuGraphClone(&clone, graph_), 0);
  CUgraphNode twin = nullptr;
  ASSERT_EQ(api().cuGraphNodeFindInClone(&twin, second, clone), 0);
  EXPECT_NE(twin, second);
  int by = 30;
  auto changed = kernel(add_, &by);
  ASSERT_EQ(api().cuGraphKernelNodeSetParams(twin, &changed), 0);
  run(clone);
  expect(32);
  run(graph_);
  expect(5);
  EXPECT_EQ(api().cuGraphNodeFindInClone(&twin, second, graph_), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuGraphDestroy(clone), 0);
}

TEST_F(Graph, NodesOfAnyType) {
  CUgraphNodeParams params{};
  params.type = cuda::NODE_MEMSET;
  params.memset.fill = {memory_, 0, 5, 4, kCount, 1};
  api().cuCtxGetCurrent(&params.memset.ctx);
  CUgraphNode fill = nullptr, node = nullptr, again = nullptr;
  CUresult result = api().cuGraphAddNode_v2(&fill, graph_, nullptr, nullptr, 0, &params);
  if (result == cuda::CUDA_ERROR_NOT_SUPPORTED) GTEST_SKIP() << "older than CUDA 12.3";
  ASSERT_EQ(result, 0);
  int by = 4;
  CUgraphNodeParams call{};
  call.type = cuda::NODE_KERNEL;
  call.kernel = kernel(add_, &by);
  ASSERT_EQ(api().cuGraphAddNode_v2(&node, graph_, &fill, nullptr, 1, &call), 0);
  by = 6;
  ASSERT_EQ(api().cuGraphNodeSetParams(node, &call), 0);
  CUgraphExec exec = instantiate();
  launch_and_wait(exec);
  expect(11);
  by = 60;
  ASSERT_EQ(api().cuGraphExecNodeSetParams(exec, node, &call), 0);
  launch_and_wait(exec);
  expect(65);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
  result = api().cuGraphAddNode(&again, graph_, &node, 1, &call);
  if (result == 0) {
    EXPECT_EQ(node_count(graph_), 3u);
  }
  params.type = 99;
  EXPECT_NE(api().cuGraphAddNode_v2(&again, graph_, nullptr, nullptr, 0, &params), 0);
}

TEST_F(Graph, FormsOfOlderPrograms) {
  int by = 8;
  params_[0] = &memory_;
  params_[1] = &by;
  CUDA_KERNEL_NODE_PARAMS_v1 old{add_, 1, 1, 1, kCount, 1, 1, 0, params_, nullptr}, now{};
  CUgraphNode node = nullptr, error = nullptr;
  ASSERT_EQ(api().cuGraphAddKernelNode_v1(&node, graph_, nullptr, 0, &old), 0);
  ASSERT_EQ(api().cuGraphKernelNodeGetParams_v1(node, &now), 0);
  EXPECT_EQ(now.func, add_);
  by = 9;
  ASSERT_EQ(api().cuGraphKernelNodeSetParams_v1(node, &old), 0);
  CUgraphExec exec = nullptr;
  char log[64] = {};
  ASSERT_EQ(api().cuGraphInstantiate_v2(&exec, graph_, &error, log, sizeof log), 0);
  by = 10;
  ASSERT_EQ(api().cuGraphExecKernelNodeSetParams_v1(exec, node, &old), 0);
  launch_and_wait(exec);
  expect(10);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
}

TEST_F(Graph, InstantiationAndUpload) {
  add_fill(6);
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  CUgraphExec exec = nullptr;
  CUresult result = api().cuGraphInstantiateWithParams(&exec, graph_, &params);
  if (result == cuda::CUDA_ERROR_NOT_SUPPORTED) GTEST_SKIP() << "older than CUDA 12";
  ASSERT_EQ(result, 0);
  EXPECT_EQ(params.result_out, 0);
  std::uint64_t flags = 99;
  ASSERT_EQ(api().cuGraphExecGetFlags(exec, &flags), 0);
  EXPECT_EQ(flags, 0u);
  TestStream stream;
  ASSERT_EQ(api().cuGraphUpload(exec, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  launch_and_wait(exec);
  expect(6);
  // The copy's parameters of an executable graph.
  CUDA_MEMCPY3D box{};
  EXPECT_EQ(api().cuGraphExecMemcpyNodeSetParams(exec, nullptr, &box, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
  EXPECT_EQ(api().cuGraphInstantiate(&exec, graph_, 0x1000), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuGraphInstantiate(&exec, nullptr, 0), cuda::CUDA_ERROR_INVALID_VALUE);
}

// Launches of one executable graph do not overlap, whatever streams they are in.
TEST_F(Graph, LaunchesOfOneGraphFollowEachOther) {
  add_kernel(add_, 1);
  CUgraphExec exec = instantiate();
  TestStream first, second;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(api().cuGraphLaunch(exec, i % 2 ? first : second), 0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);
  expect(20);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
}

TEST_F(Graph, LaunchIsRefusedInACapture) {
  add_fill(3);
  CUgraphExec exec = instantiate();
  TestStream stream;
  CUgraph outer = nullptr;
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(api().cuGraphLaunch(exec, stream), cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &outer), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api().cuGraphExecDestroy(exec), 0);
}

TEST_F(Graph, UserObjectsLiveWithTheGraph) {
  static int destroyed;
  destroyed = 0;
  int data = 0;
  CUuserObject object = nullptr;
  auto destroy = [](void*) { ++destroyed; };
  ASSERT_EQ(api().cuUserObjectCreate(&object, &data, destroy, 1, 1), 0);
  ASSERT_EQ(api().cuUserObjectRetain(object, 2), 0);
  ASSERT_EQ(api().cuUserObjectRelease(object, 2), 0);
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuGraphCreate(&graph, 0), 0);
  ASSERT_EQ(api().cuGraphRetainUserObject(graph, object, 1, 1), 0);  // moves the reference
  ASSERT_EQ(api().cuGraphRetainUserObject(graph, object, 1, 0), 0);
  ASSERT_EQ(api().cuGraphReleaseUserObject(graph, object, 1), 0);
  EXPECT_EQ(destroyed, 0);
  ASSERT_EQ(api().cuGraphDestroy(graph), 0);
  for (int i = 0; i < 1000 && destroyed == 0; ++i) usleep(1000);
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graph, DrawnAsText) {
  CUgraphNode first = add_fill(1);
  add_kernel(add_, 1, {first});
  std::string file = testing::TempDir() + "td_graph_" + std::to_string(getpid()) + ".dot";
  ASSERT_EQ(api().cuGraphDebugDotPrint(graph_, file.c_str(), 0), 0);
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("digraph"), std::string::npos);
  EXPECT_NE(text.find("->"), std::string::npos);
  unlink(file.c_str());
}

}  // namespace
}  // namespace td::test
