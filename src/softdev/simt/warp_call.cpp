#include "softdev/simt/warp_call.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <iterator>

#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {
constexpr std::size_t kOperands = std::size(WarpCall{}.operands);
}

StructType* warp_call_type(LLVMContext& context) {
  Type *i32 = Type::getInt32Ty(context), *pointer = PointerType::get(context, 0);
  return StructType::get(
      context, {pointer, i32, i32, i32, i32, i32, ArrayType::get(pointer, kOperands), pointer});
}

bool is_zero(const Value& operand) {
  auto* constant = dyn_cast<Constant>(&operand);
  return constant && (constant->isNullValue() || isa<UndefValue>(constant));
}

void make_warp_call(IRBuilder<>& b, const CallInst& call, const BuiltinRow& row,
                    const WarpCallValues& values) {
  auto* op = dyn_cast<ConstantInt>(call.getArgOperand(0));
  if (!op || values.operands.size() > kOperands)
    refuse(call, "a texture or surface call whose form is no constant is");
  Type* type = warp_call_type(b.getContext());
  Value* null = ConstantPointerNull::get(b.getPtrTy());
  auto set = [&](unsigned field, Value* value) {
    b.CreateStore(value, b.CreateStructGEP(type, values.frame, field));
  };
  set(0, values.block);
  set(1, values.lanes);
  set(2, b.getInt32(values.width));
  set(3, values.first_thread);
  set(4, b.getInt32(source_line(call)));
  set(5, op);
  Value* operands = b.CreateStructGEP(type, values.frame, 6);
  for (unsigned i = 0; i < values.operands.size(); ++i)
    b.CreateStore(values.operands[i] ? values.operands[i] : null,
                  b.CreateConstInBoundsGEP1_64(b.getPtrTy(), operands, i));
  set(7, values.result ? values.result : null);
  FunctionCallee callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(
      StringRef(row.name).drop_front(2), FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false));
  cast<Function>(callee.getCallee())->setDoesNotThrow();
  b.CreateCall(callee, {values.frame});
}

}  // namespace td::softdev::simt
