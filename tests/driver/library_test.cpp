// Libraries and their kernels, loading of modules from files, the linker, look-up of functions.
#include <unistd.h>

#include <fstream>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

constexpr const char* kSource = R"(
__device__ int counter = 5;
extern "C" __global__ void bump(int by) { counter += by; }
extern "C" __global__ void get(int* out, short which) { *out = counter + which; }
)";

class Library : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    CUresult result = api().cuLibraryLoadData(&library_, image_of(kSource).data(), nullptr, nullptr,
                                              0, nullptr, nullptr, 0);
    if (result == cuda::CUDA_ERROR_NOT_SUPPORTED) GTEST_SKIP() << "older than CUDA 12";
    ASSERT_EQ(result, 0);
  }
  void TearDown() override {
    if (library_) {
      EXPECT_EQ(api().cuLibraryUnload(library_), 0);
    }
  }
  CUkernel kernel(const char* name) {
    CUkernel found = nullptr;
    EXPECT_EQ(api().cuLibraryGetKernel(&found, library_, name), 0) << name;
    return found;
  }
  CUlibrary library_ = nullptr;
};

// A thread without a context prepares an image; another loads it later.
TEST_F(Library, ImagesArePreparedWithoutAContext) {
  std::shared_ptr<driver::PreparedImage> prepared;
  std::shared_ptr<driver::DeviceState> state = device();
  const std::string& image = image_of(kSource);
  std::thread([&] {
    CUcontext context = nullptr;
    EXPECT_EQ(api().cuCtxGetCurrent(&context), 0);
    EXPECT_EQ(context, nullptr);
    prepared = std::make_shared<driver::PreparedImage>(state, image);
    EXPECT_THROW(driver::PreparedImage(state, "no image at all"), DriverError);
  }).join();
  ASSERT_TRUE(prepared);
  auto module = std::make_unique<driver::LoadedModule>(prepared);
  prepared.reset();
  CUfunction get = module->function("get");
  Buffer out(4);
  CUdeviceptr address = out;
  short which = 2;
  void* args[] = {&address, &which};
  ASSERT_EQ(api().cuLaunchKernel(get, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr), 0);
  int got = 0;
  ASSERT_EQ(api().cuMemcpyDtoH(&got, out, 4), 0);
  EXPECT_EQ(got, 7);
  EXPECT_THROW(module->function("absent"), DriverError);
  module.reset();
  EXPECT_EQ(api().cuCtxSynchronize(), 0);
}

TEST_F(Library, KernelsAreLaunchedAsFunctions) {
  // Some programs pass a kernel where a function is declared; the driver knows it.
  auto bump = reinterpret_cast<CUfunction>(kernel("bump"));
  CUfunction get = nullptr;
  ASSERT_EQ(api().cuKernelGetFunction(&get, kernel("get")), 0);
  Buffer out(4);
  CUdeviceptr address = out;
  int by = 37;
  short which = 100;
  void *bump_params[] = {&by}, *get_params[] = {&address, &which};
  ASSERT_EQ(api().cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, nullptr, bump_params, nullptr), 0);
  ASSERT_EQ(api().cuLaunchKernel(get, 1, 1, 1, 1, 1, 1, 0, nullptr, get_params, nullptr), 0);
  EXPECT_EQ(read<int>(out, 1)[0], 142);
  CUdeviceptr counter = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(api().cuLibraryGetGlobal(&counter, &bytes, library_, "counter"), 0);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(read<int>(counter, 1)[0], 42);
  EXPECT_EQ(api().cuLibraryGetGlobal(&counter, &bytes, library_, "nobody"),
            cuda::CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(api().cuLibraryGetManaged(&counter, &bytes, library_, "nobody"),
            cuda::CUDA_ERROR_NOT_FOUND);
}

