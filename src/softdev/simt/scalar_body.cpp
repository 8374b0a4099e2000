#include "softdev/simt/scalar_body.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "softdev/simt/math_names.h"
#include "softdev/simt/progress.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_call.h"

namespace td::softdev::simt {

using namespace llvm;

void ScalarBody::emit() {
  clone();
  load_frames();
  SmallVector<Instruction*> all;
  for (Instruction& instruction : instructions(host_)) all.push_back(&instruction);
  for (Instruction* instruction : all) replace_operands(*instruction);
  for (Instruction* instruction : all) {
    auto* array = dyn_cast<AllocaInst>(instruction);
    if (array && !array->isStaticAlloca()) check_dynamic_stack(*array);
  }
  add_yields();
  for (Instruction* instruction : all)
    if (auto* call = dyn_cast<CallInst>(instruction)) replace_call(*call);
  if (code_.kept_.recursive.contains(&device_)) check_stack();
  host_.setSubprogram(nullptr);
  stripDebugInfo(host_);
}

void ScalarBody::clone() {
  ValueToValueMapTy map;
  for (Argument& argument : device_.args()) map[&argument] = host_.getArg(argument.getArgNo() + 1);
  SmallVector<ReturnInst*> returns;
  GlobalValue::LinkageTypes linkage = host_.getLinkage();
  AttributeList attributes = host_.getAttributes();
  CloneFunctionInto(&host_, &device_, map, CloneFunctionChangeType::DifferentModule, returns);
  host_.setLinkage(linkage);
  host_.setAttributes(attributes);
  host_.setCallingConv(CallingConv::C);
  host_.setComdat(nullptr);
  host_.setDSOLocal(true);
}

Value* ScalarBody::field(Value* base, std::size_t offset, Type* type) {
  return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset));
}

void ScalarBody::load_frames() {
  BasicBlock& entry = host_.getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  Type* pointer = b_.getPtrTy();
  thread_ = host_.getArg(0);
  block_ = field(thread_, offsetof(ThreadFrame, block), pointer);
  linear_ = field(thread_, offsetof(ThreadFrame, linear), b_.getInt32Ty());
  launch_ = field(block_, offsetof(BlockFrame, launch), pointer);
  shared_base_ = field(block_, offsetof(BlockFrame, shared), pointer);
  globals_ = field(launch_, offsetof(LaunchFrame, globals), pointer);
}

// A function that may call itself leaves before its stack ends.
void ScalarBody::check_stack() {
  BasicBlock* entry = &host_.getEntryBlock();
  Instruction* after = cast<Instruction>(globals_)->getNextNode();
  while (isa<AllocaInst>(after)) after = after->getNextNode();
  b_.SetInsertPoint(after);
  Value* here = b_.CreateIntrinsic(Intrinsic::frameaddress, {b_.getPtrTy()}, {b_.getInt32(0)});
  Value* limit = field(thread_, offsetof(ThreadFrame, stack_limit), b_.getPtrTy());
  Value* over = b_.CreateICmpULT(here, limit);
  Instruction* end = SplitBlockAndInsertIfThen(over, after, true);
  b_.SetInsertPoint(end);
  runtime("td_rt_stack_overflow", b_.getVoidTy(), {thread_}, false);
  // Fixed-size arrays belong into the entry block.
  for (BasicBlock& block : host_)
    if (&block != entry)
      for (Instruction& instruction : make_early_inc_range(block))
        if (auto* array = dyn_cast<AllocaInst>(&instruction);
            array && isa<ConstantInt>(array->getArraySize()))
          array->moveBefore(*entry, entry->begin());
}

