// Floating contexts, the calling thread's stack of contexts, and what is asked of a context.
#include "softdev/run/context.h"

#include <algorithm>

#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"
#include "softdev/run/pool.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

constexpr unsigned kApiVersion = 3020;

CUresult create(CUcontext* context, unsigned flags, CUdevice device) {
  return guarded_call([&]() -> CUresult {
    if (!context || !valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    Context& made = create_context(device);
    made.flags = flags;
    made.references = 1;
    context_stack().push_back(&made);
    *context = &made;
    return CUDA_SUCCESS;
  });
}

CUresult destroy(Context& context) {
  {
    std::lock_guard lock(context.mutex);
    if (!context.active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    context.active = false;
  }
  auto& stack = context_stack();
  if (!stack.empty() && stack.back() == &context) stack.pop_back();
  context.reset();
  return CUDA_SUCCESS;
}

// Runs body(context) for a context named by its handle; null is the current one.
CUresult of_context(CUcontext handle, const auto& body) {
  return guarded_call([&]() -> CUresult {
    Context* context = handle ? handle : current_context();
    if (!context || !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return body(*context);
  });
}

}  // namespace

extern "C" {

CUresult td_soft_cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult td_soft_cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int count, unsigned flags,
                                CUdevice device) {
  return count > 0 ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(context, flags, device);
}
CUresult td_soft_cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* params, unsigned flags,
                                CUdevice device) {
  if (params && params->numExecAffinityParams > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (params && params->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  return create(context, flags, device);
}

CUresult td_soft_cuCtxDestroy_v2(CUcontext context) {
  return guarded_call([&]() -> CUresult {
    if (!is_context(context) || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    return destroy(*context);
  });
}

// The usage count of old programs: attaching adds one use of the current context.
CUresult td_soft_cuCtxAttach(CUcontext* context, unsigned flags) {
  return in_context([&](Context& current) -> CUresult {
    if (!context || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(current.mutex);
    ++current.references;
    *context = &current;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxDetach(CUcontext context) {
  return in_context([&](Context& current) -> CUresult {
    if (context != &current || current.primary) return CUDA_ERROR_INVALID_CONTEXT;
    {
      std::lock_guard lock(current.mutex);
      if (--current.references > 0) return CUDA_SUCCESS;
    }
    return destroy(current);
  });
}

CUresult td_soft_cuCtxPushCurrent_v2(CUcontext context) {
  return guarded_call([&]() -> CUresult {
    if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->primary && !context->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
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
    auto& stack = context_stack();
    if (context && !stack.empty() && stack.back() == context) return CUDA_SUCCESS;
    if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (context && !context->primary && !context->active) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
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

CUresult td_soft_cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return of_context(handle, [&](Context& context) -> CUresult {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = context.device;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetFlags(unsigned* flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxSetFlags(unsigned flags) {
  return in_context([&](Context& context) -> CUresult {
    if (!valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return of_context(handle, [&](Context& context) -> CUresult {
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = context.id;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return of_context(handle, [&](Context&) -> CUresult {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = kApiVersion;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxSynchronize() {
  return in_context([](Context& context) -> CUresult {
    if (CUresult error = refuse_unsafe()) return error;
    CUresult result = context.synchronize();
    release_unused_memory(context.device);
    return result;
  });
}

CUresult td_soft_cuCtxSynchronize_v2(CUcontext handle) {
  return of_context(handle, [](Context& context) -> CUresult {
    if (CUresult error = context.error) return error;
    return context.synchronize();
  });
}

CUresult td_soft_cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](Context&) -> CUresult {
    if (least) *least = 0;
    if (greatest) *greatest = kGreatestPriority;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
