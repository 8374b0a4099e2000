#include "softdev/simt/fused.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>

namespace td::softdev::simt {

using namespace llvm;

namespace {

bool may_fuse(const Value* value) {
  auto* op = dyn_cast<FPMathOperator>(value);
  return op && op->hasAllowContract();
}

// The product among the operands of `sum`: 0, 1, or 2 for none.
unsigned product_of(const BinaryOperator& sum) {
  for (unsigned i = 0; i < 2; ++i) {
    auto* product = dyn_cast<BinaryOperator>(sum.getOperand(i));
    if (product && product->getOpcode() == Instruction::FMul && product->hasOneUse() &&
        may_fuse(product))
      return i;
  }
  return 2;
}

void fuse(BinaryOperator* sum) {
  unsigned at = product_of(*sum);
  if (at == 2) return;
  auto* product = cast<BinaryOperator>(sum->getOperand(at));
  IRBuilder<> b(sum);
  b.setFastMathFlags(sum->getFastMathFlags());
  Value *x = product->getOperand(0), *y = product->getOperand(1), *z = sum->getOperand(1 - at);
  if (sum->getOpcode() == Instruction::FSub) {
    if (at == 0)
      z = b.CreateFNeg(z);
    else
      x = b.CreateFNeg(x);
  }
  Value* fused = b.CreateIntrinsic(Intrinsic::fma, {sum->getType()}, {x, y, z});
  sum->replaceAllUsesWith(fused);
  sum->eraseFromParent();
  product->eraseFromParent();
}

}  // namespace

void fuse_products(Function& kernel) {
  SmallVector<BinaryOperator*> sums;
  for (Instruction& instruction : instructions(kernel)) {
    auto* op = dyn_cast<BinaryOperator>(&instruction);
    bool sums_up =
        op && (op->getOpcode() == Instruction::FAdd || op->getOpcode() == Instruction::FSub);
    if (sums_up && may_fuse(op) && (op->getType()->isFloatTy() || op->getType()->isDoubleTy()))
      sums.push_back(op);
  }
  for (BinaryOperator* sum : sums) fuse(sum);
  for (Instruction& instruction : instructions(kernel))
    if (may_fuse(&instruction)) instruction.setHasAllowContract(false);
}

}  // namespace td::softdev::simt
