// Operations that run once for each live lane, in ascending lane order: atomics and copies.
//
// The order of a warp's atomics is free in CUDA; a fixed one makes runs repeatable. Shared memory
// belongs to the running worker, so that its atomics need no lock.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

Value* WarpEmitter::lane_array(Value* vector, const Twine& name) {
  Type* element = cast<VectorType>(vector->getType())->getElementType();
  AllocaInst* array = stack_slot(ArrayType::get(element, width_), Align(64), name);
  b_.CreateAlignedStore(vector, array, Align(64));
  return array;
}

Value* WarpEmitter::lane_address(Value* array, Type* element, Value* lane) {
  return b_.CreateInBoundsGEP(element, array, lane);
}

void WarpEmitter::for_each_lane(const Twine& name, function_ref<void(Value*)> body, bool straight) {
  Type* bits_type = b_.getInt32Ty();
  Value* start = mask_bits32(mask_);
  BasicBlock* loop = new_block(name + ".lane");
  BasicBlock* done = new_block(name + ".done");
  if (straight && !compact_) {
    BasicBlock* every = new_block(name + ".every");
    BasicBlock* some = new_block(name + ".some");
    b_.CreateCondBr(all(mask_), every, some);
    b_.SetInsertPoint(every);
    for (unsigned l = 0; l < width_; ++l) body(b_.getInt64(l));
    b_.CreateBr(done);
    b_.SetInsertPoint(some);
  }
  BasicBlock* before = b_.GetInsertBlock();
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  PHINode* left = b_.CreatePHI(bits_type, 2);
  left->addIncoming(start, before);
  Value* lane = b_.CreateBinaryIntrinsic(Intrinsic::cttz, left, b_.getTrue());
  body(b_.CreateZExt(lane, b_.getInt64Ty()));
  Value* rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
}

namespace {

Value* apply(IRBuilder<>& b, AtomicRMWInst::BinOp op, Value* old, Value* value) {
  switch (op) {
    case AtomicRMWInst::Xchg:
      return value;
    case AtomicRMWInst::Add:
      return b.CreateAdd(old, value);
    case AtomicRMWInst::Sub:
      return b.CreateSub(old, value);
    case AtomicRMWInst::And:
      return b.CreateAnd(old, value);
    case AtomicRMWInst::Nand:
      return b.CreateNot(b.CreateAnd(old, value));
    case AtomicRMWInst::Or:
      return b.CreateOr(old, value);
    case AtomicRMWInst::Xor:
      return b.CreateXor(old, value);
    case AtomicRMWInst::Max:
      return b.CreateBinaryIntrinsic(Intrinsic::smax, old, value);
    case AtomicRMWInst::Min:
      return b.CreateBinaryIntrinsic(Intrinsic::smin, old, value);
    case AtomicRMWInst::UMax:
      return b.CreateBinaryIntrinsic(Intrinsic::umax, old, value);
    case AtomicRMWInst::UMin:
      return b.CreateBinaryIntrinsic(Intrinsic::umin, old, value);
    case AtomicRMWInst::FAdd:
      return b.CreateFAdd(old, value);
    case AtomicRMWInst::FSub:
      return b.CreateFSub(old, value);
    case AtomicRMWInst::FMax:
      return b.CreateBinaryIntrinsic(Intrinsic::maxnum, old, value);
    case AtomicRMWInst::FMin:
      return b.CreateBinaryIntrinsic(Intrinsic::minnum, old, value);
    case AtomicRMWInst::UIncWrap: {
      Value* next = b.CreateAdd(old, ConstantInt::get(old->getType(), 1));
      return b.CreateSelect(b.CreateICmpUGE(old, value), Constant::getNullValue(old->getType()),
                            next);
    }
    case AtomicRMWInst::UDecWrap: {
      Value* next = b.CreateSub(old, ConstantInt::get(old->getType(), 1));
      Value* wraps = b.CreateOr(b.CreateICmpEQ(old, Constant::getNullValue(old->getType())),
                                b.CreateICmpUGT(old, value));
      return b.CreateSelect(wraps, value, next);
    }
    default:
      return nullptr;
  }
}

Constant* identity_of(AtomicRMWInst::BinOp op, Type* type) {
  unsigned bits = type->getScalarSizeInBits();
  switch (op) {
    case AtomicRMWInst::And:
    case AtomicRMWInst::UMin:
      return Constant::getAllOnesValue(type);
    case AtomicRMWInst::Max:
      return ConstantInt::get(type, APInt::getSignedMinValue(bits));
    case AtomicRMWInst::Min:
      return ConstantInt::get(type, APInt::getSignedMaxValue(bits));
    default:
      return Constant::getNullValue(type);
  }
}

Intrinsic::ID reduction_of(AtomicRMWInst::BinOp op) {
  switch (op) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
      return Intrinsic::vector_reduce_add;
    case AtomicRMWInst::And:
      return Intrinsic::vector_reduce_and;
    case AtomicRMWInst::Or:
      return Intrinsic::vector_reduce_or;
    case AtomicRMWInst::Xor:
      return Intrinsic::vector_reduce_xor;
    case AtomicRMWInst::Max:
      return Intrinsic::vector_reduce_smax;
    case AtomicRMWInst::Min:
      return Intrinsic::vector_reduce_smin;
    case AtomicRMWInst::UMax:
      return Intrinsic::vector_reduce_umax;
    case AtomicRMWInst::UMin:
      return Intrinsic::vector_reduce_umin;
    default:
      return Intrinsic::not_intrinsic;
  }
}

}  // namespace

