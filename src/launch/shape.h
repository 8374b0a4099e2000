// The shape of a launch against the limits of the device and of the kernel.
#pragma once

#include <string>

#include "launch/state.h"

namespace td::launch {

// True when every number is inside its limit; the one test of the hot path.
inline bool shape_fits(const Limits& limits, const LaunchConfig& config,
                       std::size_t shared_granted) {
  const Dim3 &grid = config.grid, &block = config.block;
  // A dimension of 0 wraps around and is over any limit.
  return grid.x - 1 < limits.grid[0] && grid.y - 1 < limits.grid[1] &&
         grid.z - 1 < limits.grid[2] && block.x - 1 < limits.block[0] &&
         block.y - 1 < limits.block[1] && block.z - 1 < limits.block[2] &&
         std::uint64_t{block.x} * block.y * block.z <=
             std::min(limits.threads, limits.kernel_threads) &&
         config.shared <= shared_granted;
}

// Throws ValueError that says which limit was exceeded, its value and by how much. Returns when
// only the dynamic shared memory was over what is granted without asking: then asks the driver for
// it.
void check_shape(DeviceKernel& kernel, const std::string& where, const LaunchConfig& config);

// Asks the driver for this much dynamic shared memory per block.
void grant_shared(DeviceKernel& kernel, const std::string& where, std::size_t bytes);

}  // namespace td::launch
