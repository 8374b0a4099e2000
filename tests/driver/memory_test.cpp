// Device and pinned memory: allocation, ranges, attributes, exhaustion.
#include "support.h"

namespace td::test {
namespace {

class MemoryTable : public DriverTest {};

TEST_F(MemoryTable, AllocateAndFree) {
  CUdeviceptr a = 0, b = 0;
  ASSERT_EQ(api().cuMemAlloc(&a, 1000), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemAlloc(&b, 1), cuda::CUDA_SUCCESS);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(b % 256, 0u);
  EXPECT_TRUE(b >= a + 1000 || a >= b + 1) << "allocations overlap";
  EXPECT_EQ(api().cuMemFree(a), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemFree(a), cuda::CUDA_ERROR_INVALID_VALUE) << "freed twice";
  EXPECT_EQ(api().cuMemFree(b + 256), cuda::CUDA_ERROR_INVALID_VALUE)
      << "no allocation starts there";
  EXPECT_EQ(api().cuMemFree(b), cuda::CUDA_SUCCESS);
}

TEST_F(MemoryTable, BadRequests) {
  CUdeviceptr address = 0;
  EXPECT_EQ(api().cuMemAlloc(&address, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAlloc(nullptr, 16), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryTable, AddressRange) {
  Buffer memory(10000);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(api().cuMemGetAddressRange(&base, &bytes, memory + 5000), cuda::CUDA_SUCCESS);
  EXPECT_EQ(base, memory);
  EXPECT_GE(bytes, 10000u);
  int on_host = 0;
  EXPECT_NE(api().cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(&on_host)),
            cuda::CUDA_SUCCESS);
}

TEST_F(MemoryTable, InfoFollowsAllocations) {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(api().cuMemGetInfo(&before, &total), cuda::CUDA_SUCCESS);
  {
    Buffer memory(std::size_t{1} << 30);
    ASSERT_EQ(api().cuMemGetInfo(&during, &total), cuda::CUDA_SUCCESS);
  }
  ASSERT_EQ(api().cuMemGetInfo(&after, &total), cuda::CUDA_SUCCESS);
  EXPECT_LE(during + (std::size_t{512} << 20), before);
  EXPECT_GE(after, during + (std::size_t{512} << 20));
}

TEST_F(MemoryTable, Exhaustion) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(api().cuMemGetInfo(&free, &total), cuda::CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(api().cuMemAlloc(&address, total + (std::size_t{1} << 30)),
            cuda::CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(api().cuMemAlloc(&address, std::size_t{1} << 46), cuda::CUDA_ERROR_OUT_OF_MEMORY);
  Buffer still_works(1 << 20);
  EXPECT_EQ(api().cuMemsetD8(still_works, 1, 1 << 20), cuda::CUDA_SUCCESS);
}

TEST_F(MemoryTable, PinnedMemory) {
  void* host = nullptr;
  ASSERT_EQ(
      api().cuMemHostAlloc(&host, 100000, cuda::HOSTALLOC_PORTABLE | cuda::HOSTALLOC_DEVICEMAP),
      cuda::CUDA_SUCCESS);
  std::memset(host, 42, 100000);
  unsigned type = 0;
  EXPECT_EQ(api().cuPointerGetAttribute(&type, cuda::POINTER_MEMORY_TYPE,
                                        reinterpret_cast<CUdeviceptr>(host)),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(cuda::MEMORYTYPE_HOST));
  if (device()->attribute(cuda::CAN_MAP_HOST_MEMORY)) {
    CUdeviceptr mapped = 0;
    ASSERT_EQ(api().cuMemHostGetDevicePointer(&mapped, host, 0), cuda::CUDA_SUCCESS);
    Buffer memory(100000);
    ASSERT_EQ(api().cuMemcpyDtoD(memory, mapped, 100000), cuda::CUDA_SUCCESS);
    EXPECT_EQ(read<char>(memory, 100000), std::vector<char>(100000, 42));
  }
  EXPECT_EQ(api().cuMemFreeHost(host), cuda::CUDA_SUCCESS);
  int pageable = 0;
  EXPECT_EQ(api().cuMemFreeHost(&pageable), cuda::CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  EXPECT_NE(api().cuMemHostGetDevicePointer(&address, &pageable, 0), cuda::CUDA_SUCCESS);
}

TEST_F(MemoryTable, PointerAttributes) {
  Buffer memory(4096);
  unsigned type = 0;
  int ordinal = -1;
  CUdeviceptr inside = memory + 100;
  EXPECT_EQ(api().cuPointerGetAttribute(&type, cuda::POINTER_MEMORY_TYPE, inside),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(cuda::MEMORYTYPE_DEVICE));
  EXPECT_EQ(api().cuPointerGetAttribute(&ordinal, cuda::POINTER_DEVICE_ORDINAL, inside),
            cuda::CUDA_SUCCESS);
  EXPECT_EQ(ordinal, 0);
  std::vector<char> pageable(4096);
  EXPECT_EQ(api().cuPointerGetAttribute(&type, cuda::POINTER_MEMORY_TYPE,
                                        reinterpret_cast<CUdeviceptr>(pageable.data())),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace td::test
