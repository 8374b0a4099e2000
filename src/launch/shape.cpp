#include "launch/shape.h"

#include "base/text.h"
#include "treadle/launch_error.h"

namespace td::launch {

namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw LaunchLimitError(problem + " (CUDA_ERROR_INVALID_VALUE)");
}

constexpr char kAxis[] = {'x', 'y', 'z'};

void check_not_empty(const char* what, const Dim3& size, const std::string& where) {
  const std::uint32_t sizes[] = {size.x, size.y, size.z};
  for (int axis = 0; axis < 3; ++axis)
    if (sizes[axis] == 0)
      refuse(base::cat(where, what, " dimension ", kAxis[axis],
                       " is 0: nothing would run; skip the launch for empty input"));
}

void check_dimensions(const char* what, const Dim3& size, const std::uint32_t (&limits)[3],
                      const std::string& where) {
  const std::uint32_t sizes[] = {size.x, size.y, size.z};
  for (int axis = 0; axis < 3; ++axis)
    if (sizes[axis] > limits[axis])
      refuse(base::cat(where, what, " dimension ", kAxis[axis], " is ", sizes[axis], ", ",
                       sizes[axis] - limits[axis], " more than this device's limit of ",
                       limits[axis], " (MAX_", what[0] == 'g' ? "GRID" : "BLOCK", "_DIM_",
                       static_cast<char>(kAxis[axis] - 'x' + 'X'), "); use a smaller ", what,
                       what[0] == 'g' ? " and let each thread do more" : " and a larger grid"));
}

void check_threads(const Limits& limits, const Dim3& block, const std::string& where) {
  std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > limits.threads)
    refuse(base::cat(where, "block has ", threads, " threads, ", threads - limits.threads,
                     " more than this device's limit of ", limits.threads,
                     " (MAX_THREADS_PER_BLOCK); use a smaller block and a larger grid"));
  if (threads > limits.kernel_threads)
    refuse(base::cat(where, "block has ", threads, " threads, ", threads - limits.kernel_threads,
                     " more than this kernel's limit of ", limits.kernel_threads,
                     " (its registers or __launch_bounds__); use a smaller block"));
}

}  // namespace

void grant_shared(DeviceKernel& kernel, const std::string& where, std::size_t bytes) {
  const Limits& limits = kernel.limits;
  if (bytes > limits.shared_most)
    refuse(base::cat(where, "block asks for ", bytes, " bytes of dynamic shared memory, ",
                     bytes - limits.shared_most, " more than the ", limits.shared_most,
                     " that this device leaves beside ", limits.shared_static,
                     " static bytes (MAX_SHARED_MEMORY_PER_BLOCK_OPTIN); use smaller tiles"));
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  kernel.device->make_current();
  // Never lowered: another handle of the same kernel may rely on what it was granted.
  int granted = 0;
  TD_CALL(*kernel.device, cuFuncGetAttribute, &granted, cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          kernel.function);
  int wanted = std::max(granted, static_cast<int>(bytes));
  TD_CALL(*kernel.device, cuFuncSetAttribute, kernel.function,
          cuda::FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, wanted);
  kernel.shared_granted = std::max(static_cast<std::size_t>(wanted), limits.shared);
}

void check_shape(DeviceKernel& kernel, const std::string& where, const LaunchConfig& config) {
  check_not_empty("grid", config.grid, where);
  check_not_empty("block", config.block, where);
  check_threads(kernel.limits, config.block, where);
  check_dimensions("grid", config.grid, kernel.limits.grid, where);
  check_dimensions("block", config.block, kernel.limits.block, where);
  if (config.shared > kernel.shared_granted) grant_shared(kernel, where, config.shared);
}

}  // namespace td::launch
