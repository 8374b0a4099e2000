// Primary contexts and the current context.
#include "softdev/run/context.h"

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/print.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

bool is_context(CUcontext context) {
  for (int device = 0; device < device_count(); ++device)
    if (context == &context_of(device)) return true;
  return false;
}

CUresult for_device(CUdevice device, const auto& body) {
  return guarded_call([&]() -> CUresult {
    return valid_device(device) ? body(context_of(device)) : CUDA_ERROR_INVALID_DEVICE;
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return for_device(device, [&](Context& primary) -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(primary.mutex);
    ++primary.references;
    primary.active = true;
    *context = &primary;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return for_device(device, [&](Context& primary) -> CUresult {
    {
      std::lock_guard lock(primary.mutex);
      if (primary.references == 0) return CUDA_ERROR_INVALID_CONTEXT;
      if (--primary.references > 0) return CUDA_SUCCESS;
      primary.active = false;
    }
    primary.reset();
    return CUDA_SUCCESS;
  });
}

// As on a GPU, the context is unusable until it is retained again; earlier retains still want their
// releases.
CUresult td_soft_cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return for_device(device, [&](Context& primary) -> CUresult {
    {
      std::lock_guard lock(primary.mutex);
      primary.active = false;
    }
    primary.reset();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return for_device(device, [&](Context& primary) -> CUresult {
    if (flags) *flags = 0;
    if (active) *active = primary.active.load();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxPushCurrent_v2(CUcontext context) {
  return guarded_call([&]() -> CUresult {
    if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxPopCurrent_v2(CUcontext* context) {
  return guarded_call([&]() -> CUresult {
    auto& stack = context_stack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxSetCurrent(CUcontext context) {
  return guarded_call([&]() -> CUresult {
    if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    auto& stack = context_stack();
    if (!stack.empty()) stack.pop_back();
    if (context) stack.push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetCurrent(CUcontext* context) {
  return guarded_call([&]() -> CUresult {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetDevice(CUdevice* device) {
  return guarded_call([&]() -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    Context* context = current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxSynchronize() {
  return in_context([](Context& context) { return context.synchronize(); });
}

// Stacks are sized by the compiler; what is set for them is only remembered.
CUresult td_soft_cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return in_context([&](Context& context) -> CUresult {
    switch (limit) {
      case LIMIT_STACK_SIZE:
        context.stack_limit = value;
        return CUDA_SUCCESS;
      case LIMIT_PRINTF_FIFO_SIZE:
        context.prints().set_capacity(value);
        return CUDA_SUCCESS;
      case LIMIT_MALLOC_HEAP_SIZE:
        // As on a GPU: not after a kernel has used the heap.
        if (context.heap.in_use()) return CUDA_ERROR_INVALID_VALUE;
        context.heap_limit = value;
        return CUDA_SUCCESS;
      default:
        return limit >= 0 && limit <= 7 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult td_soft_cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return in_context([&](Context& context) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    switch (limit) {
      case LIMIT_STACK_SIZE:
        *value = context.stack_limit;
        return CUDA_SUCCESS;
      case LIMIT_PRINTF_FIFO_SIZE:
        *value = context.prints().capacity();
        return CUDA_SUCCESS;
      case LIMIT_MALLOC_HEAP_SIZE:
        *value = context.heap_limit;
        return CUDA_SUCCESS;
      default:
        return limit >= 0 && limit <= 7 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult td_soft_cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](Context&) -> CUresult {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
