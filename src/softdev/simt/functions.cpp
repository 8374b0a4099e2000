#include "softdev/simt/functions.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

// More targets than this are not asked for one by one.
constexpr unsigned most_targets = 12;

// Calls through pointers count as calls of every function whose address is taken.
class Reach {
 public:
  Reach(Module& module, const KeptFunctions& kept) {
    for (Function& function : module)
      for (Instruction& instruction : instructions(function)) {
        auto* call = dyn_cast<CallBase>(&instruction);
        if (!call || call->isInlineAsm()) continue;
        if (Function* callee = call->getCalledFunction())
          edges_[&function].insert(callee);
        else
          for (Function* target : kept.address_taken)
            if (target->getFunctionType() == call->getFunctionType())
              edges_[&function].insert(target);
      }
  }
  bool reaches_itself(Function* function) {
    SmallPtrSet<Function*, 16> seen;
    SmallVector<Function*> work(edges_[function].begin(), edges_[function].end());
    while (!work.empty()) {
      Function* next = work.pop_back_val();
      if (next == function) return true;
      if (!seen.insert(next).second) continue;
      work.append(edges_[next].begin(), edges_[next].end());
    }
    return false;
  }

 private:
  DenseMap<Function*, SmallSetVector<Function*, 4>> edges_;
};

bool takes_address(const Function& function) {
  return any_of(function.uses(), [&](const Use& use) {
    auto* call = dyn_cast<CallBase>(use.getUser());
    if (call) return !call->isCallee(&use);
    // Lists that keep variables alive say nothing about calls.
    if (isa<Instruction>(use.getUser())) return true;
    return !cast<Constant>(use.getUser())->use_empty() || isa<GlobalVariable>(use.getUser());
  });
}

SmallVector<Function*> likely_targets(const CallBase& call, const KeptFunctions& kept) {
  SmallVector<Function*> targets;
  for (Function* function : kept.address_taken)
    if (function->getFunctionType() == call.getFunctionType() && !kept.recursive.contains(function))
      targets.push_back(function);
  return targets;
}

// if (pointer == f) f(...) else if ... else pointer(...)
void ask_for_targets(CallInst* call, ArrayRef<Function*> targets) {
  for (Function* target : targets) {
    IRBuilder<> b(call);
    Value* pointer = b.CreateAddrSpaceCast(call->getCalledOperand(), target->getType());
    Value* is_it = b.CreateICmpEQ(pointer, target);
    Instruction *yes, *no;
    SplitBlockAndInsertIfThenElse(is_it, call, &yes, &no);
    auto* direct = cast<CallInst>(call->clone());
    direct->setCalledFunction(target);
    direct->insertBefore(yes);
    BasicBlock* joined = call->getParent();
    call->moveBefore(no);
    if (call->getType()->isVoidTy() || call->use_empty()) continue;
    PHINode* result = PHINode::Create(call->getType(), 2, "called", joined->begin());
    call->replaceAllUsesWith(result);
    result->addIncoming(direct, direct->getParent());
    result->addIncoming(call, call->getParent());
  }
  // What is left is for functions of other modules: progress.cpp need not look into ours.
  call->setMetadata("td.others", MDNode::get(call->getContext(), {}));
}

}  // namespace

KeptFunctions find_kept_functions(Module& module, ArrayRef<Function*> kernels) {
  KeptFunctions kept;
  for (Function& function : module)
    if (!function.isDeclaration() && !is_contained(kernels, &function) && takes_address(function))
      kept.address_taken.insert(&function);
  Reach reach(module, kept);
  for (Function& function : module)
    if (!function.isDeclaration() && reach.reaches_itself(&function)) {
      if (is_contained(kernels, &function))
        throw Unsupported("kernel `" + function.getName().str() + "` calls itself");
      kept.recursive.insert(&function);
    }
  return kept;
}

void expand_indirect_calls(Module& module, const KeptFunctions& kept) {
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (call->isIndirectCall()) calls.push_back(call);
  for (CallInst* call : calls) {
    SmallVector<Function*> targets = likely_targets(*call, kept);
    if (targets.size() <= most_targets) ask_for_targets(call, targets);
  }
}

bool is_device_call(const CallBase& call) {
  if (call.isInlineAsm()) return false;
  const Function* callee = call.getCalledFunction();
  return !callee || !callee->isDeclaration();
}

}  // namespace td::softdev::simt
