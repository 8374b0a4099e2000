// How a pass refuses what the software device cannot run: an exception that td_cc_lower turns into
// LowerReply::error. Thrown only through our own frames, never through LLVM's.
#pragma once

#include <llvm/IR/Instruction.h>

#include <stdexcept>
#include <string>

namespace td::softdev::simt {

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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
