#include "softdev/simt/progress.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "softdev/simt/builtins.h"
#include "softdev/simt/layout.h"
#include "softdev/simt/shape.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

using Blocks = SmallPtrSet<const BasicBlock*, 16>;

const BuiltinRow* row_of(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && !call->isInlineAsm() ? find_builtin(*call) : nullptr;
}

bool has_flag(const Instruction& instruction, unsigned flag) {
  const BuiltinRow* row = row_of(instruction);
  return row && row->flags & flag;
}

// ---- waiting loops ----

// Computed in each round of the loop from the same values.
bool is_fixed(const Value* value, const Loop& loop, unsigned depth = 0) {
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction)) return true;
  if (depth > 8 || isa<PHINode>(instruction)) return false;
  if (auto* load = dyn_cast<LoadInst>(instruction)) {
    if (load->isVolatile() || load->isAtomic()) return false;
  } else if (instruction->mayReadOrWriteMemory()) {
    return false;
  } else if (const BuiltinRow* row = row_of(*instruction);
             isa<CallInst>(instruction) && (!row || row->flags & is_warp_op)) {
    return false;
  }
  return all_of(instruction->operands(), [&](const Use& use) {
    return isa<BasicBlock>(use.get()) || is_fixed(use.get(), loop, depth + 1);
  });
}

// Whether lanes that come to `join` from `from` may go round the loop. Branches on constants that
// come with them are followed: a `break` is often such a number.
bool may_go_round(const BasicBlock* join, const BasicBlock* from, const Loop& loop) {
  auto constant = [&](const Value* value) {
    if (auto* phi = dyn_cast<PHINode>(value); phi && phi->getParent() == join)
      value = phi->getIncomingValueForBlock(from);
    return dyn_cast<ConstantInt>(value);
  };
  const BasicBlock* block = join;
  for (unsigned step = 0; step < 8 && block != loop.getHeader(); ++step) {
    if (!loop.contains(block)) return false;
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch) return true;
    unsigned way = 0;
    if (branch->isConditional()) {
      auto* test = dyn_cast<ICmpInst>(branch->getCondition());
      const ConstantInt* a = constant(test ? test->getOperand(0) : branch->getCondition());
      const ConstantInt* b = test ? constant(test->getOperand(1)) : a;
      if (!a || !b) return true;
      bool yes =
          test ? ICmpInst::compare(a->getValue(), b->getValue(), test->getPredicate()) : a->isOne();
      way = yes ? 0 : 1;
    }
    block = branch->getSuccessor(way);
  }
  return true;
}

// Of the loop's header: some way through the loop leaves it as it is.
bool may_stay(const PHINode& phi, const Loop& loop) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*> work;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
    if (loop.contains(phi.getIncomingBlock(i))) work.push_back(phi.getIncomingValue(i));
  while (!work.empty()) {
    const Value* value = work.pop_back_val();
    if (value == &phi) return true;
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !loop.contains(instruction) || !seen.insert(value).second) continue;
    if (auto* join = dyn_cast<PHINode>(instruction)) {
      for (unsigned i = 0; i < join->getNumIncomingValues(); ++i)
        if (may_go_round(join->getParent(), join->getIncomingBlock(i), loop))
          work.push_back(join->getIncomingValue(i));
    }
    if (auto* select = dyn_cast<SelectInst>(instruction))
      work.append({select->getTrueValue(), select->getFalseValue()});
  }
  return false;
}

// As is_fixed, or from values that a round of the loop may leave as they are (`if (ready[k])
// ++k;`), that an inner loop starts from anew, or that memory keeps. `known`: what has been found
// out.
bool may_repeat(const Value* value, const Loop& loop, DenseMap<const Value*, bool>& known) {
  if (is_fixed(value, loop)) return true;
  auto* instruction = cast<Instruction>(value);
  auto [place, is_new] = known.try_emplace(instruction, false);
  if (!is_new) return place->second;
  auto repeats = [&](const Use& use) { return may_repeat(use.get(), loop, known); };
  bool result = false;
  if (auto* phi = dyn_cast<PHINode>(instruction)) {
    result = phi->getParent() == loop.getHeader() ? may_stay(*phi, loop)
                                                  : any_of(phi->incoming_values(), repeats);
  } else {
    bool may = isa<LoadInst>(instruction) || !instruction->mayReadOrWriteMemory() ||
               has_flag(*instruction, is_warp_op);
    result = may && all_of(instruction->operands(), repeats);
  }
  return known[instruction] = result;
}

