#include "softdev/simt/live_values.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

#include <algorithm>

namespace td::softdev::simt {

using namespace llvm;

LiveValues::LiveValues(Function& function, Instruction* from) {
  number(function, from);
  solve(function);
}

void LiveValues::number(Function& function, Instruction* from) {
  DominatorTree dominators(function);
  for (BasicBlock& block : function)
    for (Instruction& instruction : block) {
      if (instruction.getType()->isVoidTy() || dominators.dominates(&instruction, from)) continue;
      numbers_[&instruction] = static_cast<unsigned>(values_.size());
      values_.push_back(&instruction);
    }
}

// live_in(b) = used in b before any definition, or live out and not defined in b. A phi uses its
// operands at the end of the predecessors.
void LiveValues::solve(Function& function) {
  unsigned count = static_cast<unsigned>(values_.size());
  DenseMap<const BasicBlock*, BitVector> used, defined;
  std::vector<const BasicBlock*> order;
  for (BasicBlock& block : function) {
    order.push_back(&block);
    BitVector uses(count), definitions(count);
    for (Instruction& instruction : block) {
      if (!isa<PHINode>(instruction))
        for (Use& use : instruction.operands())
          if (auto found = numbers_.find(use.get());
              found != numbers_.end() && !definitions.test(found->second))
            uses.set(found->second);
      if (auto found = numbers_.find(&instruction); found != numbers_.end())
        definitions.set(found->second);
    }
    used[&block] = std::move(uses);
    defined[&block] = std::move(definitions);
    live_in_[&block].resize(count);
  }
  std::reverse(order.begin(), order.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock* block : order) {
      BitVector live(count);
      for (const BasicBlock* to : successors(block)) {
        live |= live_in_[to];  // phis of `to` are defined there, hence not in it
        for (const PHINode& phi : to->phis())
          if (auto found = numbers_.find(phi.getIncomingValueForBlock(block));
              found != numbers_.end())
            live.set(found->second);
      }
      live.reset(defined[block]);
      live |= used[block];
      if (live == live_in_[block]) continue;
      live_in_[block] = std::move(live);
      changed = true;
    }
  }
}

std::vector<Instruction*> LiveValues::live_into(const BasicBlock* block) const {
  std::vector<Instruction*> found;
  for (unsigned i : live_in_.find(block)->second.set_bits()) found.push_back(values_[i]);
  return found;
}

}  // namespace td::softdev::simt
