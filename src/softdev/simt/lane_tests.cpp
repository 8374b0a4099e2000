#include "softdev/simt/lane_tests.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

namespace td::softdev::simt {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// A vector whose lane l is base + start + l * step, step 1 or -1; base null for constants.
struct Ramp {
  Value* base = nullptr;
  APInt start;
  int step = 1;
};

std::optional<Ramp> constant_ramp(const Value* value) {
  auto* type = dyn_cast<FixedVectorType>(value->getType());
  auto* constant = dyn_cast<Constant>(value);
  if (!type || !constant) return std::nullopt;
  Ramp ramp;
  for (unsigned l = 0; l < type->getNumElements(); ++l) {
    auto* lane = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(l));
    if (!lane) return std::nullopt;
    const APInt& number = lane->getValue();
    if (l == 0) ramp.start = number;
    if (l == 1) ramp.step = number == ramp.start + 1 ? 1 : -1;
    APInt offset(number.getBitWidth(),
                 static_cast<std::uint64_t>(l) * static_cast<std::uint64_t>(ramp.step), true);
    if (number != ramp.start + offset) return std::nullopt;
  }
  return ramp;
}

// For ordered comparisons the sum must not wrap around.
std::optional<Ramp> ramp_of(Value* value, bool is_signed) {
  Value *sum_base, *lanes;
  // Numbers without common bits are a sum that wraps around in neither way.
  if (!match(value, m_DisjointOr(m_Value(sum_base), m_Value(lanes)))) {
    if (!match(value, m_Add(m_Value(sum_base), m_Value(lanes)))) return std::nullopt;
    auto* sum = dyn_cast<OverflowingBinaryOperator>(value);
    if (!sum || !(is_signed ? sum->hasNoSignedWrap() : sum->hasNoUnsignedWrap()))
      return std::nullopt;
  }
  auto ramp = constant_ramp(lanes);
  if (!ramp || ramp->step != 1) return std::nullopt;
  ramp->base = getSplatValue(sum_base);
  if (!ramp->base) return std::nullopt;
  return ramp;
}

// Whether any (or all) lanes of the comparison hold; null where it is not of a known form.
Value* answer(ICmpInst& lanes, bool any, IRBuilder<>& b) {
  auto predicate = lanes.getPredicate();
  Value *x = lanes.getOperand(0), *y = lanes.getOperand(1);
  unsigned count = cast<FixedVectorType>(lanes.getType())->getNumElements();
  if (predicate == ICmpInst::ICMP_EQ && any) {
    // x == start + l * step: the distance from start is a lane's number.
    auto ramp = constant_ramp(y);
    Value* scalar = getSplatValue(x);
    if (!ramp || !scalar) return nullptr;
    Value* start = ConstantInt::get(scalar->getType(), ramp->start);
    Value* distance = ramp->step == 1 ? b.CreateSub(scalar, start) : b.CreateSub(start, scalar);
    return b.CreateICmpULT(distance, ConstantInt::get(scalar->getType(), count));
  }
  if (!ICmpInst::isRelational(predicate)) return nullptr;
  auto ramp = ramp_of(x, ICmpInst::isSigned(predicate));
  Value* limit = getSplatValue(y);
  if (!ramp) {
    ramp = ramp_of(y, ICmpInst::isSigned(predicate));
    limit = getSplatValue(x);
    predicate = ICmpInst::getSwappedPredicate(predicate);
  }
  if (!ramp || !limit) return nullptr;
  bool less = ICmpInst::isLT(predicate) || ICmpInst::isLE(predicate);
  unsigned lane = less == any ? 0 : count - 1;  // the lane that holds first or last
  Value* end = b.CreateAdd(ramp->base, ConstantInt::get(ramp->base->getType(), ramp->start + lane));
  return b.CreateICmp(predicate, end, limit);
}

}  // namespace

void simplify_lane_tests(Function& function) {
  SmallVector<ICmpInst*> tests;
  for (Instruction& instruction : instructions(function)) {
    auto* test = dyn_cast<ICmpInst>(&instruction);
    if (test && test->isEquality() && isa<BitCastInst>(test->getOperand(0))) tests.push_back(test);
  }
  for (ICmpInst* test : tests) {
    auto* bits = cast<BitCastInst>(test->getOperand(0));
    auto* lanes = dyn_cast<ICmpInst>(bits->getOperand(0));
    auto* number = dyn_cast<ConstantInt>(test->getOperand(1));
    if (!lanes || !isa<FixedVectorType>(lanes->getType()) || !number ||
        !(number->isZero() || number->isMinusOne()))
      continue;
    IRBuilder<> b(test);
    Value* holds = answer(*lanes, number->isZero(), b);
    if (!holds) continue;
    // any: bits != 0; all: bits == -1.
    bool asks = (test->getPredicate() == ICmpInst::ICMP_NE) == number->isZero();
    test->replaceAllUsesWith(asks ? holds : b.CreateNot(holds));
    RecursivelyDeleteTriviallyDeadInstructions(test);
  }
}

}  // namespace td::softdev::simt
