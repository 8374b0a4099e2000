// Calls: special registers, intrinsics, the math library, barriers, output and traps.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "softdev/simt/math_names.h"
#include "softdev/simt/scalar.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

Value* WarpEmitter::emit_call(const CallInst& call) {
  if (call.isInlineAsm()) {
    b_.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
    return nullptr;
  }
  if (is_device_call(call)) return emit_function_call(call);
  const BuiltinRow* row = find_builtin(call);
  if (!row) {
    StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : "(unknown)";
    refuse(call, "the device function `" + name.str() + "` is");
  }
  Shape shape = shapes_.of(&call);
  if (shape.constant_base) return nullptr;
  bool lanes = shape.kind == Shape::varying;
  switch (row->kind) {
    case Builtin::pure:
      return emit_pure(call, lanes);
    case Builtin::math:
      return emit_math(call);
    case Builtin::barrier:
    case Builtin::barrier_reduce:
    case Builtin::barrier_arrive:
      return emit_barrier(call, *row);
    case Builtin::grid_barrier:
      return emit_grid_barrier(call);
    case Builtin::fence:
      return emit_fence(*row);
    case Builtin::copy:
    case Builtin::move:
    case Builtin::fill:
      emit_copy(call, row->kind);
      return nullptr;
    case Builtin::atomic_wrap:
      return emit_atomic(call);
    case Builtin::trap:
      emit_trap(call);
      return nullptr;
    case Builtin::assertion:
      emit_assertion(call);
      return nullptr;
    case Builtin::print:
      return emit_print(call);
    case Builtin::ignored:
    case Builtin::leave_together:
      return nullptr;
    case Builtin::lane_call:
      return emit_lane_call(call, *row);
    case Builtin::warp_call:
      return emit_warp_call(call, *row);
    case Builtin::is_constant:
      return emit_is_constant(call);
    case Builtin::warp_barrier:
      b_.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
      return nullptr;
    case Builtin::shuffle:
    case Builtin::shuffle_pair:
    case Builtin::vote:
    case Builtin::ballot:
    case Builtin::match_any:
    case Builtin::match_all:
    case Builtin::reduce:
    case Builtin::active_mask:
    case Builtin::mma:
      return emit_warp_op(call, *row);
    default:
      return emit_register(call, *row);
  }
}

// Linear indices of the lanes' threads.
Value* WarpEmitter::linear_index() {
  SmallVector<Constant*> lanes;
  for (unsigned l = 0; l < width_; ++l) lanes.push_back(b_.getInt32(l));
  return b_.CreateAdd(splat(launch_.first), ConstantVector::get(lanes));
}

// threadIdx of each lane when nothing is known about the block's shape. Indices are below 2^11, so
// that single precision is exact.
Value* WarpEmitter::thread_index(unsigned axis) {
  Value* index = linear_index();
  auto divide = [&](Value* x, Value* uniform) {
    Type* doubles = FixedVectorType::get(b_.getDoubleTy(), width_);
    Value* quotient =
        b_.CreateFDiv(b_.CreateSIToFP(x, doubles), b_.CreateSIToFP(splat(uniform), doubles));
    return b_.CreateFPToSI(quotient, x->getType());
  };
  auto modulo = [&](Value* x, Value* uniform) {
    return b_.CreateSub(x, b_.CreateMul(divide(x, uniform), splat(uniform)));
  };
  if (axis == 0) return modulo(index, launch_.block_dim[0]);
  if (axis == 1) return modulo(divide(index, launch_.block_dim[0]), launch_.block_dim[1]);
  return divide(index, b_.CreateMul(launch_.block_dim[0], launch_.block_dim[1]));
}

