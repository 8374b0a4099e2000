// Modules.
#include "softdev/run/module.h"

#include <algorithm>
#include <vector>

#include "softdev/api/functions.h"
#include "softdev/api/guard.h"
#include "softdev/api/jit_options.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

template <class Body>
CUresult in_module(CUmodule module, const Body& body) {
  return in_context([&](Context& context) -> CUresult {
    return is_live(module, context) ? body() : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

CUresult load(CUmodule* module, const void* image, const JitOptions& jit) {
  return in_context([&](Context& context) -> CUresult {
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    std::string log;
    CUresult result = load_module(context, image, module, &log);
    jit.report(log);
    return result;
  });
}

}  // namespace

namespace td::softdev {

CUresult resolve_function(Context& context, CUfunction handle, CUfunction* out) {
  if (!may_be_read(handle)) return CUDA_ERROR_INVALID_HANDLE;
  auto kernel = reinterpret_cast<CUkernel>(handle);
  if (is_live(kernel)) return kernel_function(context, kernel, out);
  if (!is_live(handle, context)) return CUDA_ERROR_INVALID_HANDLE;
  *out = handle;
  return CUDA_SUCCESS;
}

}  // namespace td::softdev

extern "C" {

CUresult td_soft_cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                                    CUjit_option* options, void** values) {
  return load(module, image, JitOptions(count, options, values));
}
CUresult td_soft_cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image, JitOptions(0, nullptr, nullptr));
}
// NVIDIA's container of images for several devices is never read: its contents are for GPUs.
CUresult td_soft_cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image, JitOptions(0, nullptr, nullptr));
}

CUresult td_soft_cuModuleLoad(CUmodule* module, const char* file) {
  return in_context([&](Context&) -> CUresult {
    if (!module || !file) return CUDA_ERROR_INVALID_VALUE;
    std::string image;
    if (!read_image(file, &image)) return CUDA_ERROR_FILE_NOT_FOUND;
    return load(module, image.data(), JitOptions(0, nullptr, nullptr));
  });
}

// Everything is loaded at once.
CUresult td_soft_cuModuleGetLoadingMode(int* mode) {
  return guarded_call([&]() -> CUresult {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = 1;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuModuleUnload(CUmodule module) {
  return in_context([&](Context& context) -> CUresult {
    if (!is_live(module, context)) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult error = refuse_unsafe()) return error;
    if (CUresult error = context.synchronize()) return error;
    {
      std::lock_guard lock(context.mutex);
      auto found = std::find(context.modules.begin(), context.modules.end(), module);
      if (found == context.modules.end()) return CUDA_ERROR_INVALID_HANDLE;
      context.modules.erase(found);
    }
    destroy_module(module);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return in_module(module, [&]() -> CUresult {
    if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
    return find_function(module, name, function);
  });
}

CUresult td_soft_cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                      const char* name) {
  return in_module(module, [&]() -> CUresult {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    return find_global(module, name, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult td_soft_cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return in_module(module, [&]() -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(module->functions.size());
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuModuleEnumerateFunctions(CUfunction* functions, unsigned count,
                                            CUmodule module) {
  return in_module(module, [&]() -> CUresult {
    if (!functions) return CUDA_ERROR_INVALID_VALUE;
    std::size_t n = std::min<std::size_t>(count, module->functions.size());
    std::copy_n(module->functions.begin(), n, functions);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
