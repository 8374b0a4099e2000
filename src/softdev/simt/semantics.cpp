// CUDA's meaning for operations that LLVM leaves undefined. Done on thread IR, first of all, so
// that no later pass may use the undefined cases.
//   shl, lshr, ashr   amount >= width: 0, 0, sign (PTX clamps)
//   sdiv, udiv        divisor 0: all ones; INT_MIN / -1: INT_MIN
//   srem, urem        divisor 0: the dividend; x % -1: 0
//   fptosi, fptoui    out of range: nearest end of the range; NaN: 0
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>

#include "softdev/simt/thread_passes.h"

namespace td::softdev::simt {
namespace {

using namespace llvm;

Value* define_shift(BinaryOperator* shift, IRBuilder<>& b) {
  Value* amount = shift->getOperand(1);
  unsigned width = shift->getType()->getScalarSizeInBits();
  if (auto* constant = dyn_cast<ConstantInt>(amount); constant && constant->getValue().ult(width))
    return nullptr;
  Value* fits = b.CreateICmpULT(amount, ConstantInt::get(amount->getType(), width));
  if (shift->getOpcode() == Instruction::AShr) {
    Value* clamped = b.CreateSelect(fits, amount, ConstantInt::get(amount->getType(), width - 1));
    return b.CreateAShr(shift->getOperand(0), clamped);
  }
  Value* masked = b.CreateSelect(fits, amount, ConstantInt::get(amount->getType(), 0));
  Value* shifted = b.CreateBinOp(shift->getOpcode(), shift->getOperand(0), masked);
  return b.CreateSelect(fits, shifted, ConstantInt::get(shift->getType(), 0));
}

Value* define_division(BinaryOperator* division, IRBuilder<>& b) {
  Value* x = division->getOperand(0);
  Value* y = division->getOperand(1);
  auto opcode = division->getOpcode();
  bool is_signed = opcode == Instruction::SDiv || opcode == Instruction::SRem;
  bool remainder = opcode == Instruction::SRem || opcode == Instruction::URem;
  auto* constant = dyn_cast<ConstantInt>(y);
  if (constant && !constant->isZero() && !(is_signed && constant->isMinusOne())) return nullptr;
  Type* type = division->getType();
  Constant* one = ConstantInt::get(type, 1);
  Constant* ones = Constant::getAllOnesValue(type);
  Value* zero_divisor = b.CreateICmpEQ(y, Constant::getNullValue(type));
  Value* negated = is_signed ? b.CreateICmpEQ(y, ones) : b.getFalse();
  Value* special = b.CreateOr(zero_divisor, negated);
  Value* result = b.CreateBinOp(opcode, x, b.CreateSelect(special, one, y));
  if (is_signed)
    result =
        b.CreateSelect(negated, remainder ? Constant::getNullValue(type) : b.CreateNeg(x), result);
  return b.CreateSelect(zero_divisor, remainder ? x : ones, result);
}

Value* define_conversion(CastInst* cast, IRBuilder<>& b) {
  Intrinsic::ID id = isa<FPToSIInst>(cast) ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  return b.CreateIntrinsic(id, {cast->getType(), cast->getOperand(0)->getType()},
                           {cast->getOperand(0)});
}

Value* define(Instruction* instruction, IRBuilder<>& b) {
  if (isa<FPToSIInst, FPToUIInst>(instruction))
    return define_conversion(cast<CastInst>(instruction), b);
  auto* binary = dyn_cast<BinaryOperator>(instruction);
  if (!binary || !binary->getType()->isIntegerTy()) return nullptr;
  if (binary->isShift()) return define_shift(binary, b);
  if (binary->isIntDivRem()) return define_division(binary, b);
  return nullptr;
}

}  // namespace

void define_semantics(Module& module) {
  for (Function& function : module) {
    SmallVector<Instruction*> all;
    for (Instruction& instruction : instructions(function)) all.push_back(&instruction);
    for (Instruction* instruction : all) {
      IRBuilder<> builder(instruction);
      if (Value* defined = define(instruction, builder)) {
        instruction->replaceAllUsesWith(defined);
        instruction->eraseFromParent();
      }
    }
  }
}

}  // namespace td::softdev::simt
