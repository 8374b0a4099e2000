// Where things live: kernel parameters, shared variables of a kernel, and the module's data
// segment.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Module.h>

#include "softdev/simt/lower.h"

namespace td::softdev::simt {

// The __device__/__constant__ variables and string constants of a module, at fixed offsets of one
// data segment.
struct DataSegment {
  llvm::DenseMap<const llvm::GlobalVariable*, std::uint64_t> offsets;
  std::uint64_t constant_begin = 0, constant_end = 0;  // the __constant__ variables lie together
  llvm::SmallVector<llvm::Function*> functions;        // to which variables point from the start
};

// Shared variables that one kernel uses. Arrays of unknown size (extern __shared__) all start at
// `dynamic_offset`.
struct SharedLayout {
  llvm::DenseMap<const llvm::GlobalVariable*, std::uint64_t> offsets;
  std::uint32_t static_bytes = 0;
};

// Writes reply.data, reply.globals, reply.data_pointers and reply.code_pointers.
DataSegment lay_out_data(llvm::Module& module, LowerReply& reply);
// Adds the shared variables of `function` to a layout.
void lay_out_shared(const llvm::Function& function, SharedLayout& shared);
// CUDA's packed parameter layout.
std::vector<ParamLayout> lay_out_params(const llvm::Function& kernel, std::uint32_t& total);

bool is_shared(const llvm::GlobalVariable& variable);

}  // namespace td::softdev::simt
