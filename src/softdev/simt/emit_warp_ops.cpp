// Warp-level operations. The vector is the warp: 32 lanes, so that lane numbers are vector
// positions.
//
// Lanes that take part: those alive here and named by the member mask. A source lane that is not
// alive gives an undefined value in CUDA; here it gives whatever the register holds (frozen, so
// that it is at least one value).
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

Value* WarpEmitter::emit_warp_op(const CallInst& call, const BuiltinRow& row) {
  switch (row.kind) {
    case Builtin::shuffle:
      return emit_shuffle(call, row.detail, nullptr);
    case Builtin::shuffle_pair: {
      Value* in_range = nullptr;
      Value* value = emit_shuffle(call, row.detail, &in_range);
      Value* pair = b_.CreateInsertValue(PoisonValue::get(lanes_type(call.getType())), value, 0);
      return b_.CreateInsertValue(pair, in_range, 1);
    }
    case Builtin::vote:
      return emit_vote(call, row.detail);
    case Builtin::ballot:
      return emit_ballot(call);
    case Builtin::match_any:
      return emit_match_any(call);
    case Builtin::match_all:
      return emit_match_all(call);
    case Builtin::reduce:
      return emit_reduce(call, row.detail);
    case Builtin::mma:
      return emit_mma(call);
    default:
      return mask_bits32(mask_);
  }
}

// PTX's definition of shfl.sync, for all lanes at once. Constants fold, so that constant distances
// become shuffles.
Value* WarpEmitter::emit_shuffle(const CallInst& call, int mode, Value** in_range) {
  auto number = [&](unsigned n) { return splat(b_.getInt32(n)); };
  Value* values = b_.CreateFreeze(vector(call.getArgOperand(1)));
  auto* whole_warp = dyn_cast<ConstantInt>(call.getArgOperand(3));
  if (mode == 0 && !in_range && whole_warp && whole_warp->getZExtValue() == 31 &&
      shapes_.is_uniform(call.getArgOperand(2))) {
    Value* source = b_.CreateAnd(scalar(call.getArgOperand(2)), b_.getInt32(31));
    return splat(b_.CreateExtractElement(values, source));
  }
  Value* distance = b_.CreateAnd(vector(call.getArgOperand(2)), number(31));
  Value* control = vector(call.getArgOperand(3));
  Value* clamp = b_.CreateAnd(control, number(31));
  Value* segment = b_.CreateAnd(b_.CreateLShr(control, number(8)), number(31));
  SmallVector<Constant*> numbers;
  for (unsigned l = 0; l < width_; ++l) numbers.push_back(b_.getInt32(l));
  Value* lane = ConstantVector::get(numbers);
  Value* outside = b_.CreateNot(segment);
  Value* first = b_.CreateAnd(lane, segment);
  Value* limit = b_.CreateOr(first, b_.CreateAnd(clamp, outside));
  Value* source = nullptr;
  if (mode == 0) source = b_.CreateOr(first, b_.CreateAnd(distance, outside));
  if (mode == 1) source = b_.CreateSub(lane, distance);
  if (mode == 2) source = b_.CreateAdd(lane, distance);
  if (mode == 3) source = b_.CreateXor(lane, distance);
  Value* inside = mode == 1 ? b_.CreateICmpSGE(source, limit) : b_.CreateICmpSLE(source, limit);
  source = b_.CreateAnd(b_.CreateSelect(inside, source, lane), number(31));
  if (in_range) *in_range = inside;
  if (auto* constant = dyn_cast<Constant>(source)) {
    SmallVector<int> lanes;
    for (unsigned l = 0; l < width_; ++l)
      lanes.push_back(
          static_cast<int>(cast<ConstantInt>(constant->getAggregateElement(l))->getZExtValue()));
    return b_.CreateShuffleVector(values, lanes);
  }
  return permute(values, source);
}

