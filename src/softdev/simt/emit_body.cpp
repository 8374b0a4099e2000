// Control flow of a warp: direct partial linearisation.
//
// Blocks are emitted in the plan's order. D(b) is the set of blocks that lanes still have to visit
// when b is entered. A divergent branch adds both successors to D and jumps to the earliest; a
// uniform branch stays a branch. What an edge does for its target (mask, phis) is done in its
// source. A loop that lanes leave in different iterations runs while its header's mask has a lane;
// its exits are in D from the start, so that an early way out finds lanes that left before.
#include <llvm/IR/CFG.h>
#include <llvm/IR/Intrinsics.h>

#include "softdev/simt/progress.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

WarpEmitter::WarpEmitter(const KernelContext& kernel, const Shapes& shapes, const ControlPlan& plan,
                         const LaunchValues& launch, Function* function)
    : kernel_(kernel),
      shapes_(shapes),
      plan_(plan),
      launch_(launch),
      function_(function),
      context_(function->getContext()),
      data_(kernel.thread->getParent()->getDataLayout()),
      width_(shapes.layout().width),
      b_(context_),
      compact_(shapes.layout().kind == ThreadLayout::linear) {}

void WarpEmitter::emit(BasicBlock* at, BasicBlock* next) {
  next_ = next;
  const BasicBlock* entry = plan_.order().front();
  b_.SetInsertPoint(at);
  SmallVector<Constant*> indices;
  for (unsigned l = 0; l < width_; ++l) indices.push_back(b_.getInt32(l));
  Value* mask = b_.CreateICmpULT(ConstantVector::get(indices), splat(launch_.lanes), "entry.mask");
  StoreInst* start = b_.CreateStore(mask, mask_slot(entry));
  if (kernel_.has_barrier) {
    exited_ = stack_slot(mask_type(), Align(4), "exited");
    b_.CreateStore(Constant::getNullValue(mask_type()), exited_);
  }
  clear_masks(nullptr);
  Scope scope;
  scope.end = plan_.order().size();
  scope.may_split = !compact_;
  auto* lanes = dyn_cast<ConstantInt>(launch_.lanes);
  if (lanes && lanes->equalsInt(width_)) scope.full_owner = plan_.mask_owner(entry);
  b_.CreateBr(landing(scope, entry));
  emit_range(scope, 0, scope.end);
  // Nothing is handed from one warp to the next: says so, or the slots would become values that
  // circulate.
  b_.SetInsertPoint(start);
  for (const auto& [value, slot] : slots_)
    b_.CreateStore(may_be_undefined(value) ? Constant::getNullValue(slot->getAllocatedType())
                                           : PoisonValue::get(slot->getAllocatedType()),
                   slot);
  for (const auto& [owner, slot] : masks_)
    b_.CreateStore(PoisonValue::get(slot->getAllocatedType()), slot);
  for (const auto& [cast, slot] : guards_)
    b_.CreateStore(PoisonValue::get(slot->getAllocatedType()), slot);
}

// Some bits of such a phi may be set and read all the same (structures with gaps): poison would
// spoil them too.
bool WarpEmitter::may_be_undefined(const Value* value) {
  auto* phi = dyn_cast<PHINode>(value);
  return phi && any_of(phi->incoming_values(), [](const Value* incoming) {
           return isa<UndefValue>(incoming) && !isa<PoisonValue>(incoming);
         });
}

void WarpEmitter::emit_range(Scope& scope, unsigned begin, unsigned end) {
  unsigned at = begin;
  while (at < end) {
    const BasicBlock* block = plan_.order()[at];
    if (wants_split(scope, block, plan_.end_of_dominated(block))) {
      at = emit_split(scope, block);
      continue;
    }
    b_.SetInsertPoint(landing(scope, block));
    enter(scope, block, true);
    emit_block(scope, block);
    ++at;
  }
}

