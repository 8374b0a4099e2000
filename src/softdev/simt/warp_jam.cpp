#include "softdev/simt/warp_jam.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace td::softdev::simt {

using namespace llvm;

namespace {

constexpr unsigned most_instructions = 400;  // of a warp's code that is put side by side

unsigned warps_of(const Loop& loop) {
  const BasicBlock* latch = loop.getLoopLatch();
  const MDNode* node = latch ? latch->getTerminator()->getMetadata(warp_loop_metadata) : nullptr;
  if (!node) return 0;
  return static_cast<unsigned>(mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue());
}

bool is_masked_access(const Instruction& instruction) {
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case Intrinsic::masked_load:
    case Intrinsic::masked_store:
    case Intrinsic::masked_gather:
    case Intrinsic::masked_scatter:
      return true;
    default:
      return false;
  }
}

// The side-by-side form of one loop over warps. In front of the loop comes another one:
//
//   jammed:  while warps are left for all copies and these take the expected way
//              the code on that way, each instruction for all copies before the next one
//   loop:    the warps that are left
class JammedLoop {
 public:
  JammedLoop(Loop& loop, unsigned warps, unsigned registers)
      : loop_(loop),
        warps_(warps),
        registers_(registers),
        header_(loop.getHeader()),
        latch_(loop.getLoopLatch()),
        before_(loop.getLoopPreheader()),
        exit_(loop.getExitBlock()) {}

  void run() {
    if (!before_ || !exit_ || loop_.getExitingBlock() != latch_ || !find_inductions()) return;
    for (BasicBlock* block : loop_.blocks()) region_.insert(block);
    for (unsigned round = 0; round < 2; ++round) {  // the second knows what is never reached
      find_variant();
      if (!find_region()) return;
    }
    find_variant();
    if (may_interleave() && choose_copies()) build();
  }

 private:
  // ---- what there is ----

