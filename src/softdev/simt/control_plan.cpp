#include "softdev/simt/control_plan.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <functional>

namespace td::softdev::simt {

using namespace llvm;

ControlPlan::ControlPlan(Function& kernel, const Shapes& shapes, DominatorTree& dominators,
                         LoopInfo& loops)
    : shapes_(shapes), dominators_(dominators), loops_(loops) {
  arrange(kernel);
  find_owners();
}

void ControlPlan::find_returning(Function& kernel) {
  SmallVector<const BasicBlock*> work;
  for (const BasicBlock& block : kernel)
    if (isa<ReturnInst>(block.getTerminator())) work.push_back(&block);
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (returning_.insert(block).second) work.append(pred_begin(block), pred_end(block));
  }
}

void ControlPlan::arrange(Function& kernel) {
  find_returning(kernel);
  arrange_level(nullptr, &kernel.getEntryBlock());
  for (unsigned i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
}

// Depth-first post-order of one loop level, in which an inner loop is a single node; then the inner
// loops in place.
void ControlPlan::arrange_level(const Loop* loop, const BasicBlock* start) {
  auto node_of = [&](const BasicBlock* block) {
    const Loop* inner = loops_.getLoopFor(block);
    while (inner && inner->getParentLoop() != loop && inner != loop) inner = inner->getParentLoop();
    return inner == loop ? block : static_cast<const BasicBlock*>(inner->getHeader());
  };
  auto inside = [&](const BasicBlock* block) { return !loop || loop->contains(block); };
  auto successors_of = [&](const BasicBlock* node) {
    SmallVector<const BasicBlock*> found;
    const Loop* inner = loops_.getLoopFor(node);
    auto add = [&](const BasicBlock* to) {
      if (inside(to) && to != start) found.push_back(node_of(to));
    };
    if (inner == loop) {
      for (const BasicBlock* to : successors(node)) add(to);
    } else {
      SmallVector<BasicBlock*> exits;
      inner->getExitBlocks(exits);
      for (const BasicBlock* to : exits) add(to);
    }
    return found;
  };
  SmallPtrSet<const BasicBlock*, 16> seen;
  std::vector<const BasicBlock*> post;
  std::function<void(const BasicBlock*)> visit = [&](const BasicBlock* node) {
    if (!seen.insert(node).second) return;
    // Visited last comes first in the order: keep the first successor right after its branch.
    auto next = successors_of(node);
    std::stable_partition(next.begin(), next.end(),
                          [&](const BasicBlock* to) { return !returning_.count(to); });
    for (auto it = next.rbegin(); it != next.rend(); ++it) visit(*it);
    post.push_back(node);
  };
  visit(start);
  for (auto it = post.rbegin(); it != post.rend(); ++it) {
    const Loop* inner = loops_.getLoopFor(*it);
    if (inner == loop)
      order_.push_back(*it);
    else
      arrange_level(inner, *it);
  }
}

const Loop* ControlPlan::headed_loop(const BasicBlock* block) const {
  const Loop* loop = loops_.getLoopFor(block);
  return loop && loop->getHeader() == block ? loop : nullptr;
}

bool ControlPlan::is_back_edge(const BasicBlock* from, const BasicBlock* to) const {
  const Loop* loop = headed_loop(to);
  return loop && loop->contains(from);
}

unsigned ControlPlan::end_of_dominated(const BasicBlock* block) const {
  unsigned end = position(block) + 1;
  while (end < order_.size() && dominators_.dominates(block, order_[end])) ++end;
  return end;
}

// Whoever executes `earlier` executes `later` in the same iteration of their common innermost loop:
// without `later`, no path from `earlier` reaches the loop's next iteration or its outside.
bool ControlPlan::always_follows(const BasicBlock* later, const BasicBlock* earlier) const {
  const Loop* loop = loops_.getLoopFor(later);
  SmallPtrSet<const BasicBlock*, 16> seen;
  SmallVector<const BasicBlock*> work{earlier};
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (block == later || !seen.insert(block).second) continue;
    if (succ_empty(block)) return false;
    for (const BasicBlock* to : successors(block)) {
      if (loop && (!loop->contains(to) || to == loop->getHeader())) return false;
      work.push_back(to);
    }
  }
  return true;
}

// No block that lanes of other ways still have to visit stands between the branch above and this
// one. Such a block leads on to all that come after it in somebody's plan, also when the uniform
// branch went the other way.
bool ControlPlan::follows_its_branch(const BasicBlock* block) const {
  const BasicBlock* above = dominators_.getNode(block)->getIDom()->getBlock();
  for (unsigned at = position(above) + 1; at < position(block); ++at)
    if (!dominators_.dominates(above, order_[at])) return false;
  return true;
}

const BasicBlock* ControlPlan::inherited_owner(const BasicBlock* block) const {
  const Loop* headed = headed_loop(block);
  if (headed && shapes_.diverges(headed)) return nullptr;
  const BasicBlock* common = nullptr;
  bool shared = !pred_empty(block);
  for (const BasicBlock* from : predecessors(block)) {
    if (headed && headed->contains(from)) continue;
    // Lanes leave a divergent loop in different iterations: its masks say nothing about the lanes
    // behind it.
    const Loop* inner = loops_.getLoopFor(from);
    bool leaves = false;
    for (const Loop* l = inner; l && !l->contains(block); l = l->getParentLoop())
      leaves |= shapes_.diverges(l);
    if (shapes_.diverges(from) || leaves || (common && common != owner_.lookup(from)))
      shared = false;
    common = owner_.lookup(from);
  }
  if (shared && common && follows_its_branch(block)) return common;
  const Loop* level = headed ? headed->getParentLoop() : loops_.getLoopFor(block);
  for (auto* node = dominators_.getNode(block)->getIDom(); node; node = node->getIDom()) {
    const BasicBlock* above = node->getBlock();
    if (loops_.getLoopFor(above) != level) {
      if (level && !level->contains(above)) break;
      continue;
    }
    if (!headed && always_follows(block, above)) return owner_.lookup(above);
    if (headed) break;
    if (level && above == level->getHeader()) break;
  }
  return nullptr;
}

void ControlPlan::find_owners() {
  for (const BasicBlock* block : order_) {
    const BasicBlock* inherited = block == order_.front() ? nullptr : inherited_owner(block);
    owner_[block] = inherited ? inherited : block;
  }
}

bool ControlPlan::is_sole_edge(const BasicBlock* from, const BasicBlock* to) const {
  if (headed_loop(to)) return true;
  return !shapes_.diverges(from) && mask_owner(from) == mask_owner(to);
}

}  // namespace td::softdev::simt
