#include "softdev/simt/phase_loops.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "softdev/simt/block_uniformity.h"
#include "softdev/simt/live_values.h"
#include "softdev/simt/phases.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

constexpr unsigned finished = ~0u;  // the end of a phase that is no barrier

bool calls(const Instruction& instruction, StringRef name) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

// A piece of the warp's code from its start or from behind a barrier up to the next barriers.
struct Phase {
  BasicBlock* start = nullptr;
  SetVector<BasicBlock*> blocks;  // of the original
  SmallVector<unsigned> ends;     // numbers of the barriers that it reaches, `finished`
  std::vector<Instruction*> live;
  BasicBlock* before = nullptr;  // the copy: where it is entered
};

class PhaseLoops {
 public:
  explicit PhaseLoops(Function& function) : function_(function) {}

  bool run() {
    find_parts();
    if (!find_phases()) return false;
    BlockUniformity uniformity(function_, dispatch_);
    for (Phase& phase : phases_)
      if (phase.ends.size() > 1 && !ends_alike(phase, uniformity)) return false;
    LiveValues live(function_, dispatch_);
    for (unsigned k = 1; k < phases_.size(); ++k)
      phases_[k].live = live.live_into(phases_[k].start);
    classify(uniformity);
    for (Phase& phase : phases_)
      phase.before = BasicBlock::Create(function_.getContext(), "td.phase", &function_);
    for (Phase& phase : phases_) build(phase);
    for (BasicBlock* from : SmallVector<BasicBlock*>(predecessors(round_)))
      if (from != swept_) from->getTerminator()->replaceSuccessorWith(round_, phases_[0].before);
    for (BasicBlock& block : function_)
      for (Instruction& instruction : make_early_inc_range(block))
        if (calls(instruction, phase_barrier_marker)) instruction.eraseFromParent();
    removeUnreachableBlocks(function_);
    return true;
  }

 private:
  // ---- the original ----

  void find_parts() {
    SmallVector<CallInst*> markers;
    for (Instruction& instruction : instructions(function_)) {
      if (calls(instruction, phase_barrier_marker)) markers.push_back(cast<CallInst>(&instruction));
      if (calls(instruction, phase_dispatch_marker)) dispatch_ = cast<CallInst>(&instruction);
    }
    for (BasicBlock& block : function_) {
      if (block.getName() == "td.next") next_ = &block;
      if (block.getName() == "td.finished") finish_ = &block;
      if (block.getName() == "td.round") round_ = &block;
      if (block.getName() == "td.swept") swept_ = &block;
      if (block.getName() == "td.done") done_ = &block;
    }
    head_ = dispatch_->getParent();
    phases_.emplace_back().start = head_->splitBasicBlock(dispatch_->getNextNode(), "start");
    for (CallInst* marker : markers) {
      BasicBlock* before = marker->getParent();
      barriers_[before] = static_cast<unsigned>(phases_.size());
      phases_.emplace_back().start = before->splitBasicBlock(marker->getNextNode(), "resume");
    }
  }

  // The end of the phase that this block is, 0 for none.
  unsigned end_of(BasicBlock* block) const {
    return block == finish_ ? finished : barriers_.lookup(block);
  }

  // The blocks of each phase; false where copies would become too many.
  bool find_phases() {
    std::size_t size = function_.getInstructionCount(), copied = 0;
    for (Phase& phase : phases_) {
      phase.blocks.insert(phase.start);
      for (unsigned i = 0; i < phase.blocks.size(); ++i) {
        BasicBlock* block = phase.blocks[i];
        copied += block->size();
        if (unsigned end = end_of(block)) {
          if (!is_contained(phase.ends, end)) phase.ends.push_back(end);
          continue;
        }
        for (BasicBlock* to : successors(block)) phase.blocks.insert(to);
      }
      if (phase.ends.empty()) return false;
    }
    return copied <= 3 * size + 200 && copied <= 20000;
  }

