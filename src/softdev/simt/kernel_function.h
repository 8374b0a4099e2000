// From a prepared kernel to host functions: the warp function and the block function of kernel_abi.h.
#pragma once

#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

struct KernelFunctions {
  std::string warp_symbol, block_symbol, range_symbol;
  unsigned width = 32;
};

// What the kernel needs of its surroundings, found in its instructions.
void inspect_kernel(KernelContext& kernel);

// `width` 0 lets the kernel choose. Adds the functions to kernel.host.
KernelFunctions build_kernel(KernelContext& kernel, unsigned width);

}  // namespace td::softdev::simt
