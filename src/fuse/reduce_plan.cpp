#include "fuse/reduce_plan.h"

#include <algorithm>
#include <cstdlib>

namespace td::fuse {
namespace {

constexpr std::int64_t kShortRow = 32;   // shorter rows are left to one thread each
constexpr std::int64_t kLongRow = 1024;  // longer rows get a whole block

// Threads of a unit, and results of a thread. A device that holds few threads reads memory in long
// runs: each warp has rows, or a run of columns, of its own.
void choose_unit(const ReducePlan& plan, bool few, int& lanes, int& columns) {
  bool long_row = plan.reduced.count >= kLongRow || plan.kept.count == 1;
  lanes = few ? 32 : plan.column || long_row ? 256 : 32;
  columns = 1;
  while (few && plan.column && columns < 8 && 32 * columns < plan.kept.count) columns *= 2;
}

void choose_splits(driver::DeviceState& device, bool few, ReducePlan& plan) {
  std::int64_t length = plan.reduced.count;
  // Elements worth a chunk.
  std::int64_t least = plan.column ? 64 : 4096;
  if (few) least = std::max<std::int64_t>(64, 32768 / (plan.column ? plan.run() : 1));
  std::int64_t slots = resident_blocks(device) * (few ? plan.units_of_block() : 1);
  std::int64_t wanted = std::max<std::int64_t>(1, slots / std::max<std::int64_t>(plan.units(), 1));
  std::int64_t splits = std::clamp<std::int64_t>((length + least - 1) / least, 1, wanted);
  std::int64_t grain = plan.column ? 4 : std::int64_t{plan.lanes} * plan.width * 4;
  plan.chunk = ((length + splits - 1) / splits + grain - 1) / grain * grain;
  plan.splits =
      plan.chunk > 0
          ? static_cast<int>(std::max<std::int64_t>(1, (length + plan.chunk - 1) / plan.chunk))
          : 1;
}

}  // namespace

std::size_t leader(const std::vector<const View*>& views) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t k = 0; k < views.size(); ++k) {
    int steps = 0;
    for (std::int64_t s : views[k]->strides) steps += s != 0;
    if (steps > most) {
      most = steps;
      best = k;
    }
  }
  return best;
}

int row_width(const Program& program, const Walk& kept, const Walk& reduced,
              const std::vector<CUdeviceptr>& addresses) {
  std::size_t largest = 1;
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    if (reduced.access[k] == Access::constant) continue;
    if (reduced.access[k] != Access::flat) return 1;
    largest = std::max(largest, itemsize(program.leaves[k].dtype));
  }
  auto width = static_cast<std::int64_t>(16 / largest);
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    if (reduced.access[k] == Access::constant) continue;
    if (addresses[k] % (static_cast<std::size_t>(width) * itemsize(program.leaves[k].dtype)) != 0)
      return 1;
    for (std::int64_t stride : kept.strides[k])
      if (stride % width != 0) return 1;
  }
  return static_cast<int>(width);
}

bool fast_axis_kept(const Shape& shape, const std::vector<bool>& reduced,
                    const std::vector<const View*>& leaves) {
  if (leaves.empty()) return false;
  const Strides& s = leaves[leader(leaves)]->strides;
  int fast = -1;
  for (std::size_t k = 0; k < s.size(); ++k)
    if (s[k] != 0 && shape[k] > 1 && (fast < 0 || std::llabs(s[k]) <= std::llabs(s[fast])))
      fast = static_cast<int>(k);
  return fast >= 0 && !reduced[fast];
}

bool thread_per_result(const Shape& shape, const std::vector<bool>& reduced,
                       const std::vector<const View*>& leaves) {
  std::int64_t results = 1, length = 1;
  for (std::size_t k = 0; k < shape.size(); ++k) (reduced[k] ? length : results) *= shape[k];
  if (length < kShortRow && results > 1) return true;
  return results >= kShortRow && fast_axis_kept(shape, reduced, leaves);
}

// A view whose element at an index of the reduced axes would stand at the index's place in C order.
static View places_in_order(const Shape& shape, const Axes& reduced) {
  View view;
  view.dtype = DType::uint8;
  view.strides.assign(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t k = reduced.size(); k-- > 0; step *= shape[reduced[k]])
    view.strides[reduced[k]] = step;
  return view;
}

ReducePlan make_reduce_plan(driver::DeviceState& device, const Program& program) {
  ReducePlan plan;
  std::vector<const View*> operands;
  Axes kept, reduced;
  for (const View& leaf : program.leaves) {
    operands.push_back(&leaf);
    plan.addresses.push_back(leaf.storage->address() + static_cast<CUdeviceptr>(leaf.offset));
  }
  for (std::size_t k = 0; k < program.shape.size(); ++k)
    (program.reduced[k] ? reduced : kept).push_back(static_cast<int>(k));
  std::size_t lead = leader(operands);
  const Root& root = program.roots[0];
  bool column = thread_per_result(program.shape, program.reduced, operands);
  View places = places_in_order(program.shape, reduced);
  plan.indexed = info(root.reduction).takes_one_axis();
  if (plan.indexed) operands.push_back(&places);
  plan.reduced = make_walk(program.shape, reduced, operands, lead, program.leaves.empty());
  if (plan.indexed) operands.pop_back();
  operands.push_back(&program.kept_stores[0].view);
  plan.kept = make_walk(program.shape, kept, operands, lead, false);
  plan.wide = plan.kept.wide || plan.reduced.wide;
  plan.turned = plan.indexed && plan.reduced.access.back() != Access::flat;
  plan.counts = root.reduction == Reduction::sum && root.input == DType::int64 &&
                dtype_of(program, root.value) == DType::bool_;
  plan.column = column;
  bool few = holds_few_threads(device);
  plan.runs = few;
  choose_unit(plan, few, plan.lanes, plan.columns);
  plan.width = plan.column ? 1 : row_width(program, plan.kept, plan.reduced, plan.addresses);
  choose_splits(device, few, plan);
  return plan;
}

}  // namespace td::fuse
