// Parts of indexing that its files share.
#pragma once

#include "array/selection.h"

namespace td::array {

struct SliceRange {
  std::int64_t start, count, step;
};
// Python's slice.indices.
SliceRange slice_range(const Slice& slice, std::int64_t n);
// A negative index counts from the end; IndexError as NumPy's.
std::int64_t checked_index(std::int64_t i, std::size_t axis, std::int64_t length);
// IndexError that names the first value outside of [-length, length). Waits for the values, unless
// their range is known.
void check_indices(const IndexAxis& axis);

// x[items], worked out; every index has been checked. Within a Recording.
Selection select(const Array& x, const std::vector<AnyIndexItem>& items);

}  // namespace td::array
