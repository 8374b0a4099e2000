#include "softdev/simt/shape.h"

#include <llvm/ADT/GenericUniformityImpl.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/MathExtras.h>

#include "softdev/simt/builtins.h"
#include "softdev/simt/partings.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

using Lanes = SmallVector<std::int64_t, 0>;
using SyncDependence = GenericSyncDependenceAnalysis<SSAContext>;

constexpr unsigned all_bits = 64;

Shape plain(Shape::Kind kind, unsigned align = 0) {
  Shape shape;
  shape.kind = kind;
  shape.align = align;
  return shape;
}

unsigned bits_of(const Type* type) { return type->isIntegerTy() ? type->getIntegerBitWidth() : 64; }

std::int64_t narrow(std::int64_t value, unsigned bits) {
  return bits >= 64 ? value : SignExtend64(value, bits);
}

unsigned known_align(const Value* value, const DataLayout& layout) {
  if (!value->getType()->isIntegerTy()) return 0;
  return computeKnownBits(value, layout).countMinTrailingZeros();
}

bool is_pure_operation(const Instruction& instruction) {
  if (instruction.isBinaryOp() || instruction.isCast() || instruction.isUnaryOp()) return true;
  return isa<CmpInst, SelectInst, GetElementPtrInst, FreezeInst, ExtractValueInst, InsertValueInst>(
      instruction);
}

}  // namespace

std::uint64_t local_stride(const AllocaInst& array, const DataLayout& layout) {
  auto* count = dyn_cast<ConstantInt>(array.getArraySize());
  std::uint64_t size =
      layout.getTypeAllocSize(array.getAllocatedType()) * (count ? count->getZExtValue() : 1);
  std::uint64_t align = std::max<std::uint64_t>(array.getAlign().value(), 4);
  return std::max<std::uint64_t>((size + align - 1) / align * align, align);
}

bool Shapes::is_entry_expression(const Value* value, unsigned depth) {
  if (depth > 8) return false;
  if (isa<Argument>(value)) return value->getType()->isIntegerTy();
  if (auto* number = dyn_cast<ConstantInt>(value)) return !number->isNegative();
  if (auto* call = dyn_cast<CallInst>(value)) {
    const BuiltinRow* row = find_builtin(*call);
    return row && row->kind >= Builtin::thread_x && row->kind <= Builtin::grid_dim_z &&
           row->kind != Builtin::lane && row->kind != Builtin::warp_index &&
           row->kind != Builtin::lane_mask;
  }
  auto* op = dyn_cast<Instruction>(value);
  if (!op) return false;
  switch (op->getOpcode()) {
    case Instruction::Add:
    case Instruction::Mul:
    case Instruction::Shl:
    case Instruction::Or:
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
      return all_of(op->operands(),
                    [&](const Use& use) { return is_entry_expression(use.get(), depth + 1); });
    default:
      return false;
  }
}

Shape Shapes::of(const Value* value) const {
  if (auto* instruction = dyn_cast<Instruction>(value)) return shapes_.lookup(instruction);
  return plain(Shape::uniform, isa<Argument>(value) ? 0 : known_align(value, data_));
}

Shape Shapes::offsets(Lanes lanes, unsigned align, unsigned bits, bool constant_base) const {
  Shape shape;
  for (auto& lane : lanes) lane = narrow(lane, bits);
  if (!constant_base && all_of(lanes, [](std::int64_t lane) { return lane == 0; }))
    return plain(Shape::uniform, align);
  shape.kind = Shape::offset;
  shape.align = constant_base ? all_bits : align;
  shape.constant_base = constant_base;
  shape.lanes = std::move(lanes);
  return shape;
}

// `shape` computed from a and b depends on the guards of both.
Shape Shapes::guarded(Shape shape, const Shape& a, const Shape& b) const {
  if (shape.kind != Shape::offset)
    return a.guards.empty() && b.guards.empty() ? shape : plain(Shape::varying);
  for (const Shape* part : {&a, &b})
    for (const CastInst* guard : part->guards)
      if (!is_contained(shape.guards, guard)) shape.guards.push_back(guard);
  return shape;
}

