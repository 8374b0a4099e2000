// Reading and writing through indices. Kernels of indexing are launched at once, over flushed
// operands, so that the pending queue's order needs no further rules.
#include <algorithm>

#include "array/operations.h"
#include "array/promotion.h"
#include "array/select.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td {

using array::fresh_view;
using array::make_array;
using array::Selection;
using array::View;
using array::view_of;
using base::cat;
using base::tuple_text;

bool is_advanced(const std::vector<AnyIndexItem>& items) {
  return std::any_of(items.begin(), items.end(), [](const AnyIndexItem& item) {
    return std::holds_alternative<bool>(item) || std::holds_alternative<Array>(item);
  });
}

namespace {

std::vector<IndexItem> basic_items(const std::vector<AnyIndexItem>& items) {
  std::vector<IndexItem> basic;
  for (const AnyIndexItem& item : items)
    std::visit(
        [&](const auto& part) {
          if constexpr (std::is_constructible_v<IndexItem, decltype(part)> &&
                        !std::is_same_v<std::decay_t<decltype(part)>, bool> &&
                        !std::is_same_v<std::decay_t<decltype(part)>, Array>)
            basic.emplace_back(part);
        },
        item);
  return basic;
}

// The mask of x[mask], if that is all that the index is.
const Array* only_mask(const std::vector<AnyIndexItem>& items) {
  const Array* mask = items.size() == 1 ? std::get_if<Array>(&items[0]) : nullptr;
  return mask && mask->dtype() == DType::bool_ && mask->ndim() > 0 ? mask : nullptr;
}

Array new_array(const Array& like, const Shape& shape) {
  return make_array(fresh_view(view_of(like).storage->device(), shape, like.dtype()));
}

Array gathered(const Array& x, const Selection& selection, IndexMode mode) {
  Array out = new_array(x, selection.shape);
  if (out.size() == 0) return out;
  out.flush();
  fuse::launch_gather(selection, view_of(out), mode);
  return out;
}

// Does the mask have the first axes of x? If not, select() says what is wrong.
bool fits(const Array& x, const Array& mask) {
  return mask.ndim() <= x.ndim() &&
         std::equal(mask.shape().begin(), mask.shape().end(), x.shape().begin());
}

// A scalar that may be stored in `dtype`, or the array itself; an array in the memory that is about
// to be written is copied.
Operand storable(const Operand& value, const Array& target) {
  const View& v = view_of(target);
  if (const Array* a = std::get_if<Array>(&value)) {
    if (view_of(*a).storage->device() != v.storage->device())
      throw ValueError("the value is on another device; copy it over first");
    return view_of(*a).storage == v.storage ? a->copy() : *a;
  }
  const Scalar& scalar = std::get<Scalar>(value);
  array::check_storable(scalar, v.dtype);
  return value;
}

// The value as a view over the selection.
Operand over_selection(const Operand& value, const Selection& selection) {
  const Array* a = std::get_if<Array>(&value);
  if (!a) return value;
  View v = view_of(*a);
  while (v.shape.size() > selection.shape.size() && v.shape.front() == 1) {
    v.shape.erase(v.shape.begin());
    v.strides.erase(v.strides.begin());
  }
  try {
    v.strides = array::broadcast_strides(v.shape, v.strides, selection.shape);
  } catch (const ValueError&) {
    throw ValueError(cat("shape mismatch: value array of shape ", tuple_text(a->shape()),
                         " could not be broadcast to indexing result of shape ",
                         tuple_text(selection.shape)));
  }
  v.shape = selection.shape;
  return make_array(std::move(v), false);
}

// Does every index array's element get the same value?
bool same_everywhere(const Operand& value, const Selection& selection) {
  const Array* a = std::get_if<Array>(&value);
  if (!a) return true;
  for (std::size_t k = 0; k < selection.picked.size(); ++k)
    if (selection.picked[k] > 1 && a->strides()[selection.first + k] != 0) return false;
  return true;
}

void write(const Array& x, const Selection& selection, const Operand& value,
           std::optional<Scatter> op, IndexMode mode) {
  Operand source = over_selection(value, selection);
  if (array::size_of(selection.shape) == 0) return;
  x.flush();
  View wins;
  if (!op && !selection.distinct && !same_everywhere(source, selection)) {
    const View last = view_of(fuse::last_of_each(selection, mode));
    Strides strides(selection.shape.size(), 0);
    std::copy(last.strides.begin(), last.strides.end(),
              strides.begin() + static_cast<std::ptrdiff_t>(selection.first));
    wins = {last.storage, selection.shape, std::move(strides), 0, DType::bool_};
  }
  fuse::launch_scatter(selection, source, wins, op, mode);
  view_of(x).storage->forget_range();
}

// x = value where the mask, which has the first axes of x, holds; the value is one number.
void write_where(const Array& x, const Array& mask, const Operand& value) {
  Shape shape = mask.shape();
  shape.resize(static_cast<std::size_t>(x.ndim()), 1);
  Array number;
  if (const Array* a = std::get_if<Array>(&value))
    number = a->reshape({}).astype(x.dtype(), false);
  else
    number = full({}, std::get<Scalar>(value), x.dtype());
  const Operand operands[] = {mask.reshape(shape), number, x};
  apply(Op::where, operands, x);
}

void set_masked(const Array& x, const Array& mask, const Array& value) {
  if (value.ndim() > 1)
    throw TypeError(
        cat("NumPy boolean array indexing assignment requires a 0 or 1-dimensional "
            "input, input has ",
            value.ndim(), " dimensions"));
  fuse::MaskScan scan = fuse::scan_mask(mask);
  if (value.size() != scan.total)
    throw ValueError(cat("NumPy boolean array indexing assignment cannot assign ", value.size(),
                         " input values to the ", scan.total,
                         " output values where the mask is true"));
  if (scan.total == 0) return;
  if (!x.c_contiguous()) return write(x, array::select(x, {mask}), value, {}, IndexMode::raise);
  Array source = array::packed(value.astype(x.dtype(), false));
  source.flush();
  fuse::launch_expand(scan, view_of(x), view_of(source));
  view_of(x).storage->forget_range();
}

bool is_one_number(const Operand& value) {
  const Array* a = std::get_if<Array>(&value);
  return !a || (a->size() == 1 && a->ndim() <= 1);
}

void check_writeable(const Array& x) {
  if (!x.writeable()) throw ValueError("assignment destination is read-only");
}

// Index arrays in the memory that is about to be written are copied.
std::vector<AnyIndexItem> apart(const Array& x, std::vector<AnyIndexItem> items) {
  for (AnyIndexItem& item : items)
    if (auto* a = std::get_if<Array>(&item); a && view_of(*a).storage == view_of(x).storage)
      *a = a->copy();
  return items;
}

}  // namespace

