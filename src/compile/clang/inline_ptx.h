// asm statements of device code become calls of functions that were compiled from their translation
// into CUDA C++ (compile/ptx).
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "llvm/IR/Module.h"

namespace td::compile {

// Afterwards the module has no inline assembly but empty statements, which are compiler barriers.
// Problems are reported to `diagnostics` at the user's lines; the module is then not usable.
// Precompiled headers may be kept in `pch_folder`, "" = nowhere.
void replace_inline_ptx(llvm::Module& module, clang::DiagnosticsEngine& diagnostics,
                        const std::string& pch_folder);

}  // namespace td::compile
