// The generated function of a kernel is a loop over consecutive threads of a block:
//
//   range(block, begin, end):  t = begin;  while (t < end) { n = lanes of the next warp; body(t,
//   n); t += n; }
//
// Without warp-level operations and barriers the grouping of threads is free: a "warp" is then a
// piece of one row of the block, at most W threads, so that threadIdx.y and .z are uniform and
// threadIdx.x is contiguous whatever the block's shape. With them a warp is what CUDA says, 32
// threads in linear order, and there is one body for each layout of a warp in the block.
#include "softdev/simt/kernel_function.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "softdev/simt/lockstep.h"
#include "softdev/simt/phases.h"
#include "softdev/simt/thread_passes.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_jam.h"
#include "softdev/simt/width.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

constexpr unsigned row_of_pair = 16;  // threads: two such rows are a warp

class RangeBuilder {
 public:
  RangeBuilder(KernelContext& kernel, unsigned width, bool phased, Function* function)
      : kernel_(kernel),
        width_(width),
        phased_(phased),
        whole_warps_(kernel.needs_full_warp || (kernel.has_barrier && !phased)),
        function_(function),
        b_(function->getContext()),
        dominators_(*kernel.thread),
        loops_(dominators_) {}

  void build() {
    LLVMContext& context = function_->getContext();
    auto block = [&](const char* name) { return BasicBlock::Create(context, name, function_); };
    BasicBlock *entry = block("td.entry"), *round = block("td.round"), *loop = block("td.warp"),
               *next = block("td.next");
    BasicBlock *finished = block("td.finished"), *swept = block("td.swept"),
               *done = block("td.done");
    b_.SetInsertPoint(entry);
    load_launch();
    bool fixed = kernel_.has_fixed_block();
    Value* begin = fixed || phased_ ? b_.getInt32(0) : static_cast<Value*>(function_->getArg(1));
    Value* end =
        fixed ? b_.getInt32(kernel_.fixed_threads()) : static_cast<Value*>(function_->getArg(2));
    Value *bx = launch_.block_dim[0], *by = launch_.block_dim[1];
    Value* row = b_.CreateUDiv(begin, bx);
    Value* start[4] = {b_.CreateURem(begin, bx), b_.CreateURem(row, by), b_.CreateUDiv(row, by),
                       begin};
    if (phased_) prepare_phases(end);
    b_.CreateCondBr(b_.CreateICmpULT(begin, end), round, done);

    b_.SetInsertPoint(round);
    if (phased_) start_round();
    b_.CreateBr(loop);

    b_.SetInsertPoint(loop);
    PHINode* phis[4];
    for (unsigned i = 0; i < 4; ++i) {
      phis[i] = b_.CreatePHI(b_.getInt32Ty(), 2);
      phis[i]->addIncoming(start[i], round);
      if (i < 3)
        launch_.thread[i] = is_always_zero(i) ? b_.getInt32(0) : static_cast<Value*>(phis[i]);
    }
    if (is_always_zero(1) && is_always_zero(2)) launch_.thread[0] = phis[3];
    launch_.first = phis[3];
    PHINode* number = b_.CreatePHI(b_.getInt32Ty(), 2);
    number->addIncoming(b_.getInt32(0), round);
    if (phased_) launch_.warp_number = number;
    if (whole_warps_)
      emit_warps(end, finished);
    else
      emit_rows(end, finished);

    b_.SetInsertPoint(finished);
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    number->addIncoming(b_.CreateAdd(number, b_.getInt32(1)), next);
    advance(phis, end, loop, next, swept);
    b_.SetInsertPoint(swept);
    if (phased_)
      b_.CreateCondBr(b_.CreateTrunc(b_.CreateLoad(b_.getInt8Ty(), pending_), b_.getInt1Ty()),
                      round, done);
    else
      b_.CreateBr(done);
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
      launch_.block_dim[i] =
          kernel_.has_fixed_block()
              ? b_.getInt32(kernel_.block[i])
              : field(launch_.launch_frame, offsetof(LaunchFrame, block) + 4 * i, i32);
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

  // Every warp has W threads of one row.
  bool has_whole_rows() const {
    return width_ == 1 || (kernel_.has_fixed_block() && kernel_.block[0] % width_ == 0);
  }
  // Every warp is two rows.
  bool has_pairs_of_rows() const {
    return whole_warps_ && kernel_.block[0] == row_of_pair &&
           kernel_.block[1] % (32 / row_of_pair) == 0;
  }
  // How many warps a block has, if all are whole; else 0.
  unsigned fixed_warps() const {
    bool whole = kernel_.has_fixed_block() && (has_whole_rows() || has_pairs_of_rows());
    return whole ? kernel_.fixed_threads() / width_ : 0;
  }
  // This index of a warp's first thread.
  bool is_always_zero(unsigned axis) const {
    if (!kernel_.has_fixed_block()) return false;
    return axis == 0 ? kernel_.block[0] == width_ : kernel_.block[axis] == 1;
  }
  ThreadLayout layout_of(ThreadLayout::Kind kind, unsigned row_length, bool may_assume,
                         bool warp_aligned) const {
    ThreadLayout layout{kind, width_, row_length, may_assume, warp_aligned};
    std::copy(kernel_.block, kernel_.block + 3, layout.block);
    return layout;
  }

  // State of the whole block. Its address goes into the dispatch marker, so that it stays in memory
  // until the phases exist: unlike all other values it is not one warp's.
  void prepare_phases(Value* end) {
    pending_ = b_.CreateAlloca(ArrayType::get(b_.getInt32Ty(), 8), nullptr, "phase.state");
    for (unsigned kind = 0; kind < 3; ++kind) {
      launch_.collected[kind] = b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), pending_, 1 + kind);
      launch_.result[kind] = b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), pending_, 4 + kind);
      b_.CreateStore(b_.getInt32(0), launch_.collected[kind]);
    }
    launch_.grid_pending = b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), pending_, 7);
    b_.CreateStore(b_.getInt32(0), launch_.grid_pending);
    auto pieces = [&](Value* threads) {
      return b_.CreateUDiv(b_.CreateAdd(threads, b_.getInt32(width_ - 1)), b_.getInt32(width_));
    };
    Value* rows = b_.CreateMul(launch_.block_dim[1], launch_.block_dim[2]);
    launch_.warp_count =
        whole_warps_ ? pieces(end) : b_.CreateMul(rows, pieces(launch_.block_dim[0]));
  }

  void start_round() {
    b_.CreateStore(b_.getInt8(0), pending_);
    for (unsigned kind = 0; kind < 3; ++kind) {
      b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), launch_.collected[kind]), launch_.result[kind]);
      b_.CreateStore(b_.getInt32(kind == 1 ? 1 : 0), launch_.collected[kind]);
    }
  }

  // From here on a warp may go on somewhere else.
  void mark_dispatch() {
    if (!phased_) return;
    FunctionCallee dispatch = kernel_.host->getOrInsertFunction(
        phase_dispatch_marker, b_.getVoidTy(), b_.getInt32Ty(), b_.getInt32Ty(), b_.getPtrTy());
    b_.CreateCall(dispatch, {launch_.warp_number, launch_.warp_count, pending_});
  }

  Value* assumptions_hold(WarpEmitter& emitter, const Shapes& shapes) {
    Value* holds = b_.getTrue();
    for (const NoWrap& assumption : shapes.assumptions()) {
      Value* base = emitter.entry_value(assumption.value, b_);
      holds = b_.CreateAnd(
          holds, no_wrap_check(b_, base, shapes.of(assumption.value), assumption.is_signed));
    }
    return holds;
  }

  // Pieces of rows. Where an index would wrap around inside a piece, threads run one at a time.
  void emit_rows(Value* end, BasicBlock* next) {
    ThreadLayout layout = layout_of(ThreadLayout::row, 0, !phased_ && !has_whole_rows(), false);
    Shapes shapes(*kernel_.thread, layout, dominators_, loops_);
    ControlPlan plan(*kernel_.thread, shapes, dominators_, loops_);
    WarpEmitter emitter(kernel_, shapes, plan, launch_, function_);
    Value* in_row = b_.CreateSub(launch_.block_dim[0], launch_.thread[0]);
    Value* lanes =
        b_.CreateBinaryIntrinsic(Intrinsic::umin, in_row, b_.CreateSub(end, launch_.first));
    lanes = b_.CreateBinaryIntrinsic(Intrinsic::umin, lanes, b_.getInt32(width_));
    Value* holds = assumptions_hold(emitter, shapes);
    if (has_whole_rows()) lanes = b_.getInt32(width_);
    launch_.lanes = b_.CreateSelect(holds, lanes, b_.getInt32(1));
    mark_dispatch();
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
    launch_.lanes =
        b_.CreateBinaryIntrinsic(Intrinsic::umin, b_.CreateSub(end, launch_.first), number(width_));
    if (has_whole_rows() || has_pairs_of_rows()) launch_.lanes = number(width_);
    mark_dispatch();
    if (has_whole_rows())
      return emit_body(layout_of(ThreadLayout::row, 0, false, true), nullptr, nullptr, next);
    if (has_pairs_of_rows())
      return emit_body(layout_of(ThreadLayout::rows, row_of_pair, false, true), nullptr, nullptr,
                       next);
    auto other = [&] { return BasicBlock::Create(function_->getContext(), "layout", function_); };
    Value* in_row = b_.CreateAnd(b_.CreateICmpULE(b_.CreateAdd(x, launch_.lanes), bx),
                                 b_.CreateICmpEQ(b_.CreateAnd(x, number(31)), number(0)));
    emit_body(layout_of(ThreadLayout::row, 0, true, true), other(), in_row, next);
    if (uses_thread_y(*kernel_.thread)) {
      Value* in_rows = b_.CreateAnd(b_.CreateICmpEQ(bx, number(row_of_pair)),
                                    b_.CreateICmpEQ(launch_.lanes, number(width_)));
      Value* rows_left = b_.CreateSub(launch_.block_dim[1], launch_.thread[1]);
      in_rows = b_.CreateAnd(in_rows, b_.CreateICmpUGE(rows_left, number(width_ / row_of_pair)));
      emit_body(layout_of(ThreadLayout::rows, row_of_pair, true, true), other(), in_rows, next);
    }
    emit_body(layout_of(ThreadLayout::linear, 0, true, true), nullptr, nullptr, next);
  }

  // The first thread of the next warp: a whole number of rows further, or in the same row.
  void advance(PHINode** phis, Value* end, BasicBlock* loop, BasicBlock* next, BasicBlock* done) {
    Value* first = b_.CreateAdd(launch_.first, launch_.lanes);
    Value* index[3];
    if (whole_warps_) {
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
    BranchInst* back = b_.CreateCondBr(b_.CreateICmpULT(first, end), loop, done);
    // Local arrays of successive warps share their memory.
    if (unsigned warps = fixed_warps(); warps > 0 && kernel_.local_bytes == 0) {
      auto* count = ConstantAsMetadata::get(b_.getInt32(warps));
      back->setMetadata(warp_loop_metadata, MDNode::get(b_.getContext(), count));
    }
  }

  KernelContext& kernel_;
  unsigned width_;
  bool phased_, whole_warps_;
  Function* function_;
  IRBuilder<> b_;
  DominatorTree dominators_;
  LoopInfo loops_;
  LaunchValues launch_;
  Value* pending_ = nullptr;
};

