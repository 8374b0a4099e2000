// The generated function of a kernel is a loop over consecutive threads of a block:
//
//   range(block, begin, end):  t = begin;  while (t < end) { n = lanes of the next warp; body(t, n); t += n; }
//
// Without warp-level operations and barriers the grouping of threads is free: a "warp" is then a piece of one row of the block, at
// most W threads, so that threadIdx.y and .z are uniform and threadIdx.x is contiguous whatever the block's shape. With
// them a warp is what CUDA says, 32 threads in linear order, and there is one body for each layout of a warp in the block.
#include "softdev/simt/kernel_function.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {


bool uses_thread_y(const Function& kernel) {
  for (const Instruction& instruction : instructions(kernel))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (const BuiltinRow* row = find_builtin(*call); row && row->kind == Builtin::thread_y) return true;
  return false;
}

class RangeBuilder {
 public:
  RangeBuilder(KernelContext& kernel, unsigned width, Function* function)
      : kernel_(kernel), width_(width), function_(function), b_(function->getContext()),
        dominators_(*kernel.thread), loops_(dominators_) {}

  void build() {
    LLVMContext& context = function_->getContext();
    BasicBlock* entry = BasicBlock::Create(context, "entry", function_);
    BasicBlock* loop = BasicBlock::Create(context, "warp", function_);
    BasicBlock* next = BasicBlock::Create(context, "next", function_);
    BasicBlock* done = BasicBlock::Create(context, "done", function_);
    b_.SetInsertPoint(entry);
    load_launch();
    Value* begin = function_->getArg(1);
    Value* end = function_->getArg(2);
    Value *bx = launch_.block_dim[0], *by = launch_.block_dim[1];
    Value* row = b_.CreateUDiv(begin, bx);
    Value* start[3] = {b_.CreateURem(begin, bx), b_.CreateURem(row, by), b_.CreateUDiv(row, by)};
    b_.CreateCondBr(b_.CreateICmpULT(begin, end), loop, done);
    BasicBlock* before = b_.GetInsertBlock();

    b_.SetInsertPoint(loop);
    PHINode* phis[4];
    for (unsigned i = 0; i < 4; ++i) {
      phis[i] = b_.CreatePHI(b_.getInt32Ty(), 2);
      phis[i]->addIncoming(i < 3 ? start[i] : begin, before);
      if (i < 3) launch_.thread[i] = phis[i];
    }
    launch_.first = phis[3];
    if (kernel_.needs_full_warp || kernel_.has_barrier) emit_warps(end, next);
    else emit_rows(end, next);

    b_.SetInsertPoint(next);
    advance(phis, end, loop, next, done);
    b_.SetInsertPoint(done);
    b_.CreateRetVoid();
  }