Shape Shapes::generic(const Instruction& instruction) const {
  bool pending = false;
  for (const Use& use : instruction.operands()) {
    if (isa<BasicBlock>(use.get())) continue;
    Shape shape = of(use.get());
    if (shape.kind == Shape::varying || shape.kind == Shape::offset) return plain(Shape::varying);
    pending |= shape.kind == Shape::unknown;
  }
  if (pending) return Shape();
  return plain(Shape::uniform, known_align(&instruction, data_));
}

namespace {

// The value of a binary operation on constants of each lane, when it is a plain integer operation.
bool fold_lane(unsigned opcode, std::int64_t a, std::int64_t b, unsigned bits,
               std::int64_t& result) {
  std::uint64_t x = static_cast<std::uint64_t>(a) & maskTrailingOnes<std::uint64_t>(bits);
  std::uint64_t y = static_cast<std::uint64_t>(b) & maskTrailingOnes<std::uint64_t>(bits);
  switch (opcode) {
    case Instruction::And:
      result = x & y;
      return true;
    case Instruction::Or:
      result = x | y;
      return true;
    case Instruction::Xor:
      result = x ^ y;
      return true;
    case Instruction::LShr:
      result = x >> (y & 63);
      return y < bits;
    case Instruction::Shl:
      result = x << (y & 63);
      return y < bits;
    default:
      return false;
  }
}

std::int64_t lane_of(const Shape& shape, const Value* value, unsigned lane) {
  if (shape.kind == Shape::offset) return shape.lanes[lane];
  if (auto* number = dyn_cast<ConstantInt>(value)) return number->getSExtValue();
  return 0;
}

bool is_lane_constant(const Shape& shape, const Value* value) {
  return (shape.kind == Shape::offset && shape.constant_base) || isa<ConstantInt>(value);
}

}  // namespace

namespace {

// The lanes differ in their lowest bits only, fewer than `most` of them.
bool lanes_stay_below(const Shape& shape, unsigned most) {
  unsigned bits = std::min({most, shape.align, 62u});
  return shape.kind == Shape::offset && shape.guards.empty() &&
         all_of(shape.lanes, [&](std::int64_t lane) { return lane >= 0 && lane >> bits == 0; });
}

}  // namespace

