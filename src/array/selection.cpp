// From the items of an index to a Selection: NumPy's rules for masks, broadcasting of index arrays
// and the place of their axes, and the check of every index value.
#include "array/selection.h"

#include <algorithm>

#include "array/operations.h"
#include "array/select.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td::array {
namespace {

using base::cat;
using base::tuple_text;

bool is_integer(DType dtype) { return info(dtype).kind == 'i' || info(dtype).kind == 'u'; }

bool is_mask(const AnyIndexItem& item) {
  const Array* a = std::get_if<Array>(&item);
  return a && a->dtype() == DType::bool_;
}

std::size_t axes_taken(const AnyIndexItem& item) {
  if (const Array* a = std::get_if<Array>(&item))
    return is_mask(item) ? static_cast<std::size_t>(a->ndim()) : 1;
  return std::holds_alternative<std::int64_t>(item) || std::holds_alternative<Slice>(item);
}

void check_items(const View& x, const std::vector<AnyIndexItem>& items) {
  std::size_t used = 0, ellipses = 0;
  for (const AnyIndexItem& item : items) {
    used += axes_taken(item);
    ellipses += std::holds_alternative<Ellipsis>(item);
    const Array* a = std::get_if<Array>(&item);
    if (!a) continue;
    if (!is_mask(item) && !is_integer(a->dtype()))
      throw IndexError(cat("arrays used as indices must be of integer (or boolean) type, not ",
                           info(a->dtype()).numpy));
    if (view_of(*a).storage->device() != x.storage->device())
      throw ValueError("the index array is on another device; copy it over first");
  }
  if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
  if (used > x.shape.size())
    throw IndexError(cat("too many indices for array: array is ", x.shape.size(),
                         "-dimensional, but ", used, " were indexed"));
}

// One index array, or an integer that stands beside index arrays (no array: it is in the frame).
struct Picker {
  Array array;
  std::size_t axis = 0;
  bool over_axis = true;  // false: a mask over no axis, which only contributes its shape
  bool checked = false;
};

class Selector {
 public:
  Selector(const Array& x, const std::vector<AnyIndexItem>& items)
      : view_(view_of(x)), items_(items) {}

  Selection run() {
    check_items(view_, items_);
    selection_.frame = {view_.storage, {}, {}, view_.offset, view_.dtype};
    std::size_t used = 0;
    for (const AnyIndexItem& item : items_) used += axes_taken(item);
    for (const AnyIndexItem& item : items_) enter(item, view_.shape.size() - used);
    keep(view_.shape.size() - axis_);
    finish();
    return std::move(selection_);
  }

 private:
  void enter(const AnyIndexItem& item, std::size_t skipped) {
    if (std::holds_alternative<NewAxis>(item)) {
      keep_axis(1, 0);
    } else if (std::holds_alternative<Ellipsis>(item)) {
      ended_ = ended_ || begun_;  // also an ellipsis of no axes separates
      keep(skipped);
    } else if (const auto* slice = std::get_if<Slice>(&item)) {
      SliceRange range = slice_range(*slice, view_.shape[axis_]);
      std::int64_t stride = view_.strides[axis_++];
      if (range.count > 0) selection_.frame.offset += range.start * stride;
      keep_axis(range.count, range.count > 1 ? range.step * stride : stride);
    } else if (const auto* i = std::get_if<std::int64_t>(&item)) {
      begin_picker();
      selection_.frame.offset +=
          checked_index(*i, axis_, view_.shape[axis_]) * view_.strides[axis_];
      ++axis_;
    } else if (const bool* flag = std::get_if<bool>(&item)) {
      mask_over_nothing(*flag);
    } else if (is_mask(item)) {
      mask(std::get<Array>(item));
    } else {
      begin_picker();
      pickers_.push_back({std::get<Array>(item), axis_++});
    }
  }

  void keep_axis(std::int64_t length, std::int64_t stride) {
    if (begun_) ended_ = true;
    shape_.push_back(length);
    strides_.push_back(stride);
  }

  void keep(std::size_t count) {
    for (; count > 0; --count, ++axis_) keep_axis(view_.shape[axis_], view_.strides[axis_]);
  }

  // The axes of index arrays go where the first of them stands, unless something separates them.
  void begin_picker() {
    if (!begun_) selection_.first = shape_.size();
    if (ended_) selection_.first = 0;
    begun_ = true;
  }

  void mask_over_nothing(bool flag) {
    begin_picker();
    pickers_.push_back({empty({flag ? 1 : 0}, DType::int64), axis_, false, true});
  }

  void mask(const Array& mask) {
    if (mask.ndim() == 0) return mask_over_nothing(std::get<bool>(mask.item()));
    begin_picker();
    check_mask(mask.shape(), axis_);
    Array places = nonzero(mask);
    ++masks_;
    for (int k = 0; k < mask.ndim(); ++k)
      pickers_.push_back({places.index({std::int64_t{k}}), axis_++, true, true});
  }

  void check_mask(const Shape& mask, std::size_t axis) {
    for (std::size_t k = 0; k < mask.size(); ++k)
      // As in NumPy, a mask's axis without elements fits every axis.
      if (mask[k] != view_.shape[axis + k] && mask[k] != 0)
        throw IndexError(cat("boolean index did not match indexed array along axis ", axis + k,
                             "; size of axis is ", view_.shape[axis + k],
                             " but size of corresponding boolean axis is ", mask[k]));
  }

