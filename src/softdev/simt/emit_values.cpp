// Values and lane-by-lane operations.
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Operator.h>

#include "softdev/simt/scalar.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

Type* WarpEmitter::host_type(Type* type) const {
  if (type->isPointerTy()) return PointerType::get(context_, 0);
  if (auto* structure = dyn_cast<StructType>(type)) {
    SmallVector<Type*> members;
    for (Type* member : structure->elements()) members.push_back(host_type(member));
    return StructType::get(context_, members);
  }
  return type;
}

Type* WarpEmitter::lanes_type(Type* type) const {
  if (auto* structure = dyn_cast<StructType>(type)) {
    SmallVector<Type*> members;
    for (Type* member : structure->elements()) members.push_back(lanes_type(member));
    return StructType::get(context_, members);
  }
  return FixedVectorType::get(host_type(type), width_);
}

AllocaInst* WarpEmitter::stack_slot(Type* type, Align align, const Twine& name) {
  BasicBlock& entry = function_->getEntryBlock();
  auto* slot = new AllocaInst(type, 0, nullptr, align, name, entry.getFirstInsertionPt());
  return slot;
}

AllocaInst* WarpEmitter::slot(const Instruction* value) {
  AllocaInst*& made = slots_[value];
  if (!made) {
    Type* type = value->getType();
    type = shapes_.of(value).kind == Shape::varying ? lanes_type(type) : host_type(type);
    made = stack_slot(type, function_->getParent()->getDataLayout().getPrefTypeAlign(type),
                      value->getName());
  }
  return made;
}

void WarpEmitter::define(const Instruction& instruction, Value* value) {
  local_[&instruction] = value;
  if (instruction.isUsedOutsideOfBlock(instruction.getParent()) || shapes_.is_kept(&instruction))
    b_.CreateStore(value, slot(&instruction));
}

Value* WarpEmitter::stored_value(const Value* value) {
  Value*& found = local_[value];
  if (!found) {
    AllocaInst* from = slot(cast<Instruction>(value));
    found = b_.CreateLoad(from->getAllocatedType(), from);
  }
  return found;
}

Value* WarpEmitter::scalar(const Value* value) {
  if (auto* argument = dyn_cast<Argument>(value)) return launch_.params[argument->getArgNo()];
  if (auto* variable = dyn_cast<GlobalVariable>(value)) {
    bool shared = is_shared(*variable);
    const auto& offsets = shared ? kernel_.shared.offsets : kernel_.data->offsets;
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), shared ? launch_.shared : launch_.globals,
                                         offsets.lookup(variable));
  }
  if (auto* function = dyn_cast<Function>(value))
    return kernel_.scalar->function(const_cast<Function&>(*function));
  if (auto* constant = dyn_cast<Constant>(value)) {
    if (isa<UndefValue>(constant) || constant->getType()->isPointerTy())
      return Constant::getNullValue(host_type(constant->getType()));
    return const_cast<Constant*>(constant);
  }
  if (shapes_.of(value).constant_base) return Constant::getNullValue(host_type(value->getType()));
  return stored_value(value);
}

Value* WarpEmitter::splat(Value* scalar) {
  auto* structure = dyn_cast<StructType>(scalar->getType());
  if (!structure) return b_.CreateVectorSplat(width_, scalar);
  Value* result = PoisonValue::get(lanes_type(structure));
  for (unsigned i = 0; i < structure->getNumElements(); ++i)
    result = b_.CreateInsertValue(result, splat(b_.CreateExtractValue(scalar, i)), i);
  return result;
}

Constant* WarpEmitter::lane_constants(Type* type, const Shape& shape) const {
  SmallVector<Constant*> lanes;
  for (std::int64_t lane : shape.lanes)
    lanes.push_back(ConstantInt::get(type, static_cast<std::uint64_t>(lane), true));
  return ConstantVector::get(lanes);
}

