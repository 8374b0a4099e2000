// Elements by their place in sorted order without sorting everything: Floyd and Rivest's selection
// (Communications of the ACM 18, 1975), one round. Places in a sorted sample of a row bound where
// an element can stand; one pass counts what lies below the lower bound, another takes what lies
// between the bounds, some percents of the row, and only that is sorted. The counts tell whether
// the bounds hold; where they do not, or where too much lies between them, the row is sorted whole.
#include <algorithm>
#include <cmath>

#include "array/operations.h"
#include "fuse/axis_rows.h"
#include "fuse/launch_select_rows.h"
#include "treadle/error.h"
#include "treadle/indexing.h"
#include "treadle/sorting.h"

namespace td {
namespace {

constexpr std::int64_t kLongRow = std::int64_t{1} << 16;  // sorting shorter ones costs less
constexpr std::int64_t kMostRows = 16;
constexpr std::size_t kMostGroups = 4;  // each costs two passes

Array compared(Op op, const Array& x, const Array& y) {
  const Operand operands[] = {x, y};
  return td::apply(op, operands);
}

std::int64_t as_count(const Array& x) {
  Scalar value = x.item();
  return std::visit(
      [](auto v) -> std::int64_t {
        if constexpr (std::is_same_v<decltype(v), std::complex<double>>)
          return 0;
        else
          return static_cast<std::int64_t>(v);
      },
      value);
}

Array slice(const Array& x, std::int64_t start, std::int64_t stop) {
  return x.index({Ellipsis{}, Slice{start, stop, 1}});
}
Array element(const Array& row, std::int64_t place) { return row.index({place}); }

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

// Every p-th element, about n^(2/3) of them, in order. p is prime, so that periods of the data
// hardly matter.
Array sorted_sample(const Array& row) {
  auto n = static_cast<double>(row.size());
  auto step = static_cast<std::int64_t>(std::cbrt(n));
  while (!is_prime(step)) ++step;
  return sort(row.index({Slice{step / 2, row.size(), step}}));
}

// What of a row holds the elements at places `first` to `last`: `below` of its elements stand in
// front of it.
struct Band {
  Array mask;
  std::int64_t below = 0, inside = 0;
  Array only;  // the one value that everything in the band has, if so
};

Band band_of(const Array& row, const Array& sample, std::int64_t first, std::int64_t last) {
  auto n = static_cast<double>(row.size()), m = static_cast<double>(sample.size());
  // Four deviations of a place in the sample, and more.
  auto margin = static_cast<std::int64_t>(0.6 * std::sqrt(m * std::log(n))) + 1;
  std::int64_t from = static_cast<std::int64_t>(static_cast<double>(first) / n * m) - margin,
               to = static_cast<std::int64_t>(static_cast<double>(last) / n * m) + margin;
  Array low = from >= 0 ? element(sample, from) : Array(),
        high = to < sample.size() ? element(sample, to) : Array();
  Band band;
  if (!low && !high) return band;
  // NaN stands behind every number, so what is not below the lower bound may be NaN.
  Array less = low ? compared(Op::less, row, low) : Array(),
        at_most = high ? compared(Op::less_equal, row, high) : Array();
  const Operand not_less[] = {less};
  Array at_least = low ? td::apply(Op::logical_not, not_less) : Array();
  band.mask = !low ? at_most : !high ? at_least : compared(Op::logical_and, at_least, at_most);
  Array below = low ? reduce(Reduction::count_nonzero, less) : Array(),
        inside = reduce(Reduction::count_nonzero, band.mask),
        same = low && high ? compared(Op::equal, low, high) : Array();
  band.inside = as_count(inside);
  if (below) band.below = as_count(below);
  if (same && as_count(same)) band.only = low;
  return band;
}

bool holds(const Band& band, std::int64_t first, std::int64_t last) {
  return band.below <= first && last < band.below + band.inside;
}

// Writes the elements of the row at places[begin … end) into `out`; false where that takes a sort
// of the whole row.
bool select_group(const Array& row, const Array& sample, std::span<const std::int64_t> places,
                  const Array& out) {
  Band band = band_of(row, sample, places.front(), places.back());
  if (!holds(band, places.front(), places.back())) return false;
  if (band.only) {
    copy_into(out, band.only);
    return true;
  }
  if (band.inside > row.size() / 4) return false;
  Array values = sort(masked(row, band.mask));
  for (std::size_t k = 0; k < places.size(); ++k) {
    auto at = static_cast<std::int64_t>(k);
    copy_into(slice(out, at, at + 1), element(values, places[k] - band.below));
  }
  return true;
}

// Ends of runs of neighbouring places.
std::vector<std::size_t> group_ends(std::span<const std::int64_t> places, std::int64_t length) {
  std::vector<std::size_t> ends;
  for (std::size_t k = 1; k <= places.size(); ++k)
    if (k == places.size() || places[k] - places[k - 1] > length / 100) ends.push_back(k);
  return ends;
}

bool selectable(const Array& x) {
  char kind = info(x.dtype()).kind;
  return x.shape().back() >= kLongRow && x.size() / x.shape().back() <= kMostRows &&
         itemsize(x.dtype()) >= 4 && (kind == 'i' || kind == 'u' || kind == 'f');
}

bool select_row(const Array& row, std::span<const std::int64_t> places, const Array& out) {
  std::vector<std::size_t> ends = group_ends(places, row.size());
  if (ends.size() > kMostGroups) return false;
  Array sample = sorted_sample(row);
  std::size_t begin = 0;
  for (std::size_t end : ends) {
    if (!select_group(row, sample, places.subspan(begin, end - begin),
                      slice(out, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end))))
      return false;
    begin = end;
  }
  return true;
}

void check_places(const Array& x, std::span<const std::int64_t> places) {
  if (x.ndim() == 0) throw ValueError("order statistics of an array without dimensions");
  for (std::int64_t place : places)
    if (place < 0 || place >= x.shape().back())
      throw IndexError("place " + std::to_string(place) + " is out of bounds for rows of " +
                       std::to_string(x.shape().back()) + " elements");
}

// The three parts of a row around the value at `place`, as masks; no masks where the value is NaN.
std::vector<Array> parts_around(const Array& row, std::int64_t place) {
  Array value = element(sorted_elements(row, std::span(&place, 1)), 0);
  if (!as_count(compared(Op::equal, value, value))) return {};
  Array less = compared(Op::less, row, value), at_most = compared(Op::less_equal, row, value);
  const Operand more[] = {at_most};
  return {less, compared(Op::equal, row, value), td::apply(Op::logical_not, more)};
}

}  // namespace

