// Reductions of some of the elements, and with a value to start from.
#pragma once

#include <optional>

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

// As reduce, of the elements where `where` (bool, broadcast to x's shape) holds; all when it is an
// empty handle. `initial` takes part in every result (sum, prod, min, max) and is the result of an
// empty axis. ValueError: min or max with `where` and without `initial`, since they have no
// identity; operations other than sum, prod, min, max, mean, any, all. OverflowError: an initial
// integer that does not fit.
Array reduce_where(Reduction op, const Array& x, const Array& where,
                   const std::optional<Operand>& initial = {}, const std::optional<Axes>& axes = {},
                   bool keepdims = false, std::optional<DType> dtype = {}, const Array& out = {});

// Sums of products of `v` with `a` at `count` places from `first` on: result k is the sum of
// a[first + k - (v.size() - 1) + j] * v[j] where both exist. 1-D, not empty, of one dtype.
Array sliding_products(const Array& a, const Array& v, std::int64_t first, std::int64_t count);

}  // namespace td
