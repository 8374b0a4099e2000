// Two devices: copies between them and access of kernels to the other one's memory. On the software
// device the test starts itself anew with TREADLE_SOFT_DEVICES=2.
#include <numeric>

#include "child.h"
#include "support.h"

namespace td::test {
namespace {

class Peer : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int count = 0;
    ASSERT_EQ(api().cuDeviceGetCount(&count), 0);
    if (count < 2) GTEST_SKIP() << "one device only";
    ASSERT_EQ(api().cuCtxGetCurrent(&first_), 0);
    ASSERT_EQ(api().cuDevicePrimaryCtxRetain(&second_, 1), 0);
  }
  void TearDown() override {
    if (second_) {
      EXPECT_EQ(api().cuDevicePrimaryCtxRelease(1), 0);
    }
    if (first_) api().cuCtxSetCurrent(first_);
  }
  CUdeviceptr allocate(CUcontext context, std::size_t bytes) {
    api().cuCtxSetCurrent(context);
    CUdeviceptr memory = 0;
    EXPECT_EQ(api().cuMemAlloc(&memory, bytes), 0);
    return memory;
  }
  CUcontext first_ = nullptr, second_ = nullptr;
};

TEST_F(Peer, DISABLED_Copies) {
  std::vector<int> values(10000), back(10000);
  std::iota(values.begin(), values.end(), 5);
  CUdeviceptr here = allocate(first_, 40000), there = allocate(second_, 40000);
  api().cuCtxSetCurrent(first_);
  write(here, values);
  ASSERT_EQ(api().cuMemcpyPeer(there, second_, here, first_, 40000), 0);
  EXPECT_EQ(read<int>(there, 10000), values);
  ASSERT_EQ(api().cuMemsetD8(here, 0, 40000), 0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);  // a non-blocking stream does not wait for the fill
  TestStream stream;
  ASSERT_EQ(api().cuMemcpyPeerAsync(here, first_, there, second_, 40000, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(read<int>(here, 10000), values);
  CUDA_MEMCPY3D_PEER box{};
  box.srcMemoryType = box.dstMemoryType = cuda::MEMORYTYPE_DEVICE;
  box.srcDevice = here;
  box.srcContext = first_;
  box.dstDevice = there;
  box.dstContext = second_;
  box.srcPitch = box.dstPitch = 400;
  box.srcHeight = box.dstHeight = 100;
  box.dstXInBytes = 4;
  box.WidthInBytes = 396;
  box.Height = 100;
  box.Depth = 1;
  ASSERT_EQ(api().cuMemcpy3DPeer(&box), 0);
  ASSERT_EQ(api().cuMemcpy3DPeerAsync(&box, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  auto shifted = read<int>(there, 10000);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(shifted[i], i % 100 == 0 ? 5 + i : 4 + i);
  int ordinal = -1;
  ASSERT_EQ(api().cuPointerGetAttribute(&ordinal, cuda::POINTER_DEVICE_ORDINAL, there), 0);
  EXPECT_EQ(ordinal, 1);
  EXPECT_EQ(api().cuMemFree(here), 0);
  api().cuCtxSetCurrent(second_);
  EXPECT_EQ(api().cuMemFree(there), 0);
}

TEST_F(Peer, DISABLED_Access) {
  int can = 0, value = -1;
  ASSERT_EQ(api().cuDeviceCanAccessPeer(&can, 0, 1), 0);
  EXPECT_EQ(api().cuDeviceCanAccessPeer(&can, 0, 1000), cuda::CUDA_ERROR_INVALID_DEVICE);
  ASSERT_EQ(api().cuDeviceGetP2PAttribute(&value, 2, 0, 1), 0);
  EXPECT_EQ(value, can);
  if (!can) GTEST_SKIP() << "the devices cannot access each other";
  CUdeviceptr there = allocate(second_, 4);
  CUfunction put = function_of("extern \"C\" __global__ void put(int* p) { *p = 99; }", "put");
  api().cuCtxSetCurrent(first_);
  ASSERT_EQ(api().cuCtxEnablePeerAccess(second_, 0), 0);
  EXPECT_EQ(api().cuCtxEnablePeerAccess(second_, 0), cuda::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  void* params[] = {&there};
  ASSERT_EQ(api().cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), 0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);
  EXPECT_EQ(read<int>(there, 1)[0], 99);
  EXPECT_EQ(api().cuCtxDisablePeerAccess(second_), 0);
  EXPECT_EQ(api().cuCtxDisablePeerAccess(second_), cuda::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST_F(Peer, DISABLED_EventsAcrossDevices) {
  CUdeviceptr here = allocate(first_, 4), there = allocate(second_, 4);
  CUstream other = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(api().cuStreamCreateWithPriority(&other, cuda::STREAM_NON_BLOCKING, 0), 0);
  api().cuCtxSetCurrent(first_);
  TestStream stream;
  ASSERT_EQ(api().cuEventCreate(&event, 0), 0);
  Gate gate;
  gate.hold(stream);
  ASSERT_EQ(api().cuMemsetD32Async(here, 7, 1, stream), 0);
  ASSERT_EQ(api().cuEventRecord(event, stream), 0);
  ASSERT_EQ(api().cuStreamWaitEvent(other, event, 0), 0);
  EXPECT_NE(api().cuEventRecord(event, other), 0) << "the event is of another device";
  ASSERT_EQ(api().cuMemcpyPeerAsync(there, second_, here, first_, 4, other), 0);
  EXPECT_EQ(api().cuStreamQuery(other), cuda::CUDA_ERROR_NOT_READY);
  gate.open();
  ASSERT_EQ(api().cuStreamSynchronize(other), 0);
  EXPECT_EQ(read<int>(there, 1)[0], 7);
  EXPECT_EQ(api().cuEventDestroy(event), 0);
  EXPECT_EQ(api().cuStreamDestroy(other), 0);
}

TEST(PeerOfTwo, SoftwareDevices) {
  for (const char* test : {"Copies", "Access", "EventsAcrossDevices"}) {
    ChildResult child =
        run_child(std::string("Peer.DISABLED_") + test, {{"TREADLE_SOFT_DEVICES", "2"}});
    EXPECT_EQ(child.status, 0) << child.output;
  }
}

// What is asked for with one device, so that each function is called in the process that counts.
TEST(PeerOfTwo, Refusals) {
  auto here = device();
  CUcontext context = nullptr;
  api().cuCtxGetCurrent(&context);
  EXPECT_EQ(api().cuCtxEnablePeerAccess(context, 0), cuda::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(api().cuCtxEnablePeerAccess(context, 5), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(api().cuCtxDisablePeerAccess(context), 0);
  int value = 0;
  EXPECT_EQ(api().cuDeviceCanAccessPeer(&value, 0, 0), 0);
  EXPECT_EQ(api().cuDeviceGetP2PAttribute(&value, 2, 0, 0), cuda::CUDA_ERROR_INVALID_DEVICE);
  Buffer a(64), b(64);
  write(a, std::vector<int>(16, 3));
  EXPECT_EQ(api().cuMemcpyPeer(b, context, a, context, 64), 0) << "one context twice is fine";
  EXPECT_EQ(read<int>(b, 16), std::vector<int>(16, 3));
  TestStream stream;
  EXPECT_EQ(api().cuMemcpyPeerAsync(a, context, b, context, 64, stream), 0);
  CUDA_MEMCPY3D_PEER box{};
  box.srcMemoryType = box.dstMemoryType = cuda::MEMORYTYPE_DEVICE;
  box.srcDevice = a;
  box.dstDevice = b;
  box.srcContext = box.dstContext = context;
  box.WidthInBytes = 64;
  box.Height = box.Depth = 1;
  EXPECT_EQ(api().cuMemcpy3DPeer(&box), 0);
  EXPECT_EQ(api().cuMemcpy3DPeerAsync(&box, stream), 0);
  EXPECT_EQ(api().cuStreamSynchronize(stream), 0);
}

}  // namespace
}  // namespace td::test
