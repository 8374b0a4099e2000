// What the counting table says of calls that are made through a device's state.
#include "treadle/call_counts.h"

#include <algorithm>

#include "support.h"

namespace td::test {
namespace {

class CallCounts : public DriverTest {
 protected:
  void SetUp() override { count_calls(here, true); }
  void TearDown() override { count_calls(here, false); }
  const driver::Api& counting() { return here.state()->api(); }
  static CallCount of(const std::string& function) {
    for (const CallCount& row : call_counts())
      if (row.function == function) return row;
    return {function};
  }
  Device here{device()};
  Buffer memory{4096};
  TestStream stream;
};

TEST_F(CallCounts, BytesOfCopiesAndFills) {
  char host[1024] = {};
  EXPECT_EQ(counting().cuMemcpyHtoD(memory, host, 1000), 0);
  EXPECT_EQ(counting().cuMemcpyDtoHAsync(host, memory, 24, stream), 0);
  EXPECT_EQ(counting().cuMemsetD8(memory, 1, 10), 0);
  EXPECT_EQ(counting().cuMemsetD16(memory, 1, 10), 0);
  EXPECT_EQ(counting().cuMemsetD32Async(memory, 1, 10, stream), 0);
  EXPECT_EQ(counting().cuMemsetD2D32(memory, 64, 1, 3, 5), 0);  // 5 rows of 3 elements
  EXPECT_EQ(of("cuMemcpyHtoD").bytes, 1000u);
  EXPECT_EQ(of("cuMemcpyDtoHAsync").bytes, 24u);
  EXPECT_EQ(of("cuMemsetD8").bytes, 10u);
  EXPECT_EQ(of("cuMemsetD16").bytes, 20u);
  EXPECT_EQ(of("cuMemsetD32Async").bytes, 40u);
  EXPECT_EQ(of("cuMemsetD2D32").bytes, 60u);
}

TEST_F(CallCounts, BytesOfPitchedCopies) {
  char host[256] = {};
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = cuda::MEMORYTYPE_HOST;
  plane.srcHost = host;
  plane.srcPitch = 32;
  plane.dstMemoryType = cuda::MEMORYTYPE_DEVICE;
  plane.dstDevice = memory;
  plane.dstPitch = 64;
  plane.WidthInBytes = 30;
  plane.Height = 4;
  EXPECT_EQ(counting().cuMemcpy2D(&plane), 0);
  EXPECT_EQ(of("cuMemcpy2D").bytes, 120u);
}

TEST_F(CallCounts, FailuresMoveNothing) {
  char host[8] = {};
  EXPECT_NE(counting().cuMemcpyHtoD(0, host, 8), 0);
  CallCount row = of("cuMemcpyHtoD");
  EXPECT_EQ(row.calls, 1u);
  EXPECT_EQ(row.failures, 1u);
  EXPECT_EQ(row.bytes, 0u);
}

TEST_F(CallCounts, StreamsThatGotWork) {
  EXPECT_EQ(counting().cuMemsetD8Async(memory, 1, 8, stream), 0);
  EXPECT_EQ(counting().cuMemsetD8Async(memory, 1, 8, stream), 0);
  EXPECT_EQ(counting().cuStreamSynchronize(stream), 0);
  EXPECT_EQ(counted_streams(), std::vector<void*>{static_cast<CUstream>(stream)});
}

TEST_F(CallCounts, CountingBeginsAtZeroAndEnds) {
  EXPECT_EQ(counting().cuMemsetD8(memory, 1, 8), 0);
  count_calls(here, true);
  EXPECT_EQ(of("cuMemsetD8").calls, 0u);
  EXPECT_TRUE(counted_streams().empty());
  count_calls(here, false);
  EXPECT_EQ(here.state()->api().cuMemsetD8(memory, 1, 8), 0);
  EXPECT_EQ(of("cuMemsetD8").calls, 0u);
}

}  // namespace
}  // namespace td::test
