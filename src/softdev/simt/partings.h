// What a branch does that threads take differently: where they meet again, and which loops they
// leave in different iterations.
//
// LLVM's GenericSyncDependenceAnalysis answers the same, but names no meeting behind a loop that
// stands in one of the ways; its answers are used with ours.
#pragma once

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>

namespace td::softdev::simt {

class Partings {
 public:
  Partings(llvm::Function& function, llvm::DominatorTree& dominators)
      : dominators_(dominators), postdominators_(function) {}
  // The branch's immediate postdominator, null when its ways end apart. A loop around the branch
  // that does not contain it is left in different iterations.
  const llvm::BasicBlock* end(const llvm::BasicBlock* branch) const;
  // The blocks up to the end (inclusive) that two of the branch's ways lead to.
  llvm::SmallVector<llvm::BasicBlock*, 8> meetings(llvm::BasicBlock* branch);

 private:
  llvm::DominatorTree& dominators_;
  llvm::PostDominatorTree postdominators_;
};

}  // namespace td::softdev::simt
