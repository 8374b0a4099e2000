// Barriers: as the end of a phase (phases.h), by switching between the block's warps, or in fair
// mode.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "softdev/simt/phases.h"
#include "softdev/simt/progress.h"
#include "softdev/simt/scalar.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_emitter.h"

namespace td::softdev::simt {

using namespace llvm;

// Traps unless all lanes that have not returned are here.
void WarpEmitter::check_uniform(const CallInst& call, Value* arriving) {
  const BasicBlock* entry = plan_.order().front();
  if (plan_.mask_owner(current_) == entry) return;
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  Value* all_lanes = b_.CreateLoad(mask_type(), mask_slot(entry));
  Value* alive = b_.CreateAnd(mask_bits32(all_lanes),
                              b_.CreateNot(mask_bits32(b_.CreateLoad(mask_type(), exited_))));
  BasicBlock* wrong = new_block("divergent.barrier");
  BasicBlock* right = new_block("barrier");
  b_.CreateCondBr(b_.CreateICmpEQ(alive, arriving), right, wrong);
  b_.SetInsertPoint(wrong);
  FunctionCallee trap =
      runtime("td_rt_trap", b_.getVoidTy(), {pointer, i32, i32, i32, pointer}, false);
  b_.CreateCall(
      trap, {launch_.block_frame, b_.getInt32(static_cast<unsigned>(TrapKind::divergent_barrier)),
             launch_.first, arriving, place_text(*kernel_.host, call)});
  b_.CreateUnreachable();
  b_.SetInsertPoint(right);
}

Value* WarpEmitter::emit_barrier(const CallInst& call, const BuiltinRow& row) {
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  Value* arriving = mask_bits32(mask_);
  check_uniform(call, arriving);
  if (launch_.warp_count) return emit_phase(call, row, arriving);
  if (kernel_.progress) return emit_fair_barrier(call, row, arriving);
  if (row.kind == Builtin::barrier) {
    b_.CreateCall(runtime("td_rt_barrier", b_.getVoidTy(), {pointer, i32}, true),
                  {launch_.block_frame, arriving});
    return nullptr;
  }
  Value* holds = vector(call.getArgOperand(0));
  holds = both(mask_, b_.CreateICmpNE(holds, Constant::getNullValue(holds->getType())));
  FunctionCallee reduce = runtime("td_rt_barrier_reduce", i32, {pointer, i32, i32, i32}, true);
  return b_.CreateCall(
      reduce, {launch_.block_frame, arriving, mask_bits32(holds), b_.getInt32(row.detail)});
}

Value* WarpEmitter::emit_fair_barrier(const CallInst& call, const BuiltinRow& row,
                                      Value* arriving) {
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  Value *id = b_.getInt32(0), *threads = id, *holding = id;
  if (row.kind == Builtin::barrier_reduce) {
    Value* holds = vector(call.getArgOperand(0));
    holds = both(mask_, b_.CreateICmpNE(holds, Constant::getNullValue(holds->getType())));
    holding = b_.CreateUnaryIntrinsic(Intrinsic::ctpop, mask_bits32(holds));
  } else {
    if (row.detail >= 0) id = first_live(call.getArgOperand(static_cast<unsigned>(row.detail)));
    if (call.arg_size() > 1) threads = first_live(call.getArgOperand(1));
  }
  // Of all threads: the block counts those that have returned until their whole warp has.
  if (call.arg_size() <= 1)
    arriving = b_.CreateOr(arriving, mask_bits32(b_.CreateLoad(mask_type(), exited_)));
  FunctionCallee barrier =
      runtime("td_rt_fair_barrier", i32, {pointer, i32, i32, i32, i32, i32, pointer}, true);
  return b_.CreateCall(barrier, {launch_.block_frame, id, threads,
                                 b_.CreateUnaryIntrinsic(Intrinsic::ctpop, arriving), holding,
                                 b_.getInt32(static_cast<unsigned>(barrier_kind(row))),
                                 place_text(*kernel_.host, call)});
}

// In phases, the first warp that goes on behind the barrier of the block waits for the grid.
Value* WarpEmitter::emit_grid_barrier(const CallInst& call) {
  Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
  check_uniform(call, mask_bits32(mask_));
  FunctionCallee wait = runtime("td_rt_grid_barrier", b_.getVoidTy(), {pointer, pointer}, true);
  Constant* place = place_text(*kernel_.host, call);
  if (!launch_.warp_count) {
    b_.CreateCall(wait, {launch_.block_frame, place});
    return nullptr;
  }
  b_.CreateStore(b_.getInt32(1), launch_.grid_pending);
  b_.CreateCall(kernel_.host->getOrInsertFunction(phase_barrier_marker, b_.getVoidTy()));
  BasicBlock* first = new_block("grid.first");
  BasicBlock* done = new_block("grid.done");
  Value* pending = b_.CreateLoad(i32, launch_.grid_pending);
  b_.CreateCondBr(b_.CreateICmpNE(pending, b_.getInt32(0)), first, done);
  b_.SetInsertPoint(first);
  b_.CreateStore(b_.getInt32(0), launch_.grid_pending);
  b_.CreateCall(wait, {launch_.block_frame, place});
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  return nullptr;
}

// A round of a loop that may wait for other warps ends.
void WarpEmitter::emit_yield(const BasicBlock* block) {
  const Loop* loop = plan_.loop_of(block);
  if (!kernel_.progress || !loop || loop->getLoopLatch() != block ||
      !kernel_.progress->waiting.count(loop->getHeader()))
    return;
  b_.CreateCall(runtime("td_rt_yield", b_.getVoidTy(), {b_.getPtrTy()}, true),
                {launch_.block_frame});
}

// The barrier as the end of a phase: what it collects is complete when the warp goes on in the next
// round.
Value* WarpEmitter::emit_phase(const CallInst& call, const BuiltinRow& row, Value* arriving) {
  Type* i32 = b_.getInt32Ty();
  if (row.kind == Builtin::barrier_reduce) {
    Value* holds = vector(call.getArgOperand(0));
    holds =
        mask_bits32(both(mask_, b_.CreateICmpNE(holds, Constant::getNullValue(holds->getType()))));
    auto update = [&](unsigned kind, function_ref<Value*(Value*)> combine) {
      b_.CreateStore(combine(b_.CreateLoad(i32, launch_.collected[kind])), launch_.collected[kind]);
    };
    Value* count = b_.CreateUnaryIntrinsic(Intrinsic::ctpop, holds);
    Value* all_hold = b_.CreateZExt(b_.CreateICmpEQ(holds, arriving), i32);
    Value* one_holds = b_.CreateZExt(b_.CreateICmpNE(holds, b_.getInt32(0)), i32);
    update(0, [&](Value* old) { return b_.CreateAdd(old, count); });
    update(1, [&](Value* old) { return b_.CreateAnd(old, all_hold); });
    update(2, [&](Value* old) { return b_.CreateOr(old, one_holds); });
  }
  b_.CreateCall(kernel_.host->getOrInsertFunction(phase_barrier_marker, b_.getVoidTy()));
  if (row.kind == Builtin::barrier) return nullptr;
  return b_.CreateLoad(i32, launch_.result[row.detail]);
}

}  // namespace td::softdev::simt