bool is_zero(const Value* value) {
  auto* number = dyn_cast<ConstantInt>(value);
  return number && number->isZero();
}

// An operation that only reads, as people write it: atomicAdd(p, 0).
bool changes_nothing(const AtomicRMWInst& atomic) {
  auto op = atomic.getOperation();
  return is_zero(atomic.getValOperand()) && (op == AtomicRMWInst::Add || op == AtomicRMWInst::Sub ||
                                             op == AtomicRMWInst::Or || op == AtomicRMWInst::Xor);
}

// The address that the instruction reads without getting ahead by it, else null.
const Value* awaited_address(const Instruction& instruction, const Loop& loop) {
  const Value* address = nullptr;
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (load->isVolatile() || load->isAtomic()) address = load->getPointerOperand();
  } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    if (is_fixed(exchange->getCompareOperand(), loop)) address = exchange->getPointerOperand();
  } else if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction)) {
    auto op = atomic->getOperation();
    bool counts = op == AtomicRMWInst::Add || op == AtomicRMWInst::Sub ||
                  op == AtomicRMWInst::UIncWrap || op == AtomicRMWInst::UDecWrap ||
                  op == AtomicRMWInst::FAdd || op == AtomicRMWInst::FSub;
    if (counts ? is_zero(atomic->getValOperand()) : is_fixed(atomic->getValOperand(), loop))
      address = atomic->getPointerOperand();
  }
  if (!address || isa<AllocaInst>(getUnderlyingObject(address, 16))) return nullptr;
  DenseMap<const Value*, bool> known;
  return may_repeat(address, loop, known) ? address : nullptr;
}

// Whether a way out of the loop depends on the instruction's value.
bool decides_exit(const Instruction& instruction, const Loop& loop) {
  SmallPtrSet<const Value*, 16> seen;
  SmallVector<const Value*> work{&instruction};
  while (!work.empty()) {
    const Value* value = work.pop_back_val();
    for (const User* user : value->users()) {
      auto* next = dyn_cast<Instruction>(user);
      if (!next || !loop.contains(next) || !seen.insert(next).second) continue;
      // A branch decides by itself, and by which values its arms hand on.
      if (next->isTerminator()) return true;
      work.push_back(next);
    }
  }
  return false;
}

// A plain write in the loop to the very address: whoever holds the place gives it back in the loop.
bool is_given_back(const Value* address, const Instruction* taker, const Loop& loop) {
  auto same = [&](const Value* other) {
    return other->stripPointerCasts() == address->stripPointerCasts();
  };
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block) {
      if (&instruction == taker) continue;
      if (auto* store = dyn_cast<StoreInst>(&instruction))
        if (same(store->getPointerOperand())) return true;
      if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction))
        if (same(atomic->getPointerOperand()) && !changes_nothing(*atomic)) return true;
    }
  return false;
}

// What the loop waits for: addresses; empty when it does not wait.
SmallVector<const Value*> awaited(const Loop& loop) {
  SmallVector<const Value*> addresses;
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block) {
      const Value* address = awaited_address(instruction, loop);
      if (address && decides_exit(instruction, loop) && !is_given_back(address, &instruction, loop))
        addresses.push_back(address);
    }
  return addresses;
}

bool calls_functions(const Loop& loop) {
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block)
      if (auto* call = dyn_cast<CallInst>(&instruction); call && is_device_call(*call)) return true;
  return false;
}

// ---- memory ----

enum class Place { shared, global, local, anywhere };

Place place_of(const Value* address, const Value*& object) {
  object = getUnderlyingObject(address, 16);
  if (isa<AllocaInst>(object)) return Place::local;
  unsigned space = address->getType()->getPointerAddressSpace();
  if (auto* variable = dyn_cast<GlobalVariable>(object))
    return is_shared(*variable) ? Place::shared : Place::global;
  if (isa<Argument>(object)) return Place::global;  // kernels' pointers are global
  return space == 3 ? Place::shared : space == 1 ? Place::global : Place::anywhere;
}

