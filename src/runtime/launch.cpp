// Kernels and variables of a program: Clang's registration hooks, the configuration of <<<>>>,
// launches.
//
// An image is loaded into a device when something of it is first used there. Its kernels are known
// by the address of their host stub, its variables by the address of their host shadow.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "compile/program_image.h"
#include "program/runtime_door.h"
#include "runtime/runtime.h"

using namespace td::runtime;
using namespace td::cuda;

namespace {

struct Image {
  std::string_view bytes;
  bool relocatable = false;
  std::array<std::atomic<CUmodule>, kMaxDevices> modules{};
};

struct Kernel {
  Image* image;
  std::string name;
  std::array<std::atomic<CUfunction>, kMaxDevices> functions{};
};

struct Variable {
  Image* image;
  std::string name;
  std::size_t bytes;
};

struct Program {
  std::shared_mutex mutex;
  std::mutex load;
  std::vector<std::unique_ptr<Image>> images;
  Image joined;  // of all relocatable images
  std::string joined_bytes;
  std::unordered_map<const void*, std::unique_ptr<Kernel>> kernels;
  std::unordered_map<const void*, Variable> variables;
};
Program& program() {
  static auto* own =
      new Program;  // registration runs before other static objects, destructors after them
  return *own;
}

// The wrapper that Clang's host code hands over.
struct Wrapper {
  int magic, version;
  const void* data;
  void* unused;
};

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

void explain_load(CUresult result, const char* log) {
  const char* name = nullptr;
  api().cuGetErrorName(result, &name);
  std::fprintf(stderr, "treadle: the device code of this program could not be loaded (%s)%s%s\n",
               name ? name : "unknown error", *log ? ": " : "", log);
}

// Under the lock `load`. A library that is loaded later cannot add to it.
bool join_images() {
  Program& own = program();
  if (!own.joined.bytes.empty()) return true;
  std::vector<std::string_view> parts;
  {
    const std::shared_lock<std::shared_mutex> lock(own.mutex);
    for (const auto& image : own.images)
      if (image->relocatable) parts.push_back(image->bytes);
  }
  std::string why;
  if (!td_program_link(parts, &own.joined_bytes, &why)) {
    std::fprintf(stderr, "treadle: the device code of this program could not be linked: %s\n",
                 why.c_str());
    return false;
  }
  own.joined.bytes = own.joined_bytes;
  return true;
}

cudaError_t load(Image& part, int device, CUmodule* module) {
  Image& image = part.relocatable ? program().joined : part;
  *module = image.modules[device].load(std::memory_order_acquire);
  if (*module != nullptr) return cudaSuccess;
  const std::lock_guard<std::mutex> lock(program().load);
  *module = image.modules[device].load(std::memory_order_acquire);
  if (*module != nullptr) return cudaSuccess;
  if (part.relocatable && !join_images()) return cudaErrorInvalidKernelImage;
  char log[4096] = "";
  CUjit_option options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const CUresult result = api().cuModuleLoadDataEx(module, image.bytes.data(), 2, options, values);
  if (result != CUDA_SUCCESS) {
    explain_load(result, log);
    return error_of(result);
  }
  image.modules[device].store(*module, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t launch(const void* stub, dim3 grid, dim3 block, void** args, std::size_t shared,
                   cudaStream_t stream) {
  if (CUresult error = enter()) return error_of(error);
  CUfunction function = nullptr;
  if (cudaError_t error = kernel_of(stub, &function)) return error;
  const CUresult result =
      api().cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                           static_cast<unsigned>(shared), stream_of(stream), args, nullptr);
  // The runtime's name for a grid or block that no device takes.
  return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : error_of(result);
}

}  // namespace

namespace td::runtime {

cudaError_t kernel_of(const void* stub, CUfunction* function) {
  Program& own = program();
  Kernel* kernel = nullptr;
  {
    const std::shared_lock<std::shared_mutex> lock(own.mutex);
    const auto found = own.kernels.find(stub);
    if (found == own.kernels.end()) return cudaErrorInvalidDeviceFunction;
    kernel = found->second.get();
  }
  const int device = current_device();
  *function = kernel->functions[device].load(std::memory_order_acquire);
  if (*function != nullptr) return cudaSuccess;
  CUmodule module = nullptr;
  if (cudaError_t error = load(*kernel->image, device, &module)) return error;
  if (CUresult error = api().cuModuleGetFunction(function, module, kernel->name.c_str()))
    return error_of(error);
  kernel->functions[device].store(*function, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t variable_of(const void* symbol, CUdeviceptr* address, std::size_t* bytes) {
  Program& own = program();
  const Variable* variable = nullptr;
  {
    const std::shared_lock<std::shared_mutex> lock(own.mutex);
    const auto found = own.variables.find(symbol);
    if (found == own.variables.end()) return cudaErrorInvalidSymbol;
    variable = &found->second;
  }
  CUmodule module = nullptr;
  if (cudaError_t error = load(*variable->image, current_device(), &module)) return error;
  CUresult result = api().cuModuleGetGlobal(address, bytes, module, variable->name.c_str());
  return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : error_of(result);
}

void forget_modules(int device) {
  Program& own = program();
  const std::lock_guard<std::shared_mutex> lock(own.mutex);
  for (auto& image : own.images) image->modules[device].store(nullptr);
  own.joined.modules[device].store(nullptr);
  for (auto& [stub, kernel] : own.kernels) kernel->functions[device].store(nullptr);
}

}  // namespace td::runtime

// ---- what Clang's host code calls

TD_RUNTIME void** __cudaRegisterFatBinary(void* wrapper) {
  auto image = std::make_unique<Image>();
  const auto* header =
      static_cast<const td::compile::ProgramImage*>(static_cast<Wrapper*>(wrapper)->data);
  if (std::memcmp(header->magic, td::compile::ProgramImage().magic, sizeof header->magic) != 0) {
    std::fprintf(
        stderr,
        "treadle: an object file of this program was not made by this version of treadle cc\n");
    std::abort();
  }
  image->bytes = {reinterpret_cast<const char*>(header + 1),
                  static_cast<std::size_t>(header->bytes)};
  image->relocatable = header->relocatable != 0;
  Program& own = program();
  const std::lock_guard<std::shared_mutex> lock(own.mutex);
  own.images.push_back(std::move(image));
  return reinterpret_cast<void**>(own.images.back().get());
}
TD_RUNTIME void __cudaRegisterFatBinaryEnd(void**) {}
TD_RUNTIME void __cudaUnregisterFatBinary(void**) {}

// Of a file compiled with -rdc=true: `globals` registers its kernels and variables.
TD_RUNTIME void __td_register_relocatable(void (*globals)(void**), void* wrapper) {
  globals(__cudaRegisterFatBinary(wrapper));
}

TD_RUNTIME void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name,
                                       int, void*, void*, void*, void*, int*) {
  auto kernel = std::make_unique<Kernel>();
  kernel->image = reinterpret_cast<Image*>(handle);
  kernel->name = name;
  Program& own = program();
  const std::lock_guard<std::shared_mutex> lock(own.mutex);
  own.kernels[stub] = std::move(kernel);
}

TD_RUNTIME void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int,
                                  std::size_t bytes, int, int) {
  Program& own = program();
  const std::lock_guard<std::shared_mutex> lock(own.mutex);
  own.variables[shadow] = {reinterpret_cast<Image*>(handle), name, bytes};
}

// *address becomes where host and device find the __managed__ variable.
TD_RUNTIME void __td_register_managed(void** address, void* shadow) {
  CUdeviceptr found = 0;
  std::size_t bytes = 0;
  cudaError_t error = error_of(enter());
  if (error == cudaSuccess) error = variable_of(shadow, &found, &bytes);
  if (error == cudaSuccess) {
    *address = reinterpret_cast<void*>(found);
    return;
  }
  std::fprintf(stderr, "treadle: a __managed__ variable could not be placed: %s\n",
               cudaGetErrorString(error));
  std::exit(1);
}

TD_RUNTIME unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
TD_RUNTIME cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared,
                                                  void* stream) {
  if (configurations.empty()) return note(cudaErrorMissingConfiguration);
  const Configuration& top = configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<void**>(stream) = top.stream;
  configurations.pop_back();
  return cudaSuccess;
}

