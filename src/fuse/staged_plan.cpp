#include "fuse/staged_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "fuse/reduce_plan.h"

namespace td::fuse {
namespace {

using Way = StagedPlan::Way;

constexpr std::int64_t kLongRow = 1024;   // longer rows get a whole block
constexpr std::int64_t kHeldBytes = 128;  // of leaves that a lane holds in registers

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

int row_width_of(const Program& program, const StagedPlan& plan) {
  if (!program.stores.empty() || program.stages() > 1) return 1;
  return row_width(program, plan.kept, plan.reduced, plan.addresses);
}

bool has_moments(const Program& program) {
  return std::any_of(program.roots.begin(), program.roots.end(),
                     [](const Root& root) { return root.reduction == Reduction::var; });
}

// Elements per access of a held row: every leaf and store is aligned to it.
int held_width(const Program& program, const StagedPlan& plan) {
  int width = row_width(program, plan.kept, plan.reduced, plan.addresses);
  if (plan.reduced.count % width != 0) return 1;
  for (std::size_t s = 0; s < program.stores.size(); ++s) {
    std::size_t k = program.leaves.size() + s;
    std::size_t bytes = static_cast<std::size_t>(width) * itemsize(program.stores[s].view.dtype);
    if (bytes > 16 || plan.addresses[k] % bytes != 0) return 1;
    for (std::int64_t stride : plan.kept.strides[k])
      if (stride % width != 0) return 1;
  }
  return width;
}

// Bytes of leaves for one element of a row, or 0 where rows are not contiguous.
std::int64_t row_bytes(const Program& program, const StagedPlan& plan) {
  std::int64_t bytes = 0;
  for (std::size_t k = 0; k < program.leaves.size() + program.stores.size(); ++k) {
    bool leaf = k < program.leaves.size();
    if (plan.reduced.access[k] == Access::flat)
      bytes += leaf ? static_cast<std::int64_t>(itemsize(program.leaves[k].dtype)) : 0;
    else if (!leaf || plan.reduced.access[k] != Access::constant)
      return 0;
  }
  return bytes;
}

// Lanes do as much as pays for joining them: moments cost more than a sum.
bool hold_rows(const Program& program, StagedPlan& plan) {
  std::int64_t length = plan.reduced.count, bytes = row_bytes(program, plan);
  bool block = program.stages() > 1;  // others gain nothing from a block that holds a row
  if (bytes == 0 || bytes > 32 || length < 2) return false;
  std::int64_t most = kHeldBytes / bytes;
  if (length > most * (block ? 256 : 32)) return false;
  plan.way = Way::held_rows;
  plan.width = held_width(program, plan);
  std::int64_t least = has_moments(program) ? 16 : program.stages() > 1 ? 8 : 1;
  least = std::max<std::int64_t>(std::min(least, most), plan.width);
  auto lanes = std::bit_ceil(static_cast<std::uint64_t>(divided_up(length, least)));
  plan.lanes = lanes <= 32 ? static_cast<int>(lanes) : length <= most * 32 ? 32 : 256;
  plan.vectors = static_cast<int>(divided_up(length, plan.lanes * plan.width));
  plan.at_once = std::max(1, 4 / plan.vectors);
  plan.whole = std::int64_t{plan.lanes} * plan.vectors * plan.width == length;
  return true;
}

// Neighbouring results that a thread reads with one access; of moments it holds four at most.
int band_width(const Program& program, const StagedPlan& plan) {
  std::size_t largest = has_moments(program) ? 4 : 1;
  for (const View& leaf : program.leaves) largest = std::max(largest, itemsize(leaf.dtype));
  auto width = static_cast<std::int64_t>(16 / largest);
  if (plan.kept.count % width != 0 || plan.kept.dims.back() % width != 0) return 1;
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    if (plan.kept.access[k] == Access::constant) continue;
    if (plan.kept.access[k] != Access::flat && plan.kept.access[k] != Access::unit) return 1;
    if (plan.addresses[k] % (static_cast<std::size_t>(width) * itemsize(program.leaves[k].dtype)))
      return 1;
    const Strides& kept = plan.kept.strides[k];
    for (std::size_t d = 0; d + 1 < kept.size(); ++d)
      if (kept[d] % width != 0) return 1;
    for (std::int64_t stride : plan.reduced.strides[k])
      if (stride % width != 0) return 1;
  }
  return static_cast<int>(width);
}

// Several threads a result until a block is full, then as many blocks as the device holds at once
// with half of its threads: accesses are wide. Moments take more registers.
void cut_into_bands(driver::DeviceState& device, const Program& program, StagedPlan& plan) {
  plan.way = Way::bands;
  plan.width = band_width(program, plan);
  std::int64_t side = divided_up(plan.kept.count, plan.width), tiles = divided_up(side, kBlock);
  plan.across = static_cast<int>(divided_up(side, tiles));
  plan.lanes = plan.across;
  std::int64_t depth = kBlock / plan.across, length = plan.reduced.count;
  bool moments = program.roots.size() == 1 && has_moments(program);
  if (moments && info(program.roots[0].input).kind != 'c') plan.least_blocks = 3;
  std::int64_t resident = resident_blocks(device) * (plan.least_blocks ? 3 : 4) / 8;
  std::int64_t wanted = std::max<std::int64_t>(1, resident / tiles);
  std::int64_t splits = std::clamp<std::int64_t>(divided_up(length, 16 * depth), 1, wanted);
  plan.chunk = divided_up(divided_up(length, splits), 4 * depth) * 4 * depth;
  plan.splits = plan.chunk > 0 ? static_cast<int>(divided_up(length, plan.chunk)) : 1;
}

void choose_splits(driver::DeviceState& device, StagedPlan& plan, bool one_stage) {
  bool column = plan.way == Way::column;
  std::int64_t outputs = plan.kept.count, length = plan.reduced.count;
  std::int64_t per_block = column ? kBlock : kBlock / plan.lanes;
  std::int64_t blocks = divided_up(outputs, per_block);
  std::int64_t least = column ? 64 : std::int64_t{plan.lanes} * 16;  // elements worth a chunk
  std::int64_t wanted =
      std::max<std::int64_t>(1, resident_blocks(device) / std::max<std::int64_t>(blocks, 1));
  std::int64_t splits =
      one_stage ? std::clamp<std::int64_t>(divided_up(length, least), 1, wanted) : 1;
  std::int64_t grain = column ? 4 : std::int64_t{plan.lanes} * plan.width * 4;
  plan.chunk = divided_up(divided_up(length, splits), grain) * grain;
  plan.splits = plan.chunk > 0
                    ? static_cast<int>(std::max<std::int64_t>(1, divided_up(length, plan.chunk)))
                    : 1;
}

}  // namespace