// values[sources[l]] for each lane; elements of 32 bits.
Value* WarpEmitter::permute(Value* values, Value* sources) {
  Type* type = values->getType();
  auto* ints = FixedVectorType::get(b_.getInt32Ty(), width_);
  Value* bits = b_.CreateBitCast(values, ints);
  if (!kernel_.has_avx2) {
    Value* array = lane_array(bits, "shuffle.values");
    Value* result = PoisonValue::get(ints);
    for (unsigned l = 0; l < width_; ++l) {
      Value* at = b_.CreateInBoundsGEP(b_.getInt32Ty(), array, b_.CreateExtractElement(sources, l));
      result = b_.CreateInsertElement(result, b_.CreateLoad(b_.getInt32Ty(), at), l);
    }
    return b_.CreateBitCast(result, type);
  }
  auto part_of = [&](Value* vector, unsigned part) {
    SmallVector<int> lanes;
    for (unsigned l = 0; l < 8; ++l) lanes.push_back(part * 8 + l);
    return b_.CreateShuffleVector(vector, lanes);
  };
  SmallVector<Value*> parts;
  for (unsigned target = 0; target < width_ / 8; ++target) {
    Value* index = part_of(sources, target);
    Value* within = b_.CreateAnd(index, b_.CreateVectorSplat(8, b_.getInt32(7)));
    Value* block = b_.CreateLShr(index, 3);
    Value* result = nullptr;
    for (unsigned source = 0; source < width_ / 8; ++source) {
      Value* moved =
          b_.CreateIntrinsic(Intrinsic::x86_avx2_permd, {}, {part_of(bits, source), within});
      Value* here = b_.CreateICmpEQ(block, b_.CreateVectorSplat(8, b_.getInt32(source)));
      result = result ? b_.CreateSelect(here, moved, result) : moved;
    }
    parts.push_back(result);
  }
  SmallVector<int> sixteen, all_lanes;
  for (int l = 0; l < 16; ++l) sixteen.push_back(l);
  for (int l = 0; l < 32; ++l) all_lanes.push_back(l);
  Value* low = b_.CreateShuffleVector(parts[0], parts[1], sixteen);
  Value* high = b_.CreateShuffleVector(parts[2], parts[3], sixteen);
  return b_.CreateBitCast(b_.CreateShuffleVector(low, high, all_lanes), type);
}

// Votes and ballots are computed on bits; with a member mask that varies, once for each lane.
Value* WarpEmitter::emit_vote(const CallInst& call, int mode) {
  bool lanes = !shapes_.is_uniform(call.getArgOperand(0));
  auto spread = [&](Value* bits) { return lanes ? splat(bits) : bits; };
  Value* members = b_.CreateAnd(operand(call.getArgOperand(0), lanes), spread(mask_bits32(mask_)));
  Value* yes =
      b_.CreateAnd(members, spread(mask_bits32(both(mask_, vector(call.getArgOperand(1))))));
  Constant* none = Constant::getNullValue(members->getType());
  Value* all_agree = b_.CreateICmpEQ(yes, members);
  if (mode == 0) return all_agree;
  if (mode == 1) return b_.CreateICmpNE(yes, none);
  return b_.CreateOr(all_agree, b_.CreateICmpEQ(yes, none));
}

Value* WarpEmitter::emit_ballot(const CallInst& call) {
  bool lanes = !shapes_.is_uniform(call.getArgOperand(0));
  Value* bits = mask_bits32(both(mask_, vector(call.getArgOperand(1))));
  return b_.CreateAnd(operand(call.getArgOperand(0), lanes), lanes ? splat(bits) : bits);
}

