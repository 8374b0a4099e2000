#include "softdev/simt/phases.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <vector>

#include "softdev/simt/live_values.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

bool calls(const Instruction& instruction, StringRef name) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

class PhaseSplitter {
 public:
  explicit PhaseSplitter(Function& function) : function_(function) {}

  void run() {
    find_markers();
    split_blocks();
    LiveValues live(function_, dispatch_);
    for (Barrier& barrier : barriers_) barrier.live = live.live_into(barrier.after);
    make_frame();
    for (unsigned k = 0; k < barriers_.size(); ++k) cut(k);
    make_dispatch();
    for (Instruction* value : spilled_) repair(value);
    for (CallInst* marker : markers_) marker->eraseFromParent();
  }

 private:
  struct Barrier {
    BasicBlock *before, *after;
    std::vector<Instruction*> live;
    DenseMap<Instruction*, Value*> reloads;
  };

  void find_markers() {
    for (Instruction& instruction : instructions(function_)) {
      if (calls(instruction, phase_barrier_marker))
        markers_.push_back(cast<CallInst>(&instruction));
      if (calls(instruction, phase_dispatch_marker)) dispatch_ = cast<CallInst>(&instruction);
    }
    for (BasicBlock& block : function_)
      if (block.getName() == "td.next") next_ = &block;
  }

  void split_blocks() {
    for (CallInst* marker : markers_) {
      BasicBlock* before = marker->getParent();
      BasicBlock* after = before->splitBasicBlock(marker->getNextNode(), "resume");
      Barrier& barrier = barriers_.emplace_back();
      barrier.before = before;
      barrier.after = after;
    }
    head_ = dispatch_->getParent();
    start_ = head_->splitBasicBlock(dispatch_->getNextNode(), "start");
  }

  void make_frame() {
    SmallVector<Type*> members;
    for (Barrier& barrier : barriers_)
      for (Instruction* value : barrier.live)
        if (!members_.count(value)) {
          members_[value] = static_cast<unsigned>(members.size());
          members.push_back(value->getType());
          spilled_.push_back(value);
        }
    frame_type_ = StructType::get(function_.getContext(), members);
    // Before the first round, where the number of warps is known.
    Value* warps = dispatch_->getArgOperand(1);
    IRBuilder<> b(function_.getEntryBlock().getTerminator());
    frames_ = b.CreateAlloca(frame_type_, warps, "frames");
    frames_->setAlignment(Align(64));
    places_ = b.CreateAlloca(b.getInt32Ty(), warps, "places");
    b.CreateMemSet(places_, b.getInt8(0),
                   b.CreateMul(b.CreateZExt(warps, b.getInt64Ty()), b.getInt64(4)), Align(4));
  }

  // Where warp w goes on: 0 its start, k + 1 after barrier k, all ones nowhere.
  Value* place(IRBuilder<>& b) {
    return b.CreateInBoundsGEP(b.getInt32Ty(), places_, dispatch_->getArgOperand(0));
  }

  Value* member(IRBuilder<>& b, Instruction* value) {
    Value* frame = b.CreateInBoundsGEP(frame_type_, frames_, dispatch_->getArgOperand(0));
    return b.CreateStructGEP(frame_type_, frame, members_[value]);
  }

  // Barrier k: save, note, go to the next warp; on return, load.
  void cut(unsigned k) {
    Barrier& barrier = barriers_[k];
    Instruction* end = barrier.before->getTerminator();
    IRBuilder<> b(end);
    for (Instruction* value : barrier.live) b.CreateStore(value, member(b, value));
    b.CreateStore(b.getInt32(k + 1), place(b));
    b.CreateStore(b.getInt8(1), dispatch_->getArgOperand(2));
    b.CreateBr(next_);
    end->eraseFromParent();
    b.SetInsertPoint(barrier.after, barrier.after->begin());
    for (Instruction* value : barrier.live)
      barrier.reloads[value] = b.CreateLoad(value->getType(), member(b, value));
  }

  void make_dispatch() {
    Instruction* end = head_->getTerminator();
    IRBuilder<> b(end);
    SwitchInst* choose = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), place(b)), next_,
                                        static_cast<unsigned>(barriers_.size()) + 1);
    choose->addCase(b.getInt32(0), start_);
    for (unsigned k = 0; k < barriers_.size(); ++k)
      choose->addCase(b.getInt32(k + 1), barriers_[k].after);
    end->eraseFromParent();
    // The last place: a warp that has finished is passed over.
    for (BasicBlock& block : function_)
      if (block.getName() == "td.finished") {
        IRBuilder<> at(block.getTerminator());
        at.CreateStore(at.getInt32(~0u), place(at));
      }
    markers_.push_back(dispatch_);
  }

  void repair(Instruction* value) {
    SSAUpdater updater;
    updater.Initialize(value->getType(), value->getName());
    updater.AddAvailableValue(value->getParent(), value);
    SmallVector<Use*> uses;
    for (Use& use : value->uses()) uses.push_back(&use);
    for (Barrier& barrier : barriers_)
      if (Value* reload = barrier.reloads.lookup(value))
        updater.AddAvailableValue(barrier.after, reload);
    for (Use* use : uses) {
      auto* user = cast<Instruction>(use->getUser());
      if (isa<PHINode>(user)) {
        updater.RewriteUse(*use);
        continue;
      }
      Value* here = user->getParent() == value->getParent() ? value : nullptr;
      for (Barrier& barrier : barriers_)
        if (barrier.after == user->getParent() && barrier.reloads.count(value))
          here = barrier.reloads[value];
      if (here)
        use->set(here);
      else
        updater.RewriteUse(*use);
    }
  }

  Function& function_;
  SmallVector<CallInst*> markers_;
  CallInst* dispatch_ = nullptr;
  BasicBlock *next_ = nullptr, *head_ = nullptr, *start_ = nullptr;
  std::vector<Barrier> barriers_;
  std::vector<Instruction*> spilled_;
  DenseMap<Instruction*, unsigned> members_;
  StructType* frame_type_ = nullptr;
  AllocaInst *frames_ = nullptr, *places_ = nullptr;
};

}  // namespace

bool has_phases(const Function& function) {
  for (const Instruction& instruction : instructions(function))
    if (calls(instruction, phase_dispatch_marker)) return true;
  return false;
}

void split_phases(Function& function) { PhaseSplitter(function).run(); }

}  // namespace td::softdev::simt
