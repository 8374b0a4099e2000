// Views that a caller lays out by hand, and arrays over memory of others.
#include "array/operations.h"
#include "base/text.h"
#include "treadle/creation.h"
#include "treadle/error.h"
#include "treadle/views.h"

namespace td {

using array::make_array;
using array::View;
using array::view_of;

Array strided_view(const Array& x, const Shape& shape, const Strides& strides, std::int64_t offset,
                   DType dtype, bool writeable) {
  const View& v = view_of(x);
  if (shape.size() != strides.size())
    throw ValueError(base::cat("strides has ", strides.size(), " entries, shape has ", shape.size(),
                               "; give one stride for each axis"));
  View result{v.storage, shape, strides, v.offset + offset, dtype};
  auto bytes = static_cast<std::int64_t>(itemsize(dtype));
  if (array::size_of(shape) > 0) {
    array::Extent seen = result.extent();
    if (seen.begin < 0 || seen.end > static_cast<std::int64_t>(v.storage->bytes()))
      throw ValueError(base::cat("the view would reach bytes [", seen.begin, ", ", seen.end,
                                 ") of memory that has ", v.storage->bytes()));
  }
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] > 1 && strides[k] % bytes != 0)
      throw ValueError(base::cat("stride ", strides[k], " of axis ", k, " is not a multiple of ",
                                 bytes, ", the size of an element"));
  if (result.offset % bytes != 0)
    throw ValueError(base::cat("an element of ", bytes, " bytes cannot begin at byte ",
                               result.offset, "; copy the array first"));
  return make_array(std::move(result), writeable && x.writeable());
}

Array foreign_array(const Device& device, std::uint64_t address, const Shape& shape,
                    const Strides& strides, DType dtype, std::shared_ptr<void> owner,
                    bool writeable) {
  array::Extent seen = array::extent_of(shape, strides, 0, itemsize(dtype));
  auto storage = std::make_shared<array::Storage>(
      device.state(), address + static_cast<std::uint64_t>(seen.begin),
      static_cast<std::size_t>(seen.end - seen.begin), std::move(owner));
  return make_array({std::move(storage), shape, strides, -seen.begin, dtype}, writeable);
}

bool may_share_memory(const Array& a, const Array& b) {
  const View &x = view_of(a), &y = view_of(b);
  if (x.storage != y.storage || a.size() == 0 || b.size() == 0) return false;
  array::Extent first = x.extent(), second = y.extent();
  return first.begin < second.end && second.begin < first.end;
}

bool same_storage(const Array& a, const Array& b) {
  return view_of(a).storage == view_of(b).storage;
}

void remember_source(const Array& source, const void* handle) {
  array::Storage& storage = *view_of(source).storage;
  if (!storage.source.expired()) return;
  storage.source = source.impl();
  storage.source_handle = handle;
}

ViewSource source_of(const Array& array) {
  const array::Storage& storage = *view_of(array).storage;
  if (!storage.source_handle) return {true, nullptr};
  std::shared_ptr<array::ArrayImpl> source = storage.source.lock();
  return {source == array.impl(), source ? storage.source_handle : nullptr};
}

Array whole_storage(const Array& array) {
  const View& v = view_of(array);
  auto bytes = static_cast<std::int64_t>(itemsize(v.dtype));
  auto count = static_cast<std::int64_t>(v.storage->bytes()) / bytes;
  return make_array({v.storage, {count}, {bytes}, 0, v.dtype}, array.writeable());
}

}  // namespace td