Shape Shapes::compute_binary(const BinaryOperator& op) const {
  if (!op.getType()->isIntegerTy() || op.getType()->getIntegerBitWidth() > 64) return generic(op);
  const Value *x = op.getOperand(0), *y = op.getOperand(1);
  Shape a = of(x), b = of(y);
  if (a.kind == Shape::varying || b.kind == Shape::varying) return plain(Shape::varying);
  if (a.kind == Shape::unknown || b.kind == Shape::unknown) return Shape();
  if (a.kind == Shape::uniform && b.kind == Shape::uniform) return generic(op);
  unsigned bits = bits_of(op.getType());
  Lanes lanes(layout_.width);
  bool constant = is_lane_constant(a, x) && is_lane_constant(b, y);
  unsigned opcode = op.getOpcode();
  auto* or_op = dyn_cast<PossiblyDisjointInst>(&op);
  if (opcode == Instruction::Or && or_op && or_op->isDisjoint() && !constant)
    opcode = Instruction::Add;
  auto* number = dyn_cast<ConstantInt>(y);
  if (opcode == Instruction::Add || opcode == Instruction::Sub) {
    // With a constant base the uniform operand becomes the base: 0 + u, unless both are constants
    // of a lane.
    bool stays =
        a.kind == Shape::offset && b.kind == Shape::offset && a.constant_base && b.constant_base;
    for (unsigned l = 0; l < layout_.width; ++l) {
      std::int64_t ya = b.kind == Shape::offset ? b.lanes[l] : 0,
                   xa = a.kind == Shape::offset ? a.lanes[l] : 0;
      lanes[l] = opcode == Instruction::Add ? xa + ya : xa - ya;
    }
    return guarded(offsets(lanes, std::min(a.align, b.align), bits, stays), a, b);
  }
  if ((opcode == Instruction::Mul || opcode == Instruction::Shl) && number &&
      a.kind == Shape::offset) {
    if (opcode == Instruction::Shl && number->getValue().uge(bits)) return plain(Shape::varying);
    std::int64_t factor = opcode == Instruction::Mul
                              ? number->getSExtValue()
                              : static_cast<std::int64_t>(1ull << number->getZExtValue());
    for (unsigned l = 0; l < layout_.width; ++l)
      lanes[l] = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.lanes[l]) *
                                           static_cast<std::uint64_t>(factor));
    unsigned added = factor == 0 ? 63 : countr_zero(static_cast<std::uint64_t>(factor));
    return guarded(offsets(lanes, std::min(63u, a.align + added), bits, a.constant_base), a, b);
  }
  // ~i is -1 - i.
  if (opcode == Instruction::Xor && number && number->isMinusOne() && a.kind == Shape::offset &&
      !a.constant_base) {
    for (unsigned l = 0; l < layout_.width; ++l) lanes[l] = -a.lanes[l];
    return guarded(offsets(lanes, 0, bits, false), a, b);
  }
  if (constant) {
    bool folded = true;
    for (unsigned l = 0; l < layout_.width && folded; ++l)
      folded = fold_lane(opcode, lane_of(a, x, l), lane_of(b, y, l), bits, lanes[l]);
    if (folded) return offsets(lanes, 0, bits, true);
  }
  // i & (2^k - 1) and i >> k when the base is a multiple of 2^k: lane index and warp index of a
  // thread.
  if (number && a.kind == Shape::offset && !number->isNegative() && a.guards.empty()) {
    std::uint64_t value = number->getZExtValue();
    if (opcode == Instruction::And && isMask_64(value) &&
        a.align >= static_cast<unsigned>(countr_one(value))) {
      for (unsigned l = 0; l < layout_.width; ++l)
        lanes[l] = a.lanes[l] & static_cast<std::int64_t>(value);
      return offsets(lanes, 0, bits, true);
    }
    bool low = value < 63 &&
               all_of(a.lanes, [&](std::int64_t lane) { return lane >= 0 && lane >> value == 0; });
    if (opcode == Instruction::LShr && low && a.align >= value) return plain(Shape::uniform);
  }
  // i & ~31: what is left is the same in all lanes.
  if (number && opcode == Instruction::And && lanes_stay_below(a, number->getValue().countr_zero()))
    return plain(Shape::uniform);
  return plain(Shape::varying);
}

// ext(base + lane) == ext(base) + lane in every live lane, given the assumptions in `needed`.
bool Shapes::never_wraps(const Value* value, bool is_signed, unsigned depth,
                         Assumptions& needed) const {
  Shape shape = of(value);
  if (shape.kind == Shape::uniform) return true;
  if (shape.kind != Shape::offset || depth > 8 || !shape.guards.empty()) return false;
  std::size_t before = needed.size();
  if (inherently(value, is_signed, depth, needed)) return true;
  needed.truncate(before);
  if (!layout_.may_assume || bits_of(value->getType()) > 32 || !is_entry_expression(value))
    return false;
  needed.push_back({value, is_signed});
  return true;
}

namespace {

// 0, 1, 2 for the axes of a register of the launch, 3 for another value.
unsigned axis_of(const Value* value, Builtin x_axis) {
  auto* call = dyn_cast<CallInst>(value);
  const BuiltinRow* row = call ? find_builtin(*call) : nullptr;
  if (!row) return 3;
  return std::min(3u, static_cast<unsigned>(row->kind) - static_cast<unsigned>(x_axis));
}

}  // namespace

// blockIdx * blockDim along an axis, the latter perhaps as a number.
bool Shapes::is_block_start(const Value* value, unsigned axis) const {
  auto* op = dyn_cast<BinaryOperator>(value);
  if (!op) return false;
  const Value *x = op->getOperand(0), *y = op->getOperand(1);
  auto* number = dyn_cast<ConstantInt>(y);
  if (op->getOpcode() == Instruction::Shl)
    return number && number->getValue().ult(32) && axis_of(x, Builtin::block_x) == axis &&
           std::uint64_t{1} << number->getZExtValue() == layout_.block[axis];
  if (op->getOpcode() != Instruction::Mul) return false;
  if (number)
    return axis_of(x, Builtin::block_x) == axis && number->getZExtValue() == layout_.block[axis];
  if (axis_of(x, Builtin::block_x) != axis) std::swap(x, y);
  return axis_of(x, Builtin::block_x) == axis && axis_of(y, Builtin::block_dim_x) == axis;
}

