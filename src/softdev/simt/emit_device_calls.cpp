// Calls into the runtime that are made once for each live lane, and questions about addresses.
#include <llvm/IR/Constants.h>

#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_call.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

// Calls `callee` with `before`, the call's own arguments and `after` for each live lane in
// ascending order.
Value* WarpEmitter::call_lanes(FunctionCallee callee, const CallInst& call, ArrayRef<Value*> before,
                               ArrayRef<Value*> after) {
  Type* type = host_type(call.getType());
  SmallVector<Value*> arrays;
  for (const Use& use : call.args())
    arrays.push_back(lane_array(vector(use.get()), "call.argument"));
  bool has_result = !type->isVoidTy();
  Value* results =
      has_result ? stack_slot(ArrayType::get(type, width_), Align(64), "call.result") : nullptr;
  for_each_lane("call", [&](Value* lane) {
    SmallVector<Value*> arguments(before);
    for (unsigned i = 0; i < arrays.size(); ++i) {
      Type* argument = host_type(call.getArgOperand(i)->getType());
      arguments.push_back(b_.CreateLoad(argument, lane_address(arrays[i], argument, lane)));
    }
    arguments.append(after.begin(), after.end());
    Value* result = b_.CreateCall(callee, arguments);
    if (has_result) b_.CreateStore(result, lane_address(results, type, lane));
  });
  return has_result ? b_.CreateAlignedLoad(FixedVectorType::get(type, width_), results, Align(64))
                    : nullptr;
}

// __td_rt_name(arguments…) is td_rt_name(block, arguments…[, line]) of run/device_calls.h.
Value* WarpEmitter::emit_lane_call(const CallInst& call, const BuiltinRow& row) {
  SmallVector<Type*> params{b_.getPtrTy()};
  for (const Use& use : call.args()) params.push_back(host_type(use->getType()));
  SmallVector<Value*> after;
  if (row.detail == 1) {
    params.push_back(b_.getInt32Ty());
    after.push_back(b_.getInt32(source_line(call)));
  }
  StringRef symbol = StringRef(row.name).drop_front(2);
  FunctionCallee callee = runtime(symbol, host_type(call.getType()), params, true);
  return call_lanes(callee, call, {launch_.block_frame}, after);
}

// __td_rt_name(constant, operands…) is td_rt_name(WarpCall*) of kernel_abi.h.
Value* WarpEmitter::emit_warp_call(const CallInst& call, const BuiltinRow& row) {
  WarpCallValues values;
  values.block = launch_.block_frame;
  values.lanes = mask_bits32(mask_);
  values.width = width_;
  values.first_thread = launch_.first;
  for (const Use& use : drop_begin(call.args()))
    values.operands.push_back(is_zero(*use) ? nullptr
                                            : lane_array(vector(use.get()), "call.operand"));
  auto* words = dyn_cast<StructType>(call.getType());
  const unsigned count = words ? words->getNumElements() : 0;
  Type* i32 = b_.getInt32Ty();
  if (words)
    values.result = stack_slot(ArrayType::get(i32, count * width_), Align(64), "call.result");
  values.frame = stack_slot(warp_call_type(context_), Align(8), "call.frame");
  make_warp_call(b_, call, row, values);
  if (!words) return nullptr;
  Value* result = PoisonValue::get(lanes_type(words));
  for (unsigned i = 0; i < count; ++i) {
    Value* at = b_.CreateConstInBoundsGEP1_64(i32, values.result, i * width_);
    Value* word = b_.CreateAlignedLoad(FixedVectorType::get(i32, width_), at, Align(32));
    result = b_.CreateInsertValue(result, word, i);
  }
  return result;
}

// Whether an address lies in the module's __constant__ variables, which lie together.
Value* WarpEmitter::emit_is_constant(const CallInst& call) {
  Type* i64 = b_.getInt64Ty();
  Value* address = vector(call.getArgOperand(0));
  Value* begin = b_.CreateAdd(b_.CreatePtrToInt(launch_.globals, i64),
                              b_.getInt64(kernel_.data->constant_begin));
  Value* offset =
      b_.CreateSub(b_.CreatePtrToInt(address, FixedVectorType::get(i64, width_)), splat(begin));
  Value* size = b_.getInt64(kernel_.data->constant_end - kernel_.data->constant_begin);
  return b_.CreateZExt(b_.CreateICmpULT(offset, splat(size)), lanes_type(call.getType()));
}

}  // namespace td::softdev::simt
