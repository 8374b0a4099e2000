#include "softdev/simt/thread_state.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Local.h>

#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

void place_carry(GlobalVariable& carry) {
  convertUsersOfConstantsToInstructions({&carry});
  DenseMap<Function*, Value*> locals;
  for (Use& use : make_early_inc_range(carry.uses())) {
    auto* user = dyn_cast<Instruction>(use.getUser());
    if (!user) continue;
    Value*& local = locals[user->getFunction()];
    if (!local) {
      IRBuilder<> b(&*user->getFunction()->getEntryBlock().getFirstInsertionPt());
      AllocaInst* variable = b.CreateAlloca(carry.getValueType(), nullptr, "carry");
      b.CreateStore(Constant::getNullValue(carry.getValueType()), variable);
      local = variable;
    }
    if (isa<AddrSpaceCastInst>(user)) {
      user->replaceAllUsesWith(local);
      user->eraseFromParent();
    } else {
      IRBuilder<> b(user);
      use.set(b.CreateAddrSpaceCast(local, carry.getType()));
    }
  }
}

void end_thread(CallInst& call, ArrayRef<Function*> kernels) {
  if (!is_contained(kernels, call.getFunction()))
    refuse(call, "exit in a function that is not inlined (recursive, or called by pointer) is");
  BasicBlock* block = call.getParent();
  BasicBlock* rest = block->splitBasicBlock(call.getIterator());
  block->getTerminator()->eraseFromParent();
  ReturnInst::Create(call.getContext(), nullptr, block);
  removeUnreachableBlocks(*rest->getParent());
}

}  // namespace

void place_thread_state(Module& module, ArrayRef<Function*> kernels) {
  if (GlobalVariable* carry = module.getNamedGlobal("__td_ptx_carry")) place_carry(*carry);
  Function* exit = module.getFunction(Intrinsic::getName(Intrinsic::nvvm_exit));
  while (exit && !exit->use_empty()) end_thread(*cast<CallInst>(exit->user_back()), kernels);
}

}  // namespace td::softdev::simt