  Shape broadcast_pickers() {
    std::vector<const Shape*> shapes;
    for (const Picker& p : pickers_) shapes.push_back(&p.array.shape());
    try {
      return broadcast_shapes(shapes);
    } catch (const ValueError&) {
      std::string all;
      for (const Shape* s : shapes) all += tuple_text(*s) + " ";
      throw IndexError(
          cat("shape mismatch: indexing arrays could not be broadcast together with shapes ", all));
    }
  }

  void finish() {
    Shape picked = broadcast_pickers();
    std::size_t first = selection_.first, n = picked.size();
    auto insert = [&](auto& list, const auto& part) {
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(first), part.begin(), part.end());
    };
    insert(shape_, picked);
    insert(strides_, Strides(n, 0));
    size_of(shape_);
    std::size_t several = 0;
    for (const Picker& p : pickers_) {
      if (!p.over_axis) continue;
      const View& own = view_of(p.array);
      Strides within = broadcast_strides(own.shape, own.strides, picked), strides(shape_.size(), 0);
      std::copy(within.begin(), within.end(), strides.begin() + static_cast<std::ptrdiff_t>(first));
      View over{own.storage, shape_, std::move(strides), own.offset, own.dtype};
      selection_.axes.push_back({std::move(over), own, view_.shape[p.axis], view_.strides[p.axis],
                                 static_cast<int>(p.axis)});
      several += !p.checked && p.array.size() > 1;
      if (!p.checked && size_of(picked) > 0) check_indices(selection_.axes.back());
    }
    bool one_place = size_of(picked) <= 1;
    selection_.distinct = one_place || (masks_ == 1 && several == 0 && n == 1);
    selection_.picked = std::move(picked);
    selection_.frame.shape = selection_.shape = shape_;
    selection_.frame.strides = strides_;
  }

  const View& view_;
  const std::vector<AnyIndexItem>& items_;
  Selection selection_;
  Shape shape_;
  Strides strides_;
  std::vector<Picker> pickers_;
  std::size_t axis_ = 0;
  int masks_ = 0;
  bool begun_ = false, ended_ = false;
};

bool inside(std::int64_t low, std::int64_t high, std::int64_t length) {
  return low >= -length && high < length;
}

bool is_whole(const View& v) {
  return size_of(v.shape) * static_cast<std::int64_t>(itemsize(v.dtype)) ==
             static_cast<std::int64_t>(v.storage->bytes()) &&
         (is_contiguous(v.shape, v.strides, itemsize(v.dtype), 'C') ||
          is_contiguous(v.shape, v.strides, itemsize(v.dtype), 'F'));
}

// The values are looked at in order only when it is known that one is wrong.
[[noreturn]] void name_first_bad(const IndexAxis& axis) {
  Array values = make_array(axis.own).astype(DType::int64);
  std::vector<std::int64_t> host(static_cast<std::size_t>(values.size()));
  to_host(values, host.data(), contiguous_strides(values.shape(), sizeof(std::int64_t)));
  for (std::int64_t i : host)
    if (!inside(i, i, axis.length))
      throw IndexError(
          cat("index ", i, " is out of bounds for axis ", axis.axis, " with size ", axis.length));
  throw InternalError("index values changed while they were checked; please report this");
}

}  // namespace

std::int64_t checked_index(std::int64_t i, std::size_t axis, std::int64_t length) {
  std::int64_t k = i < 0 ? i + length : i;
  if (k < 0 || k >= length)
    throw IndexError(cat("index ", i, " is out of bounds for axis ", axis, " with size ", length));
  return k;
}

void check_indices(const IndexAxis& axis) {
  const auto& known = axis.own.storage->range();
  if (known && known->dtype == axis.own.dtype && inside(known->low, known->high, axis.length))
    return;
  IndexRange range = index_range(make_array(axis.own));
  if (!inside(range.low, range.high, axis.length)) name_first_bad(axis);
}

Selection select(const Array& x, const std::vector<AnyIndexItem>& items) {
  return Selector(x, items).run();
}

}  // namespace td::array

namespace td {

using array::View;
using array::view_of;

IndexRange index_range(const Array& x) {
  const View& v = view_of(x);
  char kind = info(v.dtype).kind;
  if (kind != 'i' && kind != 'u' && kind != 'b')
    throw TypeError(base::cat("index_range takes integers, not ", info(v.dtype).numpy));
  if (x.size() == 0) throw ValueError("index_range of an array without elements");
  array::Recording recording(v.storage->device());
  bool whole = array::is_whole(v);
  const auto& known = v.storage->range();
  if (whole && known && known->exact && known->dtype == v.dtype) return {known->low, known->high};
  Array packed = x.f_contiguous() && v.dtype != DType::bool_ ? x : array::packed_values(x);
  packed.flush();
  IndexRange range = fuse::find_range(view_of(packed), x.size());
  if (whole) v.storage->know_range({v.dtype, range.low, range.high, true});
  return range;
}

Array indices_from_host(const std::int64_t* host, const Shape& shape) {
  Array result =
      from_host(host, shape, array::contiguous_strides(shape, sizeof *host), DType::int64);
  auto [low, high] = std::minmax_element(host, host + result.size());
  if (result.size() > 0) view_of(result).storage->know_range({DType::int64, *low, *high, true});
  return result;
}

}  // namespace td