Array get(const Array& x, const std::vector<AnyIndexItem>& items) {
  if (!is_advanced(items)) return x.index(basic_items(items));
  array::Recording recording(view_of(x).storage->device());
  if (const Array* mask = only_mask(items); mask && mask->shape() == x.shape())
    return masked(x, *mask);
  return gathered(x, array::select(x, items), IndexMode::raise);
}

void set(const Array& x, const std::vector<AnyIndexItem>& items, const Operand& value) {
  check_writeable(x);
  if (!is_advanced(items)) return copy_into(x.index(basic_items(items)), value);
  array::Recording recording(view_of(x).storage->device());
  Operand source = storable(value, x);
  std::vector<AnyIndexItem> own = apart(x, items);
  if (const Array* mask = only_mask(own); mask && fits(x, *mask)) {
    bool all_axes = mask->ndim() == x.ndim();
    const Array* a = std::get_if<Array>(&source);
    if (all_axes ? is_one_number(source) : !a || a->ndim() == 0)
      return write_where(x, *mask, source);
    if (all_axes) return set_masked(x, *mask, *a);
  }
  write(x, array::select(x, own), source, {}, IndexMode::raise);
}

void scatter(Scatter op, const Array& x, const std::vector<AnyIndexItem>& items,
             const Operand& value) {
  check_writeable(x);
  if (op != Scatter::add && info(x.dtype()).kind == 'c')
    throw TypeError(cat("scatter of a ", op == Scatter::maximum ? "maximum" : "minimum",
                        " takes real numbers, not ", info(x.dtype()).numpy));
  array::Recording recording(view_of(x).storage->device());
  Operand source = storable(value, x);
  std::vector<AnyIndexItem> own = apart(x, items);
  // A basic index is an index with a mask over no axis in front.
  if (!is_advanced(own)) own.insert(own.begin(), true);
  write(x, array::select(x, own), source, op, IndexMode::raise);
}

namespace {

Array integer_indices(const Array& indices) {
  char kind = info(indices.dtype()).kind;
  if (kind == 'b') return indices.astype(DType::int64);
  if (kind != 'i' && kind != 'u')
    throw TypeError(cat("Cannot cast array data from dtype('", info(indices.dtype()).numpy,
                        "') to dtype('int64') according to the rule 'same_kind'"));
  return indices;
}

// A selection along one axis by indices that the kernel itself brings into range.
Selection select_along(const Array& x, const Array& indices, std::size_t axis) {
  const View& v = view_of(x);
  const View& own = view_of(indices);
  Selection s;
  s.first = axis;
  s.picked = own.shape;
  s.shape = v.shape;
  Strides frame = v.strides, within(v.shape.size(), 0);
  auto at = static_cast<std::ptrdiff_t>(axis);
  auto replace = [&](auto& list, const auto& part) {
    list.erase(list.begin() + at);
    list.insert(list.begin() + at, part.begin(), part.end());
  };
  replace(s.shape, own.shape);
  replace(frame, Strides(own.shape.size(), 0));
  replace(within, own.strides);
  s.frame = {v.storage, s.shape, std::move(frame), v.offset, v.dtype};
  s.axes.push_back({{own.storage, s.shape, std::move(within), own.offset, own.dtype},
                    own,
                    v.shape[axis],
                    v.strides[axis],
                    static_cast<int>(axis)});
  s.distinct = indices.size() <= 1;
  return s;
}

}  // namespace