void ScalarBody::check_dynamic_stack(AllocaInst& array) {
  b_.SetInsertPoint(&array);
  const DataLayout& layout = host_.getParent()->getDataLayout();
  Type *i64 = b_.getInt64Ty(), *pointer = b_.getPtrTy();
  Value* size = b_.CreateMul(b_.CreateZExtOrTrunc(array.getArraySize(), i64),
                             b_.getInt64(layout.getTypeAllocSize(array.getAllocatedType())));
  Value* here = b_.CreateIntrinsic(Intrinsic::stacksave, {pointer}, {});
  Value* limit = field(thread_, offsetof(ThreadFrame, stack_limit), pointer);
  Value* room = b_.CreateSub(b_.CreatePtrToInt(here, i64), b_.CreatePtrToInt(limit, i64));
  Value* over = b_.CreateICmpSGT(size, room);
  over = b_.CreateOr(over, b_.CreateICmpSLT(size, b_.getInt64(0)));
  Instruction* end = SplitBlockAndInsertIfThen(over, &array, true);
  b_.SetInsertPoint(end);
  runtime("td_rt_stack_overflow", b_.getVoidTy(), {thread_}, false);
}

Value* ScalarBody::address_of(const GlobalVariable& variable) {
  const DataLayout& layout = device_.getParent()->getDataLayout();
  if (!is_shared(variable))
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), globals_,
                                         code_.data_.offsets.lookup(&variable));
  if (layout.getTypeAllocSize(variable.getValueType()) != 0)
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), shared_base_,
                                         shared_.offsets.lookup(&variable));
  // Dynamic shared memory begins where the kernel's own ends.
  Value* end = field(launch_, offsetof(LaunchFrame, static_shared), b_.getInt32Ty());
  end = b_.CreateAnd(b_.CreateAdd(end, b_.getInt32(15)), b_.getInt32(~15u));
  return b_.CreateInBoundsGEP(b_.getInt8Ty(), shared_base_, b_.CreateZExt(end, b_.getInt64Ty()));
}

// Variables and functions of the thread's module.
void ScalarBody::replace_operands(Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  for (Use& use : instruction.operands()) {
    if (call && call->isCallee(&use)) continue;
    auto* phi = dyn_cast<PHINode>(&instruction);
    b_.SetInsertPoint(phi ? phi->getIncomingBlock(use)->getTerminator() : &instruction);
    Value* made = nullptr;
    if (auto* variable = dyn_cast<GlobalVariable>(use.get())) {
      if (variable->getParent() == host_.getParent()) continue;
      made = address_of(*variable);
    } else if (auto* function = dyn_cast<Function>(use.get())) {
      if (function->getParent() == host_.getParent()) continue;
      made = code_.function(*function);
    }
    if (!made) continue;
    if (made->getType() != use->getType()) made = b_.CreateAddrSpaceCast(made, use->getType());
    if (!phi) {
      use.set(made);
      continue;
    }
    BasicBlock* from = phi->getIncomingBlock(use);
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      if (phi->getIncomingBlock(i) == from) phi->setIncomingValue(i, made);
  }
}

// Loops that may wait let others run.
void ScalarBody::add_yields() {
  SmallPtrSet<const BasicBlock*, 4> headers = find_waiting_loops(host_);
  if (headers.empty()) return;
  DominatorTree dominators(host_);
  LoopInfo loops(dominators);
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (!headers.count(loop->getHeader())) continue;
    SmallVector<BasicBlock*> latches;
    loop->getLoopLatches(latches);
    // On the way back only: who leaves the loop may hold a lock.
    for (BasicBlock* latch : latches) {
      BasicBlock* way_back = SplitEdge(latch, loop->getHeader(), &dominators, &loops);
      b_.SetInsertPoint(way_back->getTerminator());
      runtime("td_rt_yield", b_.getVoidTy(), {block_});
    }
  }
}

Value* ScalarBody::runtime(StringRef name, Type* result, ArrayRef<Value*> arguments, bool returns) {
  SmallVector<Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  FunctionCallee callee =
      host_.getParent()->getOrInsertFunction(name, FunctionType::get(result, types, false));
  auto* function = cast<Function>(callee.getCallee());
  function->setDoesNotThrow();
  if (!returns) function->setDoesNotReturn();
  return b_.CreateCall(callee, SmallVector<Value*>(arguments));
}

// ---- calls ----