StagedPlan plan_staged(driver::DeviceState& device, const Program& program) {
  StagedPlan plan;
  std::vector<const View*> operands;
  std::vector<int> kept, reduced;
  for (const View& leaf : program.leaves) operands.push_back(&leaf);
  bool column = thread_per_result(program.shape, program.reduced, operands);
  bool fast_kept = fast_axis_kept(program.shape, program.reduced, operands);
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
  bool few = holds_few_threads(device), one_pass = program.stages() == 1 && program.stores.empty();
  if (!few && hold_rows(program, plan)) return plan;
  if (!few && one_pass && (column || fast_kept) && plan.kept.count > 1 && plan.reduced.count > 0) {
    cut_into_bands(device, program, plan);
    return plan;
  }
  plan.way = column ? Way::column : Way::row;
  // A device that holds few threads reads long runs of memory: a warp has rows of its own.
  bool long_row = plan.reduced.count >= kLongRow || plan.kept.count == 1;
  plan.lanes = long_row && !few ? 256 : 32;
  plan.width = column ? 1 : row_width_of(program, plan);
  choose_splits(device, plan, program.stages() == 1);
  return plan;
}

bool many_threads_way(const StagedPlan& plan) {
  return plan.way == Way::held_rows || plan.way == Way::bands;
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
