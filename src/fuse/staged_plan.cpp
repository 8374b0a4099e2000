#include "fuse/staged_plan.h"

#include <algorithm>
#include <cstdlib>

#include "fuse/reduce_plan.h"

namespace td::fuse {
namespace {

constexpr std::int64_t kLongRow = 1024;  // longer rows get a whole block

int row_width_of(const Program& program, const StagedPlan& plan) {
  if (!program.stores.empty() || program.stages() > 1) return 1;
  return row_width(program, plan.kept, plan.reduced, plan.addresses);
}

void choose_splits(driver::DeviceState& device, StagedPlan& plan, bool one_stage) {
  std::int64_t outputs = plan.kept.count, length = plan.reduced.count;
  std::int64_t per_block = plan.column ? kBlock : kBlock / plan.lanes;
  std::int64_t blocks = (outputs + per_block - 1) / per_block;
  std::int64_t least = plan.column ? 64 : std::int64_t{plan.lanes} * 16;  // elements worth a chunk
  std::int64_t wanted =
      std::max<std::int64_t>(1, resident_blocks(device) / std::max<std::int64_t>(blocks, 1));
  std::int64_t splits =
      one_stage ? std::clamp<std::int64_t>((length + least - 1) / least, 1, wanted) : 1;
  std::int64_t grain = plan.column ? 4 : std::int64_t{plan.lanes} * plan.width * 4;
  plan.chunk = ((length + splits - 1) / splits + grain - 1) / grain * grain;
  plan.splits =
      plan.chunk > 0
          ? static_cast<int>(std::max<std::int64_t>(1, (length + plan.chunk - 1) / plan.chunk))
          : 1;
}

}  // namespace

StagedPlan plan_staged(driver::DeviceState& device, const Program& program) {
  StagedPlan plan;
  std::vector<const View*> operands;
  std::vector<int> kept, reduced;
  for (const View& leaf : program.leaves) operands.push_back(&leaf);
  plan.column = thread_per_result(program.shape, program.reduced, operands);
  std::size_t lead = leader(operands);
  for (const Store& store : program.stores) operands.push_back(&store.view);
  for (const KeptStore& store : program.kept_stores) operands.push_back(&store.view);
  for (const View* view : operands)
    plan.addresses.push_back(view->storage->address() + static_cast<CUdeviceptr>(view->offset));
  for (std::size_t k = 0; k < program.shape.size(); ++k)
    (program.reduced[k] ? reduced : kept).push_back(static_cast<int>(k));
  bool places = std::any_of(program.roots.begin(), program.roots.end(), [](const Root& root) {
    return info(root.reduction).takes_one_axis();  // an index counts in C order
  });
  plan.reduced = make_walk(program.shape, reduced, operands, lead, places);
  plan.kept = make_walk(program.shape, kept, operands, lead, false);
  plan.wide = plan.kept.wide || plan.reduced.wide;
  // A device that holds few threads reads long runs of memory: a warp has rows of its own.
  bool long_row = plan.reduced.count >= kLongRow || plan.kept.count == 1;
  plan.lanes = long_row && !holds_few_threads(device) ? 256 : 32;
  plan.width = plan.column ? 1 : row_width_of(program, plan);
  choose_splits(device, plan, program.stages() == 1);
  return plan;
}

std::size_t reduced_strides(const StagedPlan& plan, std::size_t k) {
  Access access = plan.reduced.access[k];
  return access == Access::flat || access == Access::constant ? 0 : plan.reduced.dims.size();
}

std::size_t accumulator_bytes(Reduction reduction, DType input) {
  bool complex = info(input).kind == 'c';
  if (info(reduction).takes_one_axis()) return itemsize(input) + 16;
  if (reduction == Reduction::var) return complex ? 56 : 32;
  return std::max<std::size_t>(8, itemsize(input));
}

}  // namespace td::fuse
