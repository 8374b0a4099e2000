// Occupancy of kernels on the multiprocessor that the software device stands for, by the calculator
// of base/occupancy.h. Registers do not limit it here: there are none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/occupancy.h"
#include "softdev/run/module.h"

namespace td::softdev {

// Of compute capability 9.0.
const Multiprocessor& modelled_multiprocessor();

KernelNeeds needs_of(const CUfunc_st& function);

// 0 when a block does not fit at all.
std::uint32_t blocks_per_multiprocessor(const CUfunc_st& function, std::uint32_t block_threads,
                                        std::size_t dynamic_shared);

// Dynamic shared memory that each of `blocks` blocks may use when they share a multiprocessor.
std::size_t shared_for_blocks(const CUfunc_st& function, std::uint32_t block_threads,
                              std::uint32_t blocks);

// The threads that a block may have: __launch_bounds__ and the device's limit.
std::uint32_t max_block_threads(const CUfunc_st& function);

}  // namespace td::softdev
