// Arrays from nothing. Constant arrays are pending copies of a scalar, so that an expression that
// uses one fuses it.
#include <algorithm>
#include <cmath>

#include "array/operations.h"
#include "array/promotion.h"
#include "base/text.h"
#include "treadle/creation.h"
#include "treadle/error.h"

namespace td {

using array::fresh_view;
using array::make_array;

Array empty(const Shape& shape, DType dtype, char order) {
  if (order != 'C' && order != 'F') throw ValueError("order must be 'C' or 'F'");
  auto strides = array::contiguous_strides(shape, itemsize(dtype), order);
  return make_array(fresh_view(driver::current_device(), shape, std::move(strides), dtype));
}

Array full(const Shape& shape, const Scalar& value, DType dtype) {
  Array result = empty(shape, dtype);
  result.fill(value);
  return result;
}

Array zeros(const Shape& shape, DType dtype) { return full(shape, false, dtype); }
Array ones(const Shape& shape, DType dtype) { return full(shape, true, dtype); }

Array arange(double start, double stop, double step, DType dtype) {
  if (step == 0) throw ValueError("arange: step must not be zero");
  double length = std::ceil((stop - start) / step);
  if (std::isnan(length)) throw ValueError("arange: cannot compute length");
  if (length > 9.2e18) throw ValueError("arange: Maximum allowed size exceeded");
  auto count = static_cast<std::int64_t>(std::max(length, 0.0));
  return sequence(start, step, count, dtype);
}

Array sequence(double start, double step, std::int64_t count, DType dtype) {
  Array result = empty({count}, dtype);
  // Whole numbers as NumPy makes them: the first two elements are cut, and their difference is the
  // step.
  char kind = info(dtype).kind;
  if (kind != 'f' && kind != 'c') {
    auto whole = static_cast<std::int64_t>(start);
    return sequence(whole, static_cast<std::int64_t>(start + step) - whole, count, dtype);
  }
  if (count > 0) fuse::launch_arange(result, start, step, 0, 0);
  return result;
}

Array sequence(std::int64_t start, std::int64_t step, std::int64_t count, DType dtype) {
  char kind = info(dtype).kind;
  if (kind == 'f' || kind == 'c')
    return sequence(static_cast<double>(start), static_cast<double>(step), count, dtype);
  Array result = empty({count}, dtype);
  if (count == 0) return result;
  fuse::launch_arange(result, 0, 0, start, step);
  std::int64_t last = 0;
  if (dtype == DType::int64 && !__builtin_mul_overflow(step, count - 1, &last) &&
      !__builtin_add_overflow(start, last, &last))
    array::view_of(result).storage->know_range(
        {dtype, std::min(start, last), std::max(start, last), true});
  return result;
}

Array arange(std::int64_t stop, DType dtype) {
  return sequence(std::int64_t{0}, std::int64_t{1}, std::max<std::int64_t>(stop, 0), dtype);
}

Array linspace(double start, double stop, std::int64_t num, bool endpoint, DType dtype) {
  if (num < 0) throw ValueError(base::cat("Number of samples, ", num, ", must be non-negative."));
  std::int64_t parts = endpoint ? num - 1 : num;
  double step = parts > 0 ? (stop - start) / static_cast<double>(parts) : 0.0;
  Array result = empty({num}, dtype);
  // The last sample is the end itself, not a sum that misses it by a rounding.
  if (num > 0)
    fuse::launch_linspace(result, start, step, endpoint && num > 1 ? stop : std::nan(""));
  return result;
}

Array eye(std::int64_t n, std::int64_t m, std::int64_t k, DType dtype) {
  Array result = zeros({n, m}, dtype);
  std::int64_t row = k < 0 ? -k : 0, column = k > 0 ? k : 0;
  if (row >= n || column >= m) return result;
  std::int64_t length = std::min(n - row, m - column);
  const array::View& v = result.impl()->view;
  array::View diagonal{v.storage,
                       {length},
                       {v.strides[0] + v.strides[1]},
                       row * v.strides[0] + column * v.strides[1],
                       dtype};
  make_array(diagonal).fill(true);
  return result;
}

}  // namespace td
