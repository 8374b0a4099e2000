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

namespace {

using Blocks = SmallPtrSet<BasicBlock*, 4>;
using Reached = SmallPtrSet<const BasicBlock*, 16>;

// From the starts to the last block, not through the branch again.
Reached reached(const Blocks& starts, const BasicBlock* branch, const BasicBlock* last) {
  Reached found;
  SmallVector<BasicBlock*, 16> left(starts.begin(), starts.end());
  while (!left.empty()) {
    BasicBlock* block = left.pop_back_val();
    if (block == branch || !found.insert(block).second || block == last) continue;
    left.append(succ_begin(block), succ_end(block));
  }
  return found;
}

}  // namespace

SmallVector<BasicBlock*, 8> Partings::meetings(BasicBlock* branch) {
  const BasicBlock* last = end(branch);
  const Blocks ways(succ_begin(branch), succ_end(branch));
  const Reached between = reached(ways, branch, last);
  ForwardIDFCalculator frontier(dominators_);
  frontier.setDefiningBlocks(ways);
  SmallVector<BasicBlock*, 8> found;
  frontier.calculate(found);
  // One way may lead straight to where another arrives later: out of a loop that goes on.
  for (BasicBlock* way : ways) {
    Blocks others = ways;
    others.erase(way);
    if (reached(others, branch, last).count(way) && !is_contained(found, way)) found.push_back(way);
  }
  erase_if(found, [&](const BasicBlock* block) {
    return !between.count(block) || dominators_.dominates(block, branch);
  });
  return found;
}

}  // namespace td::softdev::simt
