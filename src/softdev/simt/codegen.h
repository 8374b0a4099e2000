// Host side: the target, passes over warp code, and the object file.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <map>
#include <memory>
#include <string>

#include "softdev/simt/thread_passes.h"

namespace td::softdev::simt {

// x86-64, position independent, small code model. `cpu` "" is this machine with its features.
// Throws Unsupported.
std::unique_ptr<llvm::TargetMachine> host_target(const std::string& cpu, int optimize);
bool has_avx512(const llvm::TargetMachine& target);
bool has_avx2(const llvm::TargetMachine& target);

// Attributes of every function of the module.
void set_host_attributes(llvm::Module& host, const llvm::TargetMachine& target);
// Also splits functions into phases; returns the bytes that these keep for each warp, by function:
// what lives across barriers, and local arrays.
std::map<std::string, std::uint64_t> optimize_host(llvm::Module& host, llvm::TargetMachine& target,
                                                   bool quick, const StepHook& hook);

struct ObjectCode {
  std::string bytes;
  std::map<std::string, std::uint64_t> stack_sizes;  // of each function
};
ObjectCode emit_object(llvm::Module& host, llvm::TargetMachine& target);

}  // namespace td::softdev::simt
