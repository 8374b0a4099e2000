// The current context of each thread, and the context's limits.
#include <thread>

#include "support.h"

namespace td::test {
namespace {

class Context : public DriverTest {
 protected:
  CUcontext current() {
    CUcontext context = nullptr;
    EXPECT_EQ(api().cuCtxGetCurrent(&context), cuda::CUDA_SUCCESS);
    return context;
  }
};

TEST_F(Context, PushAndPop) {
  CUcontext primary = current(), popped = nullptr;
  ASSERT_NE(primary, nullptr);
  ASSERT_EQ(api().cuCtxPushCurrent(primary), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuCtxPopCurrent(&popped), cuda::CUDA_SUCCESS);
  EXPECT_EQ(popped, primary);
  EXPECT_EQ(current(), primary);
  CUdevice handle = -1;
  EXPECT_EQ(api().cuCtxGetDevice(&handle), cuda::CUDA_SUCCESS);
  EXPECT_EQ(handle, device()->handle());
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS);
}

TEST_F(Context, CallsWithoutAContextSaySo) {
  CUcontext primary = current();
  ASSERT_EQ(api().cuCtxSetCurrent(nullptr), cuda::CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(api().cuMemAlloc(&address, 16), cuda::CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(api().cuCtxSetCurrent(primary), cuda::CUDA_SUCCESS);
  EXPECT_EQ(current(), primary);
}

TEST_F(Context, EachThreadHasItsOwn) {
  CUcontext primary = current();
  CUcontext seen = primary;
  CUresult alloc = -1;
  std::thread([&] {
    api().cuCtxGetCurrent(&seen);
    device();  // what every call of the runtime does first
    CUdeviceptr address = 0;
    alloc = api().cuMemAlloc(&address, 16);
    api().cuMemFree(address);
  }).join();
  EXPECT_EQ(seen, nullptr) << "a new thread starts without a context";
  EXPECT_EQ(alloc, cuda::CUDA_SUCCESS);
  EXPECT_EQ(current(), primary);
}

TEST_F(Context, Limits) {
  std::size_t stack = 0, fifo = 0;
  EXPECT_EQ(api().cuCtxGetLimit(&stack, cuda::LIMIT_STACK_SIZE), cuda::CUDA_SUCCESS);
  EXPECT_GE(stack, 1024u);
  ASSERT_EQ(api().cuCtxGetLimit(&fifo, cuda::LIMIT_PRINTF_FIFO_SIZE), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuCtxSetLimit(cuda::LIMIT_PRINTF_FIFO_SIZE, 2 * fifo), cuda::CUDA_SUCCESS);
  std::size_t now = 0;
  ASSERT_EQ(api().cuCtxGetLimit(&now, cuda::LIMIT_PRINTF_FIFO_SIZE), cuda::CUDA_SUCCESS);
  EXPECT_GE(now, 2 * fifo);
  EXPECT_NE(api().cuCtxGetLimit(&now, 12345), cuda::CUDA_SUCCESS);
}

TEST_F(Context, StreamPriorities) {
  int least = -100, greatest = 100;
  ASSERT_EQ(api().cuCtxGetStreamPriorityRange(&least, &greatest), cuda::CUDA_SUCCESS);
  EXPECT_EQ(least, 0);
  EXPECT_LE(greatest, 0);  // a smaller number is a higher priority
  for (int priority : {least, greatest}) {
    CUstream stream = nullptr;
    EXPECT_EQ(api().cuStreamCreateWithPriority(&stream, cuda::STREAM_NON_BLOCKING, priority),
              cuda::CUDA_SUCCESS);
    EXPECT_EQ(api().cuStreamDestroy(stream), cuda::CUDA_SUCCESS);
  }
}

}  // namespace
}  // namespace td::test
