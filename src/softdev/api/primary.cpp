// Primary contexts.
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

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

CUresult td_soft_cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return for_device(device, [&](Context& primary) -> CUresult {
    if (!valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    primary.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return for_device(device, [&](Context& primary) -> CUresult {
    if (flags) *flags = primary.flags;
    if (active) *active = primary.active.load();
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