TEST_F(Library, WhatItHolds) {
  unsigned count = 0;
  CUresult result = api().cuLibraryGetKernelCount(&count, library_);
  if (result != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    ASSERT_EQ(result, 0);
    EXPECT_EQ(count, 2u);
    CUkernel all[2] = {};
    ASSERT_EQ(api().cuLibraryEnumerateKernels(all, 2, library_), 0);
    EXPECT_TRUE(all[0] && all[1] && all[0] != all[1]);
    const char* name = nullptr;
    ASSERT_EQ(api().cuKernelGetName(&name, kernel("get")), 0);
    EXPECT_STREQ(name, "get");
    std::size_t offset = 9, size = 9;
    ASSERT_EQ(api().cuKernelGetParamInfo(kernel("get"), 1, &offset, &size), 0);
    EXPECT_EQ(offset, 8u);
    EXPECT_EQ(size, 2u);
  }
  CUlibrary owner = nullptr;
  result = api().cuKernelGetLibrary(&owner, kernel("get"));
  if (result != cuda::CUDA_ERROR_NOT_SUPPORTED) {
    EXPECT_EQ(owner, library_);
  }
  CUkernel none = nullptr;
  EXPECT_EQ(api().cuLibraryGetKernel(&none, library_, "nobody"), cuda::CUDA_ERROR_NOT_FOUND);
  CUmodule module = nullptr;
  ASSERT_EQ(api().cuLibraryGetModule(&module, library_), 0);
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleGetFunction(&function, module, "bump"), 0);
}