Value* WarpEmitter::emit_register(const CallInst& call, const BuiltinRow& row) {
  auto axis = [&](Builtin first) {
    return static_cast<unsigned>(row.kind) - static_cast<unsigned>(first);
  };
  bool lanes = shapes_.of(&call).kind == Shape::varying;
  Constant* ones = Constant::getAllOnesValue(FixedVectorType::get(b_.getInt32Ty(), width_));
  switch (row.kind) {
    case Builtin::thread_x:
    case Builtin::thread_y:
    case Builtin::thread_z:
      return lanes ? thread_index(axis(Builtin::thread_x))
                   : launch_.thread[axis(Builtin::thread_x)];
    case Builtin::block_x:
    case Builtin::block_y:
    case Builtin::block_z:
      return launch_.block_index[axis(Builtin::block_x)];
    case Builtin::block_dim_x:
    case Builtin::block_dim_y:
    case Builtin::block_dim_z:
      return launch_.block_dim[axis(Builtin::block_dim_x)];
    case Builtin::grid_dim_x:
    case Builtin::grid_dim_y:
    case Builtin::grid_dim_z:
      return launch_.grid_dim[axis(Builtin::grid_dim_x)];
    case Builtin::lane:
      return b_.CreateAnd(linear_index(), splat(b_.getInt32(31)));
    case Builtin::warp_index:
      return lanes ? b_.CreateLShr(linear_index(), 5)
                   : b_.CreateLShr(launch_.first, b_.getInt32(5));
    case Builtin::lane_mask: {
      Value* lane = b_.CreateAnd(linear_index(), splat(b_.getInt32(31)));
      Value* bit = b_.CreateShl(splat(b_.getInt32(1)), lane);
      Value* below = b_.CreateAdd(bit, ones);
      if (row.detail == 0) return bit;
      if (row.detail == 1) return below;
      if (row.detail == 2) return b_.CreateOr(below, bit);
      return b_.CreateNot(row.detail == 3 ? b_.CreateOr(below, bit) : below);
    }
    case Builtin::constant:
      return ConstantInt::get(call.getType(), row.detail);
    case Builtin::worker:
      return launch_.worker;
    case Builtin::shared_base:
      return launch_.shared;
    case Builtin::dynamic_shared:
      return b_.CreateLoad(b_.getInt32Ty(),
                           b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), launch_.launch_frame,
                                                         offsetof(LaunchFrame, dynamic_shared)));
    case Builtin::clock:
    case Builtin::clock_hi:
    case Builtin::timer:
      return emit_clock(call, row);
    default:
      refuse(call, "the device function `" + std::string(row.name) + "` is");
  }
}

Value* WarpEmitter::emit_clock(const CallInst& call, const BuiltinRow& row) {
  Type* i64 = b_.getInt64Ty();
  if (row.kind == Builtin::timer) {
    Value* time = stack_slot(ArrayType::get(i64, 2), Align(16), "time");
    FunctionCallee clock = kernel_.host->getOrInsertFunction("clock_gettime", b_.getInt32Ty(),
                                                             b_.getInt32Ty(), b_.getPtrTy());
    b_.CreateCall(clock, {b_.getInt32(0), time});
    Value* seconds = b_.CreateLoad(i64, time);
    Value* nanoseconds = b_.CreateLoad(i64, b_.CreateConstInBoundsGEP1_64(i64, time, 1));
    return b_.CreateAdd(b_.CreateMul(seconds, b_.getInt64(1000000000)), nanoseconds);
  }
  Value* cycles = b_.CreateIntrinsic(Intrinsic::readcyclecounter, {}, {});
  if (row.kind == Builtin::clock_hi) cycles = b_.CreateLShr(cycles, 32);
  return b_.CreateTrunc(cycles, call.getType());
}

// Overload types of the vector form, as LLVM's own vectoriser finds them.
Value* WarpEmitter::emit_pure(const CallInst& call, bool as_vector) {
  Intrinsic::ID id = call.getIntrinsicID();
  if ((id == Intrinsic::fptosi_sat || id == Intrinsic::fptoui_sat) &&
      call.getType()->getIntegerBitWidth() <= 32)
    return emit_saturating(call, as_vector);
  bool with_overflow = isa<WithOverflowInst>(call);
  SmallVector<Value*> arguments;
  SmallVector<Type*> overloads;
  Type* result_type = as_vector ? lanes_type(call.getType()) : host_type(call.getType());
  if (!with_overflow && isVectorIntrinsicWithOverloadTypeAtArg(id, -1))
    overloads.push_back(result_type);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const Value* argument = call.getArgOperand(i);
    bool stays_scalar =
        isVectorIntrinsicWithScalarOpAtArg(id, i) || (id == Intrinsic::is_fpclass && i == 1);
    if (stays_scalar && !shapes_.is_uniform(argument))
      refuse(call, "this intrinsic with an operand that varies is");
    Value* value = operand(argument, as_vector && !stays_scalar);
    bool overloaded = with_overflow || id == Intrinsic::is_fpclass
                          ? i == 0
                          : isVectorIntrinsicWithOverloadTypeAtArg(id, i);
    if (overloaded) overloads.push_back(value->getType());
    arguments.push_back(value);
  }
  CallInst* made = b_.CreateCall(Intrinsic::getDeclaration(kernel_.host, id, overloads), arguments);
  if (isa<FPMathOperator>(made) && isa<FPMathOperator>(call)) made->copyFastMathFlags(&call);
  return made;
}