Value* WarpEmitter::vector(const Value* value) {
  Shape shape = shapes_.of(value);
  if (shape.kind == Shape::varying) return stored_value(value);
  // The scalar may be wrong: compute each lane again from the operands.
  if (!shape.guards.empty()) return emit_operation(*cast<Instruction>(value), true);
  Value* base = scalar(value);
  if (shape.kind != Shape::offset) return splat(base);
  if (base->getType()->isPointerTy())
    return b_.CreateGEP(b_.getInt8Ty(), splat(base), lane_constants(b_.getInt64Ty(), shape));
  Constant* lanes = lane_constants(base->getType(), shape);
  if (shape.constant_base) return lanes;
  return b_.CreateAdd(splat(base), lanes, "", shapes_.never_wraps(value, false),
                      shapes_.never_wraps(value, true));
}

void WarpEmitter::emit_instruction(const Instruction& instruction) {
  if (instruction.getType()->isVectorTy()) refuse(instruction, "a vector value in this place is");
  if (auto* load = dyn_cast<LoadInst>(&instruction)) return define(instruction, emit_load(*load));
  if (auto* store = dyn_cast<StoreInst>(&instruction)) return emit_store(*store);
  if (auto* array = dyn_cast<AllocaInst>(&instruction))
    return define(instruction, emit_local_array(*array));
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction))
    return define(instruction, emit_atomic(instruction));
  if (isa<FenceInst>(instruction)) {
    b_.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return;
  }
  if (auto* call = dyn_cast<CallInst>(&instruction)) {
    Value* result = emit_call(*call);
    if (result && !call->getType()->isVoidTy()) define(instruction, result);
    return;
  }
  Shape shape = shapes_.of(&instruction);
  if (shape.constant_base) return;
  define(instruction, emit_operation(instruction, shape.kind == Shape::varying));
}

// The kinds of instruction that compute each lane from the same lane of their operands.
Value* WarpEmitter::emit_operation(const Instruction& instruction, bool as_vector) {
  if (auto* op = dyn_cast<BinaryOperator>(&instruction)) return emit_binary(*op, as_vector);
  if (auto* cast_op = dyn_cast<CastInst>(&instruction)) return emit_cast(*cast_op, as_vector);
  if (auto* gep = dyn_cast<GetElementPtrInst>(&instruction)) return emit_address(*gep, as_vector);
  if (auto* select = dyn_cast<SelectInst>(&instruction)) return emit_select(*select, as_vector);
  if (auto* compare = dyn_cast<CmpInst>(&instruction)) {
    Value* result =
        b_.CreateCmp(compare->getPredicate(), operand(compare->getOperand(0), as_vector),
                     operand(compare->getOperand(1), as_vector));
    if (auto* made = dyn_cast<FCmpInst>(result)) made->copyFastMathFlags(compare);
    return result;
  }
  if (instruction.getOpcode() == Instruction::FNeg) {
    Value* result = b_.CreateFNeg(operand(instruction.getOperand(0), as_vector));
    if (auto* made = dyn_cast<Instruction>(result)) made->copyFastMathFlags(&instruction);
    return result;
  }
  if (isa<FreezeInst>(instruction))
    return b_.CreateFreeze(operand(instruction.getOperand(0), as_vector));
  if (auto* extract = dyn_cast<ExtractValueInst>(&instruction))
    return b_.CreateExtractValue(operand(extract->getAggregateOperand(), as_vector),
                                 extract->getIndices());
  if (auto* insert = dyn_cast<InsertValueInst>(&instruction))
    return b_.CreateInsertValue(operand(insert->getAggregateOperand(), as_vector),
                                operand(insert->getInsertedValueOperand(), as_vector),
                                insert->getIndices());
  refuse(instruction, std::string("the operation `") + instruction.getOpcodeName() + "` is");
}

