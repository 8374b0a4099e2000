// Initialisation, error names, devices and their attributes.
#include "support.h"

namespace td::test {
namespace {

class DeviceTable : public DriverTest {};

TEST_F(DeviceTable, Init) {
  EXPECT_EQ(api().cuInit(0), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuInit(1), cuda::CUDA_ERROR_INVALID_VALUE);
  int version = 0;
  EXPECT_EQ(api().cuDriverGetVersion(&version), cuda::CUDA_SUCCESS);
  EXPECT_GE(version, 12000);
}

TEST_F(DeviceTable, ErrorNames) {
#define TD_ROW(value, expected, meaning, cure)                                        \
  {                                                                                   \
    const char *name = nullptr, *text = nullptr;                                      \
    EXPECT_EQ(api().cuGetErrorName(value, &name), cuda::CUDA_SUCCESS) << #expected;   \
    EXPECT_STREQ(name, #expected);                                                    \
    EXPECT_EQ(api().cuGetErrorString(value, &text), cuda::CUDA_SUCCESS) << #expected; \
    EXPECT_TRUE(text && *text) << #expected;                                          \
  }
  TD_CUDA_RESULTS(TD_ROW)
#undef TD_ROW
  const char* name = "unchanged";
  EXPECT_EQ(api().cuGetErrorName(123456, &name), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(name, nullptr);
}

TEST_F(DeviceTable, Ordinals) {
  int count = 0;
  ASSERT_EQ(api().cuDeviceGetCount(&count), cuda::CUDA_SUCCESS);
  ASSERT_GE(count, 1);
  CUdevice handle = -1;
  EXPECT_EQ(api().cuDeviceGet(&handle, count - 1), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuDeviceGet(&handle, count), cuda::CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(api().cuDeviceGet(&handle, -1), cuda::CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DeviceTable, NamesAndMemory) {
  CUdevice handle = device()->handle();
  char name[256];
  std::memset(name, 'x', sizeof name);
  ASSERT_EQ(api().cuDeviceGetName(name, sizeof name, handle), cuda::CUDA_SUCCESS);
  ASSERT_LT(strnlen(name, sizeof name), sizeof name);
  EXPECT_GT(std::strlen(name), 3u);
  std::size_t total = 0, free = 0, info_total = 0;
  ASSERT_EQ(api().cuDeviceTotalMem(&total, handle), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemGetInfo(&free, &info_total), cuda::CUDA_SUCCESS);
  EXPECT_GE(total, std::size_t{64} << 20);
  EXPECT_LE(free, info_total);
  EXPECT_NEAR(static_cast<double>(total), static_cast<double>(info_total),
              0.05 * static_cast<double>(total));
  CUuuid uuid{};
  CUresult result = api().cuDeviceGetUuid(&uuid, handle);
  if (result != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    EXPECT_EQ(result, cuda::CUDA_SUCCESS);
    EXPECT_NE(std::string(uuid.bytes, 16), std::string(16, '\0'));
  }
  char bus[32] = {};
  ASSERT_EQ(api().cuDeviceGetPCIBusId(bus, sizeof bus, handle), cuda::CUDA_SUCCESS);
  unsigned domain, number, slot, function;
  EXPECT_EQ(std::sscanf(bus, "%x:%x:%x.%x", &domain, &number, &slot, &function), 4) << bus;
}

// The limits that a launch is checked against are the same on both devices (sm_80 and later).
struct AttributeRow {
  const char* name;
  int attribute;
  int least, most;
};
constexpr int kAny = 1 << 30;
constexpr AttributeRow kAttributes[] = {
    {"threads per block", cuda::MAX_THREADS_PER_BLOCK, 1024, 1024},
    {"block x", cuda::MAX_BLOCK_DIM_X, 1024, 1024},
    {"block y", cuda::MAX_BLOCK_DIM_Y, 1024, 1024},
    {"block z", cuda::MAX_BLOCK_DIM_Z, 64, 64},
    {"grid x", cuda::MAX_GRID_DIM_X, 2147483647, 2147483647},
    {"grid y", cuda::MAX_GRID_DIM_Y, 65535, 65535},
    {"grid z", cuda::MAX_GRID_DIM_Z, 65535, 65535},
    {"shared memory", cuda::MAX_SHARED_MEMORY_PER_BLOCK, 49152, 49152},
    {"shared memory, opt in", cuda::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 49152, 262144},
    {"constant memory", cuda::TOTAL_CONSTANT_MEMORY, 65536, 65536},
    {"warp size", cuda::WARP_SIZE, 32, 32},
    {"registers per block", cuda::MAX_REGISTERS_PER_BLOCK, 65536, 65536},
    {"threads per multiprocessor", cuda::MAX_THREADS_PER_MULTIPROCESSOR, 1024, 2048},
    {"multiprocessors", cuda::MULTIPROCESSOR_COUNT, 1, 1024},
    {"clock", cuda::CLOCK_RATE, 0, kAny},
    {"compute capability", cuda::COMPUTE_CAPABILITY_MAJOR, 7, 20},
    {"compute capability, minor", cuda::COMPUTE_CAPABILITY_MINOR, 0, 9},
    {"unified addressing", cuda::UNIFIED_ADDRESSING, 1, 1},
    {"map host memory", cuda::CAN_MAP_HOST_MEMORY, 0, 1},
    {"concurrent kernels", cuda::CONCURRENT_KERNELS, 0, 1},
    {"integrated", cuda::INTEGRATED, 0, 1},
};

TEST_F(DeviceTable, Attributes) {
  for (const AttributeRow& row : kAttributes) {
    int value = -1;
    EXPECT_EQ(api().cuDeviceGetAttribute(&value, row.attribute, device()->handle()),
              cuda::CUDA_SUCCESS)
        << row.name;
    EXPECT_GE(value, row.least) << row.name;
    EXPECT_LE(value, row.most) << row.name;
    EXPECT_EQ(device()->attribute(row.attribute), value) << row.name;
    EXPECT_EQ(device()->attribute(row.attribute), value) << row.name << ", from the cache";
  }
  int value = 0;
  EXPECT_EQ(api().cuDeviceGetAttribute(&value, 100000, device()->handle()),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DeviceTable, PrimaryContextCounts) {
  CUdevice handle = device()->handle();
  CUcontext first = nullptr, second = nullptr;
  ASSERT_EQ(api().cuDevicePrimaryCtxRetain(&first, handle), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuDevicePrimaryCtxRetain(&second, handle), cuda::CUDA_SUCCESS);
  EXPECT_EQ(first, second);
  EXPECT_EQ(api().cuDevicePrimaryCtxRelease(handle), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuDevicePrimaryCtxRelease(handle), cuda::CUDA_SUCCESS);
  unsigned flags = 0;
  int active = 0;
  ASSERT_EQ(api().cuDevicePrimaryCtxGetState(handle, &flags, &active), cuda::CUDA_SUCCESS);
  EXPECT_EQ(active, 1) << "the runtime still holds it";
}

}  // namespace
}  // namespace td::test
