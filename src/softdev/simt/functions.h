// Device functions that stay functions: those that may recurse, and those whose address is taken
// (function pointers, virtual functions). All others are inlined into the kernels.
//
// A call through a pointer first asks for the few functions that it is likely to mean, by address:
// these calls are direct, are inlined, and run as vector code with the lanes grouped by target.
// What is left, a call of a function that may recurse, or of an unknown one, is made lane by lane
// to scalar code (scalar.h).
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace td::softdev::simt {

struct KeptFunctions {
  llvm::SmallSetVector<llvm::Function*, 8> recursive, address_taken;
  bool holds(llvm::Function* function) const {
    return recursive.contains(function) || address_taken.contains(function);
  }
};

KeptFunctions find_kept_functions(llvm::Module& module, llvm::ArrayRef<llvm::Function*> kernels);
void expand_indirect_calls(llvm::Module& module, const KeptFunctions& kept);
// A call of a device function that has a body, or through a pointer.
bool is_device_call(const llvm::CallBase& call);

}  // namespace td::softdev::simt
