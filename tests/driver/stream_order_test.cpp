// Streams: questions, callbacks, values in memory, attributes, priorities, the threads' own
// streams.
#include <atomic>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

class StreamOrder : public DriverTest {
 protected:
  bool supported(CUresult result) { return result != cuda::CUDA_ERROR_NOT_SUPPORTED; }
};

TEST_F(StreamOrder, Questions) {
  CUstream stream = nullptr;
  ASSERT_EQ(api().cuStreamCreate(&stream, cuda::STREAM_NON_BLOCKING), 0);
  unsigned flags = 9;
  int priority = 9;
  unsigned long long id = 0, other = 0;
  CUcontext context = nullptr, current = nullptr;
  ASSERT_EQ(api().cuStreamGetFlags(stream, &flags), 0);
  EXPECT_EQ(flags, unsigned(cuda::STREAM_NON_BLOCKING));
  ASSERT_EQ(api().cuStreamGetPriority(stream, &priority), 0);
  EXPECT_EQ(priority, 0);
  ASSERT_EQ(api().cuStreamGetId(stream, &id), 0);
  ASSERT_EQ(api().cuStreamGetId(nullptr, &other), 0);
  EXPECT_NE(id, other);
  api().cuCtxGetCurrent(&current);
  ASSERT_EQ(api().cuStreamGetCtx(stream, &context), 0);
  EXPECT_EQ(context, current);
  CUdevice device = -1;
  CUresult result = api().cuStreamGetDevice(stream, &device);
  if (supported(result)) {
    EXPECT_EQ(device, 0);
  }
  void* green = &green;
  result = api().cuStreamGetCtx_v2(stream, &context, &green);
  if (supported(result)) {
    EXPECT_EQ(green, nullptr);
  }
  EXPECT_EQ(api().cuStreamDestroy(stream), 0);
  EXPECT_EQ(api().cuStreamCreate(&stream, 0x40), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamOrder, PrioritiesAreClamped) {
  int least = 0, greatest = 0;
  ASSERT_EQ(api().cuCtxGetStreamPriorityRange(&least, &greatest), 0);
  for (int asked : {greatest - 10, greatest, least, least + 10}) {
    CUstream stream = nullptr;
    ASSERT_EQ(api().cuStreamCreateWithPriority(&stream, 0, asked), 0);
    int now = 99;
    ASSERT_EQ(api().cuStreamGetPriority(stream, &now), 0);
    EXPECT_EQ(now, std::min(least, std::max(greatest, asked)));
    EXPECT_EQ(api().cuStreamDestroy(stream), 0);
  }
}

TEST_F(StreamOrder, Attributes) {
  CUstream stream = nullptr, second = nullptr;
  ASSERT_EQ(api().cuStreamCreate(&stream, 0), 0);
  ASSERT_EQ(api().cuStreamCreate(&second, 0), 0);
  CUstreamAttrValue value{};
  value.syncPolicy = 3;  // yield
  ASSERT_EQ(api().cuStreamSetAttribute(stream, cuda::LAUNCH_SYNCHRONIZATION_POLICY, &value), 0);
  ASSERT_EQ(api().cuStreamCopyAttributes(second, stream), 0);
  value.syncPolicy = 0;
  ASSERT_EQ(api().cuStreamGetAttribute(second, cuda::LAUNCH_SYNCHRONIZATION_POLICY, &value), 0);
  EXPECT_EQ(value.syncPolicy, 3);
  EXPECT_EQ(api().cuStreamGetAttribute(stream, 500, &value), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuStreamDestroy(stream), 0);
  EXPECT_EQ(api().cuStreamDestroy(second), 0);
}

struct Seen {
  std::atomic<int> calls{0}, status{-1};
  CUstream stream = nullptr;
};

TEST_F(StreamOrder, Callbacks) {
  TestStream stream;
  Seen seen;
  Buffer memory(4);
  ASSERT_EQ(api().cuMemsetD32Async(memory, 5, 1, stream), 0);
  ASSERT_EQ(api().cuStreamAddCallback(
                stream,
                [](CUstream of, CUresult status, void* data) {
                  auto& seen = *static_cast<Seen*>(data);
                  seen.stream = of;
                  seen.status = status;
                  ++seen.calls;
                },
                &seen, 0),
            0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(seen.calls, 1);
  EXPECT_EQ(seen.status, 0);
  EXPECT_EQ(seen.stream, CUstream(stream));
  EXPECT_EQ(api().cuStreamAddCallback(stream, nullptr, nullptr, 0), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamOrder, HostFunctionsRunInOrder) {
  TestStream stream;
  std::vector<int> order;
  struct Item {
    std::vector<int>* order;
    int number;
  };
  std::vector<Item> items;
  for (int i = 0; i < 50; ++i) items.push_back({&order, i});
  Buffer memory(4096);
  for (Item& item : items) {
    ASSERT_EQ(api().cuMemsetD8Async(memory, 1, 4096, stream), 0);
    ASSERT_EQ(api().cuLaunchHostFunc(
                  stream,
                  [](void* data) {
                    auto& item = *static_cast<Item*>(data);
                    item.order->push_back(item.number);
                  },
                  &item),
              0);
  }
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[i], i);
}

// ---- values in memory ----

TEST_F(StreamOrder, WaitsForAValue) {
  TestStream waiting, writing;
  Buffer flags(64), out(4);
  write(flags, std::vector<char>(64, 0));
  write(out, std::vector<char>(4, 0));
  CUresult result = api().cuStreamWaitValue32(waiting, flags, 3, cuda::WAIT_VALUE_GEQ);
  if (!supported(result)) GTEST_SKIP() << "no stream memory operations";
  ASSERT_EQ(result, 0);
  ASSERT_EQ(api().cuMemsetD32Async(out, 77, 1, waiting), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(api().cuStreamQuery(waiting), cuda::CUDA_ERROR_NOT_READY);
  ASSERT_EQ(api().cuStreamWriteValue32(writing, flags, 2, 0), 0);
  ASSERT_EQ(api().cuStreamSynchronize(writing), 0);
  EXPECT_EQ(api().cuStreamQuery(waiting), cuda::CUDA_ERROR_NOT_READY);
  ASSERT_EQ(api().cuStreamWriteValue32(writing, flags, 4, 0), 0);
  ASSERT_EQ(api().cuStreamSynchronize(waiting), 0);
  EXPECT_EQ(read<int>(out, 1)[0], 77);
  EXPECT_EQ(read<int>(flags, 1)[0], 4);
}

struct WaitRow {
  unsigned how;
  std::uint64_t memory, value;
  bool over;
};
constexpr WaitRow kWaits[] = {
    {cuda::WAIT_VALUE_GEQ, 5, 5, true},
    {cuda::WAIT_VALUE_GEQ, 4, 5, false},
    {cuda::WAIT_VALUE_EQ, 7, 7, true},
    {cuda::WAIT_VALUE_EQ, 8, 7, false},
    {cuda::WAIT_VALUE_AND, 6, 2, true},
    {cuda::WAIT_VALUE_AND, 6, 1, false},
    {cuda::WAIT_VALUE_NOR, 6, 1, true},
    {cuda::WAIT_VALUE_NOR, ~0ull, 0, false},
    {cuda::WAIT_VALUE_GEQ, 1, 0xfffffff0ull, true},  // in cyclic order, of 32 bits
};

TEST_F(StreamOrder, EveryCondition) {
  for (const WaitRow& row : kWaits) {
    for (bool wide : {false, true}) {
      if (wide && row.value > 100 && row.how == cuda::WAIT_VALUE_GEQ) continue;
      SCOPED_TRACE(testing::Message() << row.how << " " << row.memory << " " << row.value << wide);
      TestStream stream, other;
      Buffer flag(8);
      write(flag, std::vector<std::uint64_t>{row.memory});
      CUresult result = wide ? api().cuStreamWaitValue64(stream, flag, row.value, row.how)
                             : api().cuStreamWaitValue32(
                                   stream, flag, static_cast<std::uint32_t>(row.value), row.how);
      if (!supported(result)) continue;
      ASSERT_EQ(result, 0);
      if (!row.over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        EXPECT_EQ(api().cuStreamQuery(stream), cuda::CUDA_ERROR_NOT_READY);
        std::uint64_t release = row.how == cuda::WAIT_VALUE_NOR   ? 0
                                : row.how == cuda::WAIT_VALUE_AND ? 7
                                                                  : row.value;
        ASSERT_EQ(api().cuStreamWriteValue64(other, flag, release, 0), 0);
      }
      ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
    }
  }
}

TEST_F(StreamOrder, ManyMemoryOperationsAtOnce) {
  TestStream stream;
  Buffer memory(32);
  write(memory, std::vector<char>(32, 0));
  CUstreamBatchMemOpParams ops[3]{};
  ops[0].memory.operation = cuda::MEM_OP_WRITE_VALUE_32;
  ops[0].memory.address = memory;
  ops[0].memory.value = 11;
  ops[1].memory.operation = cuda::MEM_OP_WAIT_VALUE_32;
  ops[1].memory.address = memory;
  ops[1].memory.value = 11;
  ops[1].memory.flags = cuda::WAIT_VALUE_EQ;
  ops[2].memory.operation = cuda::MEM_OP_WRITE_VALUE_64;
  ops[2].memory.address = memory + 8;
  ops[2].memory.value64 = 1ull << 40;
  CUresult result = api().cuStreamBatchMemOp(stream, 3, ops, 0);
  if (!supported(result)) GTEST_SKIP() << "no stream memory operations";
  ASSERT_EQ(result, 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(read<std::uint64_t>(memory, 2), (std::vector<std::uint64_t>{11, 1ull << 40}));
  ops[0].memory.operation = 99;
  EXPECT_EQ(api().cuStreamBatchMemOp(stream, 1, ops, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuStreamWriteValue32(stream, 0, 1, 0), cuda::CUDA_ERROR_INVALID_VALUE);
}

// ---- the threads' own default streams ----

TEST_F(StreamOrder, EachThreadHasItsOwnDefaultStream) {
  unsigned long long mine = 0, again = 0, theirs = 0, legacy = 0;
  ASSERT_EQ(api().cuStreamGetId(cuda::STREAM_PER_THREAD, &mine), 0);
  ASSERT_EQ(api().cuStreamGetId(cuda::STREAM_PER_THREAD, &again), 0);
  ASSERT_EQ(api().cuStreamGetId(cuda::STREAM_LEGACY, &legacy), 0);
  std::thread([&] {
    device();
    EXPECT_EQ(api().cuStreamGetId(cuda::STREAM_PER_THREAD, &theirs), 0);
  }).join();
  EXPECT_EQ(mine, again);
  EXPECT_NE(mine, theirs);
  EXPECT_NE(mine, legacy);
}

// ---- events ----

TEST_F(StreamOrder, EventFlagsAndOtherForms) {
  CUevent event = nullptr, second = nullptr;
  EXPECT_EQ(api().cuEventCreate(&event, 0x80), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuEventCreate(&event, cuda::EVENT_INTERPROCESS), cuda::CUDA_ERROR_INVALID_VALUE)
      << "events between processes have no times";
  ASSERT_EQ(api().cuEventCreate(&event, cuda::EVENT_BLOCKING_SYNC), 0);
  ASSERT_EQ(api().cuEventCreate(&second, 0), 0);
  TestStream stream;
  ASSERT_EQ(api().cuEventRecordWithFlags(event, stream, 0), 0);
  ASSERT_EQ(api().cuEventRecord(second, stream), 0);
  ASSERT_EQ(api().cuEventSynchronize(second), 0);
  float milliseconds = -1;
  CUresult result = api().cuEventElapsedTime_v2(&milliseconds, event, second);
  if (supported(result)) {
    EXPECT_EQ(result, 0);
    EXPECT_GE(milliseconds, 0.0f);
  }
  EXPECT_EQ(api().cuEventRecordWithFlags(event, stream, 8), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuEventDestroy(event), 0);
  EXPECT_EQ(api().cuEventDestroy(second), 0);
}

}  // namespace
}  // namespace td::test
