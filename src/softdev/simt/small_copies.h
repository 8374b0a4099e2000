// Copies of small structures as loads and stores.
//
// On a GPU such a copy is loads and then stores, so that lanes in step may permute structures: each
// reads before any writes. A copy that stays one is made lane by lane, which is also slow.
#pragma once

#include <llvm/IR/PassManager.h>

namespace td::softdev::simt {

class ExpandSmallCopies : public llvm::PassInfoMixin<ExpandSmallCopies> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace td::softdev::simt