// All lanes combine into one place: one operation for the warp, with the values that the lanes one
// after the other would give. Null when it must be done lane by lane.
Value* WarpEmitter::combine_first(const AtomicRMWInst& atomic) {
  auto op = atomic.getOperation();
  bool sum = op == AtomicRMWInst::Add || op == AtomicRMWInst::Sub;
  if (!shapes_.is_uniform(atomic.getPointerOperand())) return nullptr;
  if (op == AtomicRMWInst::FAdd) return atomic.use_empty() ? add_floats(atomic) : nullptr;
  Intrinsic::ID reduction = reduction_of(op);
  if (reduction == Intrinsic::not_intrinsic || (!atomic.use_empty() && !sum)) return nullptr;
  Value* values = vector(atomic.getValOperand());
  if (!full_) values = b_.CreateSelect(mask_, values, identity_of(op, values->getType()));
  Value* combined = b_.CreateUnaryIntrinsic(reduction, values);
  Value* old = atomic_step(atomic, scalar(atomic.getPointerOperand()), combined, nullptr);
  if (atomic.use_empty()) return splat(old);
  Value* before = sum_of_lanes_below(values, shapes_.is_uniform(atomic.getValOperand())
                                                 ? scalar(atomic.getValOperand())
                                                 : nullptr);
  return op == AtomicRMWInst::Add ? b_.CreateAdd(splat(old), before)
                                  : b_.CreateSub(splat(old), before);
}

// For each lane the sum of `values` of the lanes below it. `one`: the value of every live lane,
// when they are equal.
Value* WarpEmitter::sum_of_lanes_below(Value* values, Value* one) {
  auto* type = cast<FixedVectorType>(values->getType());
  Constant* zero = Constant::getNullValue(type);
  SmallVector<Constant*> numbers;
  for (unsigned l = 0; l < width_; ++l)
    numbers.push_back(ConstantInt::get(type->getElementType(), l));
  if (one && full_) return b_.CreateMul(splat(one), ConstantVector::get(numbers));
  Value* sums = one ? b_.CreateZExt(mask_, type) : values;
  for (unsigned step = 0; (1u << step) <= width_; ++step) {
    // The first step makes the sum exclusive.
    int distance = step == 0 ? 1 : 1 << (step - 1);
    SmallVector<int> lanes;
    for (int l = 0; l < static_cast<int>(width_); ++l)
      lanes.push_back(l >= distance ? l - distance : static_cast<int>(width_));
    Value* moved = b_.CreateShuffleVector(sums, zero, lanes);
    sums = step == 0 ? moved : b_.CreateAdd(sums, moved);
  }
  return one ? b_.CreateMul(splat(one), sums) : sums;
}

