#include "fuse/geometry.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace td::fuse {
namespace {

bool mergeable(const Walk& walk, std::size_t outer) {
  for (const Strides& s : walk.strides)
    if (s[outer] != s[outer + 1] * walk.dims[outer + 1]) return false;
  return true;
}

void merge_axes(Walk& walk) {
  for (std::size_t k = walk.dims.size(); k-- > 1;) {
    if (!mergeable(walk, k - 1)) continue;
    walk.dims[k - 1] *= walk.dims[k];
    walk.dims.erase(walk.dims.begin() + static_cast<std::ptrdiff_t>(k));
    for (Strides& s : walk.strides) s.erase(s.begin() + static_cast<std::ptrdiff_t>(k) - 1);
  }
}

Access classify(const Walk& walk, const Strides& s) {
  bool flat = true, constant = true;
  std::int64_t step = 1;
  for (std::size_t k = walk.dims.size(); k-- > 0;) {
    flat = flat && s[k] == step;
    constant = constant && s[k] == 0;
    step *= walk.dims[k];
  }
  if (walk.dims.empty() || flat) return Access::flat;
  if (constant) return Access::constant;
  return s.back() == 1 ? Access::unit : s.back() == 0 ? Access::repeated : Access::strided;
}

constexpr std::int64_t kWide = std::int64_t{1} << 30;

bool needs_wide(const Walk& walk) {
  if (walk.count >= kWide) return true;
  for (const Strides& s : walk.strides) {
    std::int64_t reach = 0;
    for (std::size_t k = 0; k < walk.dims.size(); ++k)
      reach += std::llabs(s[k]) * (walk.dims[k] - 1);
    if (reach >= kWide) return true;
  }
  return false;
}

// How an operand of flat_walk is found; nothing when it is not one.
std::optional<Access> flat_access(const Shape& shape, const View& view) {
  if (array::is_contiguous(shape, view.strides, itemsize(view.dtype), 'C')) return Access::flat;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] != 1 && view.strides[k] != 0) return {};
  return Access::constant;
}

}  // namespace

std::optional<Walk> flat_walk(const Shape& shape, std::span<const View* const> operands) {
  Walk walk;
  for (const View* view : operands) {
    std::optional<Access> access = flat_access(shape, *view);
    if (!access) return {};
    walk.access.push_back(*access);
  }
  for (std::int64_t n : shape) walk.count *= n;
  if (walk.count != 1) walk.dims.push_back(walk.count);
  walk.wide = walk.count >= kWide;
  return walk;
}

Walk make_walk(const Shape& shape, std::span<const int> axes, std::span<const View* const> operands,
               std::size_t leader, bool keep_order) {
  Walk walk;
  Axes order;
  for (int axis : axes) {
    walk.count *= shape[axis];
    if (shape[axis] != 1) order.push_back(axis);
  }
  if (!keep_order && order.size() > 1) {
    const Strides& lead = operands[leader]->strides;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::llabs(lead[a]) > std::llabs(lead[b]); });
  }
  for (int axis : order) walk.dims.push_back(shape[axis]);
  walk.strides.reserve(operands.size());
  for (const View* view : operands) {
    Strides s;
    for (int axis : order)
      s.push_back(view->strides[axis] / static_cast<std::int64_t>(itemsize(view->dtype)));
    walk.strides.push_back(std::move(s));
  }
  merge_axes(walk);
  for (const Strides& s : walk.strides) walk.access.push_back(classify(walk, s));
  walk.wide = needs_wide(walk);
  return walk;
}

std::string split_index(const std::string& linear, const std::string& name, const std::string& dim,
                        std::size_t upto) {
  std::ostringstream out;
  if (upto == 0) return "";
  if (upto == 1) {
    out << "    const td_index " << name << "0 = " << linear << ";\n";
    return out.str();
  }
  out << "    td_index " << name << "rest = " << linear << ";\n";
  for (std::size_t k = upto; k-- > 1;)
    out << "    const td_index " << name << k << " = " << name << "rest % " << dim << k << "; "
        << name << "rest /= " << dim << k << ";\n";
  out << "    const td_index " << name << "0 = " << name << "rest;\n";
  return out.str();
}

}  // namespace td::fuse
