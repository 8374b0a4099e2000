// Calls of functions that stay functions (functions.h): once for each live lane, to scalar code.
#include <llvm/IR/Constants.h>

#include "softdev/simt/scalar.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

// Booleans are kept as bytes: a vector of them has no addressable elements.
Type* kept_type(Type* type) {
  return type->isIntegerTy(1) ? Type::getInt8Ty(type->getContext()) : type;
}

}  // namespace

Value* WarpEmitter::make_thread_frame() {
  AllocaInst* frame =
      stack_slot(ArrayType::get(b_.getInt8Ty(), sizeof(ThreadFrame)), Align(8), "thread.frame");
  auto at = [&](std::size_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame, offset);
  };
  b_.CreateStore(launch_.block_frame, at(offsetof(ThreadFrame, block)));
  b_.CreateStore(Constant::getNullValue(b_.getPtrTy()), at(offsetof(ThreadFrame, stack_limit)));
  return frame;
}

void WarpEmitter::fill_thread_frame(Value* frame, Value* lane) {
  Value* linear = b_.CreateAdd(launch_.first, b_.CreateTrunc(lane, b_.getInt32Ty()));
  Value* row = b_.CreateUDiv(linear, launch_.block_dim[0]);
  Value* index[3] = {b_.CreateURem(linear, launch_.block_dim[0]),
                     b_.CreateURem(row, launch_.block_dim[1]),
                     b_.CreateUDiv(row, launch_.block_dim[1])};
  auto store = [&](Value* value, std::size_t offset) {
    b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame, offset));
  };
  for (unsigned i = 0; i < 3; ++i) store(index[i], offsetof(ThreadFrame, index) + 4 * i);
  store(linear, offsetof(ThreadFrame, linear));
}

// One array for each scalar in `type`, in order.
void WarpEmitter::make_slots(Type* type, SmallVectorImpl<AllocaInst*>& slots) {
  if (auto* structure = dyn_cast<StructType>(type)) {
    for (Type* member : structure->elements()) make_slots(member, slots);
    return;
  }
  slots.push_back(
      stack_slot(ArrayType::get(kept_type(host_type(type)), width_), Align(64), "call.value"));
}

void WarpEmitter::store_lane(Value* value, Value* lane, ArrayRef<AllocaInst*>& slots) {
  if (auto* structure = dyn_cast<StructType>(value->getType())) {
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      store_lane(b_.CreateExtractValue(value, i), lane, slots);
    return;
  }
  Type* type = kept_type(host_type(value->getType()));
  if (value->getType()->isPointerTy() && value->getType() != type)
    value = b_.CreateAddrSpaceCast(value, type);
  if (value->getType()->isIntegerTy(1)) value = b_.CreateZExt(value, type);
  b_.CreateStore(value, lane_address(slots.front(), type, lane));
  slots = slots.drop_front();
}

Value* WarpEmitter::load_lanes(Type* type, ArrayRef<AllocaInst*>& slots) {
  if (auto* structure = dyn_cast<StructType>(type)) {
    Value* result = PoisonValue::get(lanes_type(type));
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      result = b_.CreateInsertValue(result, load_lanes(structure->getElementType(i), slots), i);
    return result;
  }
  Type* element = kept_type(host_type(type));
  Value* lanes =
      b_.CreateAlignedLoad(FixedVectorType::get(element, width_), slots.front(), Align(64));
  slots = slots.drop_front();
  return type->isIntegerTy(1) ? b_.CreateTrunc(lanes, mask_type()) : lanes;
}

Value* WarpEmitter::emit_function_call(const CallInst& call) {
  Type* result_type = call.getType();
  auto is_simple = [](Type* type) { return !type->isVectorTy() && !type->isArrayTy(); };
  bool simple = is_simple(result_type);
  for (const Use& use : call.args())
    simple = simple && is_simple(use->getType()) && !use->getType()->isStructTy();
  if (!simple || !kernel_.scalar) refuse(call, "a call of this function from vector code is");
  SmallVector<Type*> types{b_.getPtrTy()};
  types.append(call.getFunctionType()->param_begin(), call.getFunctionType()->param_end());
  Value* arrays_of_targets = nullptr;
  Value* target = nullptr;
  if (Function* callee = call.getCalledFunction())
    target = kernel_.scalar->function(*callee);
  else
    arrays_of_targets = lane_array(vector(call.getCalledOperand()), "call.target");
  SmallVector<AllocaInst*> arguments, results;
  for (const Use& use : call.args()) {
    Value* lanes = vector(use.get());
    Type* element = kept_type(host_type(use->getType()));
    if (use->getType()->isIntegerTy(1))
      lanes = b_.CreateZExt(lanes, FixedVectorType::get(element, width_));
    arguments.push_back(cast<AllocaInst>(lane_array(lanes, "call.argument")));
  }
  if (!result_type->isVoidTy()) make_slots(result_type, results);
  Value* frame = make_thread_frame();
  for_each_lane("call", [&](Value* lane) {
    fill_thread_frame(frame, lane);
    SmallVector<Value*> values{frame};
    for (unsigned i = 0; i < arguments.size(); ++i) {
      Type* type = call.getArgOperand(i)->getType();
      Type* element = kept_type(host_type(type));
      Value* value = b_.CreateLoad(element, lane_address(arguments[i], element, lane));
      if (type->isIntegerTy(1)) value = b_.CreateTrunc(value, type);
      if (value->getType() != type) value = b_.CreateAddrSpaceCast(value, type);
      values.push_back(value);
    }
    Value* callee =
        target ? target
               : b_.CreateLoad(b_.getPtrTy(), lane_address(arrays_of_targets, b_.getPtrTy(), lane));
    CallInst* made = b_.CreateCall(FunctionType::get(result_type, types, false), callee, values);
    for (unsigned i = 0; i < call.arg_size(); ++i)
      for (const auto& attribute : call.getAttributes().getParamAttrs(i))
        made->addParamAttr(i + 1, attribute);
    ArrayRef<AllocaInst*> slots = results;
    if (!result_type->isVoidTy()) store_lane(made, lane, slots);
  });
  ArrayRef<AllocaInst*> slots = results;
  return result_type->isVoidTy() ? nullptr : load_lanes(result_type, slots);
}

}  // namespace td::softdev::simt
