// Copies and fills of every kind.
#include <numeric>

#include "support.h"

namespace td::test {
namespace {

class Copy : public DriverTest {
 protected:
  std::vector<int> numbers(int count) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
  }
};

TEST_F(Copy, HostDeviceHost) {
  Buffer memory(4000);
  write(memory, numbers(1000));
  EXPECT_EQ(read<int>(memory, 1000), numbers(1000));
  EXPECT_EQ(read<int>(memory + 40, 3), (std::vector<int>{11, 12, 13}));
}

TEST_F(Copy, DeviceToDevice) {
  Buffer a(4000), b(4000);
  write(a, numbers(1000));
  ASSERT_EQ(api().cuMemsetD8(b, 0, 4000), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoD(b + 8, a + 4, 400), cuda::CUDA_SUCCESS);
  auto found = read<int>(b, 103);
  EXPECT_EQ(found[1], 0);
  EXPECT_EQ(found[2], 2);
  EXPECT_EQ(found[101], 101);
  EXPECT_EQ(found[102], 0);
}

TEST_F(Copy, Asynchronous) {
  TestStream stream;
  driver::PinnedMemory host(device(), 8000);
  int* values = static_cast<int*>(host.data());
  std::iota(values, values + 1000, 5);
  Buffer a(4000), b(4000);
  ASSERT_EQ(api().cuMemcpyHtoDAsync(a, values, 4000, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoDAsync(b, a, 4000, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoHAsync(values + 1000, b, 4000, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  EXPECT_TRUE(std::equal(values, values + 1000, values + 1000));
}

TEST_F(Copy, NothingIsFine) {
  Buffer memory(16);
  EXPECT_EQ(api().cuMemcpyHtoD(memory, "", 0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemcpyDtoD(memory, memory, 0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemsetD8(memory, 1, 0), cuda::CUDA_SUCCESS);
}

TEST_F(Copy, AddressesThatNobodyOwns) {
  Buffer memory(4096);
  int host[4] = {};
  const CUdeviceptr far = memory + (std::size_t{1} << 44);
  EXPECT_EQ(api().cuMemcpyHtoD(far, host, sizeof host), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemcpyDtoH(host, far, sizeof host), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemcpyDtoD(memory, far, 16), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemsetD8(far, 0, 16), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS)
      << "a refused call does not spoil the context";
}

TEST_F(Copy, FillBytes) {
  Buffer memory(1000);
  ASSERT_EQ(api().cuMemsetD8(memory, 0x11, 1000), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemsetD8(memory + 3, 0xff, 7), cuda::CUDA_SUCCESS);
  auto found = read<unsigned char>(memory, 12);
  EXPECT_EQ(found, (std::vector<unsigned char>{0x11, 0x11, 0x11, 255, 255, 255, 255, 255, 255, 255,
                                               0x11, 0x11}));
}

TEST_F(Copy, FillWords) {
  Buffer memory(400);
  ASSERT_EQ(api().cuMemsetD32(memory, 0x01020304, 100), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemsetD32(memory + 4, 0xdeadbeef, 2), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<unsigned>(memory, 4),
            (std::vector<unsigned>{0x01020304, 0xdeadbeef, 0xdeadbeef, 0x01020304}));
  EXPECT_EQ(read<unsigned>(memory + 396, 1)[0], 0x01020304u);
  EXPECT_EQ(api().cuMemsetD32(memory + 2, 0, 1), cuda::CUDA_ERROR_INVALID_VALUE) << "not aligned";
}

TEST_F(Copy, FillAsynchronously) {
  TestStream stream;
  Buffer memory(4000);
  ASSERT_EQ(api().cuMemsetD8Async(memory, 7, 4000, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemsetD32Async(memory + 400, 9, 10, stream), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(stream), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<unsigned>(memory + 396, 3), (std::vector<unsigned>{0x07070707, 9, 9}));
  EXPECT_EQ(read<unsigned>(memory + 436, 2), (std::vector<unsigned>{9, 0x07070707}));
}

}  // namespace
}  // namespace td::test