// Zero low bits of the index of a row piece's first thread.
unsigned Shapes::row_align() const {
  if (layout_.warp_aligned) return 5;
  bool whole = layout_.block[0] != 0 && layout_.block[0] % layout_.width == 0;
  return whole ? Log2_32(layout_.width) : 0;
}

bool Shapes::is_global_index(const Instruction& sum) const {
  bool adds = sum.getOpcode() == Instruction::Add;
  if (auto* disjoint = dyn_cast<PossiblyDisjointInst>(&sum)) adds |= disjoint->isDisjoint();
  if (!adds || layout_.block[0] == 0) return false;
  const Value *x = sum.getOperand(0), *y = sum.getOperand(1);
  if (axis_of(x, Builtin::thread_x) == 3) std::swap(x, y);
  unsigned axis = axis_of(x, Builtin::thread_x);
  return axis < 3 && is_block_start(y, axis);
}

bool Shapes::inherently(const Value* value, bool is_signed, unsigned depth,
                        Assumptions& needed) const {
  Shape shape = of(value);
  if (shape.constant_base) {
    // The lanes are kept sign-extended; as unsigned numbers they must not be negative.
    return is_signed || all_of(shape.lanes, [](std::int64_t lane) { return lane >= 0; });
  }
  unsigned align = std::min(shape.align, bits_of(value->getType()) - 1);
  if (all_of(shape.lanes, [&](std::int64_t lane) { return lane >= 0 && lane >> align == 0; }))
    return true;
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction) return false;
  auto operands_too = [&] {
    return never_wraps(instruction->getOperand(0), is_signed, depth + 1, needed) &&
           never_wraps(instruction->getOperand(1), is_signed, depth + 1, needed);
  };
  if (auto* call = dyn_cast<CallInst>(instruction)) {
    const BuiltinRow* row = find_builtin(*call);
    return row && row->kind >= Builtin::thread_x && row->kind <= Builtin::thread_z;
  }
  if (auto* phi = dyn_cast<PHINode>(instruction)) {
    const Loop* loop = loops_.getLoopFor(phi->getParent());
    if (!loop || loop->getHeader() != phi->getParent()) return false;
    return all_of(phi->incoming_values(), [&](const Use& incoming) {
      auto* step = dyn_cast<BinaryOperator>(incoming.get());
      if (step && step->getOpcode() == Instruction::Add && step->getOperand(0) == phi)
        return (is_signed ? step->hasNoSignedWrap() : step->hasNoUnsignedWrap()) &&
               is_uniform(step->getOperand(1));
      return never_wraps(incoming.get(), is_signed, depth + 1, needed);
    });
  }
  if (is_global_index(*instruction)) return true;
  if (instruction->getOpcode() == Instruction::Xor) {
    auto* ones = dyn_cast<ConstantInt>(instruction->getOperand(1));
    return ones && ones->isMinusOne() && is_signed &&
           never_wraps(instruction->getOperand(0), is_signed, depth + 1, needed);
  }
  if (auto* op = dyn_cast<OverflowingBinaryOperator>(instruction)) {
    // The scalar copy stands for a lane that may be dead: `a - b` without wrap in live lanes may
    // still wrap in that one.
    if (!is_signed && op->getOpcode() == Instruction::Sub) return false;
    return (is_signed ? op->hasNoSignedWrap() : op->hasNoUnsignedWrap()) && operands_too();
  }
  if (auto* disjoint = dyn_cast<PossiblyDisjointInst>(instruction))
    return disjoint->isDisjoint() && operands_too();
  return isa<ZExtInst>(instruction) || (is_signed && isa<SExtInst>(instruction));
}

