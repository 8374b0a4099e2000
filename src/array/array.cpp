// Methods of td::Array: facts and views. A view costs one small object and never touches the
// device.
#include <algorithm>
#include <numeric>

#include "array/operations.h"
#include "array/pending.h"
#include "array/promotion.h"
#include "array/select.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td {

using array::make_array;
using array::View;
using array::view_of;
using base::cat;

const Shape& Array::shape() const { return view_of(*this).shape; }
const Strides& Array::strides() const { return view_of(*this).strides; }
DType Array::dtype() const { return view_of(*this).dtype; }
int Array::ndim() const { return static_cast<int>(view_of(*this).shape.size()); }
std::int64_t Array::size() const { return view_of(*this), impl_->size; }
std::size_t Array::nbytes() const { return static_cast<std::size_t>(size()) * itemsize(dtype()); }
Device Array::device() const { return Device(view_of(*this).storage->device()); }
bool Array::writeable() const { return view_of(*this), impl_->writeable; }
bool Array::c_contiguous() const { return view_of(*this), impl_->c_contiguous; }
bool Array::f_contiguous() const { return view_of(*this), impl_->f_contiguous; }

std::uint64_t Array::data() const {
  const View& v = view_of(*this);
  array::Recording recording(v.storage->device());
  array::flush(*v.storage->device());
  v.storage->expose();
  return v.storage->address() + static_cast<std::uint64_t>(v.offset);
}

void Array::flush() const {
  const auto& storage = view_of(*this).storage;
  array::flush(*storage->device());
  if (storage->error()) std::rethrow_exception(storage->error());
}

Array Array::reshape(const Shape& wanted) const {
  const View& v = view_of(*this);
  Shape shape = array::resolve_reshape(wanted, impl_->size);
  std::size_t bytes = itemsize(v.dtype);
  auto strides = array::reshape_strides(v.shape, v.strides, shape, bytes);
  if (strides)
    return make_array({v.storage, shape, std::move(*strides), v.offset, v.dtype}, impl_->writeable);
  Array packed = copy('C');
  return make_array(
      {packed.impl()->view.storage, shape, array::contiguous_strides(shape, bytes), 0, v.dtype});
}

Array Array::transpose(const Axes& axes) const {
  const View& v = view_of(*this);
  int n = ndim();
  Axes order(n);
  if (axes.empty()) {
    for (int k = 0; k < n; ++k) order[k] = n - 1 - k;
  } else {
    if (static_cast<int>(axes.size()) != n) throw ValueError("axes don't match array");
    order = array::normalize_axes(axes, n, "repeated axis in transpose");
  }
  View result{v.storage, Shape(n), Strides(n), v.offset, v.dtype};
  for (int k = 0; k < n; ++k) {
    result.shape[k] = v.shape[order[k]];
    result.strides[k] = v.strides[order[k]];
  }
  return make_array(std::move(result), impl_->writeable);
}

Array Array::broadcast_to(const Shape& shape) const {
  const View& v = view_of(*this);
  array::size_of(shape);
  return make_array(
      {v.storage, shape, array::broadcast_strides(v.shape, v.strides, shape), v.offset, v.dtype},
      false);
}

array::SliceRange array::slice_range(const Slice& slice, std::int64_t n) {
  std::int64_t step = slice.step.value_or(1);
  if (step == 0) throw ValueError("slice step cannot be zero");
  std::int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  auto clamp = [&](std::optional<std::int64_t> bound, std::int64_t absent) {
    if (!bound) return absent;
    std::int64_t b = *bound < 0 ? *bound + n : *bound;
    return std::clamp(b, low, high);
  };
  if (n == 0) return {0, 0, step};
  std::int64_t start = clamp(slice.start, step < 0 ? high : low);
  std::int64_t stop = clamp(slice.stop, step < 0 ? low : high);
  // Written so that no step, however large, overflows.
  std::int64_t count = 0;
  if (step > 0 && stop > start) count = 1 + (stop - start - 1) / step;
  if (step < 0 && stop < start) count = step < -n ? 1 : 1 + (start - stop - 1) / -step;
  return {start, count, step};
}

namespace {

void index_one(const View& v, std::size_t axis, const IndexItem& item, View& result) {
  std::int64_t n = v.shape[axis], stride = v.strides[axis];
  if (const auto* i = std::get_if<std::int64_t>(&item)) {
    result.offset += array::checked_index(*i, axis, n) * stride;
    return;
  }
  array::SliceRange range = array::slice_range(std::get<Slice>(item), n);
  if (range.count > 0) result.offset += range.start * stride;
  result.shape.push_back(range.count);
  result.strides.push_back(range.count > 1 ? range.step * stride : stride);
}

}  // namespace

Array Array::index(const std::vector<IndexItem>& items) const {
  return index(std::span<const IndexItem>(items));
}

Array Array::index(std::span<const IndexItem> items) const {
  const View& v = view_of(*this);
  std::size_t used = 0, ellipses = 0;
  for (const IndexItem& item : items) {
    used += std::holds_alternative<std::int64_t>(item) || std::holds_alternative<Slice>(item);
    ellipses += std::holds_alternative<Ellipsis>(item);
  }
  if (ellipses > 1) throw IndexError("an index can only have a single ellipsis ('...')");
  if (used > v.shape.size())
    throw IndexError(cat("too many indices for array: array is ", v.shape.size(),
                         "-dimensional, but ", used, " were indexed"));
  View result{v.storage, {}, {}, v.offset, v.dtype};
  std::size_t axis = 0;
  auto keep = [&](std::size_t count) {
    for (; count > 0; --count, ++axis) {
      result.shape.push_back(v.shape[axis]);
      result.strides.push_back(v.strides[axis]);
    }
  };
  for (const IndexItem& item : items) {
    if (std::holds_alternative<NewAxis>(item)) {
      result.shape.push_back(1);
      result.strides.push_back(0);
    } else if (std::holds_alternative<Ellipsis>(item)) {
      keep(v.shape.size() - used);
    } else {
      index_one(v, axis++, item, result);
    }
  }
  keep(v.shape.size() - axis);
  return make_array(std::move(result), impl_->writeable);
}

Array Array::astype(DType dtype, bool copy) const {
  if (!copy && dtype == this->dtype()) return *this;
  return array::converted(*this, dtype, 'K');
}

Array Array::copy(char order) const { return array::converted(*this, dtype(), order); }

void Array::assign(const std::vector<IndexItem>& items, const Array& value) const {
  if (!writeable()) throw ValueError("assignment destination is read-only");
  copy_into(index(items), value);
}

void Array::fill(const Scalar& value) const {
  if (!writeable()) throw ValueError("assignment destination is read-only");
  copy_into(*this, value);
}

void flush_all() { array::flush_and_report(*driver::current_device()); }

Array real_part(const Array& x) {
  const View& v = view_of(x);
  if (info(v.dtype).kind != 'c') return x;
  DType part = v.dtype == DType::complex64 ? DType::float32 : DType::float64;
  return make_array({v.storage, v.shape, v.strides, v.offset, part}, x.writeable());
}

Array imag_part(const Array& x) {
  const View& v = view_of(x);
  if (info(v.dtype).kind != 'c') return zeros(v.shape, v.dtype).broadcast_to(v.shape);
  DType part = v.dtype == DType::complex64 ? DType::float32 : DType::float64;
  auto offset = v.offset + static_cast<std::int64_t>(itemsize(part));
  return make_array({v.storage, v.shape, v.strides, offset, part}, x.writeable());
}

}  // namespace td
