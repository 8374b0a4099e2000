// What td::Array points to: a view over a storage.
#pragma once

#include "array/shape.h"
#include "array/storage.h"
#include "treadle/array.h"

namespace td::array {

struct View {
  std::shared_ptr<Storage> storage;
  Shape shape;
  Strides strides;  // bytes
  std::int64_t offset = 0;
  DType dtype = DType::float64;

  Extent extent() const { return extent_of(shape, strides, offset, itemsize(dtype)); }
  // The same elements at the same indices of the same storage.
  bool same_elements(const View& other) const {
    return storage == other.storage && offset == other.offset && dtype == other.dtype &&
           shape == other.shape && strides == other.strides;
  }
};

class ArrayImpl {
 public:
  ArrayImpl(View v, bool can_write = true)
      : view(std::move(v)),
        writeable(can_write),
        size(size_of(view.shape)),
        c_contiguous(is_contiguous(view.shape, view.strides, itemsize(view.dtype), 'C')),
        f_contiguous(is_contiguous(view.shape, view.strides, itemsize(view.dtype), 'F')) {}

  const View view;
  const bool writeable;
  const std::int64_t size;
  const bool c_contiguous, f_contiguous;
};

inline Array make_array(View view, bool writeable = true) {
  return Array(std::make_shared<ArrayImpl>(std::move(view), writeable));
}

// The view of an array; ValueError for a default-constructed Array.
const View& view_of(const Array& array);

// A new array over fresh, unallocated storage with the given strides (which must be a permutation
// of C order).
View fresh_view(const std::shared_ptr<driver::DeviceState>& device, const Shape& shape,
                Strides strides, DType dtype);
inline View fresh_view(const std::shared_ptr<driver::DeviceState>& device, const Shape& shape,
                       DType dtype) {
  return fresh_view(device, shape, contiguous_strides(shape, itemsize(dtype)), dtype);
}

}  // namespace td::array