Value* WarpEmitter::emit_binary(const BinaryOperator& op, bool as_vector) {
  Value* x = operand(op.getOperand(0), as_vector);
  Value* y = operand(op.getOperand(1), as_vector);
  if (as_vector && op.isIntDivRem()) return emit_vector_division(op, x, y);
  Value* result = b_.CreateBinOp(op.getOpcode(), x, y);
  auto* made = dyn_cast<Instruction>(result);
  if (!made) return result;
  if (isa<FPMathOperator>(op)) made->copyFastMathFlags(&op);
  // The scalar of an offset-shaped value stands for a lane that may be dead: it keeps no promise
  // about overflow.
  if (as_vector && op.getType()->isIntegerTy()) made->copyIRFlags(&op);
  return result;
}

static bool is_without_zero(const Value* vector) {
  auto* constant = dyn_cast<Constant>(vector);
  if (!constant) return false;
  for (unsigned l = 0; l < cast<FixedVectorType>(vector->getType())->getNumElements(); ++l) {
    auto* lane = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(l));
    if (!lane || lane->isZero()) return false;
  }
  return true;
}

// x86 has no vector division of integers. Quotients of 32-bit numbers are exact in double
// precision: a quotient that is not an integer is at least 2^-32 (relative) away from the next one,
// far more than the rounding error of 2^-53.
Value* WarpEmitter::emit_vector_division(const BinaryOperator& op, Value* x, Value* y) {
  bool is_signed = op.getOpcode() == Instruction::SDiv || op.getOpcode() == Instruction::SRem;
  bool remainder = op.getOpcode() == Instruction::SRem || op.getOpcode() == Instruction::URem;
  Type* type = x->getType();
  unsigned bits = type->getScalarSizeInBits();
  // Dead lanes may hold a zero divisor, which in a constant vector (threadIdx.x of two rows) would
  // spoil the others too.
  if (!is_without_zero(y) && !full_) y = b_.CreateSelect(mask_, y, ConstantInt::get(type, 1));
  if (isa<Constant>(y) || bits > 32) return b_.CreateBinOp(op.getOpcode(), x, y);
  Type* doubles = FixedVectorType::get(b_.getDoubleTy(), width_);
  Value* quotient;
  if (is_signed) {
    // INT_MIN / -1 does not occur (semantics.cpp).
    quotient = b_.CreateFDiv(b_.CreateSIToFP(x, doubles), b_.CreateSIToFP(y, doubles));
    quotient = b_.CreateFPToSI(quotient, type);
  } else {
    quotient = b_.CreateFDiv(b_.CreateUIToFP(x, doubles), b_.CreateUIToFP(y, doubles));
    quotient = b_.CreateFPToUI(quotient, type);
  }
  return remainder ? b_.CreateSub(x, b_.CreateMul(quotient, y)) : quotient;
}

Value* WarpEmitter::emit_cast(const CastInst& cast, bool as_vector) {
  Value* from = operand(cast.getOperand(0), as_vector);
  Type* to = as_vector ? lanes_type(cast.getType()) : host_type(cast.getType());
  if (cast.getOperand(0)->getType()->isVectorTy()) refuse(cast, "a vector value in this place is");
  if (isa<AddrSpaceCastInst>(cast)) return from;
  unsigned opcode = cast.getOpcode();
  // A non-negative value may be negative in the (dead) lane that a scalar stands for.
  if (!as_vector && isa<ZExtInst>(cast) && cast.hasNonNeg()) opcode = Instruction::SExt;
  if (!as_vector && is_contained(shapes_.of(&cast).guards, &cast)) {
    AllocaInst*& guard = guards_[&cast];
    if (!guard) guard = stack_slot(b_.getInt1Ty(), Align(1), "no.wrap");
    bool is_signed = opcode == Instruction::SExt;
    b_.CreateStore(no_wrap_check(b_, from, shapes_.of(cast.getOperand(0)), is_signed), guard);
  }
  return b_.CreateCast(static_cast<Instruction::CastOps>(opcode), from, to);
}

