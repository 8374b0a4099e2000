// Libraries (cuLibrary*): images that belong to no context. Their code is made when the library is
// loaded; the first use in a context loads it there. Kernels and variables are found by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "softdev/run/module.h"

struct CUkern_st {
  td::softdev::HandleTag tag{td::softdev::HandleTag::kernel};
  std::atomic<bool> alive{false};
  CUlibrary library = nullptr;
  std::string name;
  void clear() {
    alive = false;
    library = nullptr;
    name.clear();
  }
};

struct CUlib_st {
  std::atomic<bool> alive{false};
  td::softdev::LoweredImage image;
  std::mutex mutex;  // guards the rest
  struct Loaded {
    CUcontext context;
    std::uint64_t generation;  // of the context: a reset takes the module along
    CUmodule module;
  };
  std::vector<Loaded> loaded;
  std::vector<CUkernel> kernels;
  void clear() {
    alive = false;
    image = {};
    loaded.clear();
    kernels.clear();
  }
};

namespace td::softdev {

// Needs no context.
CUresult load_library(const void* image, CUlibrary* out, std::string* log);
// The module of the library in the context.
CUresult library_module(Context& context, CUlibrary library, CUmodule* out);
// Waits for every context that has it.
void unload_library(CUlibrary library);
CUkernel find_kernel(CUlibrary library, std::string_view name);
CUresult kernel_function(Context& context, CUkernel kernel, CUfunction* out);
bool is_live(CUlibrary library);
bool is_live(CUkernel kernel);

}  // namespace td::softdev