Array sorted_elements(const Array& x, std::span<const std::int64_t> places) {
  check_places(x, places);
  std::vector<std::int64_t> order(places.begin(), places.end());
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  Shape shape = x.shape();
  shape.back() = static_cast<std::int64_t>(places.size());
  Array out = fuse::empty_beside(x, shape, x.dtype());
  if (out.size() == 0) return out;
  std::int64_t length = x.shape().back(), rows = x.size() / length;
  bool done = selectable(x);
  Array table = x.reshape({rows, length});
  Array found = fuse::empty_beside(x, {rows, static_cast<std::int64_t>(order.size())}, x.dtype());
  for (std::int64_t r = 0; done && r < rows; ++r)
    done = select_row(array::packed(table.index({r})), order, found.index({r}));
  if (!done && fuse::selects_rows(table, order.size())) {
    // Rows that stay in a cache are searched by the bits of their keys.
    fuse::launch_select_rows(array::packed(table), order, found);
    done = true;
  }
  Array sorted = done ? Array() : sort(table);
  Array flat = out.reshape({rows, shape.back()});
  for (std::size_t k = 0; k < places.size(); ++k) {
    auto at = std::lower_bound(order.begin(), order.end(), places[k]) - order.begin();
    Array column = done ? slice(found, at, at + 1) : slice(sorted, places[k], places[k] + 1);
    auto to = static_cast<std::int64_t>(k);
    copy_into(slice(flat, to, to + 1), column);
  }
  return out;
}

Array partition(const Array& x, std::int64_t place) {
  check_places(x, std::span(&place, 1));
  std::vector<Array> parts;
  if (x.ndim() == 1 && selectable(x)) parts = parts_around(x, place);
  if (parts.empty()) return sort(x);
  Array row = array::packed(x), out = fuse::empty_beside(x, x.shape(), x.dtype());
  std::int64_t at = 0;
  for (const Array& part : parts) {
    Array values = masked(row, part);
    copy_into(slice(out, at, at + values.size()), values);
    at += values.size();
  }
  return out;
}

Array argpartition(const Array& x, std::int64_t place) {
  check_places(x, std::span(&place, 1));
  std::vector<Array> parts;
  if (x.ndim() == 1 && selectable(x)) parts = parts_around(x, place);
  if (parts.empty()) return argsort(x);
  Array out = fuse::empty_beside(x, x.shape(), DType::int64);
  std::int64_t at = 0;
  for (const Array& part : parts) {
    Array places = nonzero(part).reshape({-1});
    copy_into(slice(out, at, at + places.size()), places);
    at += places.size();
  }
  return out;
}

}  // namespace td
