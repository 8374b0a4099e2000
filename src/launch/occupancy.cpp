#include "treadle/occupancy.h"

#include "driver/state.h"

namespace td {

int active_blocks(const Kernel& kernel, int threads, std::size_t shared) {
  auto* function = static_cast<CUfunction>(kernel.handle());
  const auto& device = driver::current_device();
  device->make_current();
  int blocks = 0;
  TD_CALL(*device, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function, threads, shared);
  return blocks;
}

BestBlock best_block(const Kernel& kernel, std::size_t shared) {
  auto* function = static_cast<CUfunction>(kernel.handle());
  const auto& device = driver::current_device();
  device->make_current();
  BestBlock best{};
  TD_CALL(*device, cuOccupancyMaxPotentialBlockSize, &best.min_grid, &best.threads, function,
          nullptr, shared, 0);
  return best;
}

}  // namespace td