// Blocks dominated by `block`, twice: for all lanes alive, where memory needs no mask, and for
// some.
unsigned WarpEmitter::emit_split(Scope& scope, const BasicBlock* block) {
  unsigned begin = plan_.position(block);
  unsigned end = std::min(plan_.end_of_dominated(block), scope.end);
  BasicBlock* full_block = new_block("full");
  BasicBlock* partial_block = new_block("partial");
  b_.SetInsertPoint(landing(scope, block));
  Value* is_full =
      begin == 0 ? b_.CreateICmpEQ(launch_.lanes, b_.getInt32(width_)) : all(mask_of(scope, block));
  b_.CreateCondBr(is_full, full_block, partial_block);
  Scope full;
  full.parent = &scope;
  full.begin = begin;
  full.end = end;
  full.may_split = scope.may_split;
  full.full_owner = plan_.mask_owner(block);
  full.landings[block] = full_block;
  b_.SetInsertPoint(full_block);
  enter(full, block, false);
  emit_block(full, block);
  emit_range(full, begin + 1, end);
  Scope partial;
  partial.parent = &scope;
  partial.begin = begin;
  partial.end = end;
  partial.may_split = false;
  partial.landings[block] = partial_block;
  b_.SetInsertPoint(partial_block);
  enter(partial, block, true);
  emit_block(partial, block);
  emit_range(partial, begin + 1, end);
  return end;
}

// Worth it when the block's lanes access global memory at lane-dependent addresses, and the region
// is small.
bool WarpEmitter::wants_split(const Scope& scope, const BasicBlock* block, unsigned end) const {
  constexpr unsigned max_instructions = 400;
  if (!scope.may_split || plan_.mask_owner(block) != block || is_full(scope, block)) return false;
  if (const Loop* headed = plan_.headed_loop(block); headed && shapes_.diverges(headed))
    return false;
  unsigned size = 0;
  bool profits = false;
  for (unsigned at = plan_.position(block); at < std::min(end, scope.end); ++at) {
    const BasicBlock* member = plan_.order()[at];
    size += member->size();
    if (plan_.mask_owner(member) != block) continue;
    for (const Instruction& instruction : *member) {
      const Value* pointer = getLoadStorePointerOperand(&instruction);
      profits |= pointer && !shapes_.is_uniform(pointer) && space_of(pointer) == Space::global;
    }
  }
  return profits && size <= max_instructions;
}

bool WarpEmitter::needs_live_lane(const BasicBlock* block) const {
  constexpr unsigned cheap = 8;
  auto* branch = dyn_cast<BranchInst>(block->getTerminator());
  if (plan_.headed_loop(block) || block->size() > cheap) return true;
  if (branch && branch->isConditional() && !shapes_.diverges(block)) return true;
  for (const Instruction& instruction : *block) {
    if (instruction.mayReadOrWriteMemory() || isa<CallInst>(instruction)) return true;
    if (auto* op = dyn_cast<BinaryOperator>(&instruction); op && op->isIntDivRem()) return true;
  }
  return false;
}

// Positions b_ where the block's instructions go. With `guard`, skips the block when no lane needs
// it.
void WarpEmitter::enter(Scope& scope, const BasicBlock* block, bool guard) {
  local_.clear();
  Deferred rest = deferred_[block];
  rest.erase(plan_.position(block));
  if (guard && !rest.empty() && !is_full(scope, block) && needs_live_lane(block)) {
    BasicBlock* alive = new_block(block->getName() + ".alive");
    BasicBlock* skip = new_block(block->getName() + ".skip");
    b_.CreateCondBr(any(mask_of(scope, block)), alive, skip);
    b_.SetInsertPoint(skip);
    jump(scope, rest);
    b_.SetInsertPoint(alive);
  }
  const Loop* loop = plan_.headed_loop(block);
  if (!loop) return;
  if (shapes_.diverges(loop)) {
    SmallVector<BasicBlock*> exits;
    loop->getUniqueExitBlocks(exits);
    for (const BasicBlock* exit : exits) deferred_[block].insert(plan_.position(exit));
  }
  BasicBlock* head = loop_head(scope, block);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  clear_masks(loop);
}

void WarpEmitter::emit_block(Scope& scope, const BasicBlock* block) {
  current_ = block;
  full_ = is_full(scope, block);
  mask_ = mask_of(scope, block);
  for (const Instruction& instruction : *block)
    if (!isa<PHINode>(instruction) && !instruction.isTerminator()) emit_instruction(instruction);
  leave(scope, block);
}