Value* no_wrap_check(IRBuilder<>& b, Value* base, const Shape& shape, bool is_signed) {
  unsigned bits = base->getType()->getIntegerBitWidth();
  base = is_signed ? b.CreateSExt(base, b.getInt64Ty()) : b.CreateZExt(base, b.getInt64Ty());
  auto [low, high] = std::minmax_element(shape.lanes.begin(), shape.lanes.end());
  auto largest = static_cast<std::int64_t>((1ull << (is_signed ? bits - 1 : bits)) - 1);
  std::int64_t smallest = is_signed ? -largest - 1 : 0;
  Value* holds = b.getTrue();
  if (*high > 0) holds = b.CreateAnd(holds, b.CreateICmpSLE(base, b.getInt64(largest - *high)));
  if (*low < 0) holds = b.CreateAnd(holds, b.CreateICmpSGE(base, b.getInt64(smallest - *low)));
  return holds;
}

Value* WarpEmitter::emit_select(const SelectInst& select, bool as_vector) {
  Value* condition =
      operand(select.getCondition(), as_vector && !shapes_.is_uniform(select.getCondition()));
  Value* yes = operand(select.getTrueValue(), as_vector);
  Value* no = operand(select.getFalseValue(), as_vector);
  if (yes->getType()->isStructTy()) refuse(select, "a choice between structures is");
  Value* result = b_.CreateSelect(condition, yes, no);
  if (auto* made = dyn_cast<Instruction>(result);
      made && isa<FPMathOperator>(made) && isa<FPMathOperator>(select))
    made->copyFastMathFlags(&select);
  return result;
}

// base + constant + sum of index * scale, with the layout of the thread's module.
Value* WarpEmitter::emit_address(const GetElementPtrInst& gep, bool as_vector) {
  MapVector<Value*, APInt> variable;
  APInt constant(64, 0);
  if (!gep.collectOffset(data_, 64, variable, constant))
    refuse(gep, "this kind of address computation is");
  const Value* pointer = gep.getPointerOperand();
  Value* uniform_part = ConstantInt::get(b_.getInt64Ty(), constant);
  Value* lane_part = nullptr;
  for (auto& [index, scale] : variable) {
    bool lanes = as_vector && !shapes_.is_uniform(index);
    Value* value = operand(index, lanes);
    Type* wide =
        lanes ? static_cast<Type*>(FixedVectorType::get(b_.getInt64Ty(), width_)) : b_.getInt64Ty();
    value = b_.CreateSExtOrTrunc(value, wide);
    if (lanes && variable.size() == 1 && scale.isPowerOf2() && scale.ule(8)) {
      // As elements of that size: the form that gathers scale by themselves.
      Value* base = operand(pointer, !shapes_.is_uniform(pointer));
      base = b_.CreateGEP(b_.getInt8Ty(), base, uniform_part);
      return b_.CreateGEP(b_.getIntNTy(static_cast<unsigned>(scale.getZExtValue()) * 8), base,
                          value);
    }
    if (!scale.isOne()) value = b_.CreateMul(value, ConstantInt::get(wide, scale));
    if (!lanes)
      uniform_part = b_.CreateAdd(uniform_part, value);
    else
      lane_part = lane_part ? b_.CreateAdd(lane_part, value) : value;
  }
  if (!as_vector) return b_.CreateGEP(b_.getInt8Ty(), scalar(pointer), uniform_part);
  Value* base = operand(pointer, !shapes_.is_uniform(pointer));
  base = b_.CreateGEP(b_.getInt8Ty(), base, uniform_part);
  if (!lane_part) return base->getType()->isVectorTy() ? base : splat(base);
  return b_.CreateGEP(b_.getInt8Ty(), base, lane_part);
}

