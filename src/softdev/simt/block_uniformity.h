// Which values of a block function under construction are the same in all warps of the block.
#pragma once

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

namespace td::softdev::simt {

// A fixpoint over data dependences and over joins of branches that warps may take differently.
// `dispatch` stands at the start of a warp's code; what dominates it and lies in its own block
// belongs to the warp, what lies before is the block's.
class BlockUniformity {
 public:
  BlockUniformity(llvm::Function& function, const llvm::Instruction* dispatch);
  bool is_uniform(const llvm::Value* value) const { return !varying_.count(value); }

 private:
  bool varies(const llvm::Instruction& instruction) const;
  llvm::DenseSet<const llvm::Value*> varying_;
};

}  // namespace td::softdev::simt
