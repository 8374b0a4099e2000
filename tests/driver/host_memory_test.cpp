// Host memory of the user that is registered, flags of host memory, everything that is known of an
// address.
#include <sys/mman.h>

#include <utility>

#include "support.h"

namespace td::test {
namespace {

class HostMemory : public DriverTest {
 protected:
  static CUdeviceptr number(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
};

// Pages of the program's own.
struct Pages {
  explicit Pages(std::size_t size) : bytes(size) {
    at = static_cast<char*>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memset(at, 0, size);
  }
  ~Pages() { munmap(at, bytes); }
  char* at;
  std::size_t bytes;
};

TEST_F(HostMemory, RegisteredMemoryIsPinned) {
  Pages pages(1 << 16);
  unsigned type = 0;
  EXPECT_EQ(api().cuPointerGetAttribute(&type, cuda::POINTER_MEMORY_TYPE, number(pages.at)),
            cuda::CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(api().cuMemHostRegister(pages.at, pages.bytes, cuda::HOSTREGISTER_DEVICEMAP), 0);
  ASSERT_EQ(api().cuPointerGetAttribute(&type, cuda::POINTER_MEMORY_TYPE, number(pages.at + 99)),
            0);
  EXPECT_EQ(type, unsigned(cuda::MEMORYTYPE_HOST));
  EXPECT_EQ(api().cuMemHostRegister(pages.at, 4096, 0),
            cuda::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr mapped = 0;
  ASSERT_EQ(api().cuMemHostGetDevicePointer(&mapped, pages.at, 0), 0);
  for (int i = 0; i < 1000; ++i) pages.at[i] = static_cast<char>(i);
  Buffer memory(1000);
  ASSERT_EQ(api().cuMemcpyDtoD(memory, mapped, 1000), 0);
  EXPECT_EQ(read<char>(memory, 1000), std::vector<char>(pages.at, pages.at + 1000));
  ASSERT_EQ(api().cuMemHostUnregister(pages.at), 0);
  EXPECT_EQ(api().cuMemHostUnregister(pages.at), cuda::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_NE(api().cuMemHostGetDevicePointer(&mapped, pages.at, 0), 0);
}

TEST_F(HostMemory, KernelsUseRegisteredMemory) {
  Pages pages(4096);
  ASSERT_EQ(api().cuMemHostRegister(pages.at, pages.bytes, 0), 0);
  CUdeviceptr mapped = 0;
  ASSERT_EQ(api().cuMemHostGetDevicePointer(&mapped, pages.at, 0), 0);
  CUfunction square = function_of(
      "extern \"C\" __global__ void square(int* p) { p[threadIdx.x] = threadIdx.x * threadIdx.x; }",
      "square");
  void* params[] = {&mapped};
  ASSERT_EQ(api().cuLaunchKernel(square, 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr), 0);
  ASSERT_EQ(api().cuCtxSynchronize(), 0);
  for (int i = 0; i < 256; ++i) ASSERT_EQ(reinterpret_cast<int*>(pages.at)[i], i * i);
  EXPECT_EQ(api().cuMemHostUnregister(pages.at), 0);
}

TEST_F(HostMemory, BadRegistrations) {
  Pages pages(4096);
  EXPECT_EQ(api().cuMemHostRegister(nullptr, 4096, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemHostRegister(pages.at, 0, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemHostRegister(pages.at, 4096, 0x100), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemHostUnregister(pages.at), cuda::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  munmap(pages.at, std::exchange(pages.bytes, 0));
  EXPECT_NE(api().cuMemHostRegister(pages.at, 4096, 0), 0) << "no such memory";
}

TEST_F(HostMemory, FlagsOfPinnedMemory) {
  for (unsigned flags : {0u, unsigned(cuda::HOSTALLOC_PORTABLE),
                         unsigned(cuda::HOSTALLOC_DEVICEMAP | cuda::HOSTALLOC_WRITECOMBINED)}) {
    void* host = nullptr;
    ASSERT_EQ(api().cuMemHostAlloc(&host, 100, flags), 0);
    unsigned now = 0;
    ASSERT_EQ(api().cuMemHostGetFlags(&now, host), 0);
    EXPECT_EQ(now & flags, flags);
    EXPECT_TRUE(now & cuda::HOSTALLOC_DEVICEMAP) << "unified addressing maps all of it";
    EXPECT_EQ(api().cuMemFreeHost(host), 0);
  }
  void* host = nullptr;
  ASSERT_EQ(api().cuMemAllocHost(&host, 100), 0);
  EXPECT_EQ(api().cuMemFreeHost(host), 0);
  EXPECT_EQ(api().cuMemHostAlloc(&host, 100, 0x80), cuda::CUDA_ERROR_INVALID_VALUE);
  int pageable = 0;
  unsigned now = 0;
  EXPECT_EQ(api().cuMemHostGetFlags(&now, &pageable), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(HostMemory, AttributesOfDeviceMemory) {
  Buffer memory(5000), second(64);
  CUdeviceptr inside = memory + 64;
  CUcontext context = nullptr, current = nullptr;
  ASSERT_EQ(api().cuCtxGetCurrent(&current), 0);
  ASSERT_EQ(api().cuPointerGetAttribute(&context, cuda::POINTER_CONTEXT, inside), 0);
  EXPECT_EQ(context, current);
  CUdeviceptr address = 0;
  ASSERT_EQ(api().cuPointerGetAttribute(&address, cuda::POINTER_DEVICE_POINTER, inside), 0);
  EXPECT_EQ(address, inside);
  ASSERT_EQ(api().cuPointerGetAttribute(&address, cuda::POINTER_RANGE_START, inside), 0);
  EXPECT_EQ(address, memory);
  std::size_t size = 0;
  ASSERT_EQ(api().cuPointerGetAttribute(&size, cuda::POINTER_RANGE_SIZE, inside), 0);
  EXPECT_GE(size, 5000u);
  unsigned long long id = 0, other = 0;
  ASSERT_EQ(api().cuPointerGetAttribute(&id, cuda::POINTER_BUFFER_ID, inside), 0);
  ASSERT_EQ(api().cuPointerGetAttribute(&other, cuda::POINTER_BUFFER_ID, second), 0);
  EXPECT_NE(id, other);
  unsigned managed = 1;
  ASSERT_EQ(api().cuPointerGetAttribute(&managed, cuda::POINTER_IS_MANAGED, inside), 0);
  EXPECT_EQ(managed, 0u);
  void* host = nullptr;
  EXPECT_EQ(api().cuPointerGetAttribute(&host, cuda::POINTER_HOST_POINTER, inside),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuPointerGetAttribute(&host, static_cast<cuda::PointerAttribute>(0), inside),
            cuda::CUDA_ERROR_INVALID_VALUE);
  unsigned yes = 1;
  EXPECT_EQ(api().cuPointerSetAttribute(&yes, cuda::POINTER_SYNC_MEMOPS, memory), 0);
  EXPECT_EQ(api().cuPointerSetAttribute(&yes, cuda::POINTER_MEMORY_TYPE, memory),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(HostMemory, ManyAttributesAtOnce) {
  Buffer memory(64);
  unsigned type = 0;
  int ordinal = -5;
  CUdeviceptr device = 0;
  CUpointer_attribute attributes[] = {cuda::POINTER_MEMORY_TYPE, cuda::POINTER_DEVICE_ORDINAL,
                                      cuda::POINTER_DEVICE_POINTER};
  void* values[] = {&type, &ordinal, &device};
  ASSERT_EQ(api().cuPointerGetAttributes(3, attributes, values, memory), 0);
  EXPECT_EQ(type, unsigned(cuda::MEMORYTYPE_DEVICE));
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(device, memory);
  int pageable = 0;
  ASSERT_EQ(api().cuPointerGetAttributes(3, attributes, values, number(&pageable)), 0)
      << "unknown memory is no error here";
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(ordinal, cuda::DEVICE_INVALID);
  EXPECT_EQ(device, 0u);
}

}  // namespace
}  // namespace td::test
