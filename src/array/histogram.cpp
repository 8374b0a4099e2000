// Counting: bincount and histogram.
#include <algorithm>

#include "array/operations.h"
#include "array/promotion.h"
#include "array/selection.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td {

using array::fresh_view;
using array::make_array;
using array::View;
using array::view_of;
using base::cat;

namespace {

Array flat(const Array& x) { return array::packed_values(x).reshape({-1}); }

// Weights as float64, or no array.
Array weights_of(const Array& weights) {
  if (!weights) return {};
  if (!array::can_cast(weights.dtype(), DType::float64, array::Casting::safe))
    throw TypeError(cat("Cannot cast array data from dtype('", info(weights.dtype()).numpy,
                        "') to dtype('float64') according to the rule 'safe'"));
  return flat(weights.astype(DType::float64, false));
}

View counters(const Array& x, std::int64_t bins, const Array& weights) {
  return fresh_view(view_of(x).storage->device(), {bins}, weights ? DType::float64 : DType::int64);
}

}  // namespace

Array bincount(const Array& x, const Array& weights, std::int64_t minlength) {
  if (x.ndim() != 1)
    throw ValueError(x.ndim() > 1 ? "object too deep for desired array"
                                  : "object of too small depth for desired array");
  char kind = info(x.dtype()).kind;
  if (kind != 'i' && kind != 'u' && kind != 'b')
    throw TypeError(cat("Cannot cast array data from dtype('", info(x.dtype()).numpy,
                        "') to dtype('int64') according to the rule 'safe'"));
  if (minlength < 0) throw ValueError("'minlength' must not be negative");
  if (weights && weights.shape() != x.shape())
    throw ValueError("The weights and list don't have the same length.");
  array::Recording recording(view_of(x).storage->device());
  IndexRange range{0, -1};
  if (x.size() > 0) range = index_range(x);
  if (range.low < 0) throw ValueError("'list' argument must have no negative elements");
  std::int64_t bins = std::max(range.high + 1, minlength);
  // As in NumPy, nothing is counted, not summed up.
  Array each = weights_of(x.size() > 0 ? weights : Array());
  View out = counters(x, bins, each);
  if (bins == 0) return make_array(std::move(out));
  Array source = array::packed_values(x);
  source.flush();
  fuse::launch_bincount(view_of(source), each ? view_of(each) : View{}, out, x.size(), bins);
  return make_array(std::move(out));
}

Array histogram(const Array& x, const Array& edges, bool uniform, const Array& weights) {
  if (edges.ndim() != 1 || edges.size() < 2)
    throw ValueError("histogram: edges must be 1-dimensional, two at least");
  if (weights && weights.size() != x.size())
    throw ValueError("weights should have the same shape as a.");
  if (info(x.dtype()).kind == 'c' || info(edges.dtype()).kind == 'c')
    throw TypeError("histogram takes real numbers");
  array::Recording recording(view_of(x).storage->device());
  Array source = flat(x), limits = flat(edges), each = weights_of(weights);
  std::int64_t bins = edges.size() - 1;
  View out = counters(x, bins, each);
  source.flush();
  fuse::launch_histogram(view_of(source), view_of(limits), each ? view_of(each) : View{}, out,
                         x.size(), bins, uniform);
  return make_array(std::move(out));
}

}  // namespace td