void ScalarBody::replace_call(CallInst& call) {
  b_.SetInsertPoint(&call);
  if (call.isInlineAsm()) {  // a compiler barrier
    b_.CreateFence(AtomicOrdering::SequentiallyConsistent, SyncScope::SingleThread);
    call.eraseFromParent();
    return;
  }
  Function* callee = call.getCalledFunction();
  if (callee && callee->getParent() == host_.getParent()) return;
  if (is_device_call(call)) return replace_device_call(call);
  const BuiltinRow* row = find_builtin(call);
  if (!row) refuse(call, "the device function `" + callee->getName().str() + "` is");
  Value* result = builtin(call, *row);
  if (result == &call) return;
  if (result && !call.getType()->isVoidTy()) call.replaceAllUsesWith(result);
  if (!call.use_empty()) call.replaceAllUsesWith(PoisonValue::get(call.getType()));
  call.eraseFromParent();
}

void ScalarBody::replace_device_call(CallInst& call) {
  SmallVector<Type*> types{b_.getPtrTy()};
  types.append(call.getFunctionType()->param_begin(), call.getFunctionType()->param_end());
  auto* type = FunctionType::get(call.getType(), types, false);
  Value* target = call.getCalledFunction() ? code_.function(*call.getCalledFunction())
                                           : call.getCalledOperand();
  SmallVector<Value*> arguments{thread_};
  arguments.append(call.arg_begin(), call.arg_end());
  CallInst* made = b_.CreateCall(type, target, arguments);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    AttrBuilder attributes(host_.getContext(), call.getAttributes().getParamAttrs(i));
    for (const auto& attribute : attributes.attrs()) made->addParamAttr(i + 1, attribute);
  }
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
}

Value* ScalarBody::builtin(CallInst& call, const BuiltinRow& row) {
  switch (row.kind) {
    case Builtin::pure:
    case Builtin::copy:
    case Builtin::move:
    case Builtin::fill:
    case Builtin::stack_mark: {
      Function* callee = call.getCalledFunction();
      call.setCalledFunction(host_.getParent()->getOrInsertFunction(
          callee->getName(), callee->getFunctionType(), callee->getAttributes()));
      return &call;
    }
    case Builtin::math:
      return math(call);
    case Builtin::barrier:
    case Builtin::barrier_reduce:
    case Builtin::barrier_arrive:
      return barrier(call, row);
    case Builtin::grid_barrier:
      return runtime("td_rt_grid_barrier", b_.getVoidTy(),
                     {block_, place_text(*host_.getParent(), call)});
    case Builtin::fence:
      return b_.CreateFence(AtomicOrdering::SequentiallyConsistent,
                            row.detail == 0 ? SyncScope::SingleThread : SyncScope::System);
    case Builtin::warp_barrier:
    case Builtin::shuffle:
    case Builtin::shuffle_pair:
    case Builtin::vote:
    case Builtin::ballot:
    case Builtin::match_any:
    case Builtin::match_all:
    case Builtin::reduce:
    case Builtin::active_mask:
      return warp_op(call, row);
    case Builtin::atomic_wrap:
      return b_.CreateAtomicRMW(row.detail == 0 ? AtomicRMWInst::UIncWrap : AtomicRMWInst::UDecWrap,
                                call.getArgOperand(0), call.getArgOperand(1), MaybeAlign(4),
                                AtomicOrdering::SequentiallyConsistent);
    case Builtin::trap:
      return trap(call);
    case Builtin::assertion:
      return assertion(call);
    case Builtin::print:
      return print(call);
    case Builtin::ignored:
    case Builtin::leave_together:
      return nullptr;
    case Builtin::mma:
      return mma(call);
    case Builtin::lane_call:
      return lane_call(call, row);
    case Builtin::warp_call:
      return warp_call(call, row);
    case Builtin::shared_base:
      return shared_base_;
    case Builtin::is_constant:
      return is_constant(call);
    default:
      return special_register(call, row);
  }
}

