#include "softdev/simt/block_uniformity.h"

#include <llvm/ADT/GenericUniformityImpl.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>

#include "softdev/simt/partings.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

// What all barriers of a block have collected: the same for every warp (phases.h).
bool is_phase_state(const Value* pointer) {
  return getUnderlyingObject(pointer)->getName() == "phase.state";
}

}  // namespace

// Given what is known to vary so far.
bool BlockUniformity::varies(const Instruction& instruction) const {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return !is_phase_state(load->getPointerOperand());
  if (isa<AllocaInst>(instruction) || instruction.mayReadOrWriteMemory()) return true;
  if (auto* call = dyn_cast<CallInst>(&instruction); call && !isa<IntrinsicInst>(call)) return true;
  return any_of(instruction.operands(),
                [&](const Use& use) { return varying_.count(use.get()) != 0; });
}

BlockUniformity::BlockUniformity(Function& function, const Instruction* dispatch) {
  DominatorTree dominators(function);
  CycleInfo cycles;
  cycles.compute(function);
  SSAContext context(&function);
  GenericSyncDependenceAnalysis<SSAContext> sync(context, dominators, cycles);
  Partings partings(function, dominators);
  const BasicBlock* head = dispatch->getParent();
  ReversePostOrderTraversal<Function*> order(&function);
  SmallPtrSet<const BasicBlock*, 8> split;
  for (const PHINode& phi : head->phis()) varying_.insert(&phi);
  bool changed = true;
  auto add = [&](const Value& value) { changed |= varying_.insert(&value).second; };
  auto add_phis = [&](const BasicBlock& block) {
    for (const PHINode& phi : block.phis()) add(phi);
  };
  // Warps leave the cycle in different iterations: its values differ behind it.
  auto add_results = [&](const CycleInfo::CycleT& cycle) {
    for (const BasicBlock* member : cycle.blocks())
      for (const Instruction& instruction : *member)
        if (any_of(instruction.users(), [&](const User* user) {
              return !cycle.contains(cast<Instruction>(user)->getParent());
            }))
          add(instruction);
  };
  while (changed) {
    changed = false;
    for (BasicBlock* block : order) {
      if (!dominators.dominates(head, block)) continue;
      for (const Instruction& instruction : *block)
        if (!varying_.count(&instruction) && varies(instruction)) add(instruction);
      const Instruction* end = block->getTerminator();
      if (end->getNumSuccessors() < 2 || !varying_.count(end->getOperand(0)) ||
          !split.insert(block).second)
        continue;
      const auto& effect = sync.getJoinBlocks(block);
      for (const BasicBlock* join : effect.JoinDivBlocks) add_phis(*join);
      for (const BasicBlock* meeting : partings.meetings(block)) add_phis(*meeting);
      const BasicBlock* meets = partings.end(block);
      for (const auto* cycle = cycles.getCycle(block); cycle; cycle = cycle->getParentCycle())
        if (!meets || !cycle->contains(meets)) add_results(*cycle);
      for (const BasicBlock* exit : effect.CycleDivBlocks) {
        const auto* cycle = cycles.getCycle(block);
        while (cycle && cycle->getParentCycle() && !cycle->getParentCycle()->contains(exit))
          cycle = cycle->getParentCycle();
        if (cycle && !cycle->contains(exit)) add_results(*cycle);
      }
      changed = true;
    }
  }
}

}  // namespace td::softdev::simt
