// Streams: asynchrony, order, and what waits for what.
#include <chrono>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Streams : public DriverTest {
 protected:
  // A driver may load its own fill and copy kernels on first use, and wait for the device then: not
  // behind a gate.
  void SetUp() override {
    DriverTest::SetUp();
    Buffer memory(4096);
    ASSERT_EQ(api().cuMemsetD8(memory, 0, 4096), cuda::CUDA_SUCCESS);
    ASSERT_EQ(api().cuMemcpyDtoD(memory, memory + 2048, 2048), cuda::CUDA_SUCCESS);
    ASSERT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  }
  bool pending(CUstream stream) {
    CUresult result = api().cuStreamQuery(stream);
    EXPECT_TRUE(result == cuda::CUDA_SUCCESS || result == cuda::CUDA_ERROR_NOT_READY) << result;
    return result == cuda::CUDA_ERROR_NOT_READY;
  }
};

TEST_F(Streams, NewStreamIsIdle) {
  TestStream stream;
  EXPECT_EQ(api().cuStreamQuery(stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  CUstream bad = nullptr;
  EXPECT_EQ(api().cuStreamCreateWithPriority(&bad, 0x80, 0), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Streams, HostReturnsWhileWorkIsPending) {
  TestStream stream;
  Buffer memory(1 << 20);
  ASSERT_EQ(api().cuMemsetD8(memory, 1, 1 << 20), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  Gate gate;
  auto start = Clock::now();
  gate.hold(stream);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(api().cuMemsetD8Async(memory, 2, 1 << 20, stream), cuda::CUDA_SUCCESS);
  EXPECT_LT(seconds_since(start), 5) << "enqueueing waited for the host function";
  EXPECT_TRUE(pending(stream));
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  EXPECT_FALSE(pending(stream));
  EXPECT_EQ(read<char>(memory, 1)[0], 2);
}

TEST_F(Streams, WorkOfAStreamRunsInOrder) {
  TestStream stream;
  Buffer a(4096), b(4096), c(4096);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuMemsetD8Async(a, 1, 4096, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoDAsync(b, a, 4096, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemsetD8Async(a, 2, 4096, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoDAsync(c, a, 4096, stream), cuda::CUDA_SUCCESS);
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<char>(b, 4096), std::vector<char>(4096, 1));
  EXPECT_EQ(read<char>(c, 4096), std::vector<char>(4096, 2));
}

TEST_F(Streams, HostFunctionsRunInOrderWithTheirData) {
  TestStream stream;
  std::vector<int> order;
  struct Note {
    std::vector<int>* order;
    int number;
  };
  std::vector<Note> notes;
  for (int i = 0; i < 50; ++i) notes.push_back({&order, i});
  auto append = [](void* data) {
    auto* note = static_cast<Note*>(data);
    note->order->push_back(note->number);
  };
  for (Note& note : notes)
    ASSERT_EQ(api().cuLaunchHostFunc(stream, append, &note), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[i], i);
}

TEST_F(Streams, OtherStreamsGoOn) {
  TestStream held, free;
  Buffer memory(4096);
  Gate gate;
  gate.hold(held);
  ASSERT_EQ(api().cuMemsetD8Async(memory, 5, 4096, free), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(free), cuda::CUDA_SUCCESS);
  EXPECT_TRUE(pending(held));
  EXPECT_FALSE(pending(free));
}

TEST_F(Streams, WaitForAnEventOfAnotherStream) {
  TestStream first, second;
  Buffer memory(4096), copy(4096);
  ASSERT_EQ(api().cuMemsetD8(memory, 0, 4096), cuda::CUDA_SUCCESS);
  CUevent event = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, cuda::EVENT_DISABLE_TIMING), cuda::CUDA_SUCCESS);
  Gate gate;
  gate.hold(first);
  ASSERT_EQ(api().cuMemsetD8Async(memory, 3, 4096, first), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(event, first), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamWaitEvent(second, event, 0), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoDAsync(copy, memory, 4096, second), cuda::CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(pending(second));
  EXPECT_EQ(api().cuEventQuery(event), cuda::CUDA_ERROR_NOT_READY);
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(second), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventQuery(event), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<char>(copy, 4096), std::vector<char>(4096, 3));
  EXPECT_EQ(api().cuEventDestroy(event), cuda::CUDA_SUCCESS);
}

// The legacy default stream waits for streams made without the non-blocking flag, and they wait for
// it.
TEST_F(Streams, DefaultStreamWaitsForBlockingStreams) {
  CUstream blocking = nullptr;
  ASSERT_EQ(api().cuStreamCreateWithPriority(&blocking, cuda::STREAM_DEFAULT, 0),
            cuda::CUDA_SUCCESS);
  TestStream independent;
  Buffer memory(4096);
  Gate gate;
  gate.hold(blocking);
  ASSERT_EQ(api().cuMemsetD8Async(memory, 1, 4096, nullptr), cuda::CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(pending(nullptr));
  ASSERT_EQ(api().cuMemsetD8Async(memory + 2048, 2, 2048, independent), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamSynchronize(independent), cuda::CUDA_SUCCESS);
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(nullptr), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<char>(memory, 1)[0], 1);
  EXPECT_EQ(api().cuStreamDestroy(blocking), cuda::CUDA_SUCCESS);
}

TEST_F(Streams, ContextSynchronizeWaitsForAll) {
  TestStream stream;
  Gate gate;
  gate.hold(stream);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open();
  });
  auto start = Clock::now();
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  EXPECT_GE(seconds_since(start), 0.03);
  EXPECT_FALSE(pending(stream));
  opener.join();
}

TEST_F(Streams, DestroyedStreamFinishesItsWork) {
  CUstream stream = nullptr;
  ASSERT_EQ(api().cuStreamCreateWithPriority(&stream, cuda::STREAM_NON_BLOCKING, 0),
            cuda::CUDA_SUCCESS);
  Buffer memory(4096);
  ASSERT_EQ(api().cuMemsetD8(memory, 0, 4096), cuda::CUDA_SUCCESS);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuMemsetD8Async(memory, 9, 4096, stream), cuda::CUDA_SUCCESS);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    gate.open();
  });
  ASSERT_EQ(api().cuStreamDestroy(stream), cuda::CUDA_SUCCESS);
  opener.join();
  ASSERT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<char>(memory, 4096), std::vector<char>(4096, 9));
}

TEST_F(Streams, SeveralThreadsFillTheirOwnStreams) {
  auto worker = [](char value) {
    device();
    TestStream stream;
    Buffer memory(4096);
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(api().cuMemsetD8Async(memory, static_cast<unsigned char>(i), 4096, stream),
                cuda::CUDA_SUCCESS);
    }
    ASSERT_EQ(api().cuMemsetD8Async(memory, static_cast<unsigned char>(value), 4096, stream),
              cuda::CUDA_SUCCESS);
    ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
    EXPECT_EQ(read<char>(memory, 4096), std::vector<char>(4096, value));
  };
  std::vector<std::thread> threads;
  for (char value = 1; value <= 4; ++value) threads.emplace_back(worker, value);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace td::test
