// Device memory, contexts, devices.
#include <numeric>
#include <random>
#include <thread>

#include "support.h"

namespace td::softdev::test {

namespace {

TEST_F(Soft, AllocationsAreApartAndAligned) {
  std::vector<std::pair<CUdeviceptr, std::size_t>> all;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::size_t bytes = i % 10 == 0 ? 3000000 + random() % 5000000 : 1 + random() % 100000;
    all.emplace_back(alloc(bytes), bytes);
    ASSERT_EQ(all.back().first % 256, 0u);
    OK(cuMemsetD8_v2(all.back().first, static_cast<unsigned char>(i), bytes));
  }
  for (int i = 0; i < 300; ++i) {
    auto [address, bytes] = all[i];
    std::vector<unsigned char> got = download<unsigned char>(address, bytes);
    ASSERT_EQ(got.front(), static_cast<unsigned char>(i));
    ASSERT_EQ(got.back(), static_cast<unsigned char>(i));
    CUdeviceptr base = 0;
    std::size_t size = 0;
    OK(cuMemGetAddressRange_v2(&base, &size, address + bytes - 1));
    ASSERT_EQ(base, address);
    ASSERT_EQ(size, bytes);
    for (int k = 0; k < i; ++k) {
      auto [other, other_bytes] = all[k];
      ASSERT_TRUE(other + other_bytes + 65536 <= address || address + bytes + 65536 <= other);
    }
  }
  for (auto& [address, bytes] : all) OK(cuMemFree_v2(address));
}

TEST_F(Soft, LargeOperandsHaveDifferentPageOffsets) {
  std::vector<CUdeviceptr> all;
  for (int i = 0; i < 3; ++i) all.push_back(alloc(40000000));
  EXPECT_NE(all[0] % 4096, all[1] % 4096);
  EXPECT_NE(all[1] % 4096, all[2] % 4096);
  EXPECT_NE(all[0] % 4096, all[2] % 4096);
}

TEST_F(Soft, AHundredThousandSmallAllocations) {
  std::vector<CUdeviceptr> all;
  for (int i = 0; i < 100000; ++i) {
    CUdeviceptr address = 0;
    ASSERT_EQ(td_soft_cuMemAlloc_v2(&address, 100 + i % 900), CUDA_SUCCESS) << i;
    ASSERT_EQ(address % 256, 0u);
    all.push_back(address);
  }
  for (int i = 99000; i < 100000; ++i)
    OK(cuMemsetD8_v2(all[i], static_cast<unsigned char>(i), 100 + i % 900));
  for (int i = 99000; i < 100000; ++i)
    ASSERT_EQ(download<unsigned char>(all[i] + 99 + i % 900, 1)[0], static_cast<unsigned char>(i));
  std::size_t free_before = 0, free_after = 0, total = 0;
  OK(cuMemGetInfo_v2(&free_before, &total));
  for (CUdeviceptr address : all) ASSERT_EQ(td_soft_cuMemFree_v2(address), CUDA_SUCCESS);
  OK(cuMemGetInfo_v2(&free_after, &total));
  EXPECT_LE(free_after, total);
}

TEST_F(Soft, OutOfMemoryIsAnError) {
  std::size_t free = 0, total = 0;
  OK(cuMemGetInfo_v2(&free, &total));
  EXPECT_GT(total, 0u);
  EXPECT_LE(free, total);
  CUdeviceptr address = 1;
  EXPECT_EQ(td_soft_cuMemAlloc_v2(&address, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(td_soft_cuMemAlloc_v2(&address, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(td_soft_cuMemAlloc_v2(&address, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
  void* host = nullptr;
  EXPECT_EQ(td_soft_cuMemHostAlloc(&host, SIZE_MAX, 0), CUDA_ERROR_OUT_OF_MEMORY);
  // Many allocations: the sum counts. Nothing is touched, so no memory is really used.
  std::vector<CUdeviceptr> all;
  CUresult result = CUDA_SUCCESS;
  for (int i = 0; i < 10000 && result == CUDA_SUCCESS; ++i) {
    result = td_soft_cuMemAlloc_v2(&address, std::size_t{48} << 20);
    if (result == CUDA_SUCCESS) all.push_back(address);
  }
  EXPECT_EQ(result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_LE(all.size() * (std::size_t{48} << 20), total);
  for (CUdeviceptr a : all) OK(cuMemFree_v2(a));
  OK(cuMemAlloc_v2(&address, 48u << 20));
}

TEST_F(Soft, MemoryErrorsAreCudas) {
  CUdeviceptr a = alloc(1000);
  CUdeviceptr address = 0;
  EXPECT_EQ(td_soft_cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemFree_v2(a + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemFree_v2(12345), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFree_v2(0));
  char host[64];
  EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(a + 950, host, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(8, host, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemcpyDtoH_v2(host, a + 1000, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemsetD8_v2(a, 0, 1001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemsetD32_v2(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemsetD32_v2(a, 0, SIZE_MAX / 2), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemcpyHtoD_v2(a, host, 0));
  OK(cuMemFree_v2(a));
  EXPECT_EQ(td_soft_cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(a, host, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Soft, PointerFacts) {
  CUdeviceptr a = alloc(1000);
  void* pinned = nullptr;
  OK(cuMemHostAlloc(&pinned, 100, 0));
  auto host = reinterpret_cast<CUdeviceptr>(pinned);
  unsigned type = 0;
  OK(cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, a + 999));
  EXPECT_EQ(type, unsigned{MEMORYTYPE_DEVICE});
  OK(cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, host));
  EXPECT_EQ(type, unsigned{MEMORYTYPE_HOST});
  EXPECT_EQ(td_soft_cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE,
                                          reinterpret_cast<CUdeviceptr>(&type)),
            CUDA_ERROR_INVALID_VALUE);
  int device = -1;
  OK(cuPointerGetAttribute(&device, POINTER_DEVICE_ORDINAL, a));
  EXPECT_EQ(device, 0);
  CUcontext context = nullptr;
  OK(cuPointerGetAttribute(&context, POINTER_CONTEXT, a));
  EXPECT_EQ(context, context_);
  CUdeviceptr mapped = 0;
  OK(cuMemHostGetDevicePointer_v2(&mapped, pinned, 0));
  // A kernel writes page-locked host memory.
  ASSERT_EQ(launch("triple", 1, 25, nullptr, mapped, 25), CUDA_SUCCESS);
  OK(cuCtxSynchronize());
  for (int i = 0; i < 25; ++i) EXPECT_EQ(static_cast<int*>(pinned)[i], 3 * i);
  EXPECT_EQ(td_soft_cuMemFree_v2(host), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFreeHost(pinned));
  EXPECT_EQ(td_soft_cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Soft, LargeCopiesAndFills) {
  const std::size_t n = 5000011;
  std::vector<int> host(n);
  std::iota(host.begin(), host.end(), 0);
  CUdeviceptr a = alloc(n * 4), b = alloc(n * 4);
  OK(cuMemcpyHtoD_v2(a, host.data(), n * 4));
  OK(cuMemcpyDtoD_v2(b, a, n * 4));
  EXPECT_EQ(download<int>(b, n), host);
  OK(cuMemsetD32_v2(b + 4, 0x01020304, n - 2));
  std::vector<int> got = download<int>(b, n);
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[n - 1], static_cast<int>(n - 1));
  for (std::size_t i = 1; i + 1 < n; ++i) ASSERT_EQ(got[i], 0x01020304);
  OK(cuMemsetD8_v2(b + 1, 9, 3000001));
  std::vector<unsigned char> bytes = download<unsigned char>(b, 3000003);
  EXPECT_NE(bytes[0], 9);
  for (std::size_t i = 1; i < 3000002; ++i) ASSERT_EQ(bytes[i], 9);
  EXPECT_NE(bytes[3000002], 9);
}

TEST_F(Soft, DeviceFacts) {
  int value = 0;
  OK(cuDeviceGetAttribute(&value, MAX_THREADS_PER_BLOCK, 0));
  EXPECT_EQ(value, 1024);
  OK(cuDeviceGetAttribute(&value, COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT_EQ(value, 9);
  OK(cuDeviceGetAttribute(&value, MAX_GRID_DIM_Z, 0));
  EXPECT_EQ(value, 65535);
  OK(cuDeviceGetAttribute(&value, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
  EXPECT_EQ(value, 227 * 1024);
  for (int attribute = 1; attribute <= 145; ++attribute)
    EXPECT_EQ(td_soft_cuDeviceGetAttribute(&value, attribute, 0), CUDA_SUCCESS) << attribute;
  EXPECT_EQ(td_soft_cuDeviceGetAttribute(&value, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuDeviceGetAttribute(&value, 5000, 0), CUDA_ERROR_INVALID_VALUE);
  char name[256], id[32];
  OK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_EQ(std::string(name).rfind("software device (", 0), 0u) << name;
  OK(cuDeviceGetPCIBusId(id, sizeof id, 0));
  OK(cuDeviceGetName(name, 5, 0));
  EXPECT_STREQ(name, "soft");
  CUdevice device = 7;
  EXPECT_EQ(td_soft_cuDeviceGet(&device, 1000), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Soft, ErrorTexts) {
  const char* text = nullptr;
  OK(cuGetErrorName(700, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  OK(cuGetErrorString(700, &text));
  EXPECT_NE(std::string(text), "");
  EXPECT_EQ(td_soft_cuGetErrorName(123456, &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(Soft, ContextsAreAThreadsOwn) {
  CUcontext seen = context_;
  CUresult result = CUDA_SUCCESS;
  std::thread([&] {
    td_soft_cuCtxGetCurrent(&seen);
    CUdeviceptr address = 0;
    result = td_soft_cuMemAlloc_v2(&address, 16);
  }).join();
  EXPECT_EQ(seen, nullptr);
  EXPECT_EQ(result, CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxPushCurrent_v2(context_));
  CUcontext popped = nullptr;
  OK(cuCtxPopCurrent_v2(&popped));
  EXPECT_EQ(popped, context_);
  OK(cuCtxGetCurrent(&popped));
  EXPECT_EQ(popped, context_);
  EXPECT_EQ(td_soft_cuCtxSetCurrent(reinterpret_cast<CUcontext>(&popped)),
            CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Soft, ResetDestroysEverything) {
  CUdeviceptr a = alloc(1000);
  CUstream stream = nullptr;
  CUevent event = nullptr;
  OK(cuStreamCreateWithPriority(&stream, 0, 0));
  OK(cuEventCreate(&event, 0));
  CUfunction f = kernel("empty");
  OK(cuDevicePrimaryCtxReset_v2(0));
  int active = 1;
  OK(cuDevicePrimaryCtxGetState(0, nullptr, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(td_soft_cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CUcontext again = nullptr;
  OK(cuDevicePrimaryCtxRetain(&again, 0));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  EXPECT_EQ(again, context_);
  OK(cuCtxSynchronize());
  EXPECT_EQ(td_soft_cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(td_soft_cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(td_soft_cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Soft, Limits) {
  std::size_t value = 0;
  for (CUlimit limit : {LIMIT_STACK_SIZE, LIMIT_PRINTF_FIFO_SIZE, LIMIT_MALLOC_HEAP_SIZE}) {
    OK(cuCtxSetLimit(limit, 123456));
    OK(cuCtxGetLimit(&value, limit));
    EXPECT_EQ(value, 123456u);
  }
  EXPECT_EQ(td_soft_cuCtxGetLimit(&value, 99), CUDA_ERROR_INVALID_VALUE);
  OK(cuCtxSetLimit(LIMIT_PRINTF_FIFO_SIZE, 1 << 20));
}

// A host side that lies where device memory was is an error, not a crash of a worker.
TEST_F(Soft, CopiesOfForgottenMemory) {
  CUdeviceptr gone = alloc(4096), memory = alloc(4096);
  OK(cuMemFree_v2(gone));
  auto* as_host = reinterpret_cast<void*>(gone);
  EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(memory, as_host, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemcpyDtoH_v2(as_host, memory, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuMemcpyDtoD_v2(memory, gone, 16), CUDA_ERROR_INVALID_VALUE);
  std::vector<char> pages(3 * 4096);
  OK(cuMemHostRegister_v2(pages.data(), 4096, 0));
  EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(memory, pages.data(), 4096), CUDA_SUCCESS);
  CUdeviceptr larger = alloc(8192);
  EXPECT_EQ(td_soft_cuMemcpyHtoD_v2(larger, pages.data(), 8192), CUDA_ERROR_INVALID_VALUE)
      << "only the first page is registered";
  OK(cuMemHostUnregister(pages.data()));
}

}  // namespace

}  // namespace td::softdev::test
