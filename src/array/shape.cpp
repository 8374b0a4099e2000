#include "array/shape.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/text.h"
#include "treadle/error.h"

namespace td::array {

using base::cat;
using base::tuple_text;

std::int64_t size_of(std::span<const std::int64_t> shape) {
  constexpr std::size_t kMostDimensions = 64;  // NumPy's
  if (shape.size() > kMostDimensions)
    throw ValueError(cat("maximum supported dimension for an ndarray is currently ",
                         kMostDimensions, ", found ", shape.size()));
  std::int64_t size = 1;
  bool empty = false;
  for (std::int64_t n : shape) {
    if (n < 0)
      throw ValueError(cat("negative dimensions are not allowed: shape ", tuple_text(shape)));
    empty = empty || n == 0;
  }
  if (empty) return 0;
  for (std::int64_t n : shape)
    if (__builtin_mul_overflow(size, n, &size))
      throw ValueError(
          cat("shape ", tuple_text(shape), " has more elements than 64 bits can count"));
  return size;
}

Strides contiguous_strides(const Shape& shape, std::size_t itemsize, char order) {
  Strides strides(shape.size());
  auto step = static_cast<std::int64_t>(itemsize);
  std::size_t n = shape.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t axis = order == 'F' ? k : n - 1 - k;
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

bool is_contiguous(const Shape& shape, const Strides& strides, std::size_t itemsize, char order) {
  for (std::int64_t n : shape)
    if (n == 0) return true;
  auto step = static_cast<std::int64_t>(itemsize);
  std::size_t n = shape.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t axis = order == 'F' ? k : n - 1 - k;
    if (shape[axis] == 1) continue;
    if (strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

Shape broadcast_shapes(std::span<const Shape* const> shapes) {
  std::size_t ndim = 0;
  for (const Shape* s : shapes) ndim = std::max(ndim, s->size());
  Shape result(ndim, 1);
  for (const Shape* s : shapes) {
    std::size_t lead = ndim - s->size();
    for (std::size_t k = 0; k < s->size(); ++k) {
      std::int64_t n = (*s)[k];
      std::int64_t& r = result[lead + k];
      if (n == r || n == 1) continue;
      if (r == 1) {
        r = n;
        continue;
      }
      std::string all;
      for (const Shape* other : shapes) all += tuple_text(*other) + " ";
      throw ValueError(cat("operands could not be broadcast together with shapes ", all));
    }
  }
  return result;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  auto refuse = [&]() -> ValueError {
    return ValueError(cat("could not broadcast input array from shape ", tuple_text(shape),
                          " into shape ", tuple_text(target)));
  };
  if (shape.size() > target.size()) throw refuse();
  Strides result(target.size(), 0);
  std::size_t lead = target.size() - shape.size();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == target[lead + k])
      result[lead + k] = shape[k] == 1 ? 0 : strides[k];
    else if (shape[k] != 1)
      throw refuse();
  }
  return result;
}

Axes normalize_axes(const Axes& axes, int ndim, const char* repeated) {
  Axes result;
  for (int axis : axes) {
    int a = axis < 0 ? axis + ndim : axis;
    if (a < 0 || a >= ndim)
      throw AxisError(cat("axis ", axis, " is out of bounds for array of dimension ", ndim));
    if (std::find(result.begin(), result.end(), a) != result.end()) throw ValueError(repeated);
    result.push_back(a);
  }
  return result;
}

Shape resolve_reshape(const Shape& wanted, std::int64_t size) {
  Shape shape = wanted;
  auto refuse = [&]() -> ValueError {
    return ValueError(
        cat("cannot reshape array of size ", size, " into shape ", tuple_text(wanted)));
  };
  std::int64_t known = 1;
  int open = -1;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == -1) {
      if (open >= 0) throw ValueError("can only specify one unknown dimension");
      open = static_cast<int>(k);
    } else if (shape[k] < 0) {
      throw ValueError(cat("negative dimensions are not allowed: shape ", tuple_text(wanted)));
    } else if (__builtin_mul_overflow(known, shape[k], &known)) {
      throw refuse();
    }
  }
  if (open >= 0) {
    if (known == 0 || size % known != 0) throw refuse();
    shape[open] = size / known;
  } else if (known != size) {
    throw refuse();
  }
  return shape;
}