Value* ScalarBody::special_register(CallInst& call, const BuiltinRow& row) {
  Type* i32 = b_.getInt32Ty();
  auto axis = [&](Builtin first) {
    return 4 * (static_cast<std::size_t>(row.kind) - static_cast<std::size_t>(first));
  };
  switch (row.kind) {
    case Builtin::thread_x:
    case Builtin::thread_y:
    case Builtin::thread_z:
      return field(thread_, offsetof(ThreadFrame, index) + axis(Builtin::thread_x), i32);
    case Builtin::block_x:
    case Builtin::block_y:
    case Builtin::block_z:
      return field(block_, offsetof(BlockFrame, block_idx) + axis(Builtin::block_x), i32);
    case Builtin::block_dim_x:
    case Builtin::block_dim_y:
    case Builtin::block_dim_z:
      return field(launch_, offsetof(LaunchFrame, block) + axis(Builtin::block_dim_x), i32);
    case Builtin::grid_dim_x:
    case Builtin::grid_dim_y:
    case Builtin::grid_dim_z:
      return field(launch_, offsetof(LaunchFrame, grid) + axis(Builtin::grid_dim_x), i32);
    case Builtin::lane:
      return b_.CreateAnd(linear_, b_.getInt32(31));
    case Builtin::warp_index:
      return b_.CreateLShr(linear_, b_.getInt32(5));
    case Builtin::lane_mask: {
      Value* bit = b_.CreateShl(b_.getInt32(1), b_.CreateAnd(linear_, b_.getInt32(31)));
      Value* below = b_.CreateSub(bit, b_.getInt32(1));
      if (row.detail == 0) return bit;
      if (row.detail == 1) return below;
      if (row.detail == 2) return b_.CreateOr(below, bit);
      return b_.CreateNot(row.detail == 3 ? b_.CreateOr(below, bit) : below);
    }
    case Builtin::constant:
      return ConstantInt::get(call.getType(), static_cast<std::uint64_t>(row.detail));
    case Builtin::worker:
      return field(block_, offsetof(BlockFrame, worker), i32);
    case Builtin::dynamic_shared:
      return field(launch_, offsetof(LaunchFrame, dynamic_shared), i32);
    case Builtin::clock:
    case Builtin::clock_hi:
    case Builtin::timer:
      return clock(call, row);
    default:
      refuse(call, "the device function `" + std::string(row.name) +
                       "`, in code whose threads must run one by one, is");
  }
}

Value* ScalarBody::clock(CallInst& call, const BuiltinRow& row) {
  Type* i64 = b_.getInt64Ty();
  if (row.kind == Builtin::timer) {
    BasicBlock& entry = host_.getEntryBlock();
    auto* time = new AllocaInst(ArrayType::get(i64, 2), 0, nullptr, Align(16), "time",
                                entry.getFirstInsertionPt());
    runtime("clock_gettime", b_.getInt32Ty(), {b_.getInt32(0), time});
    Value* nanoseconds = b_.CreateLoad(i64, b_.CreateConstInBoundsGEP1_64(i64, time, 1));
    return b_.CreateAdd(b_.CreateMul(b_.CreateLoad(i64, time), b_.getInt64(1000000000)),
                        nanoseconds);
  }
  Value* cycles = b_.CreateIntrinsic(Intrinsic::readcyclecounter, {}, {});
  if (row.kind == Builtin::clock_hi) cycles = b_.CreateLShr(cycles, 32);
  return b_.CreateTrunc(cycles, call.getType());
}

// As vector code computes it, so that the mode changes no bit of a result.
Value* ScalarBody::math(CallInst& call) {
  StringRef name = call.getCalledFunction()->getName().drop_front(StringRef("__td_").size());
  Type* type = call.getType();
  unsigned part = 0;
  std::string symbol = type->isFloatTy() || type->isDoubleTy()
                           ? vector_math_symbol(name, code_.has_avx2_, 0, part)
                           : "";
  for (const Use& use : call.args())
    if (use->getType() != type) symbol.clear();
  SmallVector<Value*> arguments(call.args());
  if (symbol.empty()) return runtime(name, type, arguments);
  auto* lanes = FixedVectorType::get(type, part);
  for (Value*& argument : arguments) argument = b_.CreateVectorSplat(part, argument);
  return b_.CreateExtractElement(runtime(symbol, lanes, arguments), std::uint64_t{0});
}