bool may_be_same(const Value* a, const Value* b) {
  const Value *object_a, *object_b;
  Place place_a = place_of(a, object_a), place_b = place_of(b, object_b);
  if (place_a == Place::local || place_b == Place::local) return false;
  if (place_a != Place::anywhere && place_b != Place::anywhere && place_a != place_b) return false;
  return !(isa<GlobalVariable>(object_a) && isa<GlobalVariable>(object_b) && object_a != object_b);
}

bool may_write(const Instruction& instruction, ArrayRef<const Value*> addresses) {
  const Value* written = nullptr;
  if (auto* store = dyn_cast<StoreInst>(&instruction)) written = store->getPointerOperand();
  if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction))
    written = changes_nothing(*atomic) ? nullptr : atomic->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    written = exchange->getPointerOperand();
  if (auto* call = dyn_cast<CallInst>(&instruction)) {
    if (is_device_call(*call)) return true;
    const BuiltinRow* row = row_of(*call);
    if (row && (row->kind == Builtin::copy || row->kind == Builtin::move ||
                row->kind == Builtin::fill || row->kind == Builtin::atomic_wrap))
      written = call->getArgOperand(0);
  }
  return written && any_of(addresses, [&](const Value* a) { return may_be_same(a, written); });
}

// ---- where lanes can be while others wait ----

const Value* mask_of(const Instruction& instruction, const BuiltinRow& row) {
  return cast<CallInst>(instruction).getArgOperand(row.kind == Builtin::reduce ? 1 : 0);
}

// The lanes of the warp meet here: nobody gets past it while others wait elsewhere.
bool is_meeting(const Instruction& instruction, const Shapes& shapes) {
  const BuiltinRow* row = row_of(instruction);
  if (!row) return false;
  if (row->flags & is_barrier) return true;
  if (row->kind == Builtin::leave_together)
    return shapes.is_uniform(cast<CallInst>(instruction).getArgOperand(0));
  if (!(row->flags & is_warp_op) || row->kind == Builtin::active_mask) return false;
  auto* mask = dyn_cast<ConstantInt>(mask_of(instruction, *row));
  return mask && mask->getValue().isAllOnes();
}

class Analysis {
 public:
  Analysis(Function& kernel, const KeptFunctions& kept, ThreadLayout::Kind layout)
      : kernel_(kernel),
        kept_(kept),
        dominators_(kernel),
        loops_(dominators_),
        shapes_(kernel, {layout, 32, 0, true, true}, dominators_, loops_) {
    find_always();
  }

  Fairness run(Progress& progress) {
    bool grid = false, threads = divergent_barrier() || divergent_partners() || calls_meet();
    for (const Loop* loop : loops_.getLoopsInPreorder()) {
      SmallVector<const Value*> addresses = awaited(*loop);
      if (addresses.empty()) continue;
      progress.separate_warps = true;
      progress.waiting.insert(loop->getHeader());
      threads |= lanes_outside_may_write(*loop, addresses);
    }
    for (const Instruction& instruction : instructions(kernel_)) {
      const BuiltinRow* row = row_of(instruction);
      if (!row) continue;
      grid |= row->kind == Builtin::grid_barrier;
      progress.separate_warps |=
          row->kind == Builtin::barrier_arrive || names_barrier(cast<CallInst>(instruction), *row);
    }
    if (threads) return Fairness::threads;
    return grid || progress.separate_warps ? Fairness::warps : Fairness::none;
  }

 private:
  static bool names_barrier(const CallInst& call, const BuiltinRow& row) {
    if (row.kind != Builtin::barrier || row.detail < 0) return false;
    return !is_zero(call.getArgOperand(row.detail)) || call.arg_size() > 1;
  }

  // Successors without those that only lead out of the kernel: nobody waits for lanes there.
  static SmallVector<const BasicBlock*> followers(const BasicBlock* block) {
    SmallVector<const BasicBlock*> found;
    for (const BasicBlock* to : successors(block))
      if (!only_returns(to)) found.push_back(to);
    return found;
  }

