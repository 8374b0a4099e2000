// How a pass refuses what the software device cannot run: an exception that becomes the kernel's
// RefusedKernel, or LowerReply::error where it concerns the whole image. Thrown only through our
// own frames, never through LLVM's.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Function.h>

#include <stdexcept>
#include <string>

namespace td::softdev::simt {

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Hears which kernel is refused, and why.
using NoteRefused = llvm::function_ref<void(const llvm::Function& kernel, const char* why)>;
// Of a refused kernel: a body that only returns, so that later steps need not know.
void leave_empty(llvm::Function& kernel);

// "kernel.cu:12: " from the instruction's debug location, "kernel `name`: " when it has none.
std::string source_place(const llvm::Instruction& at);
// The user's function that holds the instruction, "" when it is not known.
std::string source_function(const llvm::Instruction& at);

// Line of the instruction's debug location, 0 when it has none.
unsigned source_line(const llvm::Instruction& at);

// Throws Unsupported: "<place><feature> not supported on the software device yet". `feature` ends
// in "is" or "are".
[[noreturn]] void refuse(const llvm::Instruction& at, const std::string& feature);

}  // namespace td::softdev::simt
