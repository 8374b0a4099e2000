#include "softdev/simt/partings.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/IteratedDominanceFrontier.h>
#include <llvm/IR/CFG.h>

namespace td::softdev::simt {

using namespace llvm;

const BasicBlock* Partings::end(const BasicBlock* branch) const {
  const auto* after = postdominators_.getNode(branch)->getIDom();
  return after ? after->getBlock() : nullptr;
}

SmallVector<BasicBlock*, 8> Partings::meetings(BasicBlock* branch) {
  const BasicBlock* last = end(branch);
  SmallPtrSet<BasicBlock*, 4> ways(succ_begin(branch), succ_end(branch));
  SmallPtrSet<const BasicBlock*, 16> between;
  SmallVector<BasicBlock*, 16> left(ways.begin(), ways.end());
  while (!left.empty()) {
    BasicBlock* block = left.pop_back_val();
    if (block == branch || !between.insert(block).second || block == last) continue;
    left.append(succ_begin(block), succ_end(block));
  }
  ForwardIDFCalculator frontier(dominators_);
  frontier.setDefiningBlocks(ways);
  SmallVector<BasicBlock*, 8> found;
  frontier.calculate(found);
  erase_if(found, [&](const BasicBlock* block) {
    return !between.count(block) || dominators_.dominates(block, branch);
  });
  return found;
}

}  // namespace td::softdev::simt