Value* ScalarBody::barrier(CallInst& call, const BuiltinRow& row) {
  Type* i32 = b_.getInt32Ty();
  Value *id = b_.getInt32(0), *threads = id, *holds = id;
  if (row.kind == Builtin::barrier_reduce) {
    Value* predicate = call.getArgOperand(0);
    holds = b_.CreateZExt(b_.CreateICmpNE(predicate, Constant::getNullValue(predicate->getType())),
                          i32);
  } else {
    if (row.detail >= 0) id = call.getArgOperand(static_cast<unsigned>(row.detail));
    if (call.arg_size() > 1) threads = call.getArgOperand(1);
  }
  return runtime("td_rt_fair_barrier", i32,
                 {block_, id, threads, b_.getInt32(1), holds,
                  b_.getInt32(static_cast<unsigned>(barrier_kind(row))),
                  place_text(*host_.getParent(), call)});
}

namespace {

WarpOp warp_op_of(const BuiltinRow& row) {
  auto from = [&](WarpOp first) {
    return static_cast<WarpOp>(static_cast<int>(first) + row.detail);
  };
  switch (row.kind) {
    case Builtin::shuffle:
    case Builtin::shuffle_pair:
      return from(WarpOp::shuffle_idx);
    case Builtin::vote:
      return from(WarpOp::vote_all);
    case Builtin::ballot:
      return WarpOp::ballot;
    case Builtin::match_any:
      return WarpOp::match_any;
    case Builtin::match_all:
      return WarpOp::match_all;
    case Builtin::reduce: {
      static constexpr WarpOp ops[] = {WarpOp::reduce_add, WarpOp::reduce_and,  WarpOp::reduce_or,
                                       WarpOp::reduce_xor, WarpOp::reduce_umin, WarpOp::reduce_umax,
                                       WarpOp::reduce_min, WarpOp::reduce_max};
      return ops[row.detail];
    }
    case Builtin::active_mask:
      return WarpOp::active_mask;
    default:
      return WarpOp::sync;
  }
}

}  // namespace

Value* ScalarBody::warp_op(CallInst& call, const BuiltinRow& row) {
  Type *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty();
  Value *mask = b_.getInt32(0), *value = b_.getInt64(0), *b = b_.getInt32(0), *c = b;
  bool shuffles = row.kind == Builtin::shuffle || row.kind == Builtin::shuffle_pair;
  if (row.kind == Builtin::active_mask) {
    b = b_.getInt32(++code_.sites_);
  } else {
    bool value_first = row.kind == Builtin::reduce;
    mask = call.getArgOperand(value_first ? 1 : 0);
    if (call.arg_size() > 1) {
      Value* operand = call.getArgOperand(value_first ? 0 : 1);
      unsigned bits = operand->getType()->getScalarSizeInBits();
      value = b_.CreateZExt(b_.CreateBitCast(operand, b_.getIntNTy(bits)), i64);
    }
  }
  if (shuffles) {
    b = call.getArgOperand(2);
    c = call.getArgOperand(3);
  }
  Value* result = runtime("td_rt_warp_op", i64,
                          {thread_, b_.getInt32(static_cast<unsigned>(warp_op_of(row))), mask,
                           value, b, c, place_text(*host_.getParent(), call)});
  if (call.getType()->isVoidTy()) return nullptr;
  auto* pair = dyn_cast<StructType>(call.getType());
  Type* type = pair ? pair->getElementType(0) : call.getType();
  Value* first = b_.CreateTrunc(result, type->isIntegerTy() ? type : i32);
  first = b_.CreateBitCast(first, type);
  if (!pair) return first;
  Value* flag = b_.CreateTrunc(b_.CreateLShr(result, 32), b_.getInt1Ty());
  Value* both = b_.CreateInsertValue(PoisonValue::get(pair), first, 0);
  return b_.CreateInsertValue(both, flag, 1);
}

