// Passes over the IR of one thread, before it becomes a warp.
#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <string>

#include "softdev/simt/functions.h"
#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {

using StepHook = std::function<void(const char* step, llvm::Module&)>;

// Kernels of the module: ptx_kernel calling convention or !nvvm.annotations "kernel".
std::vector<llvm::Function*> find_kernels(llvm::Module& module);
// maxntid of __launch_bounds__, 1024 when there is none.
unsigned max_threads(const llvm::Function& kernel);

// Gives operations that are undefined in LLVM their CUDA meaning (semantics.cpp): shifts by more
// than the width, division by zero and overflow, float to integer out of range. Must run before any
// optimisation.
void define_semantics(llvm::Module& module);

// Inlines into the kernels all functions but those that must be kept (functions.h), and brings the
// code into the form that the warp passes expect: afterwards every kernel has no calls except to
// intrinsics, known externals and kept functions, no constant expressions, no vectors, one return,
// only `br` and `ret` as terminators, reducible loops in simplified and loop-closed form. Refused
// kernels are left empty.
KeptFunctions prepare_threads(llvm::Module& module, const StepHook& hook, NoteRefused refused);

}  // namespace td::softdev::simt
