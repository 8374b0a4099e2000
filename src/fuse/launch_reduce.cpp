// Reductions, with the element-wise work in front of them fused in. Two shapes:
//   row     the lanes of a block (or of a warp) share one result: the fast axis is reduced
//   column  a thread owns its results: the fast axis is kept, or rows are very short
// When the results alone cannot fill the device, each is split into chunks, and a second small
// kernel combines the partial accumulators. The order of combination depends on the shape and the
// device only, so results repeat exactly.
#include <algorithm>

#include "fuse/reduce_plan.h"
#include "fuse/staged_plan.h"

namespace td::fuse {
namespace {

// The largest accumulator: a complex128 with its place.
constexpr std::size_t kAccumulatorBytes = 32;

std::string plan_key(const Program& program, const ReducePlan& plan) {
  std::string key = "reduce";
  key.reserve(160);
  append_key(program, key);
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  put(plan.column);
  put(plan.lanes / 32);
  put(plan.columns);
  put(plan.runs);
  put(plan.width);
  put(plan.wide);
  for (const Walk* walk : {&plan.kept, &plan.reduced}) {
    put(walk->dims.size());
    for (Access access : walk->access) put(access);
  }
  return key;
}

std::string finish_key(const Program& program, const ReducePlan& plan, bool thread) {
  std::string key = "finish";
  for (std::size_t part :
       {static_cast<std::size_t>(program.roots[0].reduction),
        static_cast<std::size_t>(program.roots[0].input), static_cast<std::size_t>(plan.wide),
        static_cast<std::size_t>(plan.counts), static_cast<std::size_t>(thread),
        plan.kept.dims.size(), program.leaves.size(),
        static_cast<std::size_t>(plan.kept.access.back())})
    key.push_back(static_cast<char>(part));
  return key;
}

void add_walk(Arguments& arguments, const Walk& walk, std::size_t first, std::size_t last,
              bool wide) {
  for (std::int64_t dim : walk.dims) arguments.index(dim, wide);
  for (std::size_t k = first; k < last; ++k)
    for (std::int64_t stride : walk.strides[k]) arguments.index(stride, wide);
}

void launch_finish(driver::DeviceState& device, CUstream stream, const Program& program,
                   const ReducePlan& plan, CUdeviceptr out, CUdeviceptr part) {
  std::int64_t outputs = plan.kept.count, most = 8 * resident_blocks(device);
  bool thread = holds_few_threads(device) && outputs >= 32;
  const LoadedKernel& finish = kernel(
      device, finish_key(program, plan, thread),
      [&] { return print_reduce_finish(program, plan, thread); }, "td_finish");
  Arguments arguments;
  arguments.add(out);
  arguments.add(part);
  arguments.index(outputs, plan.wide);
  arguments.add(plan.splits);
  arguments.add(static_cast<double>(plan.reduced.count));
  std::size_t leaves = program.leaves.size();
  add_walk(arguments, plan.kept, leaves, leaves + 1, plan.wide);
  launch(device, stream, finish, std::min(thread ? (outputs + 255) / 256 : outputs, most),
         arguments);
}

}  // namespace

void launch_reduce(driver::DeviceState& device, CUstream stream, const Program& program) {
  if (!holds_few_threads(device) && many_threads_way(plan_staged(device, program)))
    return launch_staged(device, stream, program);
  const View& result = program.kept_stores[0].view;
  ReducePlan plan = make_reduce_plan(device, program);
  const LoadedKernel& loaded = kernel(
      device, plan_key(program, plan), [&] { return print_reduce(program, plan); }, "td_reduce");
  std::int64_t outputs = plan.kept.count;
  CUdeviceptr out = result.storage->address() + static_cast<CUdeviceptr>(result.offset);
  std::optional<driver::Memory> part;
  if (plan.splits > 1)
    part.emplace(device.shared_from_this(),
                 static_cast<std::size_t>(outputs) * plan.splits * kAccumulatorBytes, stream);
  CUdeviceptr part_address = part ? part->address() : 0;

  Arguments arguments;
  for (CUdeviceptr address : plan.addresses) arguments.add(address);
  for (const ScalarOperand& scalar : program.scalars) arguments.scalar(scalar.value, scalar.dtype);
  arguments.add(out);
  arguments.add(part_address);
  arguments.index(outputs, plan.wide);
  arguments.index(plan.reduced.count, plan.wide);
  arguments.index(plan.chunk, plan.wide);
  arguments.add(plan.splits);
  arguments.add(static_cast<double>(plan.reduced.count));
  add_walk(arguments, plan.kept, 0, program.leaves.size() + 1, plan.wide);
  add_walk(arguments, plan.reduced, 0, program.leaves.size() + plan.turned, plan.wide);
  std::int64_t per_block = plan.units_of_block();
  std::int64_t blocks = (plan.units() * plan.splits + per_block - 1) / per_block;
  launch(device, stream, loaded, std::min(blocks, 4 * resident_blocks(device)), arguments);
  if (plan.splits > 1) launch_finish(device, stream, program, plan, out, part_address);
}

}  // namespace td::fuse