// void name(BlockFrame*, more…)
Function* make_function(Module& host, const std::string& name, ArrayRef<Type*> more,
                        bool external) {
  SmallVector<Type*> params{PointerType::get(host.getContext(), 0)};
  params.append(more.begin(), more.end());
  auto linkage = external ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage;
  Type* result = Type::getVoidTy(host.getContext());
  auto* function = Function::Create(FunctionType::get(result, params, false), linkage, name, host);
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
  kernel.needs_full_warp = kernel.needs_full_warp || relies_on_lockstep(*kernel.thread);
}

namespace {

// The block in phases needs room for every warp's local arrays at once.
bool can_be_phased(const KernelContext& kernel) {
  constexpr std::uint32_t most_local_bytes = 2048;
  return kernel.has_barrier && kernel.local_bytes <= most_local_bytes;
}

class Wrappers {
 public:
  Wrappers(Module& host, Function* range) : b_(host.getContext()), range_(range) {}

  void warp(Function* function) {
    open(function);
    Value *block = function->getArg(0), *first = function->getArg(1);
    Value* end = b_.CreateBinaryIntrinsic(Intrinsic::umin, b_.CreateAdd(first, b_.getInt32(32)),
                                          threads(block));
    b_.CreateCall(range_, {block, first, end});
    b_.CreateRetVoid();
  }
  void block(Function* function) {
    open(function);
    b_.CreateCall(range_, {function->getArg(0), b_.getInt32(0), threads(function->getArg(0))});
    b_.CreateRetVoid();
  }
  // The first warp runs the whole block.
  void first_warp(Function* function) {
    open(function);
    Value* all = b_.CreateSelect(b_.CreateICmpEQ(function->getArg(1), b_.getInt32(0)),
                                 threads(function->getArg(0)), b_.getInt32(0));
    b_.CreateCall(range_, {function->getArg(0), b_.getInt32(0), all});
    b_.CreateRetVoid();
  }