TEST_F(Library, AttributesOfKernels) {
  int value = 0;
  ASSERT_EQ(api().cuKernelGetAttribute(&value, cuda::FUNC_MAX_THREADS_PER_BLOCK, kernel("get"), 0),
            0);
  EXPECT_EQ(value, 1024);
  ASSERT_EQ(
      api().cuKernelSetAttribute(cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel("get"), 0),
      0);
  ASSERT_EQ(api().cuKernelGetAttribute(&value, cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       kernel("get"), 0),
            0);
  EXPECT_EQ(value, 60000);
  EXPECT_EQ(api().cuKernelSetCacheConfig(kernel("get"), 1, 0), 0);
  EXPECT_EQ(api().cuKernelGetAttribute(&value, cuda::FUNC_NUM_REGS, kernel("get"), 99),
            cuda::CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Library, BadImages) {
  CUlibrary library = nullptr;
  std::vector<char> garbage(4096, 'x'), log(512, 0);
  CUjit_option options[] = {cuda::JIT_ERROR_LOG_BUFFER, cuda::JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  // A driver may load lazily: then the first kernel asked for tells.
  CUresult loaded =
      api().cuLibraryLoadData(&library, garbage.data(), options, values, 2, nullptr, nullptr, 0);
  CUkernel none = nullptr;
  EXPECT_TRUE(loaded != 0 || api().cuLibraryGetKernel(&none, library, "k") != 0);
  EXPECT_EQ(api().cuLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr,
                                        nullptr, 0),
            cuda::CUDA_ERROR_FILE_NOT_FOUND);
  CUmodule module = nullptr;
  EXPECT_NE(api().cuModuleLoadData(&module, garbage.data()), 0);
  EXPECT_NE(api().cuModuleLoadFatBinary(&module, garbage.data()), 0);
  EXPECT_EQ(api().cuModuleLoad(&module, "/no/such/file"), cuda::CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(Library, FromFiles) {
  std::string file = testing::TempDir() + "td_library_" + std::to_string(getpid());
  std::ofstream(file, std::ios::binary) << image_of(kSource);
  CUmodule module = nullptr;
  ASSERT_EQ(api().cuModuleLoad(&module, file.c_str()), 0);
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleGetFunction(&function, module, "bump"), 0);
  EXPECT_EQ(api().cuModuleUnload(module), 0);
  CUlibrary library = nullptr;
  ASSERT_EQ(
      api().cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      0);
  EXPECT_EQ(api().cuLibraryUnload(library), 0);
  unlink(file.c_str());
  ASSERT_EQ(api().cuModuleLoadData(&module, image_of(kSource).data()), 0);
  EXPECT_EQ(api().cuModuleUnload(module), 0);
  int mode = 0;
  EXPECT_EQ(api().cuModuleGetLoadingMode(&mode), 0);
  EXPECT_TRUE(mode == 1 || mode == 2);
}

TEST_F(Library, Linker) {
  CUlinkState state = nullptr;
  ASSERT_EQ(api().cuLinkCreate(0, nullptr, nullptr, &state), 0);
  std::string garbage(256, 'x');
  EXPECT_NE(
      api().cuLinkAddData(state, 0, garbage.data(), garbage.size(), "garbage", 0, nullptr, nullptr),
      0);
  EXPECT_NE(api().cuLinkAddFile(state, 0, "/no/such/file", 0, nullptr, nullptr), 0);
  EXPECT_EQ(api().cuLinkDestroy(state), 0);
  ASSERT_EQ(api().cuLinkCreate(0, nullptr, nullptr, &state), 0);
  std::string image = image_of(kSource);
  void* linked = nullptr;
  std::size_t bytes = 0;
  CUresult added =
      api().cuLinkAddData(state, 0, image.data(), image.size(), "kernels", 0, nullptr, nullptr);
  CUresult complete = api().cuLinkComplete(state, &linked, &bytes);
  if (added == 0 && complete == 0) {  // the GPU's linker wants relocatable code
    EXPECT_GT(bytes, 0u);
    CUmodule module = nullptr;
    ASSERT_EQ(api().cuModuleLoadData(&module, linked), 0);
    CUfunction function = nullptr;
    EXPECT_EQ(api().cuModuleGetFunction(&function, module, "get"), 0);
    EXPECT_EQ(api().cuModuleUnload(module), 0);
  }
  EXPECT_EQ(api().cuLinkDestroy(state), 0);
}

// ---- look-up by name and version ----

TEST_F(Library, FunctionsByName) {
  void* function = nullptr;
  int status = -1;
  ASSERT_EQ(api().cuGetProcAddress("cuInit", &function, 12000, 0, &status), 0);
  EXPECT_EQ(status, 0);
  auto init = reinterpret_cast<CUresult (*)(unsigned)>(function);
  EXPECT_EQ(init(0), 0);
  EXPECT_EQ(init(1), cuda::CUDA_ERROR_INVALID_VALUE);
  api().cuGetProcAddress("cuNoSuchFunction", &function, 12000, 0, &status);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
  api().cuGetProcAddress("cuLibraryLoadData", &function, 11000, 0, &status);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 2) << "known, but only to newer programs";
  ASSERT_EQ(api().cuGetProcAddress_v1("cuMemAlloc", &function, 12000, 0), 0);
  auto allocate = reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(function);
  CUdeviceptr memory = 0;
  EXPECT_EQ(allocate(&memory, 64), 0);
  EXPECT_EQ(api().cuMemFree(memory), 0);
  EXPECT_EQ(api().cuGetProcAddress("cuInit", &function, 12000, 77, &status),
            cuda::CUDA_ERROR_INVALID_VALUE);
}

// A program may ask for the functions whose default stream is the thread's own.
TEST_F(Library, FunctionsWithThreadsOwnStreams) {
  void* function = nullptr;
  int status = -1;
  ASSERT_EQ(api().cuGetProcAddress("cuStreamGetId", &function, 12000, 2, &status), 0);
  auto own = reinterpret_cast<CUresult (*)(CUstream, unsigned long long*)>(function);
  ASSERT_EQ(api().cuGetProcAddress("cuStreamGetId", &function, 12000, 1, &status), 0);
  auto legacy = reinterpret_cast<CUresult (*)(CUstream, unsigned long long*)>(function);
  unsigned long long of_thread = 0, of_legacy = 0, named = 0;
  ASSERT_EQ(own(nullptr, &of_thread), 0);
  ASSERT_EQ(legacy(nullptr, &of_legacy), 0);
  ASSERT_EQ(api().cuStreamGetId(cuda::STREAM_PER_THREAD, &named), 0);
  EXPECT_EQ(of_thread, named);
  EXPECT_NE(of_thread, of_legacy);
}

TEST_F(Library, ProfilerSwitches) {
  CUresult result = api().cuProfilerStart();
  EXPECT_TRUE(result == 0 || result == cuda::CUDA_ERROR_NOT_SUPPORTED);
  result = api().cuProfilerStop();
  EXPECT_TRUE(result == 0 || result == cuda::CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace td::test
