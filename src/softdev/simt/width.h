// How many lanes a kernel's vectors have.
#pragma once

#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

bool uses_thread_y(const llvm::Function& kernel);
// For a kernel whose threads may be grouped at will. 1: scalar code, thread after thread.
unsigned choose_width(const KernelContext& kernel);

}  // namespace td::softdev::simt
