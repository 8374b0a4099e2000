// Stream capture: what becomes of the work, how a capture spreads and ends, what is refused and
// how.
#include <thread>

#include "graph_support.h"

namespace td::test {
namespace {

class Capture : public GraphTest {
 protected:
  int status(CUstream stream) {
    int now = -1;
    EXPECT_EQ(api().cuStreamIsCapturing(stream, &now), 0);
    return now;
  }
};

TEST_F(Capture, NothingRunsUntilLaunched) {
  TestStream stream;
  EXPECT_EQ(status(stream), cuda::CAPTURE_NONE);
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_GLOBAL), 0);
  EXPECT_EQ(status(stream), cuda::CAPTURE_ACTIVE);
  ASSERT_EQ(launch(add_, 5, stream), 0);
  ASSERT_EQ(launch(times_, 3, stream), 0);
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(status(stream), cuda::CAPTURE_NONE);
  expect(0);
  EXPECT_EQ(node_count(graph), 2u);
  EXPECT_EQ(edge_count(graph), 1u);
  run(graph, 2);
  expect((5 * 3 + 5) * 3);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
}

TEST_F(Capture, EveryKindOfWork) {
  TestStream stream;
  std::vector<int> back(kCount, -1);
  int calls = 0;
  Buffer copy(4 * kCount);
  void* pinned = nullptr;
  ASSERT_EQ(api().cuMemHostAlloc(&pinned, 4 * kCount, 0), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_THREAD_LOCAL), 0);
  ASSERT_EQ(api().cuMemsetD32Async(memory_, 11, kCount, stream), 0);
  ASSERT_EQ(launch(add_, 1, stream), 0);
  ASSERT_EQ(api().cuMemcpyDtoDAsync(copy, memory_, 4 * kCount, stream), 0);
  ASSERT_EQ(api().cuMemcpyDtoHAsync(pinned, copy, 4 * kCount, stream), 0);
  ASSERT_EQ(
      api().cuLaunchHostFunc(stream, [](void* data) { ++*static_cast<int*>(data); }, &calls), 0);
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
  std::size_t count = 5;
  CUgraphNode nodes[5];
  ASSERT_EQ(api().cuGraphGetNodes(graph, nodes, &count), 0);
  ASSERT_EQ(count, 5u);
  std::vector<int> types(5);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(api().cuGraphNodeGetType(nodes[i], &types[i]), 0);
  std::sort(types.begin(), types.end());
  EXPECT_EQ(types, (std::vector<int>{cuda::NODE_KERNEL, cuda::NODE_MEMCPY, cuda::NODE_MEMCPY,
                                     cuda::NODE_MEMSET, cuda::NODE_HOST}));
  run(graph, 3);
  EXPECT_EQ(calls, 3);
  std::memcpy(back.data(), pinned, 4 * kCount);
  EXPECT_EQ(back, std::vector<int>(kCount, 12));
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
  EXPECT_EQ(api().cuMemFreeHost(pinned), 0);
}

TEST_F(Capture, ForksAndJoins) {
  TestStream first, second;
  CUevent fork = nullptr, join = nullptr;
  ASSERT_EQ(api().cuEventCreate(&fork, 0), 0);
  ASSERT_EQ(api().cuEventCreate(&join, 0), 0);
  Buffer other(4 * kCount);
  ASSERT_EQ(api().cuStreamBeginCapture(first, cuda::CAPTURE_GLOBAL), 0);
  ASSERT_EQ(launch(add_, 2, first), 0);
  ASSERT_EQ(api().cuEventRecord(fork, first), 0);
  ASSERT_EQ(api().cuStreamWaitEvent(second, fork, 0), 0);
  EXPECT_EQ(status(second), cuda::CAPTURE_ACTIVE);
  ASSERT_EQ(api().cuMemcpyDtoDAsync(other, memory_, 4 * kCount, second), 0);
  ASSERT_EQ(api().cuMemsetD8Async(other, 0, 4, second), 0);
  ASSERT_EQ(launch(times_, 10, first), 0);
  ASSERT_EQ(api().cuEventRecord(join, second), 0);
  ASSERT_EQ(api().cuStreamWaitEvent(first, join, 0), 0);
  ASSERT_EQ(launch(add_, 1, first), 0);
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamEndCapture(first, &graph), 0);
  EXPECT_EQ(status(second), cuda::CAPTURE_NONE);
  EXPECT_EQ(node_count(graph), 5u);
  EXPECT_EQ(edge_count(graph), 5u);
  run(graph);
  expect(21);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
  EXPECT_EQ(api().cuEventDestroy(fork), 0);
  EXPECT_EQ(api().cuEventDestroy(join), 0);
}

TEST_F(Capture, AskingForACapturedEventSpoilsTheCapture) {
  TestStream stream;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 0), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  ASSERT_EQ(launch(add_, 1, stream), 0);
  ASSERT_EQ(api().cuEventRecord(event, stream), 0);
  EXPECT_EQ(api().cuEventQuery(event), cuda::CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api().cuEventDestroy(event), 0);
}

