// Launches: limits, the operation that runs a grid, and what becomes of a fault in it.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "softdev/run/fault.h"
#include "softdev/run/memory.h"
#include "softdev/run/module.h"
#include "softdev/run/no_sanitize.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::uint64_t kMaxChunk = 1024;  // blocks that a worker takes at a time
constexpr std::uint64_t kChunksPerWorker = 16;
constexpr std::size_t kInlineParams = 256;

class LaunchOp final : public Op {
 public:
  LaunchOp(CUfunction function, const LaunchShape& shape, const unsigned char* params)
      : Op(Kind::work, *function->module->context), function_(*function) {
    const LoweredKernel& info = function->info;
    if (function->special) special_ = function->special->find(shape.grid, shape.block);
    unsigned char* to = inline_params_;
    if (info.param_bytes > kInlineParams) {
      large_params_ = std::make_unique<unsigned char[]>(info.param_bytes);
      to = large_params_.get();
    }
    if (info.param_bytes) std::memcpy(to, params, info.param_bytes);
    frame_.params = to;
    frame_.globals = reinterpret_cast<unsigned char*>(function->module->data);
    for (int i = 0; i < 3; ++i) {
      frame_.grid[i] = shape.grid[i];
      frame_.block[i] = shape.block[i];
    }
    frame_.threads = shape.block[0] * shape.block[1] * shape.block[2];
    frame_.static_shared = info.static_shared;
    frame_.dynamic_shared = shape.dynamic_shared;
    std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    std::uint64_t chunk = blocks / (kChunksPerWorker * Scheduler::get().workers());
    set_units(blocks, std::clamp<std::uint64_t>(chunk, 1, kMaxChunk));
  }

  bool time_limited() const override { return true; }

  void run(Executor* executor, std::uint64_t begin, std::uint64_t end) override {
    ensure_alternate_stack();
    bool coroutines = !function_.block && frame_.threads > kWarpSize;
    std::uint32_t stack_bytes = special_ ? special_->stack_bytes : function_.info.stack_bytes;
    if (const char* problem = executor->reserve_stacks(stack_bytes, coroutines)) {
      context().fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                     base::cat("kernel ", function_.info.name, ": ", problem));
      return;
    }
    Chunk chunk{this, executor, begin, end};
    if (!executor->guarded(&run_chunk, &chunk)) report(*executor);
  }

 private:
  struct Chunk {
    LaunchOp* op;
    Executor* executor;
    std::uint64_t begin, end;
  };

  void report(Executor& executor) {
    const Leave& leave = executor.leave();
    // Interrupted: the context has failed for another reason already.
    if (leave.cause == Leave::Cause::interrupted) return;
    FaultReport report = explain(leave, function_.info.name.c_str(), executor.frame());
    context().fail(report.code, std::move(report.text));
  }

  // On the executor's stack; a fault abandons it.
  TD_ON_WARP_STACK static void run_chunk(void* argument) {
    auto& chunk = *static_cast<Chunk*>(argument);
    const LaunchOp& op = *chunk.op;
    BlockFrame& frame = chunk.executor->frame();
    frame.launch = &op.frame_;
    const std::uint32_t* grid = op.frame_.grid;
    frame.block_idx[0] = static_cast<std::uint32_t>(chunk.begin % grid[0]);
    frame.block_idx[1] = static_cast<std::uint32_t>(chunk.begin / grid[0] % grid[1]);
    frame.block_idx[2] = static_cast<std::uint32_t>(chunk.begin / grid[0] / grid[1]);
    for (std::uint64_t left = chunk.end - chunk.begin; left > 0; --left) {
      op.run_block(*chunk.executor, frame);
      if (++frame.block_idx[0] == grid[0]) {
        frame.block_idx[0] = 0;
        if (++frame.block_idx[1] == grid[1]) {
          frame.block_idx[1] = 0;
          ++frame.block_idx[2];
        }
      }
    }
  }

  TD_ON_WARP_STACK void run_block(Executor& executor, BlockFrame& frame) const {
    if (special_) {
      special_->block(&frame);
    } else if (function_.block) {
      function_.block(&frame);
    } else if (frame_.threads <= kWarpSize) {
      executor.run_single_warp(function_.warp);
    } else {
      executor.run_warps(function_.warp, frame_.threads);
    }
  }

  const SpecialCode* special_ = nullptr;
  CUfunc_st& function_;  // outlives the launch: unloading a module waits for the context
  LaunchFrame frame_{};
  std::unique_ptr<unsigned char[]> large_params_;
  alignas(16) unsigned char inline_params_[kInlineParams];
};

}  // namespace

CUresult check_launch(const CUfunc_st& function, const LaunchShape& shape) {
  constexpr unsigned kMaxGrid[3] = {2147483647, 65535, 65535};
  constexpr unsigned kMaxBlock[3] = {1024, 1024, 64};
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] == 0 || shape.grid[i] > kMaxGrid[i]) return CUDA_ERROR_INVALID_VALUE;
    if (shape.block[i] == 0 || shape.block[i] > kMaxBlock[i]) return CUDA_ERROR_INVALID_VALUE;
  }
  std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads > kMaxThreads || threads > function.info.max_threads) return CUDA_ERROR_INVALID_VALUE;
  if (shape.dynamic_shared > function.max_dynamic_shared.load(std::memory_order_relaxed))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

Ref<Op> make_launch_op(CUfunction function, const LaunchShape& shape, const unsigned char* params) {
  keep_fault_handlers();
  return Ref<Op>(new LaunchOp(function, shape, params));
}

void launch(CUfunction function, const LaunchShape& shape, CUstream stream,
            const unsigned char* params) {
  Ref<Op> op = make_launch_op(function, shape, params);
  Scheduler::get().enqueue(stream->queue, *op);
}

}  // namespace td::softdev
