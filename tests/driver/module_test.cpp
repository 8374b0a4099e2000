// Modules, functions, variables and what the driver knows about them.
#include <set>

#include "support.h"

namespace td::test {
namespace {

constexpr const char* kSource = R"(
extern "C" __device__ int counter = 41;
extern "C" { __device__ float table[100]; }
extern "C" __constant__ double factor = 2.5;
extern "C" __global__ void first(float* out, char c, double d, int n) { out[0] = c + d + n; }
extern "C" __global__ void count_up() { counter += 1; }
extern "C" __global__ void scale(double* out) { out[0] = factor * table[7]; }
extern "C" __global__ void staged(int* out) {
  __shared__ int tile[128];
  tile[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}
)";

class Modules : public DriverTest {
 protected:
  CUresult load(const std::string& image) {
    CUmodule module = nullptr;
    return api().cuModuleLoadDataEx(&module, image.c_str(), 0, nullptr, nullptr);
  }
  CUresult launch(CUfunction function, unsigned threads, std::vector<void*> params) {
    return api().cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, params.data(),
                                nullptr);
  }
};

TEST_F(Modules, BadImages) {
  const std::set<CUresult> refusals = {
      cuda::CUDA_ERROR_INVALID_IMAGE, cuda::CUDA_ERROR_INVALID_PTX, cuda::CUDA_ERROR_INVALID_SOURCE,
      cuda::CUDA_ERROR_NO_BINARY_FOR_GPU, cuda::CUDA_ERROR_UNSUPPORTED_PTX_VERSION};
  EXPECT_TRUE(refusals.count(
      load("this is no image of anything, and long enough to be looked at in full")));
  EXPECT_TRUE(refusals.count(load(std::string("\0\1\2\3", 4) + std::string(200, '\7'))));
  CUmodule module = nullptr;
  EXPECT_EQ(api().cuModuleLoadDataEx(&module, nullptr, 0, nullptr, nullptr),
            cuda::CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuCtxSynchronize(), cuda::CUDA_SUCCESS)
      << "a refused image does not spoil the context";
}

TEST_F(Modules, LoadedModuleOwnsAndReports) {
  driver::LoadedModule module(device(), image_of(kSource));
  EXPECT_NE(module.function("first"), nullptr);
  EXPECT_EQ(module.global("table").second, 400u);
  try {
    module.function("absent");
    FAIL() << "a function that is not there was found";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code, cuda::CUDA_ERROR_NOT_FOUND);
    EXPECT_NE(std::string(error.what()).find("\"absent\""), std::string::npos) << error.what();
  }
  EXPECT_THROW(module.global("absent"), DriverError);
  EXPECT_THROW(driver::LoadedModule(device(), "no image"), DriverError);
}

TEST_F(Modules, Functions) {
  CUmodule module = module_of(kSource);
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleGetFunction(&function, module, "first"), cuda::CUDA_SUCCESS);
  EXPECT_EQ(api().cuModuleGetFunction(&function, module, "absent"), cuda::CUDA_ERROR_NOT_FOUND);
  unsigned count = 0;
  if (api().cuModuleGetFunctionCount(&count, module) == cuda::CUDA_ERROR_NOT_SUPPORTED) return;
  ASSERT_EQ(count, 4u);
  std::vector<CUfunction> functions(count);
  ASSERT_EQ(api().cuModuleEnumerateFunctions(functions.data(), count, module), cuda::CUDA_SUCCESS);
  std::set<std::string> names;
  for (CUfunction each : functions) {
    const char* name = nullptr;
    ASSERT_EQ(api().cuFuncGetName(&name, each), cuda::CUDA_SUCCESS);
    names.insert(name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"count_up", "first", "scale", "staged"}));
}

