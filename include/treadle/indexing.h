// Indexing with arrays: NumPy's advanced indices, masks, gather and scatter.
#pragma once

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

// One item of any index. An Array of integers picks along one axis (negative values count from the
// end); an Array of bool is a mask over as many axes as it has; a bool alone is a mask over none.
using AnyIndexItem = std::variant<std::int64_t, Slice, NewAxis, Ellipsis, bool, Array>;

// Is there an item that only gather and scatter can follow? If not, `basic_items` gives the view.
bool is_advanced(const std::vector<AnyIndexItem>& items);

// x[items]: a view for a basic index, else a new C-contiguous array. IndexError as NumPy's, which
// names the index, the axis and its length. Waits for index values whose range is not known yet.
Array get(const Array& x, const std::vector<AnyIndexItem>& items);

// x[items] = value, cast to x's dtype. Nothing is written when an index is out of bounds. An
// element that is named several times gets the last of its values, on every device.
void set(const Array& x, const std::vector<AnyIndexItem>& items, const Operand& value);

// x[items] = x[items] op value, once for every time that an element is named, in no fixed order:
// sums of floating-point numbers may differ in their last digits from run to run.
enum class Scatter : std::uint8_t { add, maximum, minimum };
void scatter(Scatter op, const Array& x, const std::vector<AnyIndexItem>& items,
             const Operand& value);

// What an index outside of [-n, n) means: an IndexError, n is subtracted or added as often as
// needed, or the nearest valid index (negative ones are 0 then).
enum class IndexMode : std::uint8_t { raise, wrap, clip };

// NumPy's take: x along `axis` (of the flattened array when absent) at `indices` of any shape.
Array take(const Array& x, const Array& indices, std::optional<int> axis = {},
           IndexMode mode = IndexMode::raise);
// x.flat[indices] = values, which are repeated or cut as needed.
void put(const Array& x, const Array& indices, const Array& values,
         IndexMode mode = IndexMode::raise);

// Indices of the elements that are not zero, in C order: int64 of shape (ndim, count), row k for
// axis k. Waits for the count.
Array nonzero(const Array& x);
// The elements of x (any layout, C order) where `mask`, an array of the same shape, holds: 1-D.
Array masked(const Array& x, const Array& mask);
// x's elements where `mask` holds become values[k] with k the rank of the element among them
// (NumPy's place), repeated when there are too few.
void place(const Array& x, const Array& mask, const Array& values);

// A view of the diagonal of the planes of axes `axis1` and `axis2`: the last axis of the result.
Array diagonal(const Array& x, std::int64_t offset = 0, int axis1 = 0, int axis2 = 1,
               bool writeable = false);

// How often each of 0, 1, … occurs in the 1-D array x of integers, or the sum of its weights.
// ValueError for negative values.
Array bincount(const Array& x, const Array& weights = {}, std::int64_t minlength = 0);

// Counts of x's elements (flattened) in the bins between the ascending `edges` (1-D, of a dtype
// that x's casts to), the last bin closed; or the sums of `weights`, float64. `uniform` promises
// edges at equal distances, which are found without a search.
Array histogram(const Array& x, const Array& edges, bool uniform, const Array& weights = {});

// Indices from contiguous host memory; their range is found on the way, so that an index with them
// waits for nothing.
Array indices_from_host(const std::int64_t* host, const Shape& shape);

// Lowest and highest value of an array of integers or bool that is not empty. Waits, unless they
// are known.
struct IndexRange {
  std::int64_t low, high;
};
IndexRange index_range(const Array& x);

}  // namespace td
