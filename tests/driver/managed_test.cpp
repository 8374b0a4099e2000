// Managed memory: used by host and kernels in turn, advice, prefetches, attributes of ranges.
#include "support.h"

namespace td::test {
namespace {

class Managed : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (!device()->attribute(cuda::MANAGED_MEMORY)) GTEST_SKIP() << "no managed memory";
    ASSERT_EQ(api().cuMemAllocManaged(&address_, kBytes, cuda::ATTACH_GLOBAL), 0);
  }
  void TearDown() override {
    if (address_) {
      EXPECT_EQ(api().cuMemFree(address_), 0);
    }
  }
  int attribute(cuda::RangeAttribute which, std::size_t bytes = kBytes) {
    int value = -99;
    EXPECT_EQ(api().cuMemRangeGetAttribute(&value, sizeof value, which, address_, bytes), 0);
    return value;
  }
  static constexpr std::size_t kBytes = 1 << 20;
  static constexpr CUmemLocation kHere{cuda::LOCATION_DEVICE, 0}, kHost{cuda::LOCATION_HOST, 0};
  CUdeviceptr address_ = 0;
};

TEST_F(Managed, HostAndKernelsInTurn) {
  int* values = reinterpret_cast<int*>(address_);
  for (int i = 0; i < 1024; ++i) values[i] = i;
  CUfunction twice = function_of(
      "extern \"C\" __global__ void twice(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] *= 2; "
      "}",
      "twice");
  void* params[] = {&address_};
  for (int round = 1; round <= 3; ++round) {
    ASSERT_EQ(api().cuLaunchKernel(twice, 4, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr), 0);
    ASSERT_EQ(api().cuCtxSynchronize(), 0);
    for (int i = 0; i < 1024; ++i) ASSERT_EQ(values[i], i << round);
  }
}

TEST_F(Managed, IsKnownAsSuch) {
  unsigned managed = 0;
  ASSERT_EQ(api().cuPointerGetAttribute(&managed, cuda::POINTER_IS_MANAGED, address_ + 5), 0);
  EXPECT_EQ(managed, 1u);
  CUdeviceptr device = 0, host = 0;
  ASSERT_EQ(api().cuPointerGetAttribute(&device, cuda::POINTER_DEVICE_POINTER, address_), 0);
  ASSERT_EQ(api().cuPointerGetAttribute(&host, cuda::POINTER_HOST_POINTER, address_), 0);
  EXPECT_EQ(device, address_);
  EXPECT_EQ(host, address_);
}

TEST_F(Managed, BadAllocations) {
  CUdeviceptr refused = 0;
  EXPECT_EQ(api().cuMemAllocManaged(&refused, 0, cuda::ATTACH_GLOBAL),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAllocManaged(&refused, 16, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAllocManaged(&refused, 16, 8), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Managed, AdviceIsRemembered) {
  EXPECT_EQ(attribute(cuda::RANGE_READ_MOSTLY), 0);
  EXPECT_EQ(attribute(cuda::RANGE_PREFERRED_LOCATION), cuda::DEVICE_INVALID);
  ASSERT_EQ(api().cuMemAdvise(address_, kBytes, cuda::ADVISE_SET_READ_MOSTLY, kHere), 0);
  EXPECT_EQ(attribute(cuda::RANGE_READ_MOSTLY), 1);
  ASSERT_EQ(api().cuMemAdvise(address_, kBytes / 2, cuda::ADVISE_UNSET_READ_MOSTLY, kHere), 0);
  EXPECT_EQ(attribute(cuda::RANGE_READ_MOSTLY), 0) << "only where the whole range is";
  EXPECT_EQ(attribute(cuda::RANGE_READ_MOSTLY, kBytes / 2), 0);
  ASSERT_EQ(api().cuMemAdvise_v1(address_, kBytes, cuda::ADVISE_SET_PREFERRED_LOCATION, 0), 0);
  EXPECT_EQ(attribute(cuda::RANGE_PREFERRED_LOCATION), 0);
  ASSERT_EQ(api().cuMemAdvise(address_, kBytes, cuda::ADVISE_SET_PREFERRED_LOCATION, kHost), 0);
  EXPECT_EQ(attribute(cuda::RANGE_PREFERRED_LOCATION), cuda::DEVICE_CPU);
  ASSERT_EQ(api().cuMemAdvise(address_, kBytes, cuda::ADVISE_UNSET_PREFERRED_LOCATION, kHost), 0);
  EXPECT_EQ(attribute(cuda::RANGE_PREFERRED_LOCATION), cuda::DEVICE_INVALID);
  ASSERT_EQ(api().cuMemAdvise(address_, kBytes, cuda::ADVISE_SET_ACCESSED_BY, kHere), 0);
  int accessors[2] = {-99, -99};
  ASSERT_EQ(api().cuMemRangeGetAttribute(accessors, sizeof accessors, cuda::RANGE_ACCESSED_BY,
                                         address_, kBytes),
            0);
  EXPECT_EQ(accessors[0], 0);
  EXPECT_EQ(accessors[1], cuda::DEVICE_INVALID);
}

TEST_F(Managed, Prefetch) {
  TestStream stream;
  ASSERT_EQ(api().cuMemPrefetchAsync(address_, kBytes, kHere, 0, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(attribute(cuda::RANGE_LAST_PREFETCH_LOCATION), 0);
  ASSERT_EQ(api().cuMemPrefetchAsync_v1(address_, kBytes, cuda::DEVICE_CPU, stream), 0);
  ASSERT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(attribute(cuda::RANGE_LAST_PREFETCH_LOCATION), cuda::DEVICE_CPU);
  int both[2] = {-99, -99};
  void* values[] = {&both[0], &both[1]};
  std::size_t sizes[] = {4, 4};
  int attributes[] = {cuda::RANGE_READ_MOSTLY, cuda::RANGE_LAST_PREFETCH_LOCATION};
  ASSERT_EQ(api().cuMemRangeGetAttributes(values, sizes, attributes, 2, address_, kBytes), 0);
  EXPECT_EQ(both[0], 0);
  EXPECT_EQ(both[1], cuda::DEVICE_CPU);
}

TEST_F(Managed, RefusedAdvice) {
  EXPECT_EQ(api().cuMemAdvise(address_, 0, cuda::ADVISE_SET_READ_MOSTLY, kHere),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAdvise(address_, kBytes, 77, kHere), cuda::CUDA_ERROR_INVALID_VALUE);
  Buffer plain(4096);
  EXPECT_EQ(api().cuMemPrefetchAsync(plain, 4096, kHere, 0, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Managed, AttachToAStream) {
  TestStream stream;
  EXPECT_EQ(api().cuStreamAttachMemAsync(stream, address_, 0, cuda::ATTACH_SINGLE), 0);
  EXPECT_EQ(api().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(api().cuStreamAttachMemAsync(stream, address_, 0, cuda::ATTACH_GLOBAL), 0);
  EXPECT_EQ(api().cuStreamAttachMemAsync(stream, address_, 0, 9), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuStreamSynchronize(stream), 0);
}

}  // namespace
}  // namespace td::test
