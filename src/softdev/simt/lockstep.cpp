#include "softdev/simt/lockstep.h"

#include <llvm/ADT/SmallPtrSet.h>
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

// The address, when it is one in shared memory, else null.
const Value* shared_address(const Value* pointer) {
  if (pointer->getType()->getPointerAddressSpace() == 3) return pointer;
  auto* variable = dyn_cast<GlobalVariable>(getUnderlyingObject(pointer, 16));
  return variable && is_shared(*variable) ? pointer : nullptr;
}

const Value* written(const Instruction& instruction) {
  if (auto* store = dyn_cast<StoreInst>(&instruction))
    return shared_address(store->getPointerOperand());
  return nullptr;
}

const Value* read(const Instruction& instruction) {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return shared_address(load->getPointerOperand());
  if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction))
    return shared_address(atomic->getPointerOperand());
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return shared_address(exchange->getPointerOperand());
  return nullptr;
}

// All arrays of unknown size begin at the same place.
bool may_overlap(const Value* a, const Value* b) {
  auto* object_a = dyn_cast<GlobalVariable>(getUnderlyingObject(a, 16));
  auto* object_b = dyn_cast<GlobalVariable>(getUnderlyingObject(b, 16));
  if (!object_a || !object_b || object_a == object_b) return true;
  return object_a->isDeclaration() && object_b->isDeclaration();
}

bool is_meeting(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  const BuiltinRow* row = call ? find_builtin(*call) : nullptr;
  return row && row->flags & (is_barrier | is_warp_op);
}

// Whether `store` may be seen by another lane before the lanes meet.
bool is_seen_early(const StoreInst& store, const Value* address, const Shapes& shapes) {
  auto sees = [&](const Instruction& instruction) {
    const Value* other = read(instruction);
    if (!other || !may_overlap(address, other)) return false;
    bool own_place = other == address && !shapes.is_uniform(address);
    return !own_place;
  };
  SmallPtrSet<const BasicBlock*, 16> seen;
  SmallVector<const BasicBlock*, 16> work;
  auto look = [&](BasicBlock::const_iterator from, const BasicBlock* block) {
    for (const Instruction& instruction : make_range(from, block->end())) {
      if (is_meeting(instruction)) return false;
      if (sees(instruction)) return true;
    }
    work.append(succ_begin(block), succ_end(block));
    return false;
  };
  if (look(std::next(store.getIterator()), store.getParent())) return true;
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (seen.insert(block).second && look(block->begin(), block)) return true;
  }
  return false;
}

}  // namespace

bool relies_on_lockstep(Function& kernel) {
  bool reads = false, writes = false;
  for (const Instruction& instruction : instructions(kernel)) {
    reads |= read(instruction) != nullptr;
    writes |= written(instruction) != nullptr;
  }
  if (!reads || !writes) return false;
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  Shapes shapes(kernel, {ThreadLayout::row, 32, 0, true, true}, dominators, loops);
  for (const Instruction& instruction : instructions(kernel))
    if (const Value* address = written(instruction))
      if (is_seen_early(cast<StoreInst>(instruction), address, shapes)) return true;
  return false;
}

}  // namespace td::softdev::simt