  // always_[b]: the blocks that whoever is in b comes through, b included.
  void find_always() {
    unsigned count = 0;
    for (const BasicBlock& block : kernel_) numbers_[&block] = count++;
    for (const BasicBlock& block : kernel_) always_[&block].resize(count, true);
    bool changed = true;
    while (changed) {
      changed = false;
      for (const BasicBlock& block : reverse(kernel_)) {
        SmallVector<const BasicBlock*> next = followers(&block);
        BitVector common(count, !next.empty());
        for (const BasicBlock* to : next) common &= always_[to];
        common.set(numbers_[&block]);
        if (common == always_[&block]) continue;
        always_[&block] = common;
        changed = true;
      }
    }
  }

  // What lanes may come through after `branch` until all of them are together again, starting at
  // `start`.
  Blocks region(const BasicBlock* branch, ArrayRef<const BasicBlock*> start) const {
    Blocks found;
    SmallVector<const BasicBlock*> work(start.begin(), start.end());
    const BitVector& joins = always_.find(branch)->second;
    while (!work.empty()) {
      const BasicBlock* block = work.pop_back_val();
      if (block != branch && joins.test(numbers_.lookup(block))) continue;
      if (!found.insert(block).second) continue;
      work.append(followers(block));
    }
    return found;
  }

  // Lanes that take different ways at `branch` may fail to come to `target` together.
  bool separates(const BasicBlock* branch, const BasicBlock* target) const {
    return region(branch, followers(branch)).count(target);
  }

  bool divergent_barrier() const {
    SmallVector<const BasicBlock*> barriers;
    for (const BasicBlock& block : kernel_)
      if (any_of(block, [](const Instruction& i) { return has_flag(i, is_barrier); }))
        barriers.push_back(&block);
    if (barriers.empty()) return false;
    for (const BasicBlock& branch : kernel_) {
      if (!shapes_.diverges(&branch)) continue;
      Blocks apart = region(&branch, followers(&branch));
      if (any_of(barriers, [&](const BasicBlock* block) { return apart.count(block); }))
        return true;
    }
    return false;
  }

  // Of warp-level operations in `blocks` that are not in `others` as well.
  static void add_masks(const Blocks& blocks, const Blocks& others,
                        SmallPtrSetImpl<const Value*>& masks) {
    for (const BasicBlock* block : blocks)
      if (!others.count(block))
        for (const Instruction& instruction : *block)
          if (const BuiltinRow* row = row_of(instruction);
              row && row->flags & is_warp_op && row->kind != Builtin::active_mask)
            masks.insert(mask_of(instruction, *row));
  }

  bool divergent_partners() const {
    for (const BasicBlock& block : kernel_) {
      auto* branch = dyn_cast<BranchInst>(block.getTerminator());
      if (!branch || !branch->isConditional() || !shapes_.diverges(&block)) continue;
      SmallPtrSet<const Value*, 4> one, other;
      Blocks yes = region(&block, {branch->getSuccessor(0)});
      Blocks no = region(&block, {branch->getSuccessor(1)});
      add_masks(yes, no, one);
      add_masks(no, yes, other);
      if (any_of(one, [&](const Value* mask) { return other.count(mask); })) return true;
    }
    return false;
  }

  // Functions that stay functions are called lane by lane: lanes cannot meet in them.
  bool calls_meet() const {
    bool meets = false;
    auto look = [&](Function* function) {
      for (const Instruction& instruction : instructions(*function))
        meets |= has_flag(instruction, is_barrier | is_warp_op);
      meets |= waits(*function);
    };
    bool calls = false;
    for (const Instruction& instruction : instructions(kernel_)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (!call || !is_device_call(*call)) continue;
      calls = true;
      if (call->isIndirectCall() && !call->getMetadata("td.others"))
        for_each(kept_.address_taken, look);
    }
    if (calls) for_each(kept_.recursive, look);
    return meets;
  }
  static bool waits(Function& function) {
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    return any_of(loops.getLoopsInPreorder(),
                  [](const Loop* loop) { return !awaited(*loop).empty(); });
  }

