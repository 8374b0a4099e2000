// Kernels: names, parameters, attributes, occupancy.
#include <algorithm>

#include "softdev/api/functions.h"
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/occupancy.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

int constant_bytes(const CUmod_st& module) {
  std::uint64_t bytes = 0;
  for (const LoweredGlobal& global : module.globals)
    if (global.constant) bytes += global.size;
  return static_cast<int>(bytes);
}

CUresult best_block(const CUfunc_st& function, CUoccupancyB2DSize shared_of, std::size_t shared,
                    int limit, int* min_grid, int* block_size) {
  struct Context {
    CUoccupancyB2DSize shared_of;
    std::size_t shared;
  } context{shared_of, shared};
  auto ask = [](void* given, int threads) {
    auto* from = static_cast<Context*>(given);
    return from->shared_of ? from->shared_of(threads) : from->shared;
  };
  // The driver leaves the preferred share of shared memory aside here (measured on an H200).
  td::KernelNeeds needs = needs_of(function);
  needs.carve_out = -1;
  td::BestBlock best =
      td::best_block(modelled_multiprocessor(), needs, static_cast<int>(worker_count()),
                     limit > 0 ? limit : static_cast<int>(kMaxThreads), ask, &context);
  if (best.threads == 0) return CUDA_ERROR_INVALID_VALUE;
  *block_size = best.threads;
  *min_grid = best.min_grid;
  return CUDA_SUCCESS;
}

CUresult active_blocks(int* blocks, CUfunction handle, int block_size, std::size_t shared,
                       unsigned flags) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    if (!blocks || block_size <= 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    auto threads = static_cast<std::uint32_t>(block_size);
    bool allowed = shared <= function.max_dynamic_shared;
    *blocks = allowed ? static_cast<int>(blocks_per_multiprocessor(function, threads, shared)) : 0;
    return CUDA_SUCCESS;
  });
}

CUresult potential_block(int* min_grid, int* block_size, CUfunction handle,
                         CUoccupancyB2DSize shared_of, std::size_t shared, int limit,
                         unsigned flags) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    if (!min_grid || !block_size || limit < 0 || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    return best_block(function, shared_of, shared, limit, min_grid, block_size);
  });
}

}  // namespace

namespace td::softdev {

// There are no registers to count: NUM_REGS answers 0.
CUresult function_attribute(const CUfunc_st& function, int attribute, int* value) {
  const LoweredKernel& info = function.info;
  auto give = [&](std::int64_t answer) {
    *value = static_cast<int>(answer);
    return CUDA_SUCCESS;
  };
  switch (attribute) {
    case FUNC_MAX_THREADS_PER_BLOCK:
      return give(max_block_threads(function));
    case FUNC_SHARED_SIZE_BYTES:
      return give(info.static_shared);
    case FUNC_CONST_SIZE_BYTES:
      return give(constant_bytes(*function.module));
    case FUNC_LOCAL_SIZE_BYTES:
      return give(info.local_bytes);
    case FUNC_PTX_VERSION:
    case FUNC_BINARY_VERSION:
      return give(90);
    case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return give(function.max_dynamic_shared);
    case FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return give(function.carveout);
    default:  // registers, cache mode, what clusters need
      return attribute >= 0 && attribute <= FUNC_CLUSTER_SCHEDULING_POLICY
                 ? give(0)
                 : CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set_function_attribute(CUfunc_st& function, int attribute, int value) {
  switch (attribute) {
    case FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      function.carveout = value;
      return CUDA_SUCCESS;
    case FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      std::uint32_t room = kMaxSharedOptIn - function.info.static_shared;
      if (value < 0 || static_cast<std::uint32_t>(value) > room) return CUDA_ERROR_INVALID_VALUE;
      function.max_dynamic_shared = static_cast<std::uint32_t>(value);
      return CUDA_SUCCESS;
    }
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult function_param(const CUfunc_st& function, std::size_t index, std::size_t* offset,
                        std::size_t* size) {
  if (!offset || index >= function.info.params.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = function.info.params[index].offset;
  if (size) *size = function.info.params[index].size;
  return CUDA_SUCCESS;
}

}  // namespace td::softdev

extern "C" {

CUresult td_soft_cuFuncGetName(const char** name, CUfunction handle) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = function.info.name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    *module = function.module;
    return CUDA_SUCCESS;
  });
}

CUresult td_soft_cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset,
                                    std::size_t* size) {
  return in_function(handle, [&](Context&, CUfunc_st& function) {
    return function_param(function, index, offset, size);
  });
}

CUresult td_soft_cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    return value ? function_attribute(function, attribute, value) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return in_function(handle, [&](Context&, CUfunc_st& function) {
    return set_function_attribute(function, attribute, value);
  });
}

CUresult td_soft_cuFuncSetCacheConfig(CUfunction handle, int config) {
  return in_function(handle, [&](Context&, CUfunc_st&) -> CUresult {
    return config >= 0 && config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuFuncSetSharedMemConfig(CUfunction handle, int config) {
  return in_function(handle, [&](Context&, CUfunc_st&) -> CUresult {
    return config >= 0 && config <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// Functions are loaded with their modules.
CUresult td_soft_cuFuncIsLoaded(int* state, CUfunction handle) {
  return in_function(handle, [&](Context&, CUfunc_st&) -> CUresult {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = 1;
    return CUDA_SUCCESS;
  });
}
CUresult td_soft_cuFuncLoad(CUfunction handle) {
  return in_function(handle, [](Context&, CUfunc_st&) -> CUresult { return CUDA_SUCCESS; });
}

CUresult td_soft_cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                             int block_size, std::size_t shared) {
  return active_blocks(blocks, function, block_size, shared, 0);
}
CUresult td_soft_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, CUfunction function, int block_size, std::size_t shared, unsigned flags) {
  return active_blocks(blocks, function, block_size, shared, flags);
}
CUresult td_soft_cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block_size,
                                                  CUfunction function, CUoccupancyB2DSize shared_of,
                                                  std::size_t shared, int limit) {
  return potential_block(min_grid, block_size, function, shared_of, shared, limit, 0);
}
CUresult td_soft_cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block_size,
                                                           CUfunction function,
                                                           CUoccupancyB2DSize shared_of,
                                                           std::size_t shared, int limit,
                                                           unsigned flags) {
  return potential_block(min_grid, block_size, function, shared_of, shared, limit, flags);
}

CUresult td_soft_cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* shared, CUfunction handle,
                                                         int blocks, int block_size) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    if (!shared || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint32_t fit =
        blocks_per_multiprocessor(function, static_cast<std::uint32_t>(block_size), 0);
    if (static_cast<std::uint32_t>(blocks) > fit) return CUDA_ERROR_INVALID_VALUE;
    *shared = shared_for_blocks(function, static_cast<std::uint32_t>(block_size),
                                static_cast<std::uint32_t>(blocks));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