 private:
  Value* field(Value* base, std::size_t offset, Type* type) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset));
  }

  void load_launch() {
    Type *i32 = b_.getInt32Ty(), *pointer = b_.getPtrTy();
    Value* block = function_->getArg(0);
    launch_.block_frame = block;
    launch_.launch_frame = field(block, offsetof(BlockFrame, launch), pointer);
    launch_.shared = field(block, offsetof(BlockFrame, shared), pointer);
    launch_.worker = field(block, offsetof(BlockFrame, worker), i32);
    launch_.globals = field(launch_.launch_frame, offsetof(LaunchFrame, globals), pointer);
    Value* params = field(launch_.launch_frame, offsetof(LaunchFrame, params), pointer);
    for (unsigned i = 0; i < 3; ++i) {
      launch_.block_index[i] = field(block, offsetof(BlockFrame, block_idx) + 4 * i, i32);
      launch_.grid_dim[i] = field(launch_.launch_frame, offsetof(LaunchFrame, grid) + 4 * i, i32);
      launch_.block_dim[i] = field(launch_.launch_frame, offsetof(LaunchFrame, block) + 4 * i, i32);
    }
    for (const Argument& argument : kernel_.thread->args()) {
      std::uint64_t offset = kernel_.params[argument.getArgNo()].offset;
      Type* type = argument.getType();
      if (argument.hasByValAttr())
        launch_.params.push_back(b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), params, offset));
      else if (type->isIntegerTy(1))
        launch_.params.push_back(b_.CreateTrunc(field(params, offset, b_.getInt8Ty()), type));
      else if (type->isPointerTy())
        launch_.params.push_back(field(params, offset, pointer));
      else
        launch_.params.push_back(field(params, offset, type));
    }
  }

  Value* assumptions_hold(WarpEmitter& emitter, const Shapes& shapes) {
    Value* holds = b_.getTrue();
    for (const NoWrap& assumption : shapes.assumptions()) {
      Value* base = emitter.entry_value(assumption.value, b_);
      holds = b_.CreateAnd(holds, no_wrap_check(b_, base, shapes.of(assumption.value), assumption.is_signed));
    }
    return holds;
  }

  // Pieces of rows. Where an index would wrap around inside a piece, threads run one at a time.
  void emit_rows(Value* end, BasicBlock* next) {
    ThreadLayout layout{ThreadLayout::row, width_, 0, false};
    Shapes shapes(*kernel_.thread, layout, dominators_, loops_);
    ControlPlan plan(*kernel_.thread, shapes, dominators_, loops_);
    WarpEmitter emitter(kernel_, shapes, plan, launch_, function_);
    Value* in_row = b_.CreateSub(launch_.block_dim[0], launch_.thread[0]);
    Value* lanes = b_.CreateBinaryIntrinsic(Intrinsic::umin, in_row, b_.CreateSub(end, launch_.first));
    lanes = b_.CreateBinaryIntrinsic(Intrinsic::umin, lanes, b_.getInt32(width_));
    Value* holds = assumptions_hold(emitter, shapes);
    launch_.lanes = b_.CreateSelect(holds, lanes, b_.getInt32(1));
    emitter.emit(b_.GetInsertBlock(), next);
  }

  void emit_body(const ThreadLayout& layout, BasicBlock* otherwise, Value* fits, BasicBlock* next) {
    Shapes shapes(*kernel_.thread, layout, dominators_, loops_);
    ControlPlan plan(*kernel_.thread, shapes, dominators_, loops_);
    WarpEmitter emitter(kernel_, shapes, plan, launch_, function_);
    BasicBlock* body = b_.GetInsertBlock();
    if (otherwise) {
      body = BasicBlock::Create(function_->getContext(), "body", function_);
      fits = b_.CreateAnd(fits, assumptions_hold(emitter, shapes));
      b_.CreateCondBr(fits, body, otherwise);
    }
    emitter.emit(body, next);
    if (otherwise) b_.SetInsertPoint(otherwise);
  }

  // Warps of 32 threads in linear order.
  void emit_warps(Value* end, BasicBlock* next) {
    auto number = [&](unsigned n) { return b_.getInt32(n); };
    Value *bx = launch_.block_dim[0], *x = launch_.thread[0];
    launch_.lanes = b_.CreateBinaryIntrinsic(Intrinsic::umin, b_.CreateSub(end, launch_.first), number(width_));
    auto other = [&] { return BasicBlock::Create(function_->getContext(), "layout", function_); };
    Value* in_row = b_.CreateAnd(b_.CreateICmpULE(b_.CreateAdd(x, launch_.lanes), bx),
                                 b_.CreateICmpEQ(b_.CreateAnd(x, number(31)), number(0)));
    emit_body({ThreadLayout::row, width_, 0, true}, other(), in_row, next);
    if (uses_thread_y(*kernel_.thread)) {
      constexpr unsigned length = 16;
      Value* in_rows = b_.CreateAnd(b_.CreateICmpEQ(bx, number(length)),
                                    b_.CreateICmpEQ(launch_.lanes, number(width_)));
      Value* rows_left = b_.CreateSub(launch_.block_dim[1], launch_.thread[1]);
      in_rows = b_.CreateAnd(in_rows, b_.CreateICmpUGE(rows_left, number(width_ / length)));
      emit_body({ThreadLayout::rows, width_, length, true}, other(), in_rows, next);
    }
    emit_body({ThreadLayout::linear, width_, 0, true}, nullptr, nullptr, next);
  }

  // The first thread of the next warp: a whole number of rows further, or in the same row.
  void advance(PHINode** phis, Value* end, BasicBlock* loop, BasicBlock* next, BasicBlock* done) {
    Value* first = b_.CreateAdd(launch_.first, launch_.lanes);
    Value* index[3];
    if (kernel_.needs_full_warp || kernel_.has_barrier) {
      Value* row = b_.CreateUDiv(first, launch_.block_dim[0]);
      index[0] = b_.CreateURem(first, launch_.block_dim[0]);
      index[1] = b_.CreateURem(row, launch_.block_dim[1]);
      index[2] = b_.CreateUDiv(row, launch_.block_dim[1]);
    } else {
      Value* x = b_.CreateAdd(launch_.thread[0], launch_.lanes);
      Value* row_ends = b_.CreateICmpEQ(x, launch_.block_dim[0]);
      Value* y = b_.CreateAdd(launch_.thread[1], b_.CreateZExt(row_ends, b_.getInt32Ty()));
      Value* plane_ends = b_.CreateICmpEQ(y, launch_.block_dim[1]);
      index[0] = b_.CreateSelect(row_ends, b_.getInt32(0), x);
      index[1] = b_.CreateSelect(plane_ends, b_.getInt32(0), y);
      index[2] = b_.CreateAdd(launch_.thread[2], b_.CreateZExt(plane_ends, b_.getInt32Ty()));
    }
    for (unsigned i = 0; i < 3; ++i) phis[i]->addIncoming(index[i], next);
    phis[3]->addIncoming(first, next);
    b_.CreateCondBr(b_.CreateICmpULT(first, end), loop, done);
  }

  KernelContext& kernel_;
  unsigned width_;
  Function* function_;
  IRBuilder<> b_;
  DominatorTree dominators_;
  LoopInfo loops_;
  LaunchValues launch_;
};

