// How many blocks of a kernel a multiprocessor holds, and which block size fills it best.
#pragma once

#include <cstddef>

#include "treadle/kernel.h"

namespace [[gnu::visibility("default")]] td {

// Blocks of `threads` threads and `shared` bytes of dynamic shared memory that one multiprocessor
// of the current device holds at once.
int active_blocks(const Kernel& kernel, int threads, std::size_t shared);

struct BestBlock {
  int threads;   // of a block with the highest occupancy
  int min_grid;  // the fewest blocks that fill the device
};
BestBlock best_block(const Kernel& kernel, std::size_t shared);

}  // namespace td