  // At most one lane comes here: a branch on the lane's own number lies before.
  bool is_for_one_lane(const BasicBlock* block) const {
    for (auto* node = dominators_.getNode(block); node->getIDom(); node = node->getIDom()) {
      const BasicBlock* above = node->getIDom()->getBlock();
      auto* branch = dyn_cast<BranchInst>(above->getTerminator());
      auto* test =
          branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
      if (!test || !test->isEquality()) continue;
      bool equal = test->getPredicate() == ICmpInst::ICMP_EQ;
      BasicBlockEdge edge(above, branch->getSuccessor(equal ? 0 : 1));
      if (edge.getStart() == edge.getEnd() || !dominators_.dominates(edge, block)) continue;
      Shape a = shapes_.of(test->getOperand(0)), b = shapes_.of(test->getOperand(1));
      if (a.kind == Shape::uniform) std::swap(a, b);
      if (a.kind != Shape::offset || b.kind != Shape::uniform) continue;
      SmallVector<std::int64_t> lanes(a.lanes.begin(), a.lanes.end());
      sort(lanes);
      if (std::adjacent_find(lanes.begin(), lanes.end()) == lanes.end()) return true;
    }
    return false;
  }

  bool lanes_outside_may_write(const Loop& loop, ArrayRef<const Value*> addresses) const {
    Blocks seen;
    SmallVector<const BasicBlock*> work;
    if (shapes_.diverges(&loop) && !is_for_one_lane(loop.getHeader())) {
      SmallVector<BasicBlock*> exits;
      loop.getExitBlocks(exits);
      work.append(exits.begin(), exits.end());
    }
    for (const BasicBlock& branch : kernel_) {
      if (loop.contains(&branch) || !shapes_.diverges(&branch)) continue;
      if (!separates(&branch, loop.getHeader())) continue;
      // Lanes of a way that leads to the loop come to it together.
      for (const BasicBlock* to : successors(&branch))
        if (!region(&branch, {to}).count(loop.getHeader())) work.push_back(to);
    }
    while (!work.empty()) {
      const BasicBlock* block = work.pop_back_val();
      if (loop.contains(block) || !seen.insert(block).second) continue;
      bool met = false;
      for (const Instruction& instruction : *block) {
        if ((met = is_meeting(instruction, shapes_))) break;
        if (may_write(instruction, addresses)) return true;
      }
      if (!met) work.append(succ_begin(block), succ_end(block));
    }
    return false;
  }

  Function& kernel_;
  const KeptFunctions& kept_;
  DominatorTree dominators_;
  LoopInfo loops_;
  Shapes shapes_;
  DenseMap<const BasicBlock*, unsigned> numbers_;
  DenseMap<const BasicBlock*, BitVector> always_;
};

}  // namespace

bool only_returns(const BasicBlock* block) {
  for (unsigned i = 0; i < 4; ++i) {
    if (any_of(*block, [](const Instruction& instruction) {
          return instruction.mayReadOrWriteMemory() || isa<CallInst>(instruction);
        }))
      return false;
    if (isa<ReturnInst>(block->getTerminator())) return true;
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || branch->isConditional()) return false;
    block = branch->getSuccessor(0);
  }
  return false;
}

// Whether anything in the kernel can wait at all.
static bool may_wait(const Function& kernel) {
  return any_of(instructions(kernel), [](const Instruction& instruction) {
    if (instruction.isVolatile() || instruction.isAtomic()) return true;
    auto* call = dyn_cast<CallInst>(&instruction);
    return call && (is_device_call(*call) || has_flag(*call, is_barrier | is_warp_op) ||
                    (row_of(*call) && row_of(*call)->kind == Builtin::barrier_arrive));
  });
}

Progress find_progress(Function& kernel, const KeptFunctions& kept) {
  Progress progress;
  if (!may_wait(kernel)) return progress;
  progress.in_rows = Analysis(kernel, kept, ThreadLayout::row).run(progress);
  progress.elsewhere = Analysis(kernel, kept, ThreadLayout::linear).run(progress);
  return progress;
}

SmallPtrSet<const BasicBlock*, 4> find_waiting_loops(Function& function) {
  SmallPtrSet<const BasicBlock*, 4> headers;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (const Loop* loop : loops.getLoopsInPreorder())
    if (calls_functions(*loop) || !awaited(*loop).empty()) headers.insert(loop->getHeader());
  return headers;
}

}  // namespace td::softdev::simt
