// Several warps of a block at a time.
//
// The range function of a kernel runs the warps of a block one after the other. Where they all take
// the same way through loops that carry vectors from round to round (the sums of a matrix product,
// the forces on a body), the code of two or four warps is put side by side into one loop: chains of
// dependent operations overlap, and what the warps have in common, addresses and loaded values, is
// computed once. That is one of the orders in which CUDA lets warps run.
#pragma once

#include <llvm/IR/PassManager.h>

namespace td::softdev::simt {

// On the branch back of a loop over warps: i32, how many there are. Such loops touch no memory that
// successive warps reuse.
inline constexpr const char* warp_loop_metadata = "treadle.warps";

class WarpJam : public llvm::PassInfoMixin<WarpJam> {
 public:
  // For a machine with so many vector registers.
  explicit WarpJam(unsigned registers) : registers_(registers) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

 private:
  unsigned registers_;
};

}  // namespace td::softdev::simt