bool Shapes::never_wraps(const Value* value, bool is_signed) const {
  Assumptions needed;
  Shape shape = of(value);
  return shape.kind == Shape::offset && shape.guards.empty() &&
         inherently(value, is_signed, 0, needed) && needed.empty();
}

Shape Shapes::compute_extension(const CastInst& cast) {
  const Value* operand = cast.getOperand(0);
  Shape shape = of(operand);
  if (shape.kind != Shape::offset || operand->getType()->isIntegerTy(1)) return generic(cast);
  if (!shape.guards.empty()) return plain(Shape::varying);
  Shape result = offsets(shape.lanes, shape.align, bits_of(cast.getType()), shape.constant_base);
  Assumptions needed;
  if (never_wraps(operand, isa<SExtInst>(cast) || cast.hasNonNeg(), 0, needed)) {
    for (const NoWrap& assumption : needed)
      if (!is_contained(assumed_, assumption)) assumed_.push_back(assumption);
    return result;
  }
  if (shape.constant_base || bits_of(operand->getType()) > 32 || bits_of(cast.getType()) < 64)
    return plain(Shape::varying);
  result.guards.push_back(&cast);
  return result;
}

Shape Shapes::compute_address(const GetElementPtrInst& gep) const {
  MapVector<Value*, APInt> variable;
  APInt constant(64, 0);
  if (!gep.collectOffset(data_, 64, variable, constant)) return generic(gep);
  Shape base = of(gep.getPointerOperand());
  if (base.kind == Shape::unknown || base.kind == Shape::varying) return base;
  Lanes lanes(layout_.width);
  for (unsigned l = 0; l < layout_.width && base.kind == Shape::offset; ++l)
    lanes[l] = base.lanes[l];
  Shape collected = plain(Shape::offset);
  collected = guarded(collected, base, Shape());
  for (auto& [index, scale] : variable) {
    Shape shape = of(index);
    collected = guarded(collected, shape, Shape());
    if (shape.kind == Shape::unknown || shape.kind == Shape::varying) return shape;
    if (shape.kind == Shape::uniform) continue;
    if (index->getType()->getIntegerBitWidth() != 64) return plain(Shape::varying);
    for (unsigned l = 0; l < layout_.width; ++l) lanes[l] += shape.lanes[l] * scale.getSExtValue();
  }
  return guarded(offsets(lanes, 0, 64, false), collected, Shape());
}

Shape Shapes::compute_select(const SelectInst& select) const {
  Shape condition = of(select.getCondition()), a = of(select.getTrueValue()),
        b = of(select.getFalseValue());
  if (condition.kind == Shape::uniform && a.kind == Shape::offset && b.kind == Shape::offset &&
      a.lanes == b.lanes && a.constant_base == b.constant_base && a.guards.empty() &&
      b.guards.empty())
    return offsets(a.lanes, std::min(a.align, b.align), 64, a.constant_base);
  return generic(select);
}

Shape Shapes::compute_call(const CallInst& call) const {
  const BuiltinRow* row = find_builtin(call);
  if (!row) return plain(Shape::varying);
  Lanes lanes(layout_.width);
  unsigned bits = call.getType()->isIntegerTy() ? call.getType()->getIntegerBitWidth() : 64;
  bool rows = layout_.kind == ThreadLayout::rows, row_kind = layout_.kind == ThreadLayout::row;
  switch (row->kind) {
    case Builtin::thread_x:
      if (layout_.kind == ThreadLayout::linear) return plain(Shape::varying);
      for (unsigned l = 0; l < layout_.width; ++l) lanes[l] = rows ? l % layout_.row_length : l;
      return offsets(lanes, row_kind ? row_align() : 0, bits, rows);
    case Builtin::thread_y:
      if (layout_.kind == ThreadLayout::linear) return plain(Shape::varying);
      if (row_kind) return plain(Shape::uniform);
      for (unsigned l = 0; l < layout_.width; ++l) lanes[l] = l / layout_.row_length;
      return offsets(lanes, 0, bits, false);
    case Builtin::thread_z:
      return plain(layout_.kind == ThreadLayout::linear ? Shape::varying : Shape::uniform);
    case Builtin::lane:
      if (!layout_.warp_aligned) return plain(Shape::varying);
      for (unsigned l = 0; l < layout_.width; ++l) lanes[l] = l;
      return offsets(lanes, 0, bits, true);
    case Builtin::warp_index:
      return plain(layout_.warp_aligned ? Shape::uniform : Shape::varying);
    case Builtin::pure:
    case Builtin::math:
    case Builtin::vote:
    case Builtin::reduce: {
      bool ballot_like = row->kind == Builtin::vote || row->kind == Builtin::reduce;
      if (ballot_like)
        return plain(is_uniform(call.getArgOperand(row->kind == Builtin::vote ? 0 : 1))
                         ? Shape::uniform
                         : Shape::varying);
      bool pending = false;
      for (const Use& use : call.args()) {
        Shape shape = of(use.get());
        if (shape.kind > Shape::uniform) return plain(Shape::varying);
        pending |= shape.kind == Shape::unknown;
      }
      return pending ? Shape() : plain(Shape::uniform, known_align(&call, data_));
    }
    case Builtin::ballot:
      return plain(is_uniform(call.getArgOperand(0)) ? Shape::uniform : Shape::varying);
    default:
      return plain(row->flags & uniform_result ? Shape::uniform : Shape::varying);
  }
}

