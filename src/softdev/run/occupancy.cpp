#include "softdev/run/occupancy.h"

#include <algorithm>

#include "softdev/run/executor.h"

namespace td::softdev {

const Multiprocessor& modelled_multiprocessor() {
  static const Multiprocessor& row = multiprocessor(9, 0);
  return row;
}

std::uint32_t max_block_threads(const CUfunc_st& function) {
  return std::min(function.info.max_threads, kMaxThreads);
}

KernelNeeds needs_of(const CUfunc_st& function) {
  KernelNeeds needs;
  needs.shared = function.info.static_shared;
  needs.max_threads = static_cast<int>(max_block_threads(function));
  needs.carve_out = function.carveout.load(std::memory_order_relaxed);
  return needs;
}

std::uint32_t blocks_per_multiprocessor(const CUfunc_st& function, std::uint32_t block_threads,
                                        std::size_t dynamic_shared) {
  if (block_threads == 0 || block_threads > kMaxThreads) return 0;
  // The driver's answer knows nothing of launch bounds (measured on an H200).
  KernelNeeds needs = needs_of(function);
  needs.max_threads = static_cast<int>(kMaxThreads);
  return static_cast<std::uint32_t>(
      occupancy(modelled_multiprocessor(), needs, static_cast<int>(block_threads), dynamic_shared)
          .blocks);
}

std::size_t shared_for_blocks(const CUfunc_st& function, std::uint32_t block_threads,
                              std::uint32_t blocks) {
  // What the system keeps of every block's memory is not taken off here (measured on an H200).
  Multiprocessor kept_out = modelled_multiprocessor();
  kept_out.reserved_shared = 0;
  std::ptrdiff_t fits = shared_that_fits(kept_out, needs_of(function),
                                         static_cast<int>(block_threads), static_cast<int>(blocks));
  std::size_t most = function.max_dynamic_shared;
  return std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(fits, 0)), most);
}

}  // namespace td::softdev
