// Groups with reductions: which nodes may stand in one, and at which stage.
#include <algorithm>

#include "base/text.h"
#include "fuse/plan.h"

namespace td::fuse {
namespace {

constexpr int kMostStages = 12;

Shape kept_shape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims) {
  Shape kept;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (!reduced[k] || keepdims) kept.push_back(reduced[k] ? 1 : shape[k]);
  return kept;
}

}  // namespace

std::optional<Strides> strides_over(const Shape& shape, const std::vector<bool>& reduced,
                                    const View& view) {
  bool keepdims = view.shape == kept_shape(shape, reduced, true);
  if (!keepdims && view.shape != kept_shape(shape, reduced, false)) return {};
  Strides strides(shape.size(), 0);
  std::size_t next = 0;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (!reduced[k]) strides[k] = view.strides[keepdims ? k : next];
    if (!reduced[k] || keepdims) ++next;
  }
  return strides;
}

// `view` holds the values of kept node `p` of `group`: broadcast over the full shape, or over the
// kept axes.
bool Planner::shows_kept(const View& view, int p, const Group& group) const {
  const View& out = nodes_[p]->out;
  if (facts_[p].storage != view.storage || view.offset != out.offset || view.dtype != out.dtype)
    return false;
  std::optional<Strides> made = strides_over(group.shape, group.reduced, out);
  std::optional<Strides> seen =
      view.shape == group.shape ? view.strides : strides_over(group.shape, group.reduced, view);
  if (!made || !seen) return false;
  for (std::size_t k = 0; k < group.shape.size(); ++k)
    if (group.shape[k] > 1 && (*made)[k] != (*seen)[k]) return false;
  return true;
}

// The kept node of group `g` whose values a leaf shows, or -1.
int Planner::kept_source(const Input& input, int g) const {
  if (!groups_[g].reduces || input.kind != Input::Kind::leaf) return -1;
  int p = maker_of(input.view.storage.get());
  bool here = p >= 0 && facts_[p].group == g && facts_[p].kept;
  return here && shows_kept(input.view, p, groups_[g]) ? p : -1;
}

// Several loops over a row cost one pass over memory when the row stays in a cache meanwhile.
bool Planner::rows_fit(const Group& group) const {
  std::int64_t length = 1;
  for (std::size_t k = 0; k < group.shape.size(); ++k)
    if (group.reduced[k]) length *= group.shape[k];
  if (length <= kLongestColumn) return true;
  if (length > kLongestRow) return false;
  std::vector<const View*> leaves;
  for (int i : group.nodes)
    for (int k = 0; k < nodes_[i]->arity; ++k) {
      const Input& input = nodes_[i]->inputs[k];
      if (input.kind == Input::Kind::leaf && input.view.shape == group.shape)
        leaves.push_back(&input.view);
    }
  return !thread_per_result(group.shape, group.reduced, leaves);
}

Planner::Place Planner::place_in(int i, const Group& group, int g) {
  const Node& node = *nodes_[i];
  Place at;
  auto refused = [&](std::string why) {
    at.refusal = std::move(why);
    return at;
  };
  bool root = node.kind == Node::Kind::reduce;
  if (node.in_place()) return refused("writes memory that a reduction's kernel may read");
  if (root && node.reduced != group.reduced) return refused("a reduction over other axes");
  bool full = node.shape == group.shape;
  if (!full && (root || (node.shape != kept_shape(group.shape, group.reduced, false) &&
                         node.shape != kept_shape(group.shape, group.reduced, true))))
    return refused(base::cat("another shape than ", base::tuple_text(group.shape)));
  at.kept = root || !full;
  at.stage = full ? 0 : -1;
  for (int k = 0; k < node.arity; ++k) {
    const Input& input = node.inputs[k];
    int p = input.kind == Input::Kind::node ? input.node->place : kept_source(input, g);
    if (p < 0 || facts_[p].group != g) continue;
    if (input.kind == Input::Kind::node && full && facts_[p].kept)
      return refused("needs the result of a reduction");
    at.stage = std::max(at.stage, facts_[p].stage + (full && facts_[p].kept ? 1 : 0));
  }
  if (at.stage < 0) return refused(base::cat("another shape than ", base::tuple_text(group.shape)));
  if (at.stage >= kMostStages) return refused("size limit: stages of a row");
  if (at.stage > 0 && full && !rows_fit(group))
    return refused(
        base::cat("needs the result of a reduction, and rows are too long to wait for it: "
                  "a block holds ",
                  kLongestRow, " elements, a thread ", kLongestColumn));
  if (root && group.accumulator_bytes + accumulator_bytes(node.reduction, node.inputs[0].loop) >
                  kMaxAccumulatorBytes)
    return refused("size limit: accumulators of a kernel");
  return at;
}

}  // namespace td::fuse