Shape Shapes::compute_phi(const PHINode& phi) const {
  Shape result;
  const Value* single = nullptr;
  bool same = true;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    const Value* incoming = phi.getIncomingValue(i);
    if (isa<UndefValue>(incoming) || incoming == &phi) continue;
    same &= !single || single == incoming;
    single = incoming;
    if (auto* instruction = dyn_cast<Instruction>(incoming))
      for (const Loop* loop = loops_.getLoopFor(instruction->getParent()); loop;
           loop = loop->getParentLoop())
        if (!loop->contains(phi.getParent()) && divergent_loops_.count(loop))
          return plain(Shape::varying);
    Shape shape = of(incoming);
    if (shape.kind == Shape::varying || !shape.guards.empty()) return plain(Shape::varying);
    if (shape.kind == Shape::unknown) continue;
    if (result.kind == Shape::unknown) {
      result = shape;
    } else if (result.kind != shape.kind || result.lanes != shape.lanes) {
      return plain(Shape::varying);
    } else {
      // Different bases: only what both have in common remains.
      result.align = std::min(result.align, shape.align);
      if (result.constant_base != shape.constant_base) result.constant_base = false;
    }
  }
  if (!same && joins_.count(phi.getParent()) &&
      !(result.kind == Shape::offset && result.constant_base))
    return plain(Shape::varying);
  if (result.kind == Shape::unknown && !single) return plain(Shape::uniform);
  return result;
}

Shape Shapes::compute(const Instruction& instruction) {
  if (auto* phi = dyn_cast<PHINode>(&instruction)) return compute_phi(*phi);
  if (auto* call = dyn_cast<CallInst>(&instruction)) return compute_call(*call);
  if (auto* op = dyn_cast<BinaryOperator>(&instruction)) return compute_binary(*op);
  if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) return compute_address(*gep);
  if (auto* select = dyn_cast<SelectInst>(&instruction)) return compute_select(*select);
  if (isa<SExtInst, ZExtInst>(instruction)) return compute_extension(cast<CastInst>(instruction));
  if (auto* array = dyn_cast<AllocaInst>(&instruction)) {
    Lanes lanes(layout_.width);
    for (unsigned l = 0; l < layout_.width; ++l) lanes[l] = l * local_stride(*array, data_);
    return offsets(lanes, 0, 64, false);
  }
  if (isa<PtrToIntInst, IntToPtrInst, TruncInst, AddrSpaceCastInst, FreezeInst>(instruction)) {
    Shape shape = of(instruction.getOperand(0));
    if (shape.kind != Shape::offset) return generic(instruction);
    unsigned bits = bits_of(instruction.getType());
    Shape result = offsets(shape.lanes, std::min(shape.align, bits), bits, shape.constant_base);
    if (shape.guards.empty()) return result;
    return bits == 64 ? guarded(result, shape, Shape()) : plain(Shape::varying);
  }
  if (auto* compare = dyn_cast<ICmpInst>(&instruction)) return compute_compare(*compare);
  if (isa<LoadInst>(instruction)) return generic(instruction);
  if (is_pure_operation(instruction)) return generic(instruction);
  return plain(Shape::varying);
}