// Float to integer of at most 32 bits: out of range goes to the nearest end, NaN to 0.
Value* WarpEmitter::emit_saturating(const CallInst& call, bool as_vector) {
  bool is_signed = call.getIntrinsicID() == Intrinsic::fptosi_sat;
  Value* x = operand(call.getArgOperand(0), as_vector);
  Type* to = as_vector ? lanes_type(call.getType()) : call.getType();
  unsigned bits = call.getType()->getIntegerBitWidth();
  if (x->getType()->getScalarType()->isHalfTy() || x->getType()->getScalarType()->isBFloatTy()) {
    Type* floats = b_.getFloatTy();
    x = b_.CreateFPExt(
        x, as_vector ? static_cast<Type*>(FixedVectorType::get(floats, width_)) : floats);
  }
  double limit = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  Constant* upper = ConstantFP::get(x->getType(), limit);
  Constant* lower = ConstantFP::get(x->getType(), is_signed ? -limit : 0.0);
  Constant* zero = ConstantFP::get(x->getType(), 0.0);
  // Numbers between -2^31 - 1 and -2^31 (doubles only) also go to INT_MIN, which truncation would
  // give.
  Value* below = b_.CreateFCmpULE(x, lower);
  Value* above = b_.CreateFCmpOGE(x, upper);
  Value* nan = b_.CreateFCmpUNO(x, x);
  Value* inside = b_.CreateSelect(b_.CreateOr(below, above), zero, x);
  Value* result = is_signed ? b_.CreateFPToSI(inside, to) : b_.CreateFPToUI(inside, to);
  APInt largest = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  APInt smallest = is_signed ? APInt::getSignedMinValue(bits) : APInt(bits, 0);
  result = b_.CreateSelect(above, ConstantInt::get(to, largest), result);
  result = b_.CreateSelect(below, ConstantInt::get(to, smallest), result);
  return b_.CreateSelect(nan, Constant::getNullValue(to), result);
}

Value* WarpEmitter::emit_math(const CallInst& call) {
  StringRef name = call.getCalledFunction()->getName().drop_front(StringRef("__td_").size());
  Type* type = call.getType();
  bool uniform = shapes_.of(&call).kind == Shape::uniform;
  unsigned part = 0;
  std::string symbol =
      type->isFloatTy() || type->isDoubleTy()
          ? vector_math_symbol(name, kernel_.has_avx2, kernel_.has_avx512 ? width_ : 0, part)
          : "";
  for (const Use& use : call.args())
    if (use->getType() != type) symbol.clear();
  if (!symbol.empty()) {
    auto* part_type = FixedVectorType::get(type, part);
    SmallVector<Type*> params(call.arg_size(), part_type);
    FunctionCallee callee =
        kernel_.host->getOrInsertFunction(symbol, FunctionType::get(part_type, params, false));
    auto* function = cast<Function>(callee.getCallee());
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    function->addFnAttr(Attribute::WillReturn);
    SmallVector<Value*> operands;
    for (const Use& use : call.args())
      operands.push_back(uniform ? b_.CreateVectorSplat(part, scalar(use.get()))
                                 : vector(use.get()));
    if (uniform) return b_.CreateExtractElement(b_.CreateCall(callee, operands), std::uint64_t{0});
    return emit_in_parts(callee, operands, part);
  }
  return emit_library_call(call, name);
}

Value* WarpEmitter::emit_in_parts(FunctionCallee callee, ArrayRef<Value*> operands, unsigned part) {
  SmallVector<Value*> parts;
  for (unsigned begin = 0; begin < width_; begin += part) {
    SmallVector<int> lanes;
    for (unsigned l = 0; l < part; ++l) lanes.push_back(begin + l);
    SmallVector<Value*> arguments;
    for (Value* value : operands) arguments.push_back(b_.CreateShuffleVector(value, lanes));
    parts.push_back(b_.CreateCall(callee, arguments));
  }
  while (parts.size() > 1) {
    SmallVector<Value*> joined;
    for (unsigned i = 0; i < parts.size(); i += 2) {
      SmallVector<int> lanes;
      unsigned count = cast<FixedVectorType>(parts[i]->getType())->getNumElements();
      for (unsigned l = 0; l < 2 * count; ++l) lanes.push_back(l);
      joined.push_back(b_.CreateShuffleVector(parts[i], parts[i + 1], lanes));
    }
    parts = joined;
  }
  return parts[0];
}

