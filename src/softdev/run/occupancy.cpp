#include "softdev/run/occupancy.h"

#include <algorithm>

#include "softdev/run/executor.h"

namespace td::softdev {

namespace {

constexpr std::size_t kSharedGranularity = 128;

}  // namespace

std::uint32_t max_block_threads(const CUfunc_st& function) {
  return std::min(function.info.max_threads, kMaxThreads);
}

std::uint32_t blocks_per_multiprocessor(const CUfunc_st& function, std::uint32_t block_threads,
                                        std::size_t dynamic_shared) {
  if (block_threads == 0 || block_threads > max_block_threads(function)) return 0;
  if (dynamic_shared > kMaxSharedOptIn - function.info.static_shared) return 0;
  std::uint32_t warps = (block_threads + kWarpSize - 1) / kWarpSize;
  std::uint32_t by_warps = kThreadsPerMultiprocessor / kWarpSize / warps;
  std::size_t shared = function.info.static_shared + dynamic_shared + kReservedShared;
  shared = (shared + kSharedGranularity - 1) / kSharedGranularity * kSharedGranularity;
  auto by_shared = static_cast<std::uint32_t>(kSharedPerMultiprocessor / shared);
  return std::min({kBlocksPerMultiprocessor, by_warps, by_shared});
}

std::size_t shared_for_blocks(const CUfunc_st& function, std::uint32_t blocks) {
  std::size_t each = kSharedPerMultiprocessor / blocks / kSharedGranularity * kSharedGranularity;
  // What the system keeps of every block's memory is not taken off here (measured on an H200).
  std::size_t taken = function.info.static_shared;
  std::size_t most = function.max_dynamic_shared;
  return each > taken ? std::min(each - taken, most) : 0;
}

}  // namespace td::softdev