// Lanes that differ in their low bits only fall on the same side of a multiple of a higher power of
// two: threadIdx.x < 64.
Shape Shapes::compute_compare(const ICmpInst& compare) const {
  Shape shape = of(compare.getOperand(0));
  auto* bound = dyn_cast<ConstantInt>(compare.getOperand(1));
  if (!bound || compare.isEquality()) return generic(compare);
  auto predicate = compare.getPredicate();
  APInt first_beyond = bound->getValue();
  if (predicate == ICmpInst::ICMP_UGT || predicate == ICmpInst::ICMP_ULE ||
      predicate == ICmpInst::ICMP_SGT || predicate == ICmpInst::ICMP_SLE)
    ++first_beyond;
  if (!lanes_stay_below(shape, first_beyond.countr_zero())) return generic(compare);
  return plain(Shape::uniform);
}

// Shapes only ever become less precise, which makes the fixpoint end.
bool Shapes::update(const Instruction& instruction, Shape shape) {
  Shape& old = shapes_[&instruction];
  if (shape == old || old.kind == Shape::varying || shape.kind == Shape::unknown) return false;
  if (old.kind == Shape::unknown) {
    old = std::move(shape);
    return true;
  }
  if (old.kind != shape.kind || old.lanes != shape.lanes) {
    old = plain(Shape::varying);
    return true;
  }
  Shape both = guarded(old, old, shape);
  both.align = std::min(old.align, shape.align);
  both.constant_base = old.constant_base && shape.constant_base;
  if (both == old) return false;
  old = std::move(both);
  return true;
}

Shapes::Shapes(Function& kernel, const ThreadLayout& layout, DominatorTree& dominators,
               LoopInfo& loops)
    : layout_(layout), data_(kernel.getParent()->getDataLayout()), loops_(loops) {
  CycleInfo cycles;
  cycles.compute(kernel);
  SSAContext context(&kernel);
  SyncDependence sync(context, dominators, cycles);
  Partings partings(kernel, dominators);
  ReversePostOrderTraversal<Function*> order(&kernel);
  bool changed = true;
  while (changed) {
    changed = false;
    for (BasicBlock* block : order) {
      for (Instruction& instruction : *block)
        if (!instruction.getType()->isVoidTy())
          changed |= update(instruction, compute(instruction));
      auto* branch = dyn_cast<BranchInst>(block->getTerminator());
      if (!branch || branch->isUnconditional() || divergent_blocks_.count(block)) continue;
      Shape condition = of(branch->getCondition());
      if (condition.kind != Shape::varying && condition.kind != Shape::offset) continue;
      divergent_blocks_.insert(block);
      const auto& effect = sync.getJoinBlocks(block);
      joins_.insert(effect.JoinDivBlocks.begin(), effect.JoinDivBlocks.end());
      for (const BasicBlock* meeting : partings.meetings(block)) joins_.insert(meeting);
      const BasicBlock* end = partings.end(block);
      for (const Loop* loop = loops.getLoopFor(block); loop; loop = loop->getParentLoop())
        if (!end || !loop->contains(end)) divergent_loops_.insert(loop);
      for (const BasicBlock* exit : effect.CycleDivBlocks)
        for (const Loop* loop = loops.getLoopFor(block); loop && !loop->contains(exit);
             loop = loop->getParentLoop())
          divergent_loops_.insert(loop);
      changed = true;
    }
  }
  // Assumptions made on the way to the fixpoint that no longer matter.
  erase_if(assumed_,
           [&](const NoWrap& assumption) { return of(assumption.value).kind != Shape::offset; });
  for (const auto& [value, shape] : shapes_)
    if (!shape.guards.empty())
      for (const Use& use : cast<Instruction>(value)->operands())
        if (auto* operand = dyn_cast<Instruction>(use.get())) kept_.insert(operand);
}

}  // namespace td::softdev::simt
