// Libraries and their kernels.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "softdev/api/functions.h"
#include "softdev/api/guard.h"
#include "softdev/api/jit_options.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

CUresult with_library(CUlibrary library, const auto& body) {
  return in_context([&](Context& context) -> CUresult {
    return is_live(library) ? body(context) : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

CUresult with_kernel(CUkernel kernel, const auto& body) {
  return in_context([&](Context& context) -> CUresult {
    if (!is_live(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    CUfunction function = nullptr;
    if (CUresult error = kernel_function(context, kernel, &function)) return error;
    return body(context, *function);
  });
}

// The same for a named device, whose primary context holds the function; the current context's when
// that is of the device.
CUresult with_kernel_on(CUkernel kernel, CUdevice device, const auto& body) {
  return in_context([&](Context& context) -> CUresult {
    if (!is_live(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    Context& there = context.device == device ? context : context_of(device);
    CUfunction function = nullptr;
    if (CUresult error = kernel_function(there, kernel, &function)) return error;
    return body(*function);
  });
}

CUresult load(CUlibrary* library, const void* image, unsigned count, CUjit_option* options,
              void** values) {
  return guarded_call([&]() -> CUresult {
    if (!library || !image) return CUDA_ERROR_INVALID_VALUE;
    JitOptions jit(count, options, values);
    std::string log;
    CUresult result = load_library(image, library, &log);
    jit.report(log);
    return result;
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                                   void** values, unsigned count, int*, void**, unsigned) {
  return load(library, image, count, options, values);
}

CUresult td_soft_cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* options,
                                       void** values, unsigned count, int*, void**, unsigned) {
  return guarded_call([&]() -> CUresult {
    if (!library || !file) return CUDA_ERROR_INVALID_VALUE;
    std::string image;
    if (!read_image(file, &image)) return CUDA_ERROR_FILE_NOT_FOUND;
    return load(library, image.data(), count, options, values);
  });
}

CUresult td_soft_cuLibraryUnload(CUlibrary library) {
  return guarded_call([&]() -> CUresult {
    if (!is_live(library)) return CUDA_ERROR_INVALID_HANDLE;
    unload_library(library);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return with_library(library, [&](Context&) -> CUresult {
    if (!kernel || !name) return CUDA_ERROR_INVALID_VALUE;
    *kernel = find_kernel(library, name);
    return *kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult td_soft_cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return with_library(library, [&](Context&) -> CUresult {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(library->kernels.size());
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return with_library(library, [&](Context&) -> CUresult {
    if (!kernels) return CUDA_ERROR_INVALID_VALUE;
    std::size_t n = std::min<std::size_t>(count, library->kernels.size());
    std::copy_n(library->kernels.begin(), n, kernels);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return with_library(library, [&](Context& context) -> CUresult {
    return module ? library_module(context, library, module) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                    const char* name) {
  return with_library(library, [&](Context& context) -> CUresult {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    CUmodule module = nullptr;
    if (CUresult error = library_module(context, library, &module)) return error;
    return find_global(module, name, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

// __managed__ variables live with the other ones: all device memory is the host's too.
CUresult td_soft_cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                                     const char* name) {
  return td_soft_cuLibraryGetGlobal(address, bytes, library, name);
}

CUresult td_soft_cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  return with_kernel(kernel, [&](Context&, CUfunc_st& function) -> CUresult {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = &function;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return in_context([&](Context&) -> CUresult {
    if (!is_live(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    if (!library) return CUDA_ERROR_INVALID_VALUE;
    *library = kernel->library;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuKernelGetName(const char** name, CUkernel kernel) {
  return in_context([&](Context&) -> CUresult {
    if (!is_live(kernel)) return CUDA_ERROR_INVALID_HANDLE;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = kernel->name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                                      CUdevice device) {
  return with_kernel_on(kernel, device, [&](CUfunc_st& function) -> CUresult {
    return value ? function_attribute(function, attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                      CUdevice device) {
  return with_kernel_on(kernel, device, [&](CUfunc_st& function) {
    return set_function_attribute(function, attribute, value);
  });
}

CUresult td_soft_cuKernelSetCacheConfig(CUkernel kernel, int config, CUdevice device) {
  return with_kernel_on(kernel, device, [&](CUfunc_st&) -> CUresult {
    return config >= 0 && config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                                      std::size_t* size) {
  return with_kernel(kernel, [&](Context&, CUfunc_st& function) {
    return function_param(function, index, offset, size);
  });
}

}  // extern "C"
