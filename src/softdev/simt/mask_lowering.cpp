// x86 before AVX-512 has no registers for <N x i1>: such values, once they cross blocks or are
// combined, are packed and unpacked again and again. As <N x i32> a mask is what compares make and
// blends take. Has to be the very last pass on the IR: InstCombine would turn everything back.
//
//   compare         c          -> sext c               (in place; users elsewhere take the wide
//   form) and, or, xor, select, phi, shuffle of masks -> the same in i32 any(m), all(m)  (m as an
//   integer compared with 0 or -1) -> OR or AND of the parts, one vtestps other users     icmp slt
//   wide, 0, which costs nothing before a blend or a masked access
#include "softdev/simt/mask_lowering.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

namespace td::softdev::simt {
namespace {

using namespace llvm;

class MaskLowering {
 public:
  MaskLowering(Function& function, bool has_avx) : function_(function), has_avx_(has_avx) {}

  void run() {
    ReversePostOrderTraversal<Function*> order(&function_);
    SmallVector<Instruction*> masks;
    for (BasicBlock* block : order)
      for (Instruction& instruction : *block)
        if (is_mask(instruction.getType()) && is_worth_it(instruction))
          masks.push_back(&instruction);
    for (Instruction* mask : masks)
      if (auto* phi = dyn_cast<PHINode>(mask)) {
        IRBuilder<> b(phi);
        wide_[phi] = b.CreatePHI(wide_type(phi->getType()), phi->getNumIncomingValues());
      }
    for (Instruction* mask : masks)
      if (!isa<PHINode>(mask)) widen(mask);
    for (Instruction* mask : masks)
      if (auto* phi = dyn_cast<PHINode>(mask)) {
        auto* made = cast<PHINode>(wide_[phi]);
        for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
          BasicBlock* from = phi->getIncomingBlock(i);
          IRBuilder<> b(from->getTerminator());
          made->addIncoming(wide(phi->getIncomingValue(i), b), from);
        }
      }
    for (Instruction* mask : masks) rewrite_users(mask);
    for (Instruction* mask : masks)
      if (is_logic(*mask)) mask->replaceAllUsesWith(PoisonValue::get(mask->getType()));
    for (Instruction* mask : masks)
      if (is_logic(*mask)) mask->eraseFromParent();
  }

 private:
  static bool is_mask(Type* type) {
    auto* vector = dyn_cast<FixedVectorType>(type);
    return vector && vector->getElementType()->isIntegerTy(1) && vector->getNumElements() >= 8;
  }
  static Type* wide_type(Type* mask) {
    return FixedVectorType::get(Type::getInt32Ty(mask->getContext()),
                                cast<FixedVectorType>(mask)->getNumElements());
  }
  // Combines masks into masks.
  static bool is_logic(const Instruction& instruction) {
    if (!is_mask(instruction.getType())) return false;
    return instruction.isBitwiseLogicOp() ||
           isa<SelectInst, PHINode, ShuffleVectorInst, FreezeInst>(instruction);
  }
  // A compare that only feeds blends of its own block stays as it is.
  static bool is_worth_it(const Instruction& mask) {
    if (is_logic(mask)) return true;
    return any_of(mask.users(), [&](const User* user) {
      auto* instruction = cast<Instruction>(user);
      return is_logic(*instruction) || instruction->getParent() != mask.getParent() ||
             isa<BitCastInst>(instruction);
    });
  }

  Value* wide(Value* mask, IRBuilder<>& b) {
    if (auto found = wide_.find(mask); found != wide_.end()) return found->second;
    if (isa<UndefValue>(mask)) return Constant::getNullValue(wide_type(mask->getType()));
    return b.CreateSExt(mask, wide_type(mask->getType()));
  }

  void widen(Instruction* mask) {
    IRBuilder<> b(mask->getNextNode());
    if (isa<ShuffleVectorInst, FreezeInst>(mask) || mask->isBitwiseLogicOp() ||
        isa<SelectInst>(mask))
      b.SetInsertPoint(mask);
    auto operand = [&](unsigned i) { return wide(mask->getOperand(i), b); };
    Value* made = nullptr;
    if (mask->isBitwiseLogicOp()) {
      made = b.CreateBinOp(cast<BinaryOperator>(mask)->getOpcode(), operand(0), operand(1));
    } else if (auto* select = dyn_cast<SelectInst>(mask)) {
      made = widen_select(*select, b);
    } else if (auto* shuffle = dyn_cast<ShuffleVectorInst>(mask)) {
      made = b.CreateShuffleVector(operand(0), operand(1), shuffle->getShuffleMask());
    } else if (isa<FreezeInst>(mask)) {
      made = operand(0);
    } else {
      made = b.CreateSExt(mask, wide_type(mask->getType()));
    }
    wide_[mask] = made;
  }