// No vector form: the C library's function, once for each live lane.
Value* WarpEmitter::emit_library_call(const CallInst& call, StringRef name) {
  SmallVector<Type*> params;
  for (const Use& use : call.args()) params.push_back(host_type(use->getType()));
  Type* type = host_type(call.getType());
  FunctionCallee callee =
      kernel_.host->getOrInsertFunction(name, FunctionType::get(type, params, false));
  cast<Function>(callee.getCallee())->setDoesNotThrow();
  if (shapes_.of(&call).kind == Shape::uniform) {
    SmallVector<Value*> arguments;
    for (const Use& use : call.args()) arguments.push_back(scalar(use.get()));
    return b_.CreateCall(callee, arguments);
  }
  return call_lanes(callee, call, {}, {});
}

FunctionCallee WarpEmitter::runtime(StringRef name, Type* result, ArrayRef<Type*> params,
                                    bool returns) {
  FunctionCallee callee =
      kernel_.host->getOrInsertFunction(name, FunctionType::get(result, params, false));
  auto* function = cast<Function>(callee.getCallee());
  function->setDoesNotThrow();
  if (!returns) function->setDoesNotReturn();
  return callee;
}

Value* WarpEmitter::emit_fence(const BuiltinRow& row) {
  // A block runs on one worker: towards its own threads program order is enough.
  SyncScope::ID scope = row.detail == 0 ? SyncScope::SingleThread : SyncScope::System;
  b_.CreateFence(AtomicOrdering::SequentiallyConsistent, scope);
  return nullptr;
}

// The value in the first live lane.
Value* WarpEmitter::first_live(const Value* value) {
  if (shapes_.is_uniform(value)) return scalar(value);
  Value* lane = b_.CreateBinaryIntrinsic(Intrinsic::cttz, mask_bits32(mask_), b_.getTrue());
  return b_.CreateExtractElement(vector(value), lane);
}

void WarpEmitter::emit_trap(const CallInst& call) {
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  FunctionCallee trap =
      runtime("td_rt_trap", b_.getVoidTy(), {pointer, i32, i32, i32, pointer}, false);
  b_.CreateCall(trap, {launch_.block_frame, b_.getInt32(static_cast<unsigned>(TrapKind::trap)),
                       launch_.first, mask_bits32(mask_), place_text(*kernel_.host, call)});
}

void WarpEmitter::emit_assertion(const CallInst& call) {
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  FunctionCallee fail = runtime("td_rt_assert_fail", b_.getVoidTy(),
                                {pointer, i32, i32, pointer, pointer, i32, pointer}, false);
  b_.CreateCall(fail, {launch_.block_frame, launch_.first, mask_bits32(mask_),
                       first_live(call.getArgOperand(0)), first_live(call.getArgOperand(1)),
                       b_.CreateZExtOrTrunc(first_live(call.getArgOperand(2)), i32),
                       first_live(call.getArgOperand(3))});
}

Value* WarpEmitter::emit_print(const CallInst& call) {
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  FunctionCallee print = runtime("td_rt_printf", i32, {pointer, pointer, pointer}, true);
  Value* formats = lane_array(vector(call.getArgOperand(0)), "print.format");
  Value* buffers = lane_array(vector(call.getArgOperand(1)), "print.arguments");
  Value* results = stack_slot(ArrayType::get(i32, width_), Align(64), "print.result");
  for_each_lane("print", [&](Value* lane) {
    Value* format = b_.CreateLoad(pointer, lane_address(formats, pointer, lane));
    Value* buffer = b_.CreateLoad(pointer, lane_address(buffers, pointer, lane));
    b_.CreateStore(b_.CreateCall(print, {launch_.block_frame, format, buffer}),
                   lane_address(results, i32, lane));
  });
  return b_.CreateAlignedLoad(FixedVectorType::get(i32, width_), results, Align(64));
}

}  // namespace td::softdev::simt
