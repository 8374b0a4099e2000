// From a prepared kernel to host functions: the warp function and the block function of
// kernel_abi.h.
#pragma once

#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

struct KernelFunctions {
  std::string warp_symbol, block_symbol, range_symbol;
  unsigned width = 32;
  bool phased = false;              // barriers are phases of the block function (phases.h)
  std::uint64_t warps_at_most = 0;  // of a block, when phased
};

// What the kernel needs of its surroundings, found in its instructions.
void inspect_kernel(KernelContext& kernel);

// `width` 0 lets the kernel choose. Adds the functions to kernel.host; when that fails, they are
// taken out again. `stackful`: barriers switch stacks. Throws Unsupported.
KernelFunctions build_kernel(KernelContext& kernel, unsigned width, bool stackful);

}  // namespace td::softdev::simt
