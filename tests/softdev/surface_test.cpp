// The whole surface of the driver API: every public function exists; those that the software device
// does not have say so, and are not mistaken for others.
#include <set>
#include <string>

#include "base/soft_entry.h"
#include "support.h"

namespace td::softdev::test {

namespace {

constexpr const char* kUnsupported[] = {
#define TD_DRIVER_UNSUPPORTED(symbol, since) #symbol,
#include "driver_unsupported.def"
};
constexpr const char* kSupported[] = {
#define TD_DRIVER_API(name, symbol, since, params) #symbol,
#include "driver_api.def"
};
constexpr const char* kPerThread[] = {
#define TD_DRIVER_PER_THREAD(symbol, suffix) #symbol #suffix,
#include "driver_per_thread.def"
};

TEST_F(Soft, EveryPublicFunctionExists) {
  std::set<std::string> names;
  for (const char* symbol : kSupported) {
    EXPECT_NE(base::soft_driver_symbol(symbol), nullptr) << symbol;
    EXPECT_TRUE(names.insert(symbol).second) << symbol << " twice";
  }
  for (const char* symbol : kUnsupported) {
    void* address = base::soft_driver_symbol(symbol);
    ASSERT_NE(address, nullptr) << symbol;
    EXPECT_TRUE(names.insert(symbol).second) << symbol << " twice";
    testing::internal::CaptureStderr();
    auto call = reinterpret_cast<CUresult (*)(void*, void*, void*, void*)>(address);
    EXPECT_EQ(call(nullptr, nullptr, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED) << symbol;
    EXPECT_EQ(call(nullptr, nullptr, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED) << symbol;
    std::string log = testing::internal::GetCapturedStderr();
    std::size_t at = log.find(std::string(symbol) + " is not supported");
    EXPECT_NE(at, std::string::npos) << symbol << ": " << log;
    EXPECT_EQ(log.find(symbol, at + 1), std::string::npos) << symbol << " is logged once";
  }
  EXPECT_GE(names.size(), 470u);
  EXPECT_EQ(base::soft_driver_symbol("cuNoSuchFunction"), nullptr);
}

TEST_F(Soft, FormsWithTheThreadsOwnStream) {
  for (const char* symbol : kPerThread)
    EXPECT_NE(base::soft_driver_symbol(symbol), nullptr) << symbol;
  auto own = reinterpret_cast<decltype(&td_soft_cuStreamGetId)>(
      base::soft_driver_symbol("cuStreamGetId_ptsz"));
  unsigned long long mine = 0, named = 0, legacy = 0;
  ASSERT_EQ(own(nullptr, &mine), CUDA_SUCCESS);
  OK(cuStreamGetId(STREAM_PER_THREAD, &named));
  OK(cuStreamGetId(nullptr, &legacy));
  EXPECT_EQ(mine, named);
  EXPECT_NE(mine, legacy);
}

TEST_F(Soft, FormsOfAFunctionByVersion) {
  void *old_form = nullptr, *new_form = nullptr;
  int status = -1;
  OK(cuGetProcAddress_v2("cuMemPrefetchAsync", &old_form, 12010, 0, &status));
  EXPECT_EQ(old_form, base::soft_driver_symbol("cuMemPrefetchAsync"));
  OK(cuGetProcAddress_v2("cuMemPrefetchAsync", &new_form, 12020, 0, &status));
  EXPECT_EQ(new_form, base::soft_driver_symbol("cuMemPrefetchAsync_v2"));
  OK(cuGetProcAddress_v2("cuGraphInstantiate", &new_form, 13000, 0, &status));
  EXPECT_EQ(new_form, base::soft_driver_symbol("cuGraphInstantiateWithFlags"));
  OK(cuGetProcAddress_v2("cuGraphInstantiate", &old_form, 11000, 0, &status));
  EXPECT_EQ(old_form, base::soft_driver_symbol("cuGraphInstantiate_v2"));
  OK(cuGetProcAddress_v2("cuMulticastCreate", &new_form, 13000, 0, &status));
  EXPECT_EQ(new_form, base::soft_driver_symbol("cuMulticastCreate"));
}

// ---- texture handles, as device code will look at them ----

TEST_F(Soft, HandlesOfTexturesAreNeverReused) {
  CUDA_ARRAY3D_DESCRIPTOR shape{16, 16, 0, FORMAT_FLOAT, 1, 0};
  CUarray array = nullptr;
  OK(cuArray3DCreate_v2(&array, &shape));
  CUDA_RESOURCE_DESC resource{};
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture{};
  CUtexObject first = 0, second = 0;
  OK(cuTexObjectCreate(&first, &resource, &texture, nullptr));
  OK(cuTexObjectDestroy(first));
  OK(cuTexObjectCreate(&second, &resource, &texture, nullptr));
  EXPECT_NE(first, second);
  EXPECT_EQ(td_soft_cuTexObjectDestroy(first), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(td_soft_cuSurfObjectDestroy(second), CUDA_ERROR_INVALID_VALUE) << "of the other kind";
  OK(cuTexObjectDestroy(second));
  OK(cuArrayDestroy(array));
  EXPECT_EQ(td_soft_cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace

}  // namespace td::softdev::test