// ---- launches and facts of kernels

TD_RUNTIME cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** args,
                                        size_t shared, cudaStream_t stream) {
  return note(launch(kernel, grid, block, args, shared, stream));
}

TD_RUNTIME cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                                   void** args, size_t shared,
                                                   cudaStream_t stream) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t error = kernel_of(kernel, &function)) return error;
    return error_of(api().cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x,
                                                    block.y, block.z, static_cast<unsigned>(shared),
                                                    stream_of(stream), args));
  });
}

static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));

// The attributes are the driver's, number for number.
TD_RUNTIME cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                           void** args) {
  if (config == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t error = kernel_of(kernel, &function)) return error;
    CUlaunchConfig own{};
    own.gridDimX = config->gridDim.x;
    own.gridDimY = config->gridDim.y;
    own.gridDimZ = config->gridDim.z;
    own.blockDimX = config->blockDim.x;
    own.blockDimY = config->blockDim.y;
    own.blockDimZ = config->blockDim.z;
    own.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
    own.hStream = stream_of(config->stream);
    own.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
    own.numAttrs = config->numAttrs;
    const CUresult result = api().cuLaunchKernelEx(&own, function, args, nullptr);
    return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : error_of(result);
  });
}

TD_RUNTIME cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* kernel) {
  if (function == nullptr) return note(cudaErrorInvalidValue);
  return call([&] { return kernel_of(kernel, reinterpret_cast<CUfunction*>(function)); });
}