// A rough count of 32-bit values that are alive in one block: decides how many lanes fit into the registers.
unsigned register_pressure(const Function& kernel) {
  unsigned most = 0;
  for (const BasicBlock& block : kernel) {
    DenseMap<const Instruction*, unsigned> last_use;
    unsigned position = 0;
    for (const Instruction& instruction : block) {
      ++position;
      for (const Use& use : instruction.operands())
        if (auto* value = dyn_cast<Instruction>(use.get()); value && value->getParent() == &block) last_use[value] = position;
    }
    SmallVector<unsigned> ends;
    position = 0;
    for (const Instruction& instruction : block) {
      ++position;
      erase_if(ends, [&](unsigned end) { return end <= position; });
      if (!instruction.getType()->isFloatingPointTy() || !last_use.count(&instruction)) continue;
      ends.push_back(last_use[&instruction]);
      most = std::max<unsigned>(most, ends.size());
    }
  }
  return most;
}

unsigned choose_width(const KernelContext& kernel) {
  if (kernel.needs_full_warp || kernel.has_barrier) return 32;
  unsigned size = kernel.thread->getInstructionCount(), pressure = register_pressure(*kernel.thread);
  if (size > 400 || pressure > 7) return 8;
  // Rows of two-dimensional blocks are often 16 long.
  if (size > 120 || pressure > 3 || uses_thread_y(*kernel.thread)) return 16;
  return 32;
}

Function* make_function(Module& host, const std::string& name, bool with_range, bool external) {
  LLVMContext& context = host.getContext();
  Type *i32 = Type::getInt32Ty(context), *pointer = PointerType::get(context, 0);
  SmallVector<Type*> params{pointer};
  if (with_range) params.append({i32, i32});
  auto linkage = external ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage;
  auto* function = Function::Create(FunctionType::get(Type::getVoidTy(context), params, false), linkage, name, host);
  function->setDoesNotThrow();
  return function;
}

}  // namespace

void inspect_kernel(KernelContext& kernel) {
  const DataLayout& layout = kernel.thread->getParent()->getDataLayout();
  for (const Instruction& instruction : instructions(*kernel.thread)) {
    if (auto* array = dyn_cast<AllocaInst>(&instruction))
      kernel.local_bytes += static_cast<std::uint32_t>(local_stride(*array, layout));
    auto* call = dyn_cast<CallInst>(&instruction);
    const BuiltinRow* row = call ? find_builtin(*call) : nullptr;
    if (!row) continue;
    kernel.has_barrier |= (row->flags & is_barrier) != 0;
    kernel.needs_full_warp |= (row->flags & needs_full_warp) != 0;
  }
}

KernelFunctions build_kernel(KernelContext& kernel, unsigned width) {
  KernelFunctions made;
  bool fixed = kernel.needs_full_warp || kernel.has_barrier;
  made.width = fixed ? 32 : width ? width : choose_width(kernel);
  std::string name = kernel.thread->getName().str();
  Module& host = *kernel.host;
  made.range_symbol = "td_range." + name;
  Function* range = make_function(host, made.range_symbol, true, false);
  RangeBuilder(kernel, made.width, range).build();

  IRBuilder<> b(host.getContext());
  auto threads_of = [&](Value* block) {
    Value* launch = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), block, offsetof(BlockFrame, launch)));
    return b.CreateLoad(b.getInt32Ty(),
                        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), launch, offsetof(LaunchFrame, threads)));
  };
  made.warp_symbol = "td_warp." + name;
  LLVMContext& context = host.getContext();
  Type *i32 = b.getInt32Ty();
  Function* warp = Function::Create(FunctionType::get(b.getVoidTy(), {b.getPtrTy(), i32}, false),
                                    GlobalValue::ExternalLinkage, made.warp_symbol, host);
  warp->setDoesNotThrow();
  b.SetInsertPoint(BasicBlock::Create(context, "", warp));
  Value* first = warp->getArg(1);
  Value* end = b.CreateBinaryIntrinsic(Intrinsic::umin, b.CreateAdd(first, b.getInt32(32)), threads_of(warp->getArg(0)));
  b.CreateCall(range, {warp->getArg(0), first, end});
  b.CreateRetVoid();
  if (kernel.has_barrier) return made;
  made.block_symbol = "td_block." + name;
  Function* block = make_function(host, made.block_symbol, false, true);
  b.SetInsertPoint(BasicBlock::Create(context, "", block));
  b.CreateCall(range, {block->getArg(0), b.getInt32(0), threads_of(block->getArg(0))});
  b.CreateRetVoid();
  return made;
}

}  // namespace td::softdev::simt