// old + lane 0 + lane 1 + …, rounded after each, as one compare and swap.
Value* WarpEmitter::add_floats(const AtomicRMWInst& atomic) {
  Type* type = atomic.getType();
  if (!type->isFloatTy() && !type->isDoubleTy()) return nullptr;
  Value* pointer = scalar(atomic.getPointerOperand());
  Value* values = vector(atomic.getValOperand());
  if (!full_) values = b_.CreateSelect(mask_, values, ConstantFP::get(values->getType(), -0.0));
  Align align = atomic.getAlign();
  if (space_of(atomic.getPointerOperand()) != Space::global) {
    Value* old = b_.CreateAlignedLoad(type, pointer, align);
    b_.CreateAlignedStore(b_.CreateFAddReduce(old, values), pointer, align);
    return PoisonValue::get(values->getType());
  }
  Type* bits = b_.getIntNTy(type->getScalarSizeInBits());
  LoadInst* first = b_.CreateAlignedLoad(bits, pointer, align);
  first->setAtomic(AtomicOrdering::Monotonic);
  BasicBlock* before = b_.GetInsertBlock();
  BasicBlock* loop = new_block("add");
  BasicBlock* done = new_block("added");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  PHINode* old = b_.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  Value* sum = b_.CreateFAddReduce(b_.CreateBitCast(old, type), values);
  Value* exchange = b_.CreateAtomicCmpXchg(pointer, old, b_.CreateBitCast(sum, bits), align,
                                           AtomicOrdering::SequentiallyConsistent,
                                           AtomicOrdering::SequentiallyConsistent);
  old->addIncoming(b_.CreateExtractValue(exchange, 0), loop);
  b_.CreateCondBr(b_.CreateExtractValue(exchange, 1), done, loop);
  b_.SetInsertPoint(done);
  return PoisonValue::get(values->getType());
}

// One atomic operation of one lane. A block runs on one worker, so that its shared memory needs no
// lock.
Value* WarpEmitter::atomic_step(const Instruction& instruction, Value* pointer, Value* a,
                                Value* b) {
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    if (space_of(exchange->getPointerOperand()) != Space::global) {
      Value* old = b_.CreateAlignedLoad(a->getType(), pointer, exchange->getAlign());
      Value* equal = b_.CreateICmpEQ(old, a);
      b_.CreateAlignedStore(b_.CreateSelect(equal, b, old), pointer, exchange->getAlign());
      Value* result = PoisonValue::get(StructType::get(a->getType(), b_.getInt1Ty()));
      return b_.CreateInsertValue(b_.CreateInsertValue(result, old, 0), equal, 1);
    }
    return b_.CreateAtomicCmpXchg(pointer, a, b, exchange->getAlign(),
                                  AtomicOrdering::SequentiallyConsistent,
                                  AtomicOrdering::SequentiallyConsistent);
  }
  auto op = AtomicRMWInst::Add;
  const Value* address = nullptr;
  Align align(4);
  if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction)) {
    op = atomic->getOperation();
    address = atomic->getPointerOperand();
    align = atomic->getAlign();
  } else {
    auto& call = cast<CallInst>(instruction);
    op = find_builtin(call)->detail == 0 ? AtomicRMWInst::UIncWrap : AtomicRMWInst::UDecWrap;
    address = call.getArgOperand(0);
  }
  if (space_of(address) == Space::global)
    return b_.CreateAtomicRMW(op, pointer, a, align, AtomicOrdering::SequentiallyConsistent);
  Value* old = b_.CreateAlignedLoad(a->getType(), pointer, align);
  Value* updated = apply(b_, op, old, a);
  if (!updated) refuse(instruction, "this atomic operation is");
  b_.CreateAlignedStore(updated, pointer, align);
  return old;
}

