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

using Objects = SmallVector<const Value*, 4>;

// The shared variables that the pointer may point into; with the pointer itself, when it points
// into shared memory that is not known.
Objects shared_objects(const Value* pointer) {
  Objects objects;
  getUnderlyingObjects(pointer, objects);
  erase_if(objects, [](const Value* object) {
    auto* variable = dyn_cast<GlobalVariable>(object);
    return variable ? !is_shared(*variable) : object->getType()->getPointerAddressSpace() != 3;
  });
  return objects;
}

// The address, when it may be one in shared memory, else null.
const Value* shared_address(const Value* pointer) {
  return shared_objects(pointer).empty() ? nullptr : pointer;
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
  Objects others = shared_objects(b);
  return any_of(shared_objects(a), [&](const Value* one) {
    return any_of(others, [&](const Value* other) {
      auto* variable = dyn_cast<GlobalVariable>(one);
      auto* second = dyn_cast<GlobalVariable>(other);
      if (!variable || !second || variable == second) return true;
      return variable->isDeclaration() && second->isDeclaration();
    });
  });
}

bool is_meeting(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  const BuiltinRow* row = call ? find_builtin(*call) : nullptr;
  return row && row->flags & (is_barrier | is_warp_op);
}

// Whether lanes may come from `start` to an instruction of the kind without meeting.
bool reaches(const Instruction& start, function_ref<bool(const Instruction&)> kind) {
  SmallPtrSet<const BasicBlock*, 16> seen;
  SmallVector<const BasicBlock*, 16> work;
  auto look = [&](BasicBlock::const_iterator from, const BasicBlock* block) {
    for (const Instruction& instruction : make_range(from, block->end())) {
      if (is_meeting(instruction)) return false;
      if (kind(instruction)) return true;
    }
    work.append(succ_begin(block), succ_end(block));
    return false;
  };
  if (look(std::next(start.getIterator()), start.getParent())) return true;
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    if (seen.insert(block).second && look(block->begin(), block)) return true;
  }
  return false;
}

// Another lane may read what the instruction writes.
bool is_seen_early(const Instruction& store, const Shapes& shapes) {
  const Value* address = written(store);
  return address && reaches(store, [&](const Instruction& instruction) {
           const Value* other = read(instruction);
           bool own_place = other == address && !shapes.is_uniform(address);
           return other && !own_place && may_overlap(address, other);
         });
}

// Another lane may overwrite what the instruction is to read: a write to a place that the lane
// never looks at. (Where it does, as in a swap or a sum, the places are its own by all experience.)
bool is_overwritten_early(const Instruction& load) {
  const Value* address = read(load);
  return address && reaches(load, [&](const Instruction& instruction) {
           const Value* other = written(instruction);
           return other && other != address &&
                  none_of(other->users(), [](const User* user) { return isa<LoadInst>(user); }) &&
                  may_overlap(address, other);
         });
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
  return any_of(instructions(kernel), [&](const Instruction& instruction) {
    return is_seen_early(instruction, shapes) || is_overwritten_early(instruction);
  });
}

}  // namespace td::softdev::simt