// The words go there and back through memory, which the runtime reads when all lanes have come.
Value* ScalarBody::mma(CallInst& call) {
  Type *i32 = b_.getInt32Ty(), *i64 = b_.getInt64Ty();
  BasicBlock& entry = host_.getEntryBlock();
  auto* words = new AllocaInst(ArrayType::get(i32, 10), 0, nullptr, Align(64), "mma.words",
                               entry.getFirstInsertionPt());
  auto place = [&](unsigned i) { return b_.CreateConstInBoundsGEP1_32(i32, words, i); };
  for (unsigned i = 0; i < 10; ++i) b_.CreateStore(call.getArgOperand(2 + i), place(i));
  runtime("td_rt_warp_op", i64,
          {thread_, b_.getInt32(static_cast<unsigned>(WarpOp::mma)), call.getArgOperand(0),
           b_.CreatePtrToInt(words, i64), call.getArgOperand(1), b_.getInt32(0),
           place_text(*host_.getParent(), call)});
  Value* result = PoisonValue::get(call.getType());
  for (unsigned i = 0; i < 4; ++i)
    result = b_.CreateInsertValue(result, b_.CreateLoad(i32, place(i)), i);
  return result;
}

// A function of run/device_calls.h.
Value* ScalarBody::lane_call(CallInst& call, const BuiltinRow& row) {
  SmallVector<Value*> arguments{block_};
  for (const Use& use : call.args()) {
    Value* argument = use.get();
    if (argument->getType()->isPointerTy())
      argument = b_.CreateAddrSpaceCast(argument, b_.getPtrTy());
    arguments.push_back(argument);
  }
  if (row.detail == 1) arguments.push_back(b_.getInt32(source_line(call)));
  Type* type = call.getType()->isPointerTy() ? b_.getPtrTy() : call.getType();
  Value* result = runtime(StringRef(row.name).drop_front(2), type, arguments);
  return type == call.getType() ? result : b_.CreateAddrSpaceCast(result, call.getType());
}

// A warp call of one lane.
Value* ScalarBody::warp_call(CallInst& call, const BuiltinRow& row) {
  BasicBlock& entry = host_.getEntryBlock();
  auto slot = [&](Type* type) {
    return new AllocaInst(type, 0, nullptr, Align(8), "", entry.getFirstInsertionPt());
  };
  WarpCallValues values;
  values.block = block_;
  values.lanes = b_.getInt32(1);
  values.width = 1;
  values.first_thread = linear_;
  for (const Use& use : drop_begin(call.args())) {
    Value* array = nullptr;
    if (!is_zero(*use)) b_.CreateStore(use.get(), array = slot(use->getType()));
    values.operands.push_back(array);
  }
  auto* words = dyn_cast<StructType>(call.getType());
  if (words) values.result = slot(words);
  values.frame = slot(warp_call_type(host_.getContext()));
  make_warp_call(b_, call, row, values);
  return words ? b_.CreateLoad(words, values.result) : nullptr;
}

Value* ScalarBody::is_constant(CallInst& call) {
  Type* i64 = b_.getInt64Ty();
  Value* begin =
      b_.CreateAdd(b_.CreatePtrToInt(globals_, i64), b_.getInt64(code_.data_.constant_begin));
  Value* offset = b_.CreateSub(b_.CreatePtrToInt(call.getArgOperand(0), i64), begin);
  std::uint64_t size = code_.data_.constant_end - code_.data_.constant_begin;
  return b_.CreateZExt(b_.CreateICmpULT(offset, b_.getInt64(size)), call.getType());
}

Value* ScalarBody::trap(CallInst& call) {
  return runtime("td_rt_trap", b_.getVoidTy(),
                 {block_, b_.getInt32(static_cast<unsigned>(TrapKind::trap)), linear_,
                  b_.getInt32(1), place_text(*host_.getParent(), call)},
                 false);
}

Value* ScalarBody::assertion(CallInst& call) {
  auto text = [&](unsigned i) {
    return b_.CreateAddrSpaceCast(call.getArgOperand(i), b_.getPtrTy());
  };
  return runtime("td_rt_assert_fail", b_.getVoidTy(),
                 {block_, linear_, b_.getInt32(1), text(0), text(1),
                  b_.CreateZExtOrTrunc(call.getArgOperand(2), b_.getInt32Ty()), text(3)},
                 false);
}

Value* ScalarBody::print(CallInst& call) {
  auto pointer = [&](unsigned i) {
    return b_.CreateAddrSpaceCast(call.getArgOperand(i), b_.getPtrTy());
  };
  return runtime("td_rt_printf", b_.getInt32Ty(), {block_, pointer(0), pointer(1)});
}

}  // namespace td::softdev::simt