Value* WarpEmitter::emit_atomic(const Instruction& instruction) {
  if (auto* atomic = dyn_cast<AtomicRMWInst>(&instruction))
    if (Value* combined = combine_first(*atomic)) return combined;
  const Value* address = instruction.getOperand(0);
  bool exchange = isa<AtomicCmpXchgInst>(instruction);
  // Addresses in shared memory have 32 bits, as on a GPU: the distance from its start.
  Value* base = space_of(address) == Space::shared ? launch_.shared : nullptr;
  Value* places = vector(address);
  if (base) {
    Value* start = b_.CreatePtrToInt(base, b_.getInt32Ty());
    Value* ends = b_.CreatePtrToInt(places, FixedVectorType::get(b_.getInt32Ty(), width_));
    places = b_.CreateSub(ends, b_.CreateVectorSplat(width_, start));
  }
  Value* pointers = lane_array(places, "atomic.place");
  Value* first_vector = vector(instruction.getOperand(1));
  Type* type = cast<VectorType>(first_vector->getType())->getElementType();
  Value* first = lane_array(first_vector, "atomic.value");
  Value* second = exchange ? lane_array(vector(instruction.getOperand(2)), "atomic.new") : nullptr;
  Value* old = stack_slot(ArrayType::get(type, width_), Align(64), "atomic.old");
  Value* success = stack_slot(ArrayType::get(b_.getInt8Ty(), width_), Align(64), "atomic.success");
  bool is_short = isa<AtomicRMWInst>(instruction) && instruction.use_empty() &&
                  space_of(address) == Space::shared;
  auto step = [&](Value* lane) {
    auto load = [&](Type* t, Value* array) {
      return b_.CreateLoad(t, lane_address(array, t, lane));
    };
    Value* pointer =
        base ? b_.CreateInBoundsGEP(b_.getInt8Ty(), base,
                                    b_.CreateSExt(load(b_.getInt32Ty(), pointers), b_.getInt64Ty()))
             : load(b_.getPtrTy(), pointers);
    Value* result =
        atomic_step(instruction, pointer, load(type, first), second ? load(type, second) : nullptr);
    if (exchange) {
      b_.CreateStore(b_.CreateZExt(b_.CreateExtractValue(result, 1), b_.getInt8Ty()),
                     lane_address(success, b_.getInt8Ty(), lane));
      result = b_.CreateExtractValue(result, 0);
    }
    b_.CreateStore(result, lane_address(old, type, lane));
  };
  for_each_lane("atomic", step, is_short);
  Value* values = b_.CreateAlignedLoad(FixedVectorType::get(type, width_), old, Align(64));
  if (!exchange) return values;
  Value* flags =
      b_.CreateAlignedLoad(FixedVectorType::get(b_.getInt8Ty(), width_), success, Align(64));
  Value* result = PoisonValue::get(lanes_type(instruction.getType()));
  result = b_.CreateInsertValue(result, values, 0);
  return b_.CreateInsertValue(result, b_.CreateTrunc(flags, mask_type()), 1);
}

void WarpEmitter::emit_copy(const CallInst& call, Builtin kind) {
  Value* to = lane_array(vector(call.getArgOperand(0)), "copy.to");
  Value* from_vector = vector(call.getArgOperand(1));
  Type* from_type = cast<VectorType>(from_vector->getType())->getElementType();
  Value* from = lane_array(from_vector, "copy.from");
  Value* size = lane_array(vector(call.getArgOperand(2)), "copy.size");
  Type* size_type = call.getArgOperand(2)->getType();
  for_each_lane("copy", [&](Value* lane) {
    Value* target = b_.CreateLoad(b_.getPtrTy(), lane_address(to, b_.getPtrTy(), lane));
    Value* source = b_.CreateLoad(from_type, lane_address(from, from_type, lane));
    Value* bytes = b_.CreateLoad(size_type, lane_address(size, size_type, lane));
    if (kind == Builtin::fill)
      b_.CreateMemSet(target, source, bytes, MaybeAlign());
    else if (kind == Builtin::move)
      b_.CreateMemMove(target, MaybeAlign(), source, MaybeAlign(), bytes);
    else
      b_.CreateMemCpy(target, MaybeAlign(), source, MaybeAlign(), bytes);
  });
}

}  // namespace td::softdev::simt
