// Modules, kernels and launches.
#include "softdev/run/module.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

// The two log buffers of cuModuleLoadDataEx. Sizes come in by value and go out as what was written.
struct JitLog {
  char* buffer = nullptr;
  void** size = nullptr;

  void write(const std::string& text) const {
    if (!size) return;
    auto room = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*size) & 0xffffffffu);
    std::size_t length = 0;
    if (buffer && room > 0) {
      length = std::min(text.size(), room - 1);
      std::memcpy(buffer, text.data(), length);
      buffer[length] = 0;
    }
    *size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(length));
  }
};

struct JitOptions {
  JitLog info, error;

  JitOptions(unsigned count, const CUjit_option* options, void** values) {
    for (unsigned i = 0; options && values && i < count; ++i) {
      switch (options[i]) {
        case JIT_INFO_LOG_BUFFER:
          info.buffer = static_cast<char*>(values[i]);
          break;
        case JIT_INFO_LOG_BUFFER_SIZE_BYTES:
          info.size = &values[i];
          break;
        case JIT_ERROR_LOG_BUFFER:
          error.buffer = static_cast<char*>(values[i]);
          break;
        case JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
          error.size = &values[i];
          break;
        default:
          break;  // hints to a compiler that is not ours
      }
    }
  }
};

template <class Body>
CUresult in_module(CUmodule module, const Body& body) {
  return in_context([&](Context& context) -> CUresult {
    return is_live(module, context) ? body() : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

template <class Body>
CUresult in_function(CUfunction function, const Body& body) {
  return in_context([&](Context& context) -> CUresult {
    return is_live(function, context) ? body(context)
                                      : static_cast<CUresult>(CUDA_ERROR_INVALID_HANDLE);
  });
}

// Finds the packed parameters that `extra` names: null unless both buffer and a sufficient size are
// there.
const unsigned char* packed_params(void** extra, std::uint32_t needed) {
  const unsigned char* buffer = nullptr;
  std::size_t size = 0;
  for (; extra && *extra != LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = static_cast<const unsigned char*>(extra[1]);
    } else if (extra[0] == LAUNCH_PARAM_BUFFER_SIZE) {
      size = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return nullptr;
    }
  }
  return size >= needed ? buffer : nullptr;
}

// The two ways to give parameters, as one packed buffer of CUDA's layout.
class Params {
 public:
  CUresult pack(const LoweredKernel& kernel, void** params, void** extra) {
    if (params && extra) return CUDA_ERROR_INVALID_VALUE;
    if (kernel.params.empty()) return CUDA_SUCCESS;
    if (extra) {
      packed_ = packed_params(extra, kernel.param_bytes);
      return packed_ ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    unsigned char* to = inline_;
    if (kernel.param_bytes > sizeof inline_) {
      large_.resize(kernel.param_bytes);
      to = large_.data();
    }
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
      std::memcpy(to + kernel.params[i].offset, params[i], kernel.params[i].size);
    }
    packed_ = to;
    return CUDA_SUCCESS;
  }
  const unsigned char* packed() const { return packed_; }

 private:
  const unsigned char* packed_ = nullptr;
  unsigned char inline_[512];
  std::vector<unsigned char> large_;
};

}  // namespace

extern "C" {

CUresult td_soft_cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                                    CUjit_option* options, void** values) {
  return in_context([&](Context& context) -> CUresult {
    if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
    JitOptions jit(count, options, values);
    std::string log;
    CUresult result = load_module(context, image, module, &log);
    jit.error.write(log);
    jit.info.write("");
    return result;
  });
}

CUresult td_soft_cuModuleUnload(CUmodule module) {
  return in_context([&](Context& context) -> CUresult {
    if (!is_live(module, context)) return CUDA_ERROR_INVALID_HANDLE;
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
    *function = find_function(module, name);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult td_soft_cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                      const char* name) {
  return in_module(module, [&]() -> CUresult {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    for (const LoweredGlobal& global : module->globals) {
      if (global.name != name) continue;
      if (address) *address = module->data + global.offset;
      if (bytes) *bytes = global.size;
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
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

CUresult td_soft_cuFuncGetName(const char** name, CUfunction function) {
  return in_function(function, [&](Context&) -> CUresult {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = function->info.name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                                    std::size_t* size) {
  return in_function(function, [&](Context&) -> CUresult {
    if (!offset || index >= function->info.params.size()) return CUDA_ERROR_INVALID_VALUE;
    *offset = function->info.params[index].offset;
    if (size) *size = function->info.params[index].size;
    return CUDA_SUCCESS;
  });
}

// There are no registers to count: NUM_REGS answers 0.
CUresult td_soft_cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                    CUfunction function) {
  return in_function(function, [&](Context&) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    const LoweredKernel& info = function->info;
    switch (attribute) {
      case FUNC_MAX_THREADS_PER_BLOCK:
        *value = static_cast<int>(std::min(info.max_threads, kMaxThreads));
        return CUDA_SUCCESS;
      case FUNC_SHARED_SIZE_BYTES:
        *value = static_cast<int>(info.static_shared);
        return CUDA_SUCCESS;
      case FUNC_CONST_SIZE_BYTES: {
        std::uint64_t bytes = 0;
        for (const LoweredGlobal& global : function->module->globals)
          if (global.constant) bytes += global.size;
        *value = static_cast<int>(bytes);
        return CUDA_SUCCESS;
      }
      case FUNC_LOCAL_SIZE_BYTES:
        *value = static_cast<int>(info.local_bytes);
        return CUDA_SUCCESS;
      case FUNC_NUM_REGS:
      case FUNC_CACHE_MODE_CA:
        *value = 0;
        return CUDA_SUCCESS;
      case FUNC_PTX_VERSION:
      case FUNC_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
      case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = static_cast<int>(function->max_dynamic_shared.load());
        return CUDA_SUCCESS;
      case FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = -1;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult td_soft_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                    int value) {
  return in_function(function, [&](Context&) -> CUresult {
    if (attribute == FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT)
      return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (attribute != FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
    std::uint32_t room = kMaxSharedOptIn - function->info.static_shared;
    if (value < 0 || static_cast<std::uint32_t>(value) > room) return CUDA_ERROR_INVALID_VALUE;
    function->max_dynamic_shared = static_cast<std::uint32_t>(value);
    return CUDA_SUCCESS;
  });
}

// A worker runs one block at a time.
CUresult td_soft_cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                             int block_size,
                                                             std::size_t dynamic_shared) {
  return in_function(function, [&](Context&) -> CUresult {
    if (!blocks || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    const LoweredKernel& info = function->info;
    bool fits = static_cast<std::uint32_t>(block_size) <= std::min(info.max_threads, kMaxThreads) &&
                dynamic_shared <= kMaxSharedOptIn - info.static_shared;
    *blocks = fits ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned dynamic_shared, CUstream stream,
                                void** params, void** extra) {
  return in_function(function, [&](Context& context) -> CUresult {
    CUstream in = context.resolve(stream);
    if (!in || in->context != &context) return CUDA_ERROR_INVALID_HANDLE;
    LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared};
    if (CUresult result = check_launch(*function, shape)) return result;
    Params packed;
    if (CUresult result = packed.pack(function->info, params, extra)) return result;
    launch(function, shape, in, packed.packed());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
