#include "softdev/jit/externs.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <mutex>
#include <string_view>

#include "base/text.h"
#include "softdev/run/device_calls.h"
#include "softdev/run/runtime.h"
#include "softdev/simt/kernel_abi.h"

namespace td::softdev {

namespace {

struct Row {
  std::string_view name;
  void* address;
};

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Row kRuntime[] = {
    {"td_rt_barrier", address_of(td_rt_barrier)},
    {"td_rt_barrier_reduce", address_of(td_rt_barrier_reduce)},
    {"td_rt_trap", address_of(td_rt_trap)},
    {"td_rt_assert_fail", address_of(td_rt_assert_fail)},
    {"td_rt_printf", address_of(td_rt_printf)},
    {"td_rt_malloc", address_of(td_rt_malloc)},
    {"td_rt_free", address_of(td_rt_free)},
    {"td_rt_address_space", address_of(td_rt_address_space)},
    {"td_rt_atomic_wide", address_of(td_rt_atomic_wide)},
    {"td_rt_atomic_add_bf16", address_of(td_rt_atomic_add_bf16)},
    {"td_rt_texture", address_of(td_rt_texture)},
    {"td_rt_surface_read", address_of(td_rt_surface_read)},
    {"td_rt_surface_write", address_of(td_rt_surface_write)},
    {"td_rt_mma", address_of(td_rt_mma)},
    {"clock_gettime", address_of(clock_gettime)},
    {"td_rt_yield", address_of(td_rt_yield)},
    {"td_rt_fair_barrier", address_of(td_rt_fair_barrier)},
    {"td_rt_warp_op", address_of(td_rt_warp_op)},
    {"td_rt_grid_barrier", address_of(td_rt_grid_barrier)},
    {"td_rt_stack_overflow", address_of(td_rt_stack_overflow)},
    {"memcpy", address_of(td_rt_memcpy)},
    {"memmove", address_of(td_rt_memmove)},
    {"memset", address_of(td_rt_memset)},
    {"memcmp", address_of(td_rt_memcmp)},
};

// A library opened on first need and kept.
class Library {
 public:
  Library(const char* file, const char* package) : file_(file), package_(package) {}

  void* find(const std::string& name, std::string* problem) {
    std::lock_guard lock(mutex_);
    if (!handle_) {
      handle_ = dlopen(file_, RTLD_NOW | RTLD_LOCAL);
      if (!handle_) {
        *problem = base::cat("the kernel needs ", name, " of ", file_, ", which cannot be opened (",
                             dlerror(), "): install the package ", package_);
        return nullptr;
      }
    }
    // Only functions of the library itself: dlsym also searches what it depends on.
    void* address = dlsym(handle_, name.c_str());
    Dl_info info{};
    if (address && dladdr(address, &info) && info.dli_fname &&
        std::string_view(info.dli_fname).find(stem()) != std::string_view::npos)
      return address;
    *problem = base::cat("the kernel needs ", name, ", which ", file_, " does not have");
    return nullptr;
  }

 private:
  std::string_view stem() const {
    std::string_view file = file_;
    return file.substr(0, file.find(".so"));
  }
  const char* file_;
  const char* package_;
  std::mutex mutex_;
  void* handle_ = nullptr;
};

}  // namespace

void* find_extern(const std::string& name, std::string* problem) {
  for (const Row& row : kRuntime)
    if (row.name == name) return row.address;
  static Library& sleef = *new Library("libsleef.so.3", "libsleef3");
  static Library& libm = *new Library("libm.so.6", "libc6");
  return name.rfind("Sleef_", 0) == 0 ? sleef.find(name, problem) : libm.find(name, problem);
}

}  // namespace td::softdev
