// Values of a warp that live across the barriers of its block function, as the two ways of making
// phases need them.
#pragma once

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace td::softdev::simt {

// Values defined behind `from` (values that dominate it exist everywhere), and where they are live.
class LiveValues {
 public:
  LiveValues(llvm::Function& function, llvm::Instruction* from);
  std::vector<llvm::Instruction*> live_into(const llvm::BasicBlock* block) const;

 private:
  void number(llvm::Function& function, llvm::Instruction* from);
  void solve(llvm::Function& function);

  std::vector<llvm::Instruction*> values_;
  llvm::DenseMap<const llvm::Value*, unsigned> numbers_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BitVector> live_in_;
};

}  // namespace td::softdev::simt