  // Computed from what exists before the loop and from header phis that are so themselves.
  bool is_early(const Value* value) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !loop_.contains(instruction)) return true;
    auto [known, is_new] = is_early_.try_emplace(instruction, false);
    if (!is_new) return known->second;
    bool early;
    if (auto* phi = dyn_cast<PHINode>(instruction))
      early = phi->getParent() == header_ && !handed_on_.contains(phi);
    else
      early = !instruction->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(instruction) &&
              all_of(instruction->operands(), [&](const Use& use) { return is_early(use); });
    return is_early_[instruction] = early;
  }

  // The header's phis: those that step from warp to warp, and those that only hand on a value that
  // all warps have alike.
  bool find_inductions() {
    for (std::size_t before = ~std::size_t{0}; before != handed_on_.size();) {
      before = handed_on_.size();
      is_early_.clear();
      for (PHINode& phi : header_->phis())
        if (!is_early(phi.getIncomingValueForBlock(latch_))) handed_on_.insert(&phi);
    }
    return all_of(handed_on_, [&](PHINode* phi) { return is_handed_on_only(phi); });
  }

  bool is_handed_on_only(PHINode* phi) const {
    SetVector<User*> users;
    users.insert(phi->user_begin(), phi->user_end());
    for (unsigned i = 0; i < users.size(); ++i) {
      auto* user = dyn_cast<PHINode>(users[i]);
      if (!user || user->getParent() == exit_) return false;
      if (user->getParent() == header_) continue;
      for (User* next : user->users())
        if (loop_.contains(cast<Instruction>(next))) users.insert(next);
      if (is_inner_header(user->getParent())) return false;
    }
    return true;
  }
  bool is_inner_header(const BasicBlock* block) const {
    return any_of(loop_.getLoopsInPreorder(),
                  [&](const Loop* part) { return part != &loop_ && part->getHeader() == block; });
  }

  // What differs from copy to copy.
  void find_variant() {
    variant_.clear();
    for (PHINode& phi : header_->phis())
      if (!handed_on_.contains(&phi)) variant_.insert(&phi);
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock* block : region_)
        for (Instruction& instruction : *block)
          if (!variant_.contains(&instruction) && depends_on_copy(instruction)) {
            variant_.insert(&instruction);
            changed = true;
          }
    }
  }

  bool depends_on_copy(const Instruction& instruction) const {
    if (instruction.isAtomic()) return true;
    auto* phi = dyn_cast<PHINode>(&instruction);
    if (!phi) return any_of(instruction.operands(), [&](const Use& u) { return is_variant(u); });
    if (phi->getParent() == header_) return false;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      if (region_.contains(phi->getIncomingBlock(i)) && is_variant(phi->getIncomingValue(i)))
        return true;
    return false;
  }
  bool is_variant(const Value* value) const {
    auto* instruction = dyn_cast<Instruction>(value);
    return instruction && variant_.contains(instruction);
  }

  // The blocks on the way that all copies take: a branch on what may differ is decided in advance.
  bool find_region() {
    region_.clear();
    guards_.clear();
    region_.insert(header_);
    for (unsigned i = 0; i < region_.size(); ++i) {
      Instruction* end = region_[i]->getTerminator();
      if (region_[i] == latch_) continue;
      bool decides = isa<BranchInst, SwitchInst>(end) && end->getNumSuccessors() > 1 &&
                     is_variant(end->getOperand(0));
      if (!decides) {
        for (BasicBlock* to : successors(end)) region_.insert(to);
        continue;
      }
      if (!is_early(end->getOperand(0))) return false;
      Guard guard = expect(end);
      if (!guard.way) return false;
      guards_[region_[i]] = guard;
      region_.insert(guard.way);
    }
    return region_.contains(latch_);
  }

  struct Guard {
    ConstantInt* value = nullptr;  // of the condition
    BasicBlock* way = nullptr;
  };

  // The way of whole warps: the largest mask of a switch, the longer side of a branch.
  Guard expect(Instruction* end) const {
    Guard guard;
    if (auto* choice = dyn_cast<SwitchInst>(end)) {
      for (auto& option : choice->cases())
        if (!guard.value || option.getCaseValue()->getValue().ugt(guard.value->getValue()))
          guard = {option.getCaseValue(), option.getCaseSuccessor()};
      return guard;
    }
    auto* branch = cast<BranchInst>(end);
    bool yes = size_behind(branch->getSuccessor(0)) >= size_behind(branch->getSuccessor(1));
    guard.value = ConstantInt::getBool(end->getContext(), yes);
    guard.way = branch->getSuccessor(yes ? 0 : 1);
    return guard;
  }

  std::size_t size_behind(BasicBlock* start) const {
    SetVector<BasicBlock*> blocks;
    blocks.insert(start);
    std::size_t size = 0;
    for (unsigned i = 0; i < blocks.size(); ++i) {
      if (blocks[i] == latch_) continue;
      size += blocks[i]->size();
      for (BasicBlock* to : successors(blocks[i])) blocks.insert(to);
    }
    return size;
  }

  // Warps may run in lockstep unless something has an order of its own or belongs to one warp.
  bool may_interleave() const {
    std::size_t size = 0;
    for (BasicBlock* block : region_) {
      size += block->size();
      for (Instruction& instruction : *block)
        if (!may_interleave(instruction)) return false;
    }
    return size <= most_instructions;
  }

  bool may_interleave(const Instruction& instruction) const {
    if (instruction.isVolatile() || isa<FenceInst, AllocaInst>(instruction)) return false;
    if (auto* call = dyn_cast<CallBase>(&instruction))
      return is_masked_access(instruction) ||
             (call->doesNotAccessMemory() && call->doesNotThrow() && !call->isInlineAsm());
    // State of the block, each warp on top of what the last one left.
    const Value* target = getLoadStorePointerOperand(&instruction);
    return !target || is_variant(target) || !isa<AllocaInst>(getUnderlyingObject(target)) ||
           isa<LoadInst>(instruction);
  }

  // As many copies as the vectors that go round in inner loops leave registers for.
  bool choose_copies() {
    unsigned carried = 0;
    for (Loop* inner : loop_.getSubLoops()) {
      if (!region_.contains(inner->getHeader())) continue;
      unsigned vectors = 0;
      for (Loop* part : inner->getLoopsInPreorder())
        for (PHINode& phi : part->getHeader()->phis())
          if (is_variant(&phi) && phi.getType()->isVectorTy()) vectors += registers_of(phi);
      carried = std::max(carried, vectors);
    }
    if (carried == 0) return false;
    for (copies_ = 4; copies_ > 1; copies_ /= 2)
      if (warps_ % copies_ == 0 && copies_ * carried <= registers_ / 2) return true;
    return false;
  }

  unsigned registers_of(const PHINode& phi) const {
    auto bits = static_cast<unsigned>(phi.getType()->getPrimitiveSizeInBits().getFixedValue());
    unsigned size = registers_ >= 32 ? 512 : 256;
    return std::max(1u, (bits + size - 1) / size);
  }

  // ---- what is made ----

  using Map = DenseMap<const Value*, Value*>;

  // In the side-by-side loop: of this copy, else of all copies, else of the surroundings.
  Value* mapped(unsigned copy, Value* value) const {
    for (const Map* map : {&maps_[copy], &maps_[0]})
      if (auto found = map->find(value); found != map->end()) return found->second;
    return value;
  }

  void remap(Instruction& made, unsigned copy) const {
    for (Use& use : made.operands()) use.set(mapped(copy, use));
  }

  // An early value for one copy, at the top of the loop.
  Value* early(IRBuilder<>& b, Value* value, unsigned copy) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (!instruction || !loop_.contains(instruction)) return value;
    if (auto found = early_[copy].find(value); found != early_[copy].end()) return found->second;
    Instruction* made = instruction->clone();
    for (Use& use : made->operands()) use.set(early(b, use, copy));
    b.Insert(made, instruction->getName());
    return early_[copy][value] = made;
  }

  void build() {
    LLVMContext& context = header_->getContext();
    Function* function = header_->getParent();
    maps_.resize(copies_);
    early_.resize(copies_ + 1);
    top_ = BasicBlock::Create(context, "td.warps", function, header_);
    before_->getTerminator()->replaceSuccessorWith(header_, top_);
    IRBuilder<> b(top_);
    start_copies(b);
    for (BasicBlock* block : region_)
      maps_[0][block] = BasicBlock::Create(context, block->getName() + ".warps", function, header_);
    Value* expected = b.getTrue();
    for (auto& [block, guard] : guards_)
      for (unsigned copy = 0; copy < copies_; ++copy) {
        Value* condition = early(b, block->getTerminator()->getOperand(0), copy);
        expected = b.CreateAnd(expected, b.CreateICmpEQ(condition, guard.value));
      }
    b.CreateCondBr(expected, cast<BasicBlock>(maps_[0][header_]), header_);
    for (PHINode& phi : header_->phis()) {
      int index = phi.getBasicBlockIndex(before_);
      phi.setIncomingBlock(static_cast<unsigned>(index), top_);
      phi.setIncomingValue(static_cast<unsigned>(index), maps_[0][&phi]);
    }
    for (BasicBlock* block : region_) copy_block(*block);
    for (auto& [made, original, copy] : phis_) connect(*made, *original, copy);
    close();
  }

  // The header's phis, for all copies.
  void start_copies(IRBuilder<>& b) {
    for (PHINode& phi : header_->phis()) {
      PHINode* made = b.CreatePHI(phi.getType(), 2, phi.getName());
      made->addIncoming(phi.getIncomingValueForBlock(before_), before_);
      maps_[0][&phi] = made;
      early_[0][&phi] = made;
    }
    for (unsigned copy = 1; copy <= copies_; ++copy)
      for (PHINode& phi : header_->phis()) {
        Value* value = maps_[0][&phi];
        if (!handed_on_.contains(&phi))
          value = early(b, phi.getIncomingValueForBlock(latch_), copy - 1);
        early_[copy][&phi] = value;
        if (copy < copies_) maps_[copy][&phi] = value;
      }
  }

  void copy_block(BasicBlock& block) {
    auto* made = cast<BasicBlock>(maps_[0][&block]);
    for (Instruction& instruction : block) {
      if (block.getTerminator() == &instruction) continue;
      if (isa<PHINode>(instruction) && &block == header_) continue;
      for (unsigned copy = 0; copy < (variant_.contains(&instruction) ? copies_ : 1); ++copy) {
        Instruction* one = instruction.clone();
        one->insertInto(made, made->end());
        one->setName(instruction.getName());
        maps_[copy][&instruction] = one;
        if (auto* phi = dyn_cast<PHINode>(one))
          phis_.push_back({phi, cast<PHINode>(&instruction), copy});
        else
          remap(*one, copy);
      }
    }
    Instruction* end = block.getTerminator();
    if (auto found = guards_.find(&block); found != guards_.end()) {
      BranchInst::Create(cast<BasicBlock>(maps_[0][found->second.way]), made);
      return;
    }
    Instruction* one = end->clone();
    one->insertInto(made, made->end());
    remap(*one, copies_ - 1);  // behind the last warp the loop goes on or ends
    if (&block != latch_) return;
    one->replaceSuccessorWith(header_, top_);
    one->replaceSuccessorWith(cast<BasicBlock>(maps_[0][header_]), top_);
  }

  // The phi of one copy: only what comes on the way that is taken.
  void connect(PHINode& made, const PHINode& original, unsigned copy) const {
    while (made.getNumIncomingValues() > 0) made.removeIncomingValue(0u, false);
    SmallPtrSet<BasicBlock*, 4> decided;
    for (unsigned i = 0; i < original.getNumIncomingValues(); ++i) {
      BasicBlock* from = original.getIncomingBlock(i);
      if (!region_.contains(from)) continue;
      auto guard = guards_.find(from);
      if (guard != guards_.end() &&
          (guard->second.way != original.getParent() || !decided.insert(from).second))
        continue;
      made.addIncoming(mapped(copy, original.getIncomingValue(i)),
                       cast<BasicBlock>(mapped(0, from)));
    }
  }

  void close() {
    auto* end = cast<BasicBlock>(maps_[0][latch_]);
    unsigned last = copies_ - 1;
    for (PHINode& phi : header_->phis()) {
      Value* next = handed_on_.contains(&phi) ? mapped(last, phi.getIncomingValueForBlock(latch_))
                                              : early_[copies_][&phi];
      cast<PHINode>(maps_[0][&phi])->addIncoming(next, end);
    }
    for (PHINode& phi : exit_->phis())
      phi.addIncoming(mapped(last, phi.getIncomingValueForBlock(latch_)), end);
  }

  Loop& loop_;
  unsigned warps_, registers_, copies_ = 1;
  BasicBlock *header_, *latch_, *before_, *exit_, *top_ = nullptr;
  DenseMap<const Instruction*, bool> is_early_;
  SmallPtrSet<PHINode*, 8> handed_on_;
  DenseSet<const Instruction*> variant_;
  SetVector<BasicBlock*> region_;
  MapVector<BasicBlock*, Guard> guards_;
  std::vector<Map> maps_,
      early_;  // of each copy; the last of early_: the header's phis behind them
  struct Copied {
    PHINode *made, *original;
    unsigned copy;
  };
  std::vector<Copied> phis_;
};

}  // namespace

PreservedAnalyses WarpJam::run(Function& function, FunctionAnalysisManager& analyses) {
  auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  auto& assumptions = analyses.getResult<AssumptionAnalysis>(function);
  SmallVector<std::pair<Loop*, unsigned>> found;
  for (Loop* loop : loops.getLoopsInPreorder())
    if (unsigned warps = warps_of(*loop)) found.push_back({loop, warps});
  for (auto& [loop, warps] : found) {
    simplifyLoop(loop, &dominators, &loops, nullptr, &assumptions, nullptr, false);
    formLCSSARecursively(*loop, dominators, &loops, nullptr);
  }
  for (auto& [loop, warps] : found) JammedLoop(*loop, warps, registers_).run();
  return found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace td::softdev::simt
