#include "support.h"

#include <cstdlib>
#include <map>

namespace td::softdev::test {

namespace {

// Before anything of the device starts: the fake compiler, and a cache of this process alone (or
// the one that a test of several processes names).
const int prepared = [] {
  setenv("TREADLE_CC", TEST_COMPILER, 1);
  if (const char* shared = std::getenv("TREADLE_TEST_CACHE"))
    return setenv("TREADLE_CACHE_DIR", shared, 1);
  static char folder[] = "/tmp/treadle-soft-XXXXXX";
  setenv("TREADLE_CACHE_DIR", mkdtemp(folder), 1);
  std::atexit([] { std::system(("rm -rf " + std::string(folder)).c_str()); });
  return 0;
}();

void word(std::string& out, std::uint32_t value) {
  out.append(reinterpret_cast<const char*>(&value), 4);
}

}  // namespace

std::string image_of(const std::string& what) {
  std::string out;
  word(out, 0x0b17c0de);
  word(out, 0);
  word(out, 20);
  word(out, static_cast<std::uint32_t>(what.size() + 4));
  word(out, 0);
  return out + "BC\xc0\xde" + what;
}

void Soft::SetUp() {
  (void)prepared;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context_, 0));
  OK(cuCtxSetCurrent(context_));
  OK(cuModuleLoadDataEx(&module_, image_of("kernels").data(), 0, nullptr, nullptr));
}

void Soft::TearDown() {
  EXPECT_EQ(td_soft_cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(td_soft_cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
}

void Soft::recover() {
  OK(cuDevicePrimaryCtxReset_v2(0));
  OK(cuDevicePrimaryCtxRelease_v2(0));
  OK(cuDevicePrimaryCtxRetain(&context_, 0));
  OK(cuModuleLoadDataEx(&module_, image_of("kernels").data(), 0, nullptr, nullptr));
}

CUfunction Soft::kernel(const char* name) {
  CUfunction function = nullptr;
  EXPECT_EQ(td_soft_cuModuleGetFunction(&function, module_, name), CUDA_SUCCESS) << name;
  return function;
}

CUdeviceptr Soft::alloc(std::size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_EQ(td_soft_cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
  return address;
}

}  // namespace td::softdev::test