TEST_F(Modules, ParameterLayout) {
  CUfunction function = function_of(kSource, "first");
  const std::pair<std::size_t, std::size_t> expected[] = {
      {0, 8}, {8, 1}, {16, 8}, {24, 4}};  // offset, size
  std::size_t offset = 0, size = 0;
  if (api().cuFuncGetParamInfo(function, 0, &offset, &size) == cuda::CUDA_ERROR_NOT_SUPPORTED)
    return;
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(api().cuFuncGetParamInfo(function, i, &offset, &size), cuda::CUDA_SUCCESS);
    EXPECT_EQ(offset, expected[i].first) << i;
    EXPECT_EQ(size, expected[i].second) << i;
  }
  EXPECT_EQ(api().cuFuncGetParamInfo(function, 4, &offset, &size), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, Variables) {
  CUmodule module = module_of(kSource);
  CUdeviceptr counter = 0, table = 0, factor = 0, none = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(api().cuModuleGetGlobal(&counter, &bytes, module, "counter"), cuda::CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(api().cuModuleGetGlobal(&none, &bytes, module, "absent"), cuda::CUDA_ERROR_NOT_FOUND);
  int before = read<int>(counter, 1)[0];
  ASSERT_EQ(launch(function_of(kSource, "count_up"), 1, {}), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(counter, 1)[0], before + 1);

  ASSERT_EQ(api().cuModuleGetGlobal(&table, &bytes, module, "table"), cuda::CUDA_SUCCESS);
  ASSERT_EQ(api().cuModuleGetGlobal(&factor, &bytes, module, "factor"), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<double>(factor, 1)[0], 2.5);
  write(table + 28, std::vector<float>{4.0f});
  write(factor, std::vector<double>{0.25});
  Buffer out(8);
  CUdeviceptr address = out;
  ASSERT_EQ(launch(function_of(kSource, "scale"), 1, {&address}), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<double>(out, 1)[0], 1.0);
  write(factor, std::vector<double>{2.5});
}

TEST_F(Modules, InitialValues) {
  CUmodule module = nullptr;
  ASSERT_EQ(api().cuModuleLoadDataEx(&module, image_of(kSource).data(), 0, nullptr, nullptr),
            cuda::CUDA_SUCCESS);
  CUdeviceptr counter = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(api().cuModuleGetGlobal(&counter, &bytes, module, "counter"), cuda::CUDA_SUCCESS);
  EXPECT_EQ(read<int>(counter, 1)[0], 41) << "each loaded module has variables of its own";
  EXPECT_EQ(api().cuModuleUnload(module), cuda::CUDA_SUCCESS);
}

TEST_F(Modules, FunctionAttributes) {
  CUfunction function = function_of(kSource, "staged");
  auto attribute = [&](int which) {
    int value = -1;
    EXPECT_EQ(api().cuFuncGetAttribute(&value, which, function), cuda::CUDA_SUCCESS) << which;
    return value;
  };
  EXPECT_EQ(attribute(cuda::FUNC_MAX_THREADS_PER_BLOCK), 1024);
  EXPECT_EQ(attribute(cuda::FUNC_SHARED_SIZE_BYTES), 512);
  EXPECT_GE(attribute(cuda::FUNC_NUM_REGS), 0);
  EXPECT_GE(attribute(cuda::FUNC_LOCAL_SIZE_BYTES), 0);
  EXPECT_GE(attribute(cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152 - 512);
  EXPECT_LE(attribute(cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES), 49152);
  int value = 0;
  EXPECT_EQ(api().cuFuncGetAttribute(&value, 1000, function), cuda::CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, Occupancy) {
  CUfunction function = function_of(kSource, "staged");
  int blocks = 0, crowded = 0;
  ASSERT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0),
            cuda::CUDA_SUCCESS);
  EXPECT_GE(blocks, 1);
  int threads = device()->attribute(cuda::MAX_THREADS_PER_MULTIPROCESSOR);
  EXPECT_LE(blocks * 128, threads);
  ASSERT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&crowded, function, 128, 48000),
            cuda::CUDA_SUCCESS);
  EXPECT_LE(crowded, blocks);
}

}  // namespace
}  // namespace td::test