TEST_F(Capture, AForkThatIsNotJoined) {
  TestStream first, second;
  CUevent fork = nullptr;
  ASSERT_EQ(api().cuEventCreate(&fork, 0), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(first, cuda::CAPTURE_GLOBAL), 0);
  ASSERT_EQ(api().cuEventRecord(fork, first), 0);
  ASSERT_EQ(api().cuStreamWaitEvent(second, fork, 0), 0);
  ASSERT_EQ(launch(add_, 1, second), 0);
  CUgraph graph = nullptr;
  EXPECT_EQ(api().cuStreamEndCapture(first, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(status(second), cuda::CAPTURE_NONE);
  EXPECT_EQ(api().cuEventDestroy(fork), 0);
}

TEST_F(Capture, EndedInTheWrongStream) {
  TestStream first, second;
  CUevent fork = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuEventCreate(&fork, 0), 0);
  EXPECT_EQ(api().cuStreamEndCapture(first, &graph), cuda::CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(api().cuStreamBeginCapture(first, cuda::CAPTURE_GLOBAL), 0);
  EXPECT_EQ(api().cuStreamBeginCapture(first, cuda::CAPTURE_GLOBAL),
            cuda::CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(api().cuEventRecord(fork, first), 0);
  ASSERT_EQ(api().cuStreamWaitEvent(second, fork, 0), 0);
  EXPECT_EQ(api().cuStreamEndCapture(second, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  api().cuStreamEndCapture(first, &graph);
  if (graph) api().cuGraphDestroy(graph);
  EXPECT_EQ(api().cuEventDestroy(fork), 0);
}

// ---- what spoils a capture ----

TEST_F(Capture, AllocationIsUnsafe) {
  TestStream stream;
  CUdeviceptr memory = 0;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_GLOBAL), 0);
  EXPECT_EQ(api().cuMemAlloc(&memory, 64), cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(stream), cuda::CAPTURE_INVALIDATED);
  EXPECT_EQ(launch(add_, 1, stream), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
  ASSERT_EQ(api().cuMemAlloc(&memory, 64), 0);
  ASSERT_EQ(api().cuMemFree(memory), 0);
  // A relaxed capture takes it.
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  ASSERT_EQ(api().cuMemAlloc(&memory, 64), 0);
  ASSERT_EQ(api().cuMemFree(memory), 0);
  ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
}

TEST_F(Capture, OtherThreadsAreBoundByAGlobalCapture) {
  TestStream stream;
  CUgraph graph = nullptr;
  auto allocate_elsewhere = [&](int thread_mode) {
    CUresult result = -1;
    std::thread([&] {
      device();
      int mode = thread_mode;
      api().cuThreadExchangeStreamCaptureMode(&mode);
      CUdeviceptr memory = 0;
      result = api().cuMemAlloc(&memory, 64);
      if (memory) api().cuMemFree(memory);
    }).join();
    return result;
  };
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_GLOBAL), 0);
  EXPECT_EQ(allocate_elsewhere(cuda::CAPTURE_THREAD_LOCAL), 0);
  EXPECT_EQ(allocate_elsewhere(cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(status(stream), cuda::CAPTURE_ACTIVE);
  EXPECT_EQ(allocate_elsewhere(cuda::CAPTURE_GLOBAL), cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_THREAD_LOCAL), 0);
  EXPECT_EQ(allocate_elsewhere(cuda::CAPTURE_GLOBAL), 0);
  ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
}

TEST_F(Capture, WaitingForACapturedStream) {
  TestStream stream;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(api().cuStreamQuery(stream), cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Capture, TheLegacyStream) {
  EXPECT_EQ(api().cuStreamBeginCapture(nullptr, cuda::CAPTURE_GLOBAL),
            cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUstream blocking = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamCreate(&blocking, 0), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(blocking, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(launch(add_, 1, nullptr), cuda::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(api().cuStreamEndCapture(blocking, &graph),
            cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(launch(add_, 1, nullptr), 0);
  // A non-blocking stream is none of its business.
  TestStream stream;
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(launch(add_, 1, nullptr), 0);
  ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
  EXPECT_EQ(api().cuStreamDestroy(blocking), 0);
}

TEST_F(Capture, EventsFromOutside) {
  TestStream stream, outside;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 0), 0);
  ASSERT_EQ(api().cuEventRecord(event, outside), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(api().cuStreamWaitEvent(stream, event, 0), cuda::CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(api().cuStreamEndCapture(stream, &graph), cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // As nodes of their own they are fine.
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  EXPECT_EQ(api().cuStreamWaitEvent(stream, event, 1), 0);
  EXPECT_EQ(api().cuEventRecordWithFlags(event, stream, 1), 0);
  ASSERT_EQ(api().cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(node_count(graph), 2u);
  run(graph);
  EXPECT_EQ(api().cuEventQuery(event), 0);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
  EXPECT_EQ(api().cuEventDestroy(event), 0);
}

TEST_F(Capture, TwoCapturesDoNotMeet) {
  TestStream first, second;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 0), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(first, cuda::CAPTURE_RELAXED), 0);
  ASSERT_EQ(api().cuStreamBeginCapture(second, cuda::CAPTURE_RELAXED), 0);
  ASSERT_EQ(api().cuEventRecord(event, first), 0);
  EXPECT_EQ(api().cuStreamWaitEvent(second, event, 0), cuda::CUDA_ERROR_STREAM_CAPTURE_MERGE);
  api().cuStreamEndCapture(first, &graph);
  if (graph) api().cuGraphDestroy(graph);
  graph = nullptr;
  api().cuStreamEndCapture(second, &graph);
  if (graph) api().cuGraphDestroy(graph);
  EXPECT_EQ(api().cuEventDestroy(event), 0);
}

TEST_F(Capture, EndedByAnotherThread) {
  TestStream stream;
  for (int mode : {cuda::CAPTURE_GLOBAL, cuda::CAPTURE_RELAXED}) {
    CUgraph graph = nullptr;
    ASSERT_EQ(api().cuStreamBeginCapture(stream, mode), 0);
    CUresult elsewhere = -1;
    std::thread([&] {
      device();
      elsewhere = api().cuStreamEndCapture(stream, &graph);
    }).join();
    if (mode == cuda::CAPTURE_RELAXED) {
      EXPECT_EQ(elsewhere, 0);
    } else {
      EXPECT_EQ(elsewhere, cuda::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
      api().cuStreamEndCapture(stream, &graph);
    }
    if (graph) api().cuGraphDestroy(graph);
  }
}

// ---- looking into a capture ----

TEST_F(Capture, InfoAndDependencies) {
  TestStream stream;
  CUgraph graph = nullptr, ended = nullptr;
  ASSERT_EQ(api().cuStreamBeginCapture(stream, cuda::CAPTURE_RELAXED), 0);
  ASSERT_EQ(launch(add_, 1, stream), 0);
  int now = -1;
  std::uint64_t id = 0;
  const CUgraphNode* tails = nullptr;
  std::size_t count = 0;
  CUresult result = api().cuStreamGetCaptureInfo(stream, &now, &id, &graph, &tails, &count);
  const CUgraphEdgeData* edges = nullptr;
  CUresult third =
      api().cuStreamGetCaptureInfo_v3(stream, &now, &id, &graph, &tails, &edges, &count);
  ASSERT_TRUE(result == 0 || third == 0);
  EXPECT_EQ(now, cuda::CAPTURE_ACTIVE);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  // A node of our own, in parallel with what was captured, joins the stream's place.
  CUgraphNode extra = nullptr;
  ASSERT_EQ(api().cuGraphAddEmptyNode(&extra, graph, nullptr, 0), 0);
  CUresult changed = api().cuStreamUpdateCaptureDependencies(stream, &extra, 1, 0);
  if (changed == cuda::CUDA_ERROR_NOT_SUPPORTED || changed != 0)
    changed = api().cuStreamUpdateCaptureDependencies_v2(stream, &extra, nullptr, 1, 0);
  ASSERT_EQ(changed, 0);
  ASSERT_EQ(launch(times_, 7, stream), 0);
  ASSERT_EQ(api().cuStreamEndCapture(stream, &ended), 0);
  EXPECT_EQ(ended, graph);
  EXPECT_EQ(node_count(graph), 3u);
  EXPECT_EQ(edge_count(graph), 2u);
  run(graph);
  expect(7);
  EXPECT_EQ(api().cuStreamUpdateCaptureDependencies(stream, nullptr, 0, 0),
            cuda::CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(api().cuStreamUpdateCaptureDependencies_v2(stream, nullptr, nullptr, 0, 0),
            cuda::CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
}

TEST_F(Capture, IntoAGraphThatExists) {
  TestStream stream;
  CUgraph graph = nullptr, ended = nullptr;
  CUgraphNode first = nullptr;
  ASSERT_EQ(api().cuGraphCreate(&graph, 0), 0);
  CUDA_MEMSET_NODE_PARAMS fill{memory_, 0, 4, 4, kCount, 1};
  ASSERT_EQ(api().cuGraphAddMemsetNode(&first, graph, nullptr, 0, &fill, nullptr), 0);
  CUresult result =
      api().cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cuda::CAPTURE_RELAXED);
  if (result != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    ASSERT_EQ(result, 0);
    ASSERT_EQ(launch(times_, 6, stream), 0);
    ASSERT_EQ(api().cuStreamEndCapture(stream, &ended), 0);
    EXPECT_EQ(ended, graph);
    run(graph);
    expect(24);
  }
  EXPECT_EQ(api().cuGraphDestroy(graph), 0);
}

}  // namespace
}  // namespace td::test
