#include "softdev/run/library.h"

#include <algorithm>

namespace td::softdev {

namespace {

using namespace td::cuda;

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
  if (CUresult error = load_module(context, library->image, out, log)) return error;
  library->loaded.push_back({&context, context.generation, *out});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult load_library(const void* image, CUlibrary* out, std::string* log) {
  LoweredImage lowered;
  if (CUresult error = prepare_image(image, &lowered, log)) return error;
  CUlibrary library = handle_pool<CUlib_st>().make();
  library->image = std::move(lowered);
  auto add = [&](const std::string& name) {
    CUkernel kernel = handle_pool<CUkern_st>().make();
    kernel->library = library;
    kernel->name = name;
    library->kernels.push_back(kernel);
  };
  for (const LoweredKernel& kernel : library->image.reply.kernels) add(kernel.name);
  for (const RefusedKernel& kernel : library->image.reply.refused) add(kernel.name);
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
  for (CUkernel kernel : library->kernels) handle_pool<CUkern_st>().recycle(kernel);
  handle_pool<CUlib_st>().recycle(library);
}

CUkernel find_kernel(CUlibrary library, std::string_view name) {
  for (CUkernel kernel : library->kernels)
    if (kernel->name == name) return kernel;
  return nullptr;
}

CUresult kernel_function(Context& context, CUkernel kernel, CUfunction* out) {
  CUmodule module = nullptr;
  if (CUresult error = library_module(context, kernel->library, &module)) return error;
  return find_function(module, kernel->name, out);
}

bool is_live(CUlibrary library) { return is_alive(library); }

bool is_live(CUkernel kernel) {
  return may_be_read(kernel) && kernel->tag == HandleTag::kernel &&
         kernel->alive.load(std::memory_order_acquire);
}

}  // namespace td::softdev
