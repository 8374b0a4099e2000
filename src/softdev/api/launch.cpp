// Launches of kernels, in all their forms, and of host functions.
#include <cstring>
#include <vector>

#include "softdev/api/functions.h"
#include "softdev/api/guard.h"
#include "softdev/api/params.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/capture.h"
#include "softdev/run/occupancy.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

// All blocks of a cooperative launch must be resident at once.
CUresult check_cooperative(const CUfunc_st& function, const LaunchShape& shape) {
  std::uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  std::uint64_t fit = std::uint64_t{worker_count()} *
                      blocks_per_multiprocessor(function, threads, shape.dynamic_shared);
  std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  return blocks <= fit ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult launch_kernel(CUfunction handle, const LaunchShape& shape, CUstream stream_handle,
                       void** params, void** extra) {
  return in_function(handle, [&](Context& context, CUfunc_st& function) -> CUresult {
    CUstream stream = context.resolve(stream_handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->context != &context) return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult result = check_launch(function, shape)) return result;
    if (shape.cooperative)
      if (CUresult result = check_cooperative(function, shape)) return result;
    PackedParams packed;
    if (CUresult result = packed.pack(function.info, params, extra)) return result;
    if (is_captured(*stream)) {
      std::vector<unsigned char> copy;
      if (packed.data()) copy.assign(packed.data(), packed.data() + function.info.param_bytes);
      return submit(context, *stream, KernelWork{&function, shape, std::move(copy)});
    }
    if (CUresult result = refuse_implicit(context, *stream)) return result;
    launch(&function, shape, stream, packed.data());
    return CUDA_SUCCESS;
  });
}

// Attributes that change what a launch means; the others are hints, or ask for an order that this
// device always keeps.
CUresult apply(const CUlaunchAttribute& attribute, LaunchShape* shape) {
  const CUlaunchAttributeValue& value = attribute.value;
  switch (attribute.id) {
    case LAUNCH_COOPERATIVE:
      shape->cooperative = value.cooperative != 0;
      return CUDA_SUCCESS;
    case LAUNCH_CLUSTER_DIMENSION:
      return value.clusterDim.x * value.clusterDim.y * value.clusterDim.z == 1
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_CLUSTER_SIZE;
    case LAUNCH_PROGRAMMATIC_EVENT:
    case LAUNCH_COMPLETION_EVENT:
    case LAUNCH_DEVICE_UPDATABLE_KERNEL_NODE:
      return CUDA_ERROR_NOT_SUPPORTED;
    default:
      return attribute.id >= LAUNCH_IGNORE && attribute.id <= 16 ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

CUresult td_soft_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned dynamic_shared, CUstream stream,
                                void** params, void** extra) {
  LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared};
  return launch_kernel(function, shape, stream, params, extra);
}

CUresult td_soft_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                           unsigned grid_z, unsigned block_x, unsigned block_y,
                                           unsigned block_z, unsigned dynamic_shared,
                                           CUstream stream, void** params) {
  LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared, true};
  return launch_kernel(function, shape, stream, params, nullptr);
}

CUresult td_soft_cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                                  void** extra) {
  return guarded_call([&]() -> CUresult {
    if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ},
                      config->sharedMemBytes};
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (CUresult error = apply(config->attrs[i], &shape)) return error;
    return launch_kernel(function, shape, config->hStream, params, extra);
  });
}

// The way of old programs: PyCUDA sets the shape of the block before each launch, and gives it
// again with the launch. Only that is left of it in CUDA 13's own programs; the shape is checked.
CUresult td_soft_cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    LaunchShape shape{
        {1, 1, 1},
        {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)},
        0};
    return check_launch(function, shape);
  });
}

CUresult td_soft_cuFuncSetSharedSize(CUfunction handle, unsigned bytes) {
  return in_function(handle, [&](Context&, CUfunc_st& function) -> CUresult {
    return bytes <= function.max_dynamic_shared ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult td_soft_cuLaunchHostFunc(CUstream handle, CUhostFn function, void* user_data) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return submit(context, stream, HostWork{function, user_data});
  });
}

}  // extern "C"
