// Launches programs with several reductions, with work behind them, or with several stages.
#include <algorithm>

#include "fuse/staged_plan.h"

namespace td::fuse {
namespace {

std::string plan_key(const char* kernel, const Program& program, const StagedPlan& plan) {
  std::string key = kernel;
  key.reserve(160);
  append_key(program, key);
  auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
  put(plan.way);
  put(plan.way == StagedPlan::Way::bands ? 0 : plan.lanes / 2);
  put(plan.width);
  put(plan.vectors);
  put(plan.at_once + 8 * plan.whole);
  put(plan.wide);
  put(plan.kept.dims.size());
  put(plan.reduced.dims.size());
  for (Access access : plan.kept.access) put(access);
  for (Access access : plan.reduced.access) put(access);
  return key;
}

// Bytes of one accumulator of all roots, whatever the padding between them.
std::size_t part_bytes(const Program& program) {
  std::size_t bytes = 0;
  for (const Root& root : program.roots)
    bytes += (accumulator_bytes(root.reduction, root.input) + 15) / 16 * 16;
  return bytes;
}

void add_arguments(Arguments& arguments, const Program& program, const StagedPlan& plan,
                   CUdeviceptr part) {
  std::size_t full = program.leaves.size() + program.stores.size();
  for (std::size_t k = 0; k < full; ++k) arguments.add(plan.addresses[k]);
  for (const ScalarOperand& scalar : program.scalars) arguments.scalar(scalar.value, scalar.dtype);
  for (std::size_t k = full; k < plan.addresses.size(); ++k) arguments.add(plan.addresses[k]);
  for (const Root& root : program.roots)
    arguments.add(std::max(static_cast<double>(plan.reduced.count) - root.correction, 0.0));
  arguments.add(part);
  arguments.index(plan.kept.count, plan.wide);
  arguments.index(plan.reduced.count, plan.wide);
  arguments.index(plan.chunk, plan.wide);
  arguments.add(plan.splits);
  arguments.add(plan.across);
  for (std::int64_t dim : plan.kept.dims) arguments.index(dim, plan.wide);
  for (const Strides& strides : plan.kept.strides)
    for (std::int64_t stride : strides) arguments.index(stride, plan.wide);
  for (std::int64_t dim : plan.reduced.dims) arguments.index(dim, plan.wide);
  for (std::size_t k = 0; k < plan.addresses.size(); ++k)
    for (std::size_t d = 0; d < reduced_strides(plan, k); ++d)
      arguments.index(plan.reduced.strides[k][d], plan.wide);
}

// The program and plan of the kernel that combines partial accumulators: without what runs over the
// indices, and without operands, where no kept step needs them. Most programs then share it.
void strip_to_finish(Program& program, StagedPlan& plan) {
  for (const Step& step : program.steps)
    if (step.kept) return;
  std::size_t full = program.leaves.size() + program.stores.size();
  auto drop = [&](auto& list) {
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(full));
  };
  drop(plan.addresses);
  drop(plan.kept.strides);
  drop(plan.kept.access);
  drop(plan.reduced.strides);
  drop(plan.reduced.access);
  plan.reduced.dims.clear();
  program.leaves.clear();
  program.scalars.clear();
  program.steps.clear();
  program.stores.clear();
  for (Root& root : program.roots) root.value = {Value::Kind::scalar, 0};
}

std::string print(const Program& program, const StagedPlan& plan) {
  switch (plan.way) {
    case StagedPlan::Way::held_rows:
      return print_held_rows(program, plan);
    case StagedPlan::Way::bands:
      return print_bands(program, plan);
    default:
      return print_staged(program, plan);
  }
}

// Blocks without splits.
std::int64_t blocks_of(const StagedPlan& plan) {
  std::int64_t per_block = kBlock / plan.lanes * plan.at_once;
  if (plan.way == StagedPlan::Way::column) per_block = kBlock;
  if (plan.way == StagedPlan::Way::bands) per_block = std::int64_t{plan.across} * plan.width;
  return (plan.kept.count + per_block - 1) / per_block;
}

void launch_finish(driver::DeviceState& device, CUstream stream, Program program, StagedPlan plan,
                   CUdeviceptr part) {
  std::int64_t outputs = plan.kept.count, many = holds_few_threads(device) ? 32 : 256;
  strip_to_finish(program, plan);
  plan.across = outputs >= many ? 32 : 1;  // results side by side in a block
  plan.least_blocks = 0;
  Arguments arguments;
  add_arguments(arguments, program, plan, part);
  const LoadedKernel& finish = kernel(
      device, plan_key("staged finish", program, plan),
      [&] { return print_staged_finish(program, plan); }, "td_finish");
  std::int64_t blocks = (outputs + plan.across - 1) / plan.across;
  launch(device, stream, finish, std::min(blocks, 8 * resident_blocks(device)), arguments);
}

}  // namespace

void launch_staged(driver::DeviceState& device, CUstream stream, Program program) {
  StagedPlan plan = plan_staged(device, program);
  const LoadedKernel& loaded = kernel(
      device, plan_key("staged", program, plan), [&] { return print(program, plan); }, "td_staged");
  std::optional<driver::Memory> part;
  if (plan.splits > 1)
    part.emplace(device.shared_from_this(),
                 static_cast<std::size_t>(plan.kept.count) * plan.splits * part_bytes(program),
                 stream);
  Arguments arguments;
  add_arguments(arguments, program, plan, part ? part->address() : 0);
  launch(device, stream, loaded,
         std::min(blocks_of(plan) * plan.splits, 4 * resident_blocks(device)), arguments);
  if (plan.splits > 1)
    launch_finish(device, stream, std::move(program), std::move(plan), part->address());
}

}  // namespace td::fuse
