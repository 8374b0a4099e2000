// Launches: limits, the operation that runs a grid, and what becomes of a fault in it.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>

#include "base/author_name.h"
#include "base/text.h"
#include "softdev/run/fair_run.h"
#include "softdev/run/fault.h"
#include "softdev/run/memory.h"
#include "softdev/run/module.h"
#include "softdev/run/no_sanitize.h"
#include "softdev/run/occupancy.h"

namespace td::softdev {

namespace {

using namespace td::cuda;

constexpr std::uint64_t kMaxChunk = 1024;  // blocks that a worker takes at a time
constexpr std::uint64_t kChunksPerWorker = 16;
constexpr std::size_t kInlineParams = 256;
// Of the modelled device.
constexpr std::uint32_t kMultiprocessors = 132;

Fairness fairness_of(const LoweredKernel& kernel, const LaunchShape& shape) {
  bool rows = shape.block[0] % kWarpSize == 0 || shape.block[1] * shape.block[2] == 1;
  return rows ? kernel.fairness_in_rows : kernel.fairness;
}

class LaunchOp final : public Op {
 public:
  LaunchOp(CUfunction function, const LaunchShape& shape, const unsigned char* params)
      : Op(Kind::work, *function->module->context), function_(*function) {
    const LoweredKernel& info = function->info;
    fairness_ = fairness_of(info, shape);
    code_ = {function->warp, function->block, info.stack_bytes};
    if (function->special && fairness_ == Fairness::none)
      if (auto* special = function->special->find(shape.grid, shape.block, &timed_))
        code_ = *special;
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
    if (fairness_ != Fairness::none) {
      chunk = 1;
      grid_barrier_ = std::make_unique<GridBarrier>(static_cast<std::uint32_t>(
          std::min<std::uint64_t>(blocks, std::numeric_limits<std::uint32_t>::max())));
    }
    set_units(blocks, std::clamp<std::uint64_t>(chunk, 1, kMaxChunk));
  }

  bool time_limited() const override { return true; }
  std::uint64_t extra_units(Executor& executor) const override {
    return fairness_ == Fairness::none ? 0 : executor.fair_runner().extra_units;
  }

  void run(Executor* executor, std::uint64_t begin, std::uint64_t end) override {
    ensure_alternate_stack();
    if (fairness_ != Fairness::none) return run_fair(*executor, begin, end);
    bool coroutines = !code_.block && frame_.threads > kWarpSize;
    if (const char* problem =
            executor->reserve_stacks(code_.stack_bytes + recursion_bytes(), coroutines)) {
      fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, problem);
      return;
    }
    Chunk chunk{this, executor, begin, end};
    std::chrono::steady_clock::time_point start;
    if (timed_) start = std::chrono::steady_clock::now();
    if (!executor->guarded(&run_chunk, &chunk)) report(*executor);
    if (timed_) {
      std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - start;
      function_.special->note_time(static_cast<std::uint64_t>(spent.count()));
    }
  }

 private:
  void fail(CUresult code, const std::string& problem) {
    context().fail(code,
                   base::cat("kernel ", base::author_name(function_.info.name), ": ", problem));
  }

  // Frames here are about as large as on a GPU, where a stack is in units of bytes for a thread.
  std::size_t recursion_bytes() {
    return function_.info.recursive ? 32 * 1024 + 4 * context().stack_limit.load() : 0;
  }

  // Blocks that are resident on the modelled device at a time.
  std::uint32_t most_resident() const {
    return kMultiprocessors * std::max(1u, blocks_per_multiprocessor(function_, frame_.threads,
                                                                     frame_.dynamic_shared));
  }

  FairLaunch fair_launch() {
    FairLaunch launch;
    launch.op = this;
    launch.frame = &frame_;
    launch.code = {function_.warp, function_.block, function_.thread};
    launch.shape.threads = frame_.threads;
    launch.shape.shared_bytes = frame_.static_shared + frame_.dynamic_shared + 16;
    bool threads = fairness_ == Fairness::threads;
    // One lane means a fiber for each thread, so a block of one thread is a warp.
    bool whole_block = function_.block && frame_.threads > 1;
    launch.shape.lanes = threads ? 1 : whole_block ? frame_.threads : kWarpSize;
    launch.shape.stack_bytes =
        recursion_bytes() + (threads ? function_.info.thread_stack_bytes + kScalarReserve
                                     : function_.info.stack_bytes + 2 * kScalarReserve);
    launch.grid = grid_barrier_.get();
    launch.resident = &resident_;
    launch.most_resident = most_resident();
    return launch;
  }

  void run_fair(Executor& executor, std::uint64_t begin, std::uint64_t end) {
    if (const char* problem = executor.reserve_stacks(64 * 1024, false))
      return fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, problem);
    FairChunk chunk{fair_launch(), &executor.fair_runner(), begin, end, {}};
    bool left = !executor.guarded(
        [](void* argument) {
          auto& chunk = *static_cast<FairChunk*>(argument);
          chunk.problem = chunk.runner->run(chunk.launch, chunk.begin, chunk.end);
        },
        &chunk);
    if (left)
      report(executor);
    else if (!chunk.problem.empty())
      context().fail(
          CUDA_ERROR_LAUNCH_FAILED,
          place(function_.info.name.c_str(), executor.running_frame()) + ": " + chunk.problem);
    chunk.runner->abandon(chunk.launch);
  }

  struct FairChunk {
    FairLaunch launch;
    FairRunner* runner;
    std::uint64_t begin, end;
    std::string problem;
  };

  struct Chunk {
    LaunchOp* op;
    Executor* executor;
    std::uint64_t begin, end;
  };

  void report(Executor& executor) {
    const Leave& leave = executor.leave();
    // Interrupted: the context has failed for another reason already.
    if (leave.cause == Leave::Cause::interrupted) return;
    FaultReport report = explain(executor, function_.info.name.c_str());
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
    if (code_.block) {
      code_.block(&frame);
    } else if (frame_.threads <= kWarpSize) {
      executor.run_single_warp(code_.warp);
    } else {
      executor.run_warps(code_.warp, frame_.threads);
    }
  }

  KernelCode code_;
  bool timed_ = false;  // how long it takes helps to decide about special code
  Fairness fairness_ = Fairness::none;
  std::unique_ptr<GridBarrier> grid_barrier_;
  std::atomic<std::uint32_t> resident_{0};
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