// `body` computes one <W x i32> for the live lanes (mask and bits) with one value of `keys`. One
// round for each different value: the first lane left names it, its equals are done.
Value* WarpEmitter::for_each_value(Value* keys,
                                   function_ref<Value*(Value* mask, Value* bits)> body) {
  keys = b_.CreateFreeze(keys);
  Type* i32 = b_.getInt32Ty();
  auto* ints = FixedVectorType::get(i32, width_);
  Value* start = mask_bits32(mask_);
  Value* alive = mask_;
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* loop = new_block("group");
  BasicBlock* done = new_block("group.done");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  PHINode* left = b_.CreatePHI(i32, 2);
  PHINode* found = b_.CreatePHI(ints, 2);
  left->addIncoming(start, before);
  found->addIncoming(Constant::getNullValue(ints), before);
  Value* lane = b_.CreateBinaryIntrinsic(Intrinsic::cttz, left, b_.getTrue());
  Value* equal = both(alive, b_.CreateICmpEQ(keys, splat(b_.CreateExtractElement(keys, lane))));
  Value* bits = mask_bits32(equal);
  Value* result = b_.CreateSelect(equal, body(equal, bits), found);
  Value* rest = b_.CreateAnd(left, b_.CreateNot(bits));
  left->addIncoming(rest, b_.GetInsertBlock());
  found->addIncoming(result, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
  return result;
}

Value* WarpEmitter::emit_match_any(const CallInst& call) {
  Value* members = vector(call.getArgOperand(0));
  Value* equal = for_each_value(vector(call.getArgOperand(1)),
                                [&](Value*, Value* bits) { return splat(bits); });
  return b_.CreateAnd(equal, members);
}

// `body` computes one <W x i32> for a set of lanes (mask and bits) that named each other. With a
// member mask that varies it runs once for each set.
Value* WarpEmitter::for_each_group(const Value* member_mask,
                                   function_ref<Value*(Value* mask, Value* bits)> body) {
  if (shapes_.is_uniform(member_mask)) {
    Value* bits = b_.CreateAnd(scalar(member_mask), mask_bits32(mask_));
    return body(both(mask_, b_.CreateBitCast(scalar(member_mask), mask_type())), bits);
  }
  return for_each_value(vector(member_mask), body);
}

Value* WarpEmitter::emit_match_all(const CallInst& call) {
  Value* values = b_.CreateFreeze(vector(call.getArgOperand(1)));
  Value* bits = for_each_group(call.getArgOperand(0), [&](Value* group, Value* group_bits) {
    Value* lane = b_.CreateBinaryIntrinsic(Intrinsic::cttz, group_bits, b_.getFalse());
    lane = b_.CreateAnd(lane, b_.getInt32(31));
    Value* first = splat(b_.CreateExtractElement(values, lane));
    Value* differs = any(both(group, b_.CreateICmpNE(values, first)));
    return splat(b_.CreateSelect(differs, b_.getInt32(0), group_bits));
  });
  Value* pair = b_.CreateInsertValue(PoisonValue::get(lanes_type(call.getType())), bits, 0);
  return b_.CreateInsertValue(pair, b_.CreateICmpNE(bits, Constant::getNullValue(bits->getType())),
                              1);
}

Value* WarpEmitter::emit_reduce(const CallInst& call, int op) {
  static constexpr Intrinsic::ID reductions[] = {
      Intrinsic::vector_reduce_add,  Intrinsic::vector_reduce_and,  Intrinsic::vector_reduce_or,
      Intrinsic::vector_reduce_xor,  Intrinsic::vector_reduce_umin, Intrinsic::vector_reduce_umax,
      Intrinsic::vector_reduce_smin, Intrinsic::vector_reduce_smax};
  static constexpr std::uint32_t identities[] = {0, ~0u, 0, 0, ~0u, 0, 0x7fffffffu, 0x80000000u};
  Value* given = vector(call.getArgOperand(0));
  auto reduce = [&](Value* group) {
    Value* values = b_.CreateSelect(group, given, splat(b_.getInt32(identities[op])));
    return b_.CreateUnaryIntrinsic(reductions[op], values);
  };
  if (shapes_.is_uniform(call.getArgOperand(1)))
    return reduce(both(mask_, b_.CreateBitCast(scalar(call.getArgOperand(1)), mask_type())));
  return for_each_group(call.getArgOperand(1),
                        [&](Value* group, Value*) { return splat(reduce(group)); });
}

// td_rt_mma (run/mma.h) computes for the whole warp, on words that lie lane after lane.
Value* WarpEmitter::emit_mma(const CallInst& call) {
  auto* words = ArrayType::get(b_.getInt32Ty(), width_);
  auto* lanes = FixedVectorType::get(b_.getInt32Ty(), width_);
  auto place = [&](Value* array, unsigned i) {
    return b_.CreateConstInBoundsGEP1_32(words, array, i);
  };
  Value* operands = stack_slot(ArrayType::get(words, 10), Align(64), "mma.operands");
  Value* results = stack_slot(ArrayType::get(words, 4), Align(64), "mma.results");
  for (unsigned i = 0; i < 10; ++i)
    b_.CreateAlignedStore(b_.CreateFreeze(vector(call.getArgOperand(2 + i))), place(operands, i),
                          Align(64));
  b_.CreateCall(
      runtime("td_rt_mma", b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()}, true),
      {operands, results, scalar(call.getArgOperand(1))});
  Value* result = PoisonValue::get(lanes_type(call.getType()));
  for (unsigned i = 0; i < 4; ++i)
    result =
        b_.CreateInsertValue(result, b_.CreateAlignedLoad(lanes, place(results, i), Align(64)), i);
  return result;
}

}  // namespace td::softdev::simt
