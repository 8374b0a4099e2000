// What a thread has besides its registers and memory: the carry flag, and its end.
#pragma once

#include <llvm/IR/Module.h>

#include "softdev/simt/functions.h"

namespace td::softdev::simt {

// Behind inlining. The carry flag (td_ptx.h: a variable of the module) becomes a local variable of
// every function, as nobody keeps it across calls; llvm.nvvm.exit becomes a return from the kernel.
void place_thread_state(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels);

}  // namespace td::softdev::simt
