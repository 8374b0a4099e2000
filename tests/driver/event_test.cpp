// Events: state, elapsed time, and the errors of both.
#include <chrono>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

class Events : public DriverTest {
 protected:
  CUevent create(unsigned flags = cuda::EVENT_DEFAULT) {
    CUevent event = nullptr;
    EXPECT_EQ(api().cuEventCreate(&event, flags), cuda::CUDA_SUCCESS);
    created.push_back(event);
    return event;
  }
  void TearDown() override {
    for (CUevent event : created) EXPECT_EQ(api().cuEventDestroy(event), cuda::CUDA_SUCCESS);
  }
  std::vector<CUevent> created;
};

TEST_F(Events, NeverRecordedCountsAsDone) {
  CUevent event = create();
  EXPECT_EQ(api().cuEventQuery(event), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventSynchronize(event), cuda::CUDA_SUCCESS);
  CUevent bad = nullptr;
  EXPECT_EQ(api().cuEventCreate(&bad, 0x1000), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Events, ElapsedTimeOfASleep) {
  TestStream stream;
  CUevent start = create(), end = create();
  ASSERT_EQ(api().cuEventRecord(start, stream), cuda::CUDA_SUCCESS);
  auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
  ASSERT_EQ(api().cuLaunchHostFunc(stream, sleep, nullptr), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(end, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventSynchronize(end), cuda::CUDA_SUCCESS);
  float forward = 0, backward = 0, same = 1;
  ASSERT_EQ(api().cuEventElapsedTime(&forward, start, end), cuda::CUDA_SUCCESS);
  EXPECT_GE(forward, 55);
  EXPECT_LE(forward, 5000);
  ASSERT_EQ(api().cuEventElapsedTime(&backward, end, start), cuda::CUDA_SUCCESS);
  EXPECT_FLOAT_EQ(backward, -forward);
  ASSERT_EQ(api().cuEventElapsedTime(&same, start, start), cuda::CUDA_SUCCESS);
  EXPECT_EQ(same, 0);
}

TEST_F(Events, ElapsedTimeErrors) {
  TestStream stream;
  CUevent start = create(), end = create(), untimed = create(cuda::EVENT_DISABLE_TIMING);
  float milliseconds = 0;
  EXPECT_EQ(api().cuEventElapsedTime(&milliseconds, start, end), cuda::CUDA_ERROR_INVALID_HANDLE)
      << "not recorded";
  ASSERT_EQ(api().cuEventRecord(start, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(untimed, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventElapsedTime(&milliseconds, start, untimed),
            cuda::CUDA_ERROR_INVALID_HANDLE);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuEventRecord(end, stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventElapsedTime(&milliseconds, start, end), cuda::CUDA_ERROR_NOT_READY);
  gate.open();
  ASSERT_EQ(api().cuEventSynchronize(end), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventElapsedTime(&milliseconds, start, end), cuda::CUDA_SUCCESS);
}

TEST_F(Events, RecordingAgainMovesTheEvent) {
  TestStream stream;
  CUevent event = create();
  ASSERT_EQ(api().cuEventRecord(event, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventSynchronize(event), cuda::CUDA_SUCCESS);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuEventRecord(event, stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventQuery(event), cuda::CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(api().cuEventSynchronize(event), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventQuery(event), cuda::CUDA_SUCCESS);
}

// A wait takes the recording that was current when it was enqueued, not a later one.
TEST_F(Events, WaitTakesTheRecordingAtItsTime) {
  TestStream first, second;
  CUevent event = create(cuda::EVENT_DISABLE_TIMING);
  ASSERT_EQ(api().cuEventRecord(event, first), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamWaitEvent(second, event, 0), cuda::CUDA_SUCCESS);
  Gate gate;
  gate.hold(first);
  ASSERT_EQ(api().cuEventRecord(event, first), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamSynchronize(second), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamQuery(first), cuda::CUDA_ERROR_NOT_READY);
}

TEST_F(Events, DestroyedWhilePending) {
  TestStream stream;
  CUevent event = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, cuda::EVENT_DEFAULT), cuda::CUDA_SUCCESS);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuEventRecord(event, stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventDestroy(event), cuda::CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
}

}  // namespace
}  // namespace td::test