// Walks both shapes from the front in groups of equal products; a group keeps its memory order only
// if its old axes are nested without gaps.
std::optional<Strides> reshape_strides(const Shape& from, const Strides& strides, const Shape& to,
                                       std::size_t itemsize) {
  Shape old_shape;
  Strides old_strides;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k] == 1) continue;
    old_shape.push_back(from[k]);
    old_strides.push_back(strides[k]);
  }
  if (size_of(to) == 0) return contiguous_strides(to, itemsize);
  Strides result(to.size());
  std::size_t i = 0, j = 0;
  while (i < old_shape.size() && j < to.size()) {
    std::size_t i_end = i + 1, j_end = j + 1;
    std::int64_t old_product = old_shape[i], new_product = to[j];
    while (old_product != new_product) {
      if (new_product < old_product)
        new_product *= to[j_end++];
      else
        old_product *= old_shape[i_end++];
    }
    for (std::size_t k = i; k + 1 < i_end; ++k)
      if (old_strides[k] != old_shape[k + 1] * old_strides[k + 1]) return std::nullopt;
    std::int64_t step = old_strides[i_end - 1];
    for (std::size_t k = j_end; k-- > j;) {
      result[k] = step;
      step *= to[k];
    }
    i = i_end;
    j = j_end;
  }
  // What remains has length 1.
  std::int64_t last = j > 0 ? result[j - 1] : static_cast<std::int64_t>(itemsize);
  for (; j < to.size(); ++j) result[j] = last;
  return result;
}

namespace {

// NumPy's rule: axis `outer` moves inside of `inner` when every operand that distinguishes them
// says so; in case of conflict C order wins. 0: no operand tells, 1: keep, 2: swap.
int compare_axes(std::span<const Strides* const> operands, int fast, int slow) {
  int verdict = 0;
  for (const Strides* s : operands) {
    std::int64_t a = std::llabs((*s)[fast]), b = std::llabs((*s)[slow]);
    if (a == 0 || b == 0) continue;
    if (a <= b)
      verdict = 1;
    else if (verdict == 0)
      verdict = 2;
  }
  return verdict;
}

}  // namespace

Strides keep_order_strides(const Shape& shape, std::span<const Strides* const> operands,
                           std::size_t itemsize) {
  int n = static_cast<int>(shape.size());
  std::vector<int> order(n);  // from the fastest axis to the slowest
  for (int k = 0; k < n; ++k) order[k] = n - 1 - k;
  for (int i = 1; i < n; ++i) {
    int axis = order[i], place = i;
    for (int j = i - 1; j >= 0; --j) {
      int verdict = compare_axes(operands, order[j], axis);
      if (verdict == 1) break;
      if (verdict == 2) place = j;
    }
    order.erase(order.begin() + i);
    order.insert(order.begin() + place, axis);
  }
  Strides strides(n);
  auto step = static_cast<std::int64_t>(itemsize);
  for (int axis : order) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
  }
  return strides;
}

Extent extent_of(const Shape& shape, const Strides& strides, std::int64_t offset,
                 std::size_t itemsize) {
  Extent e{offset, offset};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 0) return {offset, offset};
    (strides[k] < 0 ? e.begin : e.end) += (shape[k] - 1) * strides[k];
  }
  e.end += static_cast<std::int64_t>(itemsize);
  return e;
}

bool may_self_overlap(const Shape& shape, const Strides& strides, std::size_t itemsize) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] > 1) axes.emplace_back(std::llabs(strides[k]), shape[k]);
  std::sort(axes.begin(), axes.end());
  auto reach = static_cast<std::int64_t>(itemsize);
  for (auto [stride, n] : axes) {
    if (stride < reach) return true;
    reach = stride * (n - 1) + reach;
  }
  return false;
}

}  // namespace td::array
