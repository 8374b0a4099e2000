// The plan by which a thread's control flow graph becomes straight-line code under masks.
//
// Blocks are put in a topological order in which every loop is contiguous and its latch comes last.
// Emission walks this order; a block that lanes still have to visit, while others go elsewhere, is
// *deferred* and visited in order (emit_body.cpp). Ways that end in a trap come before those that
// return: the end of the order is entered without a look at the mask.
//
// Blocks that are reached by the same lanes share one mask: the *mask owner* is the first of them.
// Only an owner's mask is computed.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <vector>

#include "softdev/simt/shape.h"

namespace td::softdev::simt {

class ControlPlan {
 public:
  ControlPlan(llvm::Function& kernel, const Shapes& shapes, llvm::DominatorTree& dominators,
              llvm::LoopInfo& loops);

  const std::vector<const llvm::BasicBlock*>& order() const { return order_; }
  unsigned position(const llvm::BasicBlock* block) const { return position_.lookup(block); }
  const llvm::BasicBlock* mask_owner(const llvm::BasicBlock* block) const {
    return owner_.lookup(block);
  }
  const llvm::Loop* loop_of(const llvm::BasicBlock* block) const {
    return loops_.getLoopFor(block);
  }
  // The loop whose header this block is, or null.
  const llvm::Loop* headed_loop(const llvm::BasicBlock* block) const;
  bool is_back_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;
  // One past the last position of the blocks that `block` dominates, when these follow it without a
  // gap; every position in between then belongs to them.
  unsigned end_of_dominated(const llvm::BasicBlock* block) const;
  // All lanes that enter `to` come over this edge.
  bool is_sole_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;

 private:
  void arrange(llvm::Function& kernel);
  void find_returning(llvm::Function& kernel);
  void arrange_level(const llvm::Loop* loop, const llvm::BasicBlock* start);
  void find_owners();
  const llvm::BasicBlock* inherited_owner(const llvm::BasicBlock* block) const;
  bool follows_its_branch(const llvm::BasicBlock* block) const;
  bool always_follows(const llvm::BasicBlock* later, const llvm::BasicBlock* earlier) const;

  const Shapes& shapes_;
  llvm::DominatorTree& dominators_;
  llvm::LoopInfo& loops_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> returning_;  // a return can be reached from there
  std::vector<const llvm::BasicBlock*> order_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> position_;
  llvm::DenseMap<const llvm::BasicBlock*, const llvm::BasicBlock*> owner_;
};

}  // namespace td::softdev::simt