Array take(const Array& x, const Array& given, std::optional<int> axis, IndexMode mode) {
  Array indices = integer_indices(given);
  Array source = axis ? x : x.reshape({-1});
  if (axis && x.ndim() == 0) source = x.reshape({1});
  int along = axis ? array::normalize_axes({*axis}, source.ndim())[0] : 0;
  array::Recording recording(view_of(x).storage->device());
  Selection s = select_along(source, indices, static_cast<std::size_t>(along));
  if (s.axes[0].length == 0 && array::size_of(s.shape) > 0)
    throw IndexError("cannot do a non-empty take from an empty axes.");
  if (mode == IndexMode::raise && indices.size() > 0) array::check_indices(s.axes[0]);
  return gathered(source, s, mode);
}

void put(const Array& x, const Array& given, const Array& values, IndexMode mode) {
  check_writeable(x);
  Array indices = integer_indices(given).reshape({-1});
  if (indices.size() == 0 || values.size() == 0) return;
  if (x.size() == 0) throw IndexError("cannot replace elements of an empty array");
  array::Recording recording(view_of(x).storage->device());
  if (!x.c_contiguous()) {
    Array packed = array::packed(x);
    put(packed, indices, values, mode);
    copy_into(x, packed);
    return;
  }
  Array flat = x.reshape({-1});
  if (view_of(indices).storage == view_of(x).storage) indices = indices.copy();
  Array source = values.reshape({-1});
  if (source.size() > indices.size())
    source = source.index({Slice{0, indices.size(), 1}});
  else if (source.size() > 1 && source.size() < indices.size())
    source = take(source, arange(indices.size()), 0, IndexMode::wrap);
  Selection s = select_along(flat, indices, 0);
  if (mode == IndexMode::raise) array::check_indices(s.axes[0]);
  write(flat, s, storable(source, flat), {}, mode);
}

Array nonzero(const Array& x) {
  if (x.ndim() == 0)
    throw ValueError(
        "Calling nonzero on 0d arrays is not allowed. Use reshape(-1) first, or test the value "
        "itself.");
  array::Recording recording(view_of(x).storage->device());
  fuse::MaskScan scan = fuse::scan_mask(x);
  auto rows = static_cast<std::int64_t>(x.ndim());
  View out = fresh_view(view_of(x).storage->device(), {rows, scan.total}, DType::int64);
  if (scan.total > 0) {
    fuse::launch_nonzero(scan, x.shape(), out);
    std::int64_t longest = *std::max_element(x.shape().begin(), x.shape().end());
    out.storage->know_range({DType::int64, 0, longest - 1, false});
  }
  return make_array(std::move(out));
}

Array masked(const Array& x, const Array& mask) {
  array::Recording recording(view_of(x).storage->device());
  fuse::MaskScan scan = fuse::scan_mask(mask);
  Array out = new_array(x, {scan.total});
  if (scan.total == 0) return out;
  Array packed = array::packed(x);
  packed.flush();
  fuse::launch_compact(scan, view_of(packed), view_of(out));
  return out;
}

void place(const Array& x, const Array& mask, const Array& values) {
  check_writeable(x);
  if (mask.size() != x.size()) throw ValueError("place: mask and data must be the same size");
  array::Recording recording(view_of(x).storage->device());
  if (!x.c_contiguous()) {
    Array packed = array::packed(x);
    place(packed, mask, values);
    copy_into(x, packed);
    return;
  }
  fuse::MaskScan scan = fuse::scan_mask(mask);
  if (scan.total == 0) return;
  if (values.size() == 0) throw ValueError("Cannot insert from an empty array!");
  bool shared = view_of(values).storage == view_of(x).storage;
  Array source = array::packed((shared ? values.copy() : values).astype(x.dtype(), false));
  source.flush();
  fuse::launch_expand(scan, view_of(x), view_of(source));
  view_of(x).storage->forget_range();
}

Array diagonal(const Array& x, std::int64_t offset, int axis1, int axis2, bool writeable) {
  const View& v = view_of(x);
  if (x.ndim() < 2) throw ValueError("diag requires an array of at least two dimensions");
  int a = array::normalize_axes({axis1}, x.ndim())[0],
      b = array::normalize_axes({axis2}, x.ndim())[0];
  if (a == b) throw ValueError("axis1 and axis2 cannot be the same");
  std::int64_t rows = v.shape[a], columns = v.shape[b];
  std::int64_t row = offset < 0 ? std::min(-offset, rows) : 0;
  std::int64_t column = offset > 0 ? std::min(offset, columns) : 0;
  View d{v.storage, {}, {}, v.offset, v.dtype};
  std::int64_t length = std::min(rows - row, columns - column);
  if (length > 0) d.offset += row * v.strides[a] + column * v.strides[b];
  for (int k = 0; k < x.ndim(); ++k) {
    if (k == a || k == b) continue;
    d.shape.push_back(v.shape[k]);
    d.strides.push_back(v.strides[k]);
  }
  d.shape.push_back(length);
  d.strides.push_back(v.strides[a] + v.strides[b]);
  return make_array(std::move(d), writeable && x.writeable());
}

}  // namespace td
