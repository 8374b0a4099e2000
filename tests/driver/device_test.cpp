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
#define TD_ROW(value, expected, meaning, cure)                                       \
  {                                                                                  \
    const char *name = nullptr, *text = nullptr;                                     \
    CUresult found = api().cuGetErrorName(value, &name);                             \
    if (found == 0 || provider().driver_version >= 13000) { /* older: fewer codes */ \
      EXPECT_EQ(found, cuda::CUDA_SUCCESS) << #expected;                             \
      EXPECT_STREQ(name, #expected);                                                 \
      EXPECT_EQ(api().cuGetErrorString(value, &text), 0) << #expected;               \
      EXPECT_TRUE(text && *text) << #expected;                                       \
    }                                                                                \
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

// Programs read them all: every attribute that the driver knows has an answer.
TEST_F(DeviceTable, EveryAttribute) {
  int known = 0, value = 0;
  for (int attribute = 1; attribute <= 147; ++attribute)
    known += api().cuDeviceGetAttribute(&value, attribute, 0) == cuda::CUDA_SUCCESS;
  EXPECT_GE(known, provider().driver_version >= 13000 ? 145 : 120);
  EXPECT_EQ(api().cuDeviceGetAttribute(&value, 0, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuDeviceGetAttribute(&value, 5000, 0), cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuDeviceGetAttribute(&value, cuda::WARP_SIZE, 999),
            cuda::CUDA_ERROR_INVALID_DEVICE);
}

// What a device of compute capability 9.0 answers, as NVIDIA publishes it.
TEST_F(DeviceTable, AttributesOfHopper) {
  struct Row {
    int attribute, value;
  };
  constexpr Row kRows[] = {
      {1, 1024},    {2, 1024},    {3, 1024},   {4, 64},     {5, 2147483647}, {6, 65535},
      {7, 65535},   {8, 49152},   {9, 65536},  {10, 32},    {12, 65536},     {14, 512},
      {21, 131072}, {22, 131072}, {23, 65536}, {24, 16384}, {27, 32768},     {29, 2048},
      {39, 2048},   {41, 1},      {51, 32},    {52, 32768}, {54, 2046},      {69, 268435456},
      {78, 1},      {81, 233472}, {82, 65536}, {83, 1},     {95, 1},         {97, 232448},
      {99, 1},      {106, 32},    {111, 1024}, {115, 1},    {122, 1}};
  if (device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR) != 9) GTEST_SKIP() << "not a Hopper";
  for (const Row& row : kRows)
    EXPECT_EQ(device()->attribute(row.attribute), row.value) << row.attribute;
}

TEST_F(DeviceTable, OldQuestions) {
  int major = 0, minor = -1;
  ASSERT_EQ(api().cuDeviceComputeCapability(&major, &minor, 0), 0);
  EXPECT_EQ(major, device()->attribute(cuda::COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(minor, device()->attribute(cuda::COMPUTE_CAPABILITY_MINOR));
  CUdevprop properties{};
  ASSERT_EQ(api().cuDeviceGetProperties(&properties, 0), 0);
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.maxThreadsDim[2], 64);
  EXPECT_EQ(properties.maxGridSize[1], 65535);
  EXPECT_EQ(properties.SIMDWidth, 32);
  int supported = -1;
  EXPECT_EQ(api().cuDeviceGetExecAffinitySupport(&supported, 0, 0), 0);
  EXPECT_TRUE(supported == 0 || supported == 1);
}

TEST_F(DeviceTable, FoundByItsBusAddress) {
  char id[64];
  ASSERT_EQ(api().cuDeviceGetPCIBusId(id, sizeof id, 0), 0);
  CUdevice found = -1;
  ASSERT_EQ(api().cuDeviceGetByPCIBusId(&found, id), 0);
  EXPECT_EQ(found, 0);
  EXPECT_NE(api().cuDeviceGetByPCIBusId(&found, "no address"), 0);
  char luid[8];
  EXPECT_NE(api().cuDeviceGetLuid(luid, nullptr, 0), 0) << "names of Windows";
}

}  // namespace
}  // namespace td::test