// Phis at an edge are parallel copies, and a loop's last edge reads the values from before its back
// edge: everything that the edges will read is read first.
void WarpEmitter::read_for_edges(const BasicBlock* block) {
  for (const BasicBlock* to : successors(block))
    for (const PHINode& phi : to->phis()) read_ahead(phi.getIncomingValueForBlock(block));
}

void WarpEmitter::read_ahead(const Value* value) {
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction) return;
  Shape shape = shapes_.of(value);
  if (shape.constant_base) return;
  stored_value(value);
  if (shape.guards.empty()) return;
  for (const Use& use : instruction->operands()) read_ahead(use.get());
}

void WarpEmitter::leave(Scope& scope, const BasicBlock* block) {
  read_for_edges(block);
  Deferred rest = deferred_[block];
  rest.erase(plan_.position(block));
  auto* branch = dyn_cast<BranchInst>(block->getTerminator());
  if (!branch) {
    if (rest.empty())
      b_.CreateBr(next_);
    else
      jump(scope, rest);
    return;
  }
  auto target = [&](unsigned i) { return plan_.position(branch->getSuccessor(i)); };
  const Loop* loop = plan_.loop_of(block);
  if (loop && loop->getLoopLatch() == block && shapes_.diverges(loop))
    return leave_latch(scope, block, loop);
  auto follow = [&](unsigned i) {
    take_edge(scope, block, i, full_ ? nullptr : mask_);
    const BasicBlock* to = branch->getSuccessor(i);
    if (plan_.is_back_edge(block, to)) {
      emit_yield(block);
      b_.CreateBr(loop_head(scope, to));
      return;
    }
    Deferred targets = rest;
    targets.insert(target(i));
    jump(scope, targets);
  };
  if (branch->isUnconditional()) return follow(0);
  if (!shapes_.diverges(block)) {
    BasicBlock* yes = new_block(block->getName() + ".yes");
    BasicBlock* no = new_block(block->getName() + ".no");
    b_.CreateCondBr(scalar(branch->getCondition()), yes, no);
    b_.SetInsertPoint(yes);
    follow(0);
    b_.SetInsertPoint(no);
    follow(1);
    return;
  }
  Value* condition = vector(branch->getCondition());
  take_edge(scope, block, 0, both(mask_, condition));
  take_edge(scope, block, 1, but_not(mask_, condition));
  rest.insert(target(0));
  rest.insert(target(1));
  jump(scope, rest);
}

// The latch of a loop that lanes leave in different iterations.
void WarpEmitter::leave_latch(Scope& scope, const BasicBlock* block, const Loop* loop) {
  auto* branch = cast<BranchInst>(block->getTerminator());
  Deferred rest = deferred_[block];
  rest.erase(plan_.position(block));
  Value* staying = nullptr;
  Value* condition = branch->isConditional() ? vector(branch->getCondition()) : nullptr;
  SmallVector<Value*> edge_masks;
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i)
    edge_masks.push_back(!condition ? mask_
                         : i == 0   ? both(mask_, condition)
                                    : but_not(mask_, condition));
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    if (branch->getSuccessor(i) == loop->getHeader())
      staying = edge_masks[i];
    else
      rest.insert(plan_.position(branch->getSuccessor(i)));
    take_edge(scope, block, i, edge_masks[i]);
  }
  BasicBlock* done = new_block(block->getName() + ".done");
  BasicBlock* head = loop_head(scope, loop->getHeader());
  bool waits = kernel_.progress && kernel_.progress->waiting.count(loop->getHeader());
  BasicBlock* again = waits ? new_block(block->getName() + ".again") : head;
  b_.CreateCondBr(any(staying), again, done);
  if (again != head) {
    b_.SetInsertPoint(again);
    emit_yield(block);
    b_.CreateBr(head);
  }
  b_.SetInsertPoint(done);
  jump(scope, rest);
}

