// Limits and preferences of a context. The software device sizes stacks by the compiler and takes
// heap memory from the system: apart from the printf buffer, what is set is checked and remembered.
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/print.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

constexpr std::size_t kMaxStack = 512 * 1024;  // of a thread, on compute capability 9.0

CUresult check_limit(CUlimit limit, std::size_t value) {
  switch (limit) {
    case LIMIT_STACK_SIZE:
      return value <= kMaxStack ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case LIMIT_PRINTF_FIFO_SIZE:
    case LIMIT_MALLOC_HEAP_SIZE:
    case LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case LIMIT_PERSISTING_L2_CACHE_SIZE:
      return CUDA_SUCCESS;
    case LIMIT_MAX_L2_FETCH_GRANULARITY:
      return value <= 128 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case LIMIT_SHMEM_SIZE:
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

std::atomic<std::size_t>& remembered(Context& context, CUlimit limit) {
  return limit == LIMIT_STACK_SIZE         ? context.stack_limit
         : limit == LIMIT_MALLOC_HEAP_SIZE ? context.heap_limit
                                           : context.other_limits[limit];
}

}  // namespace

extern "C" {

CUresult td_soft_cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return in_context([&](Context& context) -> CUresult {
    if (CUresult refused = check_limit(limit, value)) return refused;
    // As on a GPU: not after a kernel has used the heap.
    if (limit == LIMIT_MALLOC_HEAP_SIZE && context.heap.in_use()) return CUDA_ERROR_INVALID_VALUE;
    if (limit == LIMIT_PRINTF_FIFO_SIZE)
      context.prints().set_capacity(value);
    else
      remembered(context, limit) = value;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return in_context([&](Context& context) -> CUresult {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (CUresult refused = check_limit(limit, 0)) return refused;
    *value = limit == LIMIT_PRINTF_FIFO_SIZE ? context.prints().capacity()
                                             : remembered(context, limit).load();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetCacheConfig(int* config) {
  return in_context([&](Context& context) -> CUresult {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    *config = context.cache_config;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxSetCacheConfig(int config) {
  return in_context([&](Context& context) -> CUresult {
    if (config < 0 || config > 3) return CUDA_ERROR_INVALID_VALUE;
    context.cache_config = config;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxGetSharedMemConfig(int* config) {
  return in_context([&](Context&) -> CUresult {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    *config = 1;  // banks of four bytes, as all devices since compute capability 5.0
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuCtxSetSharedMemConfig(int config) {
  return in_context([&](Context&) -> CUresult {
    return config >= 0 && config <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuCtxResetPersistingL2Cache() {
  return in_context([](Context&) -> CUresult { return CUDA_SUCCESS; });
}

}  // extern "C"