  // Lanes that are not selected are dead; here, after all optimisation, plain bit operations are
  // what the machine does.
  Value* widen_select(SelectInst& select, IRBuilder<>& b) {
    Value* yes = wide(select.getTrueValue(), b);
    Value* no = wide(select.getFalseValue(), b);
    if (!select.getCondition()->getType()->isVectorTy())
      return b.CreateSelect(select.getCondition(), yes, no);
    Value* condition = wide(select.getCondition(), b);
    auto* constant_no = dyn_cast<Constant>(no);
    auto* constant_yes = dyn_cast<Constant>(yes);
    if (constant_no && constant_no->isNullValue()) return b.CreateAnd(condition, yes);
    if (constant_yes && constant_yes->isAllOnesValue()) return b.CreateOr(condition, no);
    return b.CreateOr(b.CreateAnd(condition, yes), b.CreateAnd(b.CreateNot(condition), no));
  }

  void rewrite_users(Instruction* mask) {
    SmallVector<Instruction*> users;
    for (User* user : mask->users())
      if (!is_contained(users, cast<Instruction>(user))) users.push_back(cast<Instruction>(user));
    for (Instruction* user : users) {
      if (is_logic(*user) && wide_.count(user)) continue;
      if (user == wide_.lookup(mask) ||
          (!is_logic(*mask) && user->getParent() == mask->getParent() && !isa<BitCastInst>(user)))
        continue;
      if (has_avx_ && isa<BitCastInst>(user) && rewrite_tests(cast<BitCastInst>(user), wide_[mask]))
        continue;
      IRBuilder<> b(user);
      Value* narrow = b.CreateICmpSLT(wide_[mask], Constant::getNullValue(wide_[mask]->getType()));
      user->replaceUsesOfWith(mask, narrow);
    }
  }

  // Comparisons of the mask's bits with none and all. True when no other use is left.
  bool rewrite_tests(BitCastInst* bits, Value* mask) {
    SmallVector<ICmpInst*> tests;
    for (User* user : bits->users()) {
      auto* test = dyn_cast<ICmpInst>(user);
      auto* constant =
          test && test->isEquality() ? dyn_cast<ConstantInt>(test->getOperand(1)) : nullptr;
      if (constant && (constant->isZero() || constant->isMinusOne())) tests.push_back(test);
    }
    for (ICmpInst* test : tests) {
      IRBuilder<> b(test);
      bool for_any = cast<ConstantInt>(test->getOperand(1))->isZero();
      Value* part = reduce(b, mask, for_any);
      part = b.CreateBitCast(part, FixedVectorType::get(b.getFloatTy(), 8));
      Value* ones = ConstantFP::get(part->getType(), 0);
      ones = b.CreateBitCast(Constant::getAllOnesValue(FixedVectorType::get(b.getInt32Ty(), 8)),
                             ones->getType());
      Value* equal = for_any
                         ? b.CreateIntrinsic(Intrinsic::x86_avx_vtestz_ps_256, {}, {part, part})
                         : b.CreateIntrinsic(Intrinsic::x86_avx_vtestc_ps_256, {}, {part, ones});
      bool equality = test->getPredicate() == ICmpInst::ICMP_EQ;
      Value* result =
          equality ? b.CreateICmpNE(equal, b.getInt32(0)) : b.CreateICmpEQ(equal, b.getInt32(0));
      test->replaceAllUsesWith(result);
      test->eraseFromParent();
    }
    if (!bits->use_empty()) return false;
    bits->eraseFromParent();
    return true;
  }

  // OR or AND of the mask's parts of 8 lanes.
  static Value* reduce(IRBuilder<>& b, Value* mask, bool for_any) {
    unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
    while (lanes > 8) {
      SmallVector<int> low, high;
      for (unsigned l = 0; l < lanes / 2; ++l) {
        low.push_back(static_cast<int>(l));
        high.push_back(static_cast<int>(l + lanes / 2));
      }
      Value *x = b.CreateShuffleVector(mask, low), *y = b.CreateShuffleVector(mask, high);
      mask = for_any ? b.CreateOr(x, y) : b.CreateAnd(x, y);
      lanes /= 2;
    }
    return mask;
  }

  Function& function_;
  bool has_avx_;
  DenseMap<Value*, Value*> wide_;
};

}  // namespace

void lower_masks(Module& host, bool has_avx) {
  for (Function& function : host)
    if (!function.isDeclaration()) MaskLowering(function, has_avx).run();
}

}  // namespace td::softdev::simt