// Lanes of `edge_mask` (null: all) go from `from` to one of its successors: mask and phis of the
// target.
void WarpEmitter::take_edge(Scope& scope, const BasicBlock* from, unsigned successor,
                            Value* edge_mask) {
  const BasicBlock* to = from->getTerminator()->getSuccessor(successor);
  bool back = plan_.is_back_edge(from, to);
  Value* mask = edge_mask ? edge_mask : full_mask();
  if (plan_.mask_owner(to) == to) {
    AllocaInst* slot = mask_slot(to);
    b_.CreateStore(back ? mask : b_.CreateOr(b_.CreateLoad(mask_type(), slot), mask), slot);
  }
  note_exits(to, mask);
  bool sole = plan_.is_sole_edge(from, to) || !edge_mask;
  SmallVector<std::pair<const PHINode*, Value*>> updates;
  for (const PHINode& phi : to->phis()) {
    const Value* incoming = phi.getIncomingValueForBlock(from);
    if (isa<UndefValue>(incoming)) continue;
    if (shapes_.of(&phi).kind != Shape::varying) {
      updates.push_back({&phi, scalar(incoming)});
      continue;
    }
    Value* value = vector(incoming);
    if (!sole) {
      if (value->getType()->isStructTy())
        refuse(phi, "a structure that depends on divergent control flow is");
      value = b_.CreateSelect(mask, value, b_.CreateLoad(value->getType(), slot(&phi)));
    }
    updates.push_back({&phi, value});
  }
  for (auto& [phi, value] : updates) b_.CreateStore(value, slot(phi));
}

// Goes to the earliest target; the others wait until it and its successors have been visited.
void WarpEmitter::jump(Scope& scope, Deferred targets) {
  const BasicBlock* first = plan_.order()[*targets.begin()];
  deferred_[first].insert(targets.begin(), targets.end());
  b_.CreateBr(landing(scope, first));
}

BasicBlock* WarpEmitter::landing(Scope& scope, const BasicBlock* block) {
  unsigned position = plan_.position(block);
  Scope* owner = &scope;
  while (owner->parent && (position < owner->begin || position >= owner->end))
    owner = owner->parent;
  BasicBlock*& made = owner->landings[block];
  if (!made) made = new_block(block->getName());
  return made;
}

BasicBlock* WarpEmitter::loop_head(Scope& scope, const BasicBlock* header) {
  unsigned position = plan_.position(header);
  Scope* owner = &scope;
  while (owner->parent && (position < owner->begin || position >= owner->end))
    owner = owner->parent;
  BasicBlock*& made = owner->loop_heads[header];
  if (!made) made = new_block(header->getName() + ".loop");
  return made;
}

BasicBlock* WarpEmitter::new_block(const Twine& name) {
  return BasicBlock::Create(context_, name, function_);
}

bool WarpEmitter::is_full(const Scope& scope, const BasicBlock* block) const {
  const BasicBlock* owner = plan_.mask_owner(block);
  for (const Scope* s = &scope; s; s = s->parent)
    if (s->full_owner == owner) return true;
  return false;
}

Value* WarpEmitter::mask_of(const Scope& scope, const BasicBlock* block) {
  if (is_full(scope, block)) return full_mask();
  return b_.CreateLoad(mask_type(), mask_slot(plan_.mask_owner(block)));
}

AllocaInst* WarpEmitter::mask_slot(const BasicBlock* owner) {
  AllocaInst*& made = masks_[owner];
  if (!made) made = stack_slot(mask_type(), Align(4), owner->getName() + ".mask");
  return made;
}

// Masks of the blocks of one loop level are collected anew in each iteration.
void WarpEmitter::clear_masks(const Loop* level) {
  for (const BasicBlock* block : plan_.order()) {
    if (plan_.mask_owner(block) != block || block == plan_.order().front()) continue;
    const Loop* headed = plan_.headed_loop(block);
    const Loop* home = headed ? headed->getParentLoop() : plan_.loop_of(block);
    if (home == level) b_.CreateStore(Constant::getNullValue(mask_type()), mask_slot(block));
  }
}

// Only a bare return is a way out: lanes on the way to a final block with work in it still take
// part in barriers.
void WarpEmitter::note_exits(const BasicBlock* to, Value* edge_mask) {
  if (!exited_ || !only_returns(to)) return;
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(mask_type(), exited_), edge_mask), exited_);
}

}  // namespace td::softdev::simt
