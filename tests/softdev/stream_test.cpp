// Streams, events, host functions: order, concurrency, the default stream.
#include <atomic>
#include <chrono>
#include <thread>

#include "support.h"

namespace td::softdev::test {

namespace {

constexpr unsigned long long kMillisecond = 2400000;  // about, in cycles

class Streams : public Soft {
 protected:
  CUstream stream(unsigned flags = STREAM_DEFAULT) {
    CUstream made = nullptr;
    EXPECT_EQ(td_soft_cuStreamCreateWithPriority(&made, flags, 0), CUDA_SUCCESS);
    return made;
  }
  CUevent event(unsigned flags = EVENT_DEFAULT) {
    CUevent made = nullptr;
    EXPECT_EQ(td_soft_cuEventCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  // A flag in page-locked memory that a wait_flag kernel watches.
  int* flag() {
    void* memory = nullptr;
    EXPECT_EQ(td_soft_cuMemHostAlloc(&memory, sizeof(int), 0), CUDA_SUCCESS);
    *static_cast<int*>(memory) = 0;
    return static_cast<int*>(memory);
  }
  static void raise_flag(int* flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
};

TEST_F(Streams, LaunchesDoNotWait) {
  int* gate = flag();
  CUstream s = stream(STREAM_NON_BLOCKING);
  ASSERT_EQ(launch("wait_flag", 1, 1, s, gate), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(td_soft_cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  raise_flag(gate);
  OK(cuStreamSynchronize(s));
  OK(cuStreamQuery(s));
}

TEST_F(Streams, WorkRunsWithoutAnyWaiting) {
  CUdeviceptr out = alloc(4 * sizeof(int));
  CUstream s = stream();
  ASSERT_EQ(launch("triple", 1, 4, s, out, 4), CUDA_SUCCESS);
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (td_soft_cuStreamQuery(s) == CUDA_ERROR_NOT_READY &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  OK(cuStreamQuery(s));
  EXPECT_EQ(download<int>(out, 4), (std::vector<int>{0, 3, 6, 9}));
}

TEST_F(Streams, TwentyStreamsKeepTheirOrder) {
  const int streams = 20, steps = 200;
  CUdeviceptr cells = alloc(streams * sizeof(int)), errors = alloc(sizeof(int));
  OK(cuMemsetD32_v2(cells, 0, streams));
  OK(cuMemsetD32_v2(errors, 0, 1));
  OK(cuCtxSynchronize());
  std::vector<CUstream> all;
  for (int i = 0; i < streams; ++i)
    all.push_back(stream(i % 2 ? STREAM_NON_BLOCKING : STREAM_DEFAULT));
  for (int step = 0; step < steps; ++step)
    for (int i = 0; i < streams; ++i)
      ASSERT_EQ(launch("chain", 1, 1, all[i], cells + i * sizeof(int), step, errors), CUDA_SUCCESS);
  OK(cuCtxSynchronize());
  EXPECT_EQ(download<int>(errors, 1)[0], 0);
  for (int value : download<int>(cells, streams)) EXPECT_EQ(value, steps);
}

TEST_F(Streams, ManyThreadsUseTheirOwnStreams) {
  const int threads = 6, steps = 300;
  CUdeviceptr cells = alloc(threads * sizeof(int)), errors = alloc(sizeof(int));
  OK(cuMemsetD32_v2(cells, 0, threads));
  OK(cuMemsetD32_v2(errors, 0, 1));
  OK(cuCtxSynchronize());
  CUfunction chain = kernel("chain");
  std::vector<std::thread> pool;
  std::atomic<int> failures{0};
  for (int i = 0; i < threads; ++i)
    pool.emplace_back([&, i] {
      failures += td_soft_cuCtxSetCurrent(context_) != CUDA_SUCCESS;
      CUstream mine = nullptr;
      failures += td_soft_cuStreamCreateWithPriority(&mine, STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS;
      for (int step = 0; step < steps; ++step) {
        CUdeviceptr cell = cells + i * sizeof(int), bad = errors;
        void* params[] = {&cell, &step, &bad};
        failures += td_soft_cuLaunchKernel(chain, 1, 1, 1, 1, 1, 1, 0, mine, params, nullptr) !=
                    CUDA_SUCCESS;
        if (step % 7 == i) failures += td_soft_cuStreamSynchronize(mine) != CUDA_SUCCESS;
      }
      failures += td_soft_cuStreamSynchronize(mine) != CUDA_SUCCESS;
      failures += td_soft_cuStreamDestroy_v2(mine) != CUDA_SUCCESS;
    });
  for (std::thread& thread : pool) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(download<int>(errors, 1)[0], 0);
  for (int value : download<int>(cells, threads)) EXPECT_EQ(value, steps);
}

// Milliseconds since the clock's start.
double now() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TEST_F(Streams, EventsMeasureTime) {
  CUstream s = stream();
  CUevent start = event(), end = event();
  double begin = now();
  OK(cuEventRecord(start, s));
  ASSERT_EQ(launch("busy", 1, 1, s, 20 * kMillisecond), CUDA_SUCCESS);
  OK(cuEventRecord(end, s));
  OK(cuEventSynchronize(end));
  double spent = now() - begin;
  float milliseconds = 0;
  OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GT(milliseconds, 8.0f);  // the kernel's cycles at 6 GHz
  EXPECT_LT(milliseconds, spent + 0.01);
}

TEST_F(Streams, AnEventKeepsTheTimeOfTheStreamNotOfTheQuery) {
  CUevent start = event(), end = event();
  double begin = now();
  OK(cuEventRecord(start, nullptr));
  OK(cuEventRecord(end, nullptr));
  double spent = now() - begin;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  OK(cuEventSynchronize(end));
  float milliseconds = -1;
  OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_LT(milliseconds, spent + 0.01);
}

TEST_F(Streams, EventErrorsAreCudas) {
  float milliseconds = 0;
  CUevent a = event(), b = event(), untimed = event(EVENT_DISABLE_TIMING);
  OK(cuEventQuery(a));
  OK(cuEventSynchronize(a));
  EXPECT_EQ(td_soft_cuEventElapsedTime(&milliseconds, a, b), CUDA_ERROR_INVALID_HANDLE);
  OK(cuEventRecord(a, nullptr));
  OK(cuEventRecord(untimed, nullptr));
  EXPECT_EQ(td_soft_cuEventElapsedTime(&milliseconds, a, untimed), CUDA_ERROR_INVALID_HANDLE);
  int* gate = flag();
  CUstream s = stream(STREAM_NON_BLOCKING);
  ASSERT_EQ(launch("wait_flag", 1, 1, s, gate), CUDA_SUCCESS);
  OK(cuEventRecord(b, s));
  EXPECT_EQ(td_soft_cuEventQuery(b), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(td_soft_cuEventElapsedTime(&milliseconds, a, b), CUDA_ERROR_NOT_READY);
  raise_flag(gate);
  OK(cuEventSynchronize(b));
  OK(cuEventElapsedTime(&milliseconds, a, b));
  OK(cuEventDestroy_v2(b));
  EXPECT_EQ(td_soft_cuEventQuery(b), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(td_soft_cuEventDestroy_v2(b), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, WaitEventOrdersTwoStreams) {
  CUstream first = stream(STREAM_NON_BLOCKING), second = stream(STREAM_NON_BLOCKING);
  CUdeviceptr cell = alloc(sizeof(int)), errors = alloc(sizeof(int));
  CUevent done = event(EVENT_DISABLE_TIMING);
  for (int turn = 0; turn < 50; ++turn) {
    OK(cuMemsetD32_v2(cell, 0, 1));
    OK(cuMemsetD32_v2(errors, 0, 1));
    OK(cuCtxSynchronize());
    ASSERT_EQ(launch("busy", 1, 1, first, kMillisecond / 10), CUDA_SUCCESS);
    ASSERT_EQ(launch("chain", 1, 1, first, cell, 0, errors), CUDA_SUCCESS);
    OK(cuEventRecord(done, first));
    OK(cuStreamWaitEvent(second, done, 0));
    // A later record does not move what was waited for.
    OK(cuEventRecord(done, first));
    ASSERT_EQ(launch("chain", 1, 1, second, cell, 1, errors), CUDA_SUCCESS);
    OK(cuStreamSynchronize(second));
    EXPECT_EQ(download<int>(errors, 1)[0], 0);
  }
}

TEST_F(Streams, TheDefaultStreamWaitsForBlockingStreamsOnly) {
  int* gate = flag();
  CUstream blocking = stream(), free = stream(STREAM_NON_BLOCKING), other = stream();
  CUevent mark = event(), beside = event(), after = event();
  ASSERT_EQ(launch("wait_flag", 1, 1, blocking, gate), CUDA_SUCCESS);
  OK(cuEventRecord(mark, nullptr));  // behind the blocking stream
  OK(cuEventRecord(beside, free));   // not behind anything
  OK(cuEventRecord(after, other));   // behind the default stream
  OK(cuEventSynchronize(beside));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(td_soft_cuEventQuery(mark), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(td_soft_cuEventQuery(after), CUDA_ERROR_NOT_READY);
  raise_flag(gate);
  OK(cuEventSynchronize(after));
  OK(cuEventQuery(mark));

  *gate = 0;
  ASSERT_EQ(launch("wait_flag", 1, 1, free, gate), CUDA_SUCCESS);
  OK(cuEventRecord(mark, nullptr));
  OK(cuEventSynchronize(mark));  // would hang if it waited for the non-blocking stream
  OK(cuStreamSynchronize(nullptr));
  raise_flag(gate);
  OK(cuStreamSynchronize(free));
}

TEST_F(Streams, SynchronisingTheDefaultStreamWaitsForBlockingStreams) {
  CUstream blocking = stream();
  CUdeviceptr out = alloc(sizeof(int));
  ASSERT_EQ(launch("busy", 1, 1, blocking, 3 * kMillisecond), CUDA_SUCCESS);
  ASSERT_EQ(launch("triple", 1, 1, blocking, out, 1), CUDA_SUCCESS);
  OK(cuStreamSynchronize(nullptr));
  OK(cuStreamQuery(blocking));
}

TEST_F(Streams, HostFunctionsRunInOrderAndMayBlock) {
  CUstream s = stream(), other = stream(STREAM_NON_BLOCKING);
  CUdeviceptr out = alloc(8 * sizeof(int));
  struct State {
    std::atomic<int> step{0}, go{0};
  } state;
  auto blocks = [](void* data) {
    auto& st = *static_cast<State*>(data);
    while (!st.go) std::this_thread::yield();
    st.step = 1;
  };
  OK(cuLaunchHostFunc(s, blocks, &state));
  ASSERT_EQ(launch("triple", 1, 8, s, out, 8), CUDA_SUCCESS);
  OK(cuLaunchHostFunc(s, [](void* data) { ++static_cast<State*>(data)->step; }, &state));
  // Other streams go on, and waiting for them does not run the blocking function.
  ASSERT_EQ(launch("empty", 4, 32, other), CUDA_SUCCESS);
  OK(cuStreamSynchronize(other));
  EXPECT_EQ(state.step, 0);
  EXPECT_EQ(td_soft_cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  state.go = 1;
  OK(cuStreamSynchronize(s));
  EXPECT_EQ(state.step, 2);
  EXPECT_EQ(td_soft_cuLaunchHostFunc(s, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Streams, CopiesKeepTheirPlace) {
  const std::size_t n = 1 << 20;
  CUstream s = stream(STREAM_NON_BLOCKING);
  CUdeviceptr buffer = alloc(n * sizeof(int));
  std::vector<int> host(n), back(n);
  void* pinned = nullptr;
  OK(cuMemHostAlloc(&pinned, n * sizeof(int), 0));
  for (int turn = 0; turn < 5; ++turn) {
    for (std::size_t count : {std::size_t{1000}, n}) {
      for (std::size_t i = 0; i < count; ++i) host[i] = static_cast<int>(i) * (turn + 1);
      ASSERT_EQ(launch("busy", 1, 1, s, kMillisecond / 2), CUDA_SUCCESS);
      OK(cuMemcpyHtoDAsync_v2(buffer, host.data(), count * sizeof(int), s));
      std::fill(host.begin(), host.end(),
                -1);  // pageable memory is free again when the call returns
      OK(cuMemcpyDtoHAsync_v2(pinned, buffer, count * sizeof(int), s));
      OK(cuMemsetD32Async(buffer, 7, count, s));
      OK(cuMemcpyDtoHAsync_v2(back.data(), buffer, count * sizeof(int), s));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(static_cast<int*>(pinned)[i], static_cast<int>(i) * (turn + 1));
        ASSERT_EQ(back[i], 7);
      }
    }
  }
  OK(cuMemFreeHost(pinned));
}

TEST_F(Streams, PinnedUploadsAreAsynchronous) {
  int* gate = flag();
  CUstream s = stream(STREAM_NON_BLOCKING);
  CUdeviceptr buffer = alloc(sizeof(int));
  ASSERT_EQ(launch("wait_flag", 1, 1, s, gate), CUDA_SUCCESS);
  void* pinned = nullptr;
  OK(cuMemHostAlloc(&pinned, sizeof(int), 0));
  *static_cast<int*>(pinned) = 5;
  OK(cuMemcpyHtoDAsync_v2(buffer, pinned, sizeof(int), s));
  EXPECT_EQ(td_soft_cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  raise_flag(gate);
  OK(cuStreamSynchronize(s));
  EXPECT_EQ(download<int>(buffer, 1)[0], 5);
}

TEST_F(Streams, DestroyedStreamsFinishTheirWork) {
  CUdeviceptr out = alloc(3 * sizeof(int));
  CUstream s = stream();
  ASSERT_EQ(launch("busy", 1, 1, s, kMillisecond), CUDA_SUCCESS);
  ASSERT_EQ(launch("triple", 1, 3, s, out, 3), CUDA_SUCCESS);
  OK(cuStreamDestroy_v2(s));
  EXPECT_EQ(td_soft_cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(td_soft_cuStreamDestroy_v2(s), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(download<int>(out, 3),
            (std::vector<int>{0, 3, 6}));  // the default stream still waits for it
  for (int i = 0; i < 1000; ++i) {
    CUstream many = stream();
    ASSERT_EQ(launch("empty", 1, 1, many), CUDA_SUCCESS);
    OK(cuStreamDestroy_v2(many));
  }
  OK(cuCtxSynchronize());
}

TEST_F(Streams, SpecialHandles) {
  CUdeviceptr out = alloc(2 * sizeof(int));
  ASSERT_EQ(launch("triple", 1, 2, STREAM_LEGACY, out, 2), CUDA_SUCCESS);
  OK(cuStreamSynchronize(STREAM_LEGACY));
  ASSERT_EQ(launch("triple", 1, 2, STREAM_PER_THREAD, out, 2), CUDA_SUCCESS);
  OK(cuStreamSynchronize(STREAM_PER_THREAD));
  EXPECT_EQ(td_soft_cuStreamDestroy_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
  CUstream none = nullptr;
  EXPECT_EQ(td_soft_cuStreamCreateWithPriority(&none, 2, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

}  // namespace td::softdev::test
