#include "softdev/run/library.h"

#include <algorithm>

namespace td::softdev {

namespace {

using namespace td::cuda;

HandlePool<CUlib_st>& libraries() {
  static auto& pool = *new HandlePool<CUlib_st>;
  return pool;
}
HandlePool<CUkern_st>& kernels() {
  static auto& pool = *new HandlePool<CUkern_st>;
  return pool;
}

template <class Handle>
bool aligned(Handle handle) {
  using Object = std::remove_pointer_t<Handle>;
  return handle && reinterpret_cast<std::uintptr_t>(handle) % alignof(Object) == 0;
}

CUresult load_into(Context& context, CUlibrary library, CUmodule* out, std::string* log) {
  std::lock_guard lock(library->mutex);
  for (auto& loaded : library->loaded) {
    if (loaded.context != &context) continue;
    if (loaded.generation != context.generation) {
      loaded = library->loaded.back();
      library->loaded.pop_back();
      break;
    }
    *out = loaded.module;
    return CUDA_SUCCESS;
  }
  if (CUresult error = load_module(context, library->image.data(), out, log)) return error;
  library->loaded.push_back({&context, context.generation, *out});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult load_library(Context& context, std::string_view image, CUlibrary* out, std::string* log) {
  CUlibrary library = libraries().make();
  library->image = image;
  CUmodule module = nullptr;
  CUresult result = load_into(context, library, &module, log);
  if (result != CUDA_SUCCESS) {
    libraries().recycle(library);
    return result;
  }
  for (CUfunction function : module->functions) {
    CUkernel kernel = kernels().make();
    kernel->library = library;
    kernel->name = function->info.name;
    library->kernels.push_back(kernel);
  }
  *out = library;
  return CUDA_SUCCESS;
}

CUresult library_module(Context& context, CUlibrary library, CUmodule* out) {
  std::string log;
  return load_into(context, library, out, &log);
}

void unload_library(CUlibrary library) {
  library->alive = false;
  for (auto& loaded : library->loaded) {
    Context& context = *loaded.context;
    if (loaded.generation != context.generation) continue;
    context.synchronize();
    {
      std::lock_guard lock(context.mutex);
      std::erase(context.modules, loaded.module);
    }
    destroy_module(loaded.module);
  }
  for (CUkernel kernel : library->kernels) kernels().recycle(kernel);
  libraries().recycle(library);
}

CUkernel find_kernel(CUlibrary library, std::string_view name) {
  for (CUkernel kernel : library->kernels)
    if (kernel->name == name) return kernel;
  return nullptr;
}

CUresult kernel_function(Context& context, CUkernel kernel, CUfunction* out) {
  CUmodule module = nullptr;
  if (CUresult error = library_module(context, kernel->library, &module)) return error;
  *out = find_function(module, kernel->name);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

bool is_live(CUlibrary library) {
  return aligned(library) && library->alive.load(std::memory_order_acquire);
}

bool is_live(CUkernel kernel) {
  return aligned(kernel) && kernel->tag == HandleTag::kernel &&
         kernel->alive.load(std::memory_order_acquire);
}

}  // namespace td::softdev