TD_RUNTIME cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* kernel) {
  if (result == nullptr) return note(cudaErrorInvalidValue);
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t error = kernel_of(kernel, &function)) return error;
    auto get = [&](int number) {
      int value = 0;
      return api().cuFuncGetAttribute(&value, number, function) == CUDA_SUCCESS ? value : 0;
    };
    *result = {};
    result->maxThreadsPerBlock = get(FUNC_MAX_THREADS_PER_BLOCK);
    result->sharedSizeBytes = get(FUNC_SHARED_SIZE_BYTES);
    result->constSizeBytes = get(FUNC_CONST_SIZE_BYTES);
    result->localSizeBytes = get(FUNC_LOCAL_SIZE_BYTES);
    result->numRegs = get(FUNC_NUM_REGS);
    result->ptxVersion = get(FUNC_PTX_VERSION);
    result->binaryVersion = get(FUNC_BINARY_VERSION);
    result->cacheModeCA = get(FUNC_CACHE_MODE_CA);
    result->maxDynamicSharedSizeBytes = get(FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    result->preferredShmemCarveout = get(FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT);
    return cudaSuccess;
  });
}

TD_RUNTIME cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                            int value) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t error = kernel_of(kernel, &function)) return error;
    return error_of(api().cuFuncSetAttribute(function, attribute, value));
  });
}

// Hints.
TD_RUNTIME cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
TD_RUNTIME cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return cudaSuccess;
}

TD_RUNTIME cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                     const void* kernel,
                                                                     int block_size,
                                                                     size_t shared) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t error = kernel_of(kernel, &function)) return error;
    return error_of(
        api().cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared));
  });
}
TD_RUNTIME cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int block_size, size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared);
}

TD_RUNTIME cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel,
                                                                 int blocks, int block_size) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    if (cudaError_t error = kernel_of(kernel, &function)) return error;
    return error_of(
        api().cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size));
  });
}

TD_RUNTIME cudaError_t cudaProfilerStart() { return cudaSuccess; }
TD_RUNTIME cudaError_t cudaProfilerStop() { return cudaSuccess; }