Value* WarpEmitter::emit_local_array(const AllocaInst& array) {
  AllocaInst*& made = arrays_[&array];
  std::uint64_t bytes = (local_stride(array, data_) * width_ + 63) / 64 * 64;
  if (!made) {
    if (!isa<ConstantInt>(array.getArraySize()))
      refuse(array, "a local array whose size is not constant (alloca) is");
    Align align = std::max(array.getAlign(), Align(64));
    if (launch_.warp_count) {
      // Lives across phases: a piece for each warp of the block.
      IRBuilder<> b(function_->getEntryBlock().getTerminator());
      made =
          b.CreateAlloca(ArrayType::get(b.getInt8Ty(), bytes), launch_.warp_count, array.getName());
      made->setAlignment(align);
    } else {
      made = stack_slot(ArrayType::get(b_.getInt8Ty(), bytes), align, array.getName());
    }
  }
  if (!launch_.warp_count) return made;
  Value* offset =
      b_.CreateMul(b_.CreateZExt(launch_.warp_number, b_.getInt64Ty()), b_.getInt64(bytes));
  return b_.CreateGEP(b_.getInt8Ty(), made, offset);
}

VectorType* WarpEmitter::mask_type() const {
  return FixedVectorType::get(Type::getInt1Ty(context_), width_);
}

Constant* WarpEmitter::full_mask() const { return Constant::getAllOnesValue(mask_type()); }

Value* WarpEmitter::mask_bits(Value* mask) { return b_.CreateBitCast(mask, b_.getIntNTy(width_)); }

Value* WarpEmitter::mask_bits32(Value* mask) {
  return b_.CreateZExt(mask_bits(mask), b_.getInt32Ty());
}

Value* WarpEmitter::any(Value* mask) {
  return b_.CreateICmpNE(mask_bits(mask), b_.getIntN(width_, 0));
}

Value* WarpEmitter::all(Value* mask) {
  return b_.CreateICmpEQ(mask_bits(mask), Constant::getAllOnesValue(b_.getIntNTy(width_)));
}

// A dead lane's condition may be poison: `and` would let it through.
Value* WarpEmitter::both(Value* mask, Value* condition) {
  return b_.CreateSelect(mask, condition, Constant::getNullValue(mask->getType()));
}

Value* WarpEmitter::but_not(Value* mask, Value* condition) {
  return b_.CreateSelect(mask, b_.CreateNot(condition), Constant::getNullValue(mask->getType()));
}

Value* WarpEmitter::entry_value(const Value* value, IRBuilder<>& b) {
  if (auto* argument = dyn_cast<Argument>(value)) return launch_.params[argument->getArgNo()];
  if (auto* constant = dyn_cast<ConstantInt>(value)) return const_cast<ConstantInt*>(constant);
  if (auto* call = dyn_cast<CallInst>(value)) {
    unsigned kind = static_cast<unsigned>(find_builtin(*call)->kind);
    auto axis = [&](Builtin first) { return kind - static_cast<unsigned>(first); };
    Value* result;
    if (axis(Builtin::thread_x) < 3) {
      bool zero = shapes_.of(value).constant_base;
      result = zero ? b.getInt32(0) : launch_.thread[axis(Builtin::thread_x)];
    } else if (axis(Builtin::block_x) < 3) {
      result = launch_.block_index[axis(Builtin::block_x)];
    } else if (axis(Builtin::block_dim_x) < 3) {
      result = launch_.block_dim[axis(Builtin::block_dim_x)];
    } else {
      result = launch_.grid_dim[axis(Builtin::grid_dim_x)];
    }
    return b.CreateZExtOrTrunc(result, call->getType());
  }
  auto* op = cast<Instruction>(value);
  Value* x = entry_value(op->getOperand(0), b);
  if (auto* cast_op = dyn_cast<CastInst>(op)) {
    bool is_signed = isa<SExtInst>(op) || (isa<ZExtInst>(op) && op->hasNonNeg());
    if (isa<TruncInst>(op)) return b.CreateTrunc(x, cast_op->getType());
    return is_signed ? b.CreateSExt(x, op->getType()) : b.CreateZExt(x, op->getType());
  }
  return b.CreateBinOp(cast<BinaryOperator>(op)->getOpcode(), x, entry_value(op->getOperand(1), b));
}

}  // namespace td::softdev::simt