 private:
  void open(Function* function) {
    b_.SetInsertPoint(BasicBlock::Create(function->getContext(), "", function));
  }
  Value* load(Type* type, Value* base, std::size_t offset) {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset));
  }
  Value* threads(Value* block) {
    Value* launch = load(b_.getPtrTy(), block, offsetof(BlockFrame, launch));
    return load(b_.getInt32Ty(), launch, offsetof(LaunchFrame, threads));
  }

  IRBuilder<> b_;
  Function* range_;
};

}  // namespace

KernelFunctions build_kernel(KernelContext& kernel, unsigned width, bool stackful) {
  KernelFunctions made;
  made.phased = !stackful && can_be_phased(kernel);
  bool fixed = kernel.needs_full_warp || (kernel.has_barrier && !made.phased);
  made.width = fixed ? 32 : width ? width : choose_width(kernel);
  unsigned most = max_threads(*kernel.thread);
  made.warps_at_most = kernel.needs_full_warp ? (most + 31) / 32 : most;
  std::string name = kernel.thread->getName().str();
  Module& host = *kernel.host;
  made.range_symbol = "td_range." + name;
  made.warp_symbol = "td_warp." + name;
  Type* i32 = Type::getInt32Ty(host.getContext());
  Function* range = make_function(host, made.range_symbol, {i32, i32}, false);
  try {
    RangeBuilder(kernel, made.width, made.phased, range).build();
  } catch (const Unsupported&) {
    range->dropAllReferences();
    range->eraseFromParent();
    throw;
  }
  Wrappers wrappers(host, range);
  Function* warp = make_function(host, made.warp_symbol, {i32}, true);
  if (made.phased)
    wrappers.first_warp(warp);
  else
    wrappers.warp(warp);
  if (kernel.has_barrier && !made.phased) return made;
  made.block_symbol = "td_block." + name;
  wrappers.block(make_function(host, made.block_symbol, {}, true));
  return made;
}

}  // namespace td::softdev::simt
