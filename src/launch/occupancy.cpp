#include "treadle/occupancy.h"

#include <algorithm>

#include "driver/state.h"
#include "treadle/device.h"
#include "treadle/kernel.h"

namespace td {

namespace {

// The row of the compute capability, else the newest that is older, else the oldest.
Multiprocessor nearest(int major, int minor) {
  Multiprocessor found = multiprocessors().front();
  for (const Multiprocessor& row : multiprocessors())
    if (row.major * 100 + row.minor <= major * 100 + minor) found = row;
  found.major = major;
  found.minor = minor;
  return found;
}

}  // namespace

Multiprocessor multiprocessor(const Device& device) {
  auto [major, minor] = device.compute_capability();
  Multiprocessor out = nearest(major, minor);
  auto bytes = [&](int number) { return static_cast<std::size_t>(device.attribute(number)); };
  int barriers_per_block = out.barriers / out.blocks;
  out.threads = device.attribute(cuda::MAX_THREADS_PER_MULTIPROCESSOR);
  out.blocks = device.attribute(cuda::MAX_BLOCKS_PER_MULTIPROCESSOR);
  out.barriers = barriers_per_block * out.blocks;
  out.block_threads = device.attribute(cuda::MAX_THREADS_PER_BLOCK);
  out.registers = device.attribute(cuda::MAX_REGISTERS_PER_MULTIPROCESSOR);
  out.block_registers = device.attribute(cuda::MAX_REGISTERS_PER_BLOCK);
  out.shared = bytes(cuda::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  out.plain_shared = bytes(cuda::MAX_SHARED_MEMORY_PER_BLOCK);
  out.block_shared = bytes(cuda::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  out.reserved_shared = bytes(cuda::RESERVED_SHARED_MEMORY_PER_BLOCK);
  return out;
}

KernelNeeds kernel_needs(const Kernel& kernel) {
  KernelNeeds needs;
  needs.registers = kernel.attribute(cuda::FUNC_NUM_REGS);
  needs.shared = static_cast<std::size_t>(kernel.attribute(cuda::FUNC_SHARED_SIZE_BYTES));
  needs.max_threads = kernel.attribute(cuda::FUNC_MAX_THREADS_PER_BLOCK);
  needs.carve_out = kernel.attribute(cuda::FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return needs;
}

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

std::size_t available_shared(const Kernel& kernel, int blocks, int threads) {
  auto* function = static_cast<CUfunction>(kernel.handle());
  const auto& device = driver::current_device();
  device->make_current();
  std::size_t bytes = 0;
  TD_CALL(*device, cuOccupancyAvailableDynamicSMemPerBlock, &bytes, function, blocks, threads);
  return bytes;
}

}  // namespace td