  // All warps reach the same end: a branch that they take differently joins again before an end, or
  // leads to one end only.
  bool ends_alike(const Phase& phase, const BlockUniformity& uniformity) const {
    unsigned count = phase.blocks.size();
    DenseMap<BasicBlock*, unsigned> numbers;
    for (unsigned i = 0; i < count; ++i) numbers[phase.blocks[i]] = i;
    // Post-dominators, and the ends that a block leads to.
    std::vector<BitVector> later(count, BitVector(count, true)), ends(count, BitVector(count));
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned i = count; i-- > 0;) {
        BasicBlock* block = phase.blocks[i];
        BitVector always(count, true), reached(count);
        if (end_of(block)) {
          always.reset();
          reached.set(i);
        } else {
          for (BasicBlock* to : successors(block)) {
            always &= later[numbers[to]];
            reached |= ends[numbers[to]];
          }
        }
        always.set(i);
        changed |= always != later[i] || reached != ends[i];
        later[i] = std::move(always);
        ends[i] = std::move(reached);
      }
    }
    for (unsigned i = 0; i < count; ++i) {
      Instruction* end = phase.blocks[i]->getTerminator();
      if (end_of(phase.blocks[i]) || end->getNumSuccessors() < 2 || ends[i].count() < 2 ||
          uniformity.is_uniform(end->getOperand(0)))
        continue;
      if (later[i].count() < 2) return false;
    }
    return true;
  }

  // ---- values between phases ----

  // A cheap function of the warp's first thread and of what exists before.
  bool is_cheap(const Instruction* value, unsigned& budget) const {
    if (isa<PHINode, CallInst>(value) || value->mayReadOrWriteMemory() ||
        !isSafeToSpeculativelyExecute(value) || budget-- == 0)
      return false;
    return all_of(value->operands(), [&](const Use& use) {
      auto* operand = dyn_cast<Instruction>(use.get());
      return !operand || is_early(operand) || is_cheap(operand, budget);
    });
  }
  bool is_early(const Instruction* value) const { return dominators_->dominates(value, dispatch_); }

  // A slot for each value that lives across a barrier; behind this, no other value does.
  void classify(const BlockUniformity& uniformity) {
    DominatorTree dominators(function_);
    dominators_ = &dominators;
    SetVector<Instruction*> values;
    for (Phase& phase : phases_) values.insert(phase.live.begin(), phase.live.end());
    SmallVector<Type*> members;
    IRBuilder<> b(function_.getEntryBlock().getTerminator());
    for (Instruction* value : values) {
      unsigned budget = value->getType()->isVectorTy() ? 4 : 8;
      Kept& kept = kept_[value];
      if (uniformity.is_uniform(value)) {
        kept.current = b.CreateAlloca(value->getType(), nullptr, "alike");
        kept.coming = b.CreateAlloca(value->getType(), nullptr, "alike.next");
      } else if (is_cheap(value, budget)) {
        kept.again = keep_copy(value);
      } else {
        kept.member = static_cast<int>(members.size());
        members.push_back(value->getType());
      }
    }
    make_frames(members);
    for (Instruction* value : values) {
      BasicBlock::iterator at = function_.getEntryBlock().begin();
      kept_[value].slot = DemoteRegToStack(*value, false, at);
    }
    dominators_ = nullptr;
  }

  // The expression in front of the dispatch: part of the setup, so that each phase computes it.
  Value* keep_copy(const Instruction* value) {
    if (is_early(value)) return const_cast<Instruction*>(value);
    Instruction* copy = value->clone();
    for (Use& use : copy->operands())
      if (auto* operand = dyn_cast<Instruction>(use.get())) use.set(keep_copy(operand));
    copy->insertBefore(dispatch_);
    return copy;
  }

  void make_frames(ArrayRef<Type*> members) {
    if (members.empty()) return;
    frame_type_ = StructType::get(function_.getContext(), members);
    IRBuilder<> b(function_.getEntryBlock().getTerminator());
    frames_ = b.CreateAlloca(frame_type_, dispatch_->getArgOperand(1), "frames");
    frames_->setAlignment(Align(64));
  }

  struct Kept {
    AllocaInst* slot = nullptr;
    AllocaInst *current = nullptr, *coming = nullptr;  // alike in all warps
    Value* again = nullptr;                            // computed again
    int member = -1;                                   // of the frame
  };

  // ---- the copies ----

  void build(Phase& phase) {
    ValueToValueMapTy map;
    auto copy = [&](BasicBlock* block) {
      BasicBlock* made = CloneBasicBlock(block, map, ".phase", &function_);
      map[block] = made;
      return made;
    };
    BasicBlock* after = BasicBlock::Create(function_.getContext(), "td.phase.done", &function_);
    IRBuilder<> b(phase.before);
    SmallVector<BasicBlock*> copies{copy(round_), copy(head_), copy(next_)};
    b.CreateBr(copies[0]);
    for (BasicBlock* block : phase.blocks) copies.push_back(copy(block));
    map[swept_] = after;
    // Each loop has slots of its own, and hands nothing from warp to warp in them.
    b.SetInsertPoint(function_.getEntryBlock().getTerminator());
    for (auto& [value, kept] : kept_)
      map[kept.slot] = b.CreateAlloca(kept.slot->getAllocatedType(), nullptr, value->getName());
    AllocaInst* reached = b.CreateAlloca(b.getInt32Ty(), nullptr, "reached");
    remapInstructionsInBlocks(copies, map);
    copies[1]->getTerminator()->setSuccessor(0, cast<BasicBlock>(map[phase.start]));
    for (BasicBlock* block : copies) drop_foreign_edges(block);
    enter(phase, cast<BasicBlock>(map[head_]), map);
    for (BasicBlock* block : phase.blocks)
      if (unsigned end = end_of(block)) leave(end, cast<BasicBlock>(map[block]), map, reached);
    go_on(phase, after, reached);
  }

  // Of the phis only what comes from inside of the copy.
  static void drop_foreign_edges(BasicBlock* block) {
    SmallPtrSet<BasicBlock*, 8> from(pred_begin(block), pred_end(block));
    for (PHINode& phi : make_early_inc_range(block->phis()))
      for (unsigned i = phi.getNumIncomingValues(); i-- > 0;)
        if (!from.count(phi.getIncomingBlock(i))) phi.removeIncomingValue(i, false);
  }

  Value* member(IRBuilder<>& b, Value* warp, const Kept& kept) {
    Value* frame = b.CreateInBoundsGEP(frame_type_, frames_, warp);
    return b.CreateStructGEP(frame_type_, frame, static_cast<unsigned>(kept.member));
  }
  static Value* mapped(ValueToValueMapTy& map, Value* value) {
    auto found = map.find(value);
    return found == map.end() ? value : static_cast<Value*>(found->second);
  }
  Value* warp_number(ValueToValueMapTy& map) { return mapped(map, dispatch_->getArgOperand(0)); }

  void enter(const Phase& phase, BasicBlock* head, ValueToValueMapTy& map) {
    IRBuilder<> b(head->getTerminator());
    for (auto& [value, kept] : kept_) {
      Value* slot = map[kept.slot];
      Type* type = kept.slot->getAllocatedType();
      Value* content = PoisonValue::get(type);
      if (is_contained(phase.live, value)) {
        if (kept.current)
          content = b.CreateLoad(type, kept.current);
        else if (kept.again)
          content = mapped(map, kept.again);
        else
          content = b.CreateLoad(type, member(b, warp_number(map), kept));
      }
      b.CreateStore(content, slot);
    }
    for (Instruction& instruction : make_early_inc_range(*head))
      if (calls(instruction, phase_dispatch_marker)) instruction.eraseFromParent();
  }

  void leave(unsigned end, BasicBlock* block, ValueToValueMapTy& map, AllocaInst* reached) {
    Instruction* terminator = block->getTerminator();
    IRBuilder<> b(terminator);
    b.CreateStore(b.getInt32(end), reached);
    if (end != finished)
      for (Instruction* value : phases_[end].live) {
        const Kept& kept = kept_.find(value)->second;
        if (kept.again) continue;
        Value* content = b.CreateLoad(value->getType(), map[kept.slot]);
        b.CreateStore(content, kept.coming ? kept.coming : member(b, warp_number(map), kept));
      }
    b.CreateBr(cast<BasicBlock>(map[next_]));
    terminator->eraseFromParent();
  }

  // Behind the loop: the next phase takes over what is alike.
  void go_on(const Phase& phase, BasicBlock* after, AllocaInst* reached) {
    IRBuilder<> b(after);
    SetVector<Instruction*> live;
    for (unsigned end : phase.ends)
      if (end != finished) live.insert(phases_[end].live.begin(), phases_[end].live.end());
    for (Instruction* value : live)
      if (const Kept& kept = kept_.find(value)->second; kept.current)
        b.CreateStore(b.CreateLoad(value->getType(), kept.coming), kept.current);
    auto target = [&](unsigned end) { return end == finished ? done_ : phases_[end].before; };
    SwitchInst* choose = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), reached),
                                        target(phase.ends[0]), phase.ends.size());
    for (unsigned end : drop_begin(phase.ends)) choose->addCase(b.getInt32(end), target(end));
  }

  Function& function_;
  CallInst* dispatch_ = nullptr;
  BasicBlock *next_ = nullptr, *finish_ = nullptr, *round_ = nullptr, *swept_ = nullptr,
             *done_ = nullptr, *head_ = nullptr;
  DenseMap<BasicBlock*, unsigned> barriers_;  // block that ends in one -> number of its phase
  std::vector<Phase> phases_;
  DominatorTree* dominators_ = nullptr;
  MapVector<Instruction*, Kept> kept_;
  StructType* frame_type_ = nullptr;
  AllocaInst* frames_ = nullptr;
};

}  // namespace

bool split_into_loops(Function& function) { return PhaseLoops(function).run(); }

}  // namespace td::softdev::simt
