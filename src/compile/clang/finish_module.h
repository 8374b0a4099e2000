// From the module as Clang leaves it to the image: semantics of CUDA that C++ leaves open, and
// refusal of what no later stage can run, at the user's line.
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "llvm/IR/Module.h"

namespace td::compile {

// Keeps kernels and device variables and drops functions that none of them reaches. Problems are
// reported to `diagnostics`; the module is then not usable.
// A relocatable module keeps its functions for others and may call theirs. Precompiled headers may
// be kept in `pch_folder`, "" = nowhere.
void finish_module(llvm::Module& module, clang::DiagnosticsEngine& diagnostics, bool relocatable,
                   const std::string& pch_folder);

// Keeps kernels and what they reach; with `all`, everything that is used at all.
void drop_unreachable_functions(llvm::Module& module, bool all = false);

// Is this declaration something that lowering or the runtime provides?
bool is_provided(llvm::StringRef name);

}  // namespace td::compile
