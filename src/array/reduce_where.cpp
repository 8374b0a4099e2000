// Reductions with a mask and an initial value, composed: elements outside of the mask become what
// changes nothing. All of it fuses into the reduction's kernel.
#include <algorithm>

#include "array/operations.h"
#include "array/promotion.h"
#include "base/text.h"
#include "treadle/error.h"
#include "treadle/statistics.h"

namespace td {
namespace {

using base::cat;

Array apply_two(Op op, const Array& a, const Array& b) {
  const Operand operands[] = {a, b};
  return td::apply(op, operands);
}

Op combining(Reduction op) {
  switch (op) {
    case Reduction::sum:
      return Op::add;
    case Reduction::prod:
      return Op::multiply;
    case Reduction::min:
      return Op::minimum;
    default:
      return Op::maximum;
  }
}

// A value without dimensions beside `x`, in the dtype that the reduction computes in.
Array as_value(const Array& x, const Operand& value, DType dtype) {
  if (const Array* array = std::get_if<Array>(&value)) {
    if (array->size() != 1)
      throw ValueError(cat("the initial value of a reduction is one number, not an array of shape ",
                           base::tuple_text(array->shape())));
    return array->reshape({}).astype(dtype, false);
  }
  Array result =
      array::make_array(array::fresh_view(array::view_of(x).storage->device(), Shape{}, dtype));
  result.fill(std::get<Scalar>(value));
  return result;
}

std::int64_t reduced_count(const Array& x, const Axes& axes) {
  std::int64_t count = 1;
  for (int axis : axes) count *= x.shape()[axis];
  return count;
}

Array chosen(const Array& mask, const Array& x, const Array& otherwise) {
  const Operand operands[] = {mask.broadcast_to(x.shape()), x, otherwise};
  return td::apply(Op::where, operands);
}

Shape kept_shape(const Array& x, const Axes& axes, bool keepdims) {
  std::vector<bool> reduced(x.ndim());
  for (int axis : axes) reduced[axis] = true;
  Shape shape;
  for (int k = 0; k < x.ndim(); ++k)
    if (!reduced[k] || keepdims) shape.push_back(reduced[k] ? 1 : x.shape()[k]);
  return shape;
}

// Sum over number of the chosen elements; 16-bit floats add in float32.
Array mean_where(const Array& x, const Array& mask, const std::optional<Axes>& axes, bool keepdims,
                 std::optional<DType> dtype) {
  DType result = array::resolve(Reduction::mean, x.dtype(), dtype).result;
  DType wide = is_half(result) ? DType::float32 : result;
  Array total = reduce_where(Reduction::sum, x.astype(wide, false), mask, {}, axes, keepdims);
  Array number = reduce(Reduction::count_nonzero, mask.broadcast_to(x.shape()), axes, keepdims);
  return apply_two(Op::divide, total, number.astype(wide)).astype(result, false);
}

}  // namespace

Array reduce_where(Reduction op, const Array& x, const Array& where,
                   const std::optional<Operand>& initial, const std::optional<Axes>& axes,
                   bool keepdims, std::optional<DType> dtype, const Array& out) {
  const ReductionInfo& row = info(op);
  bool extreme = op == Reduction::min || op == Reduction::max;
  bool starts = extreme || op == Reduction::sum || op == Reduction::prod;
  bool truth = op == Reduction::any || op == Reduction::all;
  if (!starts && !truth && op != Reduction::mean)
    throw ValueError(cat(row.name, "() takes neither where nor initial"));
  if (initial && !starts) throw ValueError(cat(row.name, "() takes no initial value"));
  if (extreme && where && !initial)
    throw ValueError(cat("reduction operation '", row.label,
                         "' does not have an identity, so to use a where mask one has to specify "
                         "'initial'"));
  Array mask = where ? where.astype(DType::bool_, false) : where;
  Axes reduced = array::reduced_axes(row, axes, x.ndim());
  Array result;
  if (op == Reduction::mean) {
    result = mean_where(x, mask, reduced, keepdims, dtype);
  } else {
    auto types =
        array::resolve(op, x.dtype(), dtype, out ? std::optional(out.dtype()) : std::nullopt);
    Array values = x.astype(types.input, false), start;
    if (initial) start = as_value(x, *initial, types.input);
    if (where) {
      bool one = op == Reduction::prod || op == Reduction::all;
      values = chosen(mask, values, extreme ? start : as_value(x, Scalar(one), types.input));
    }
    if (initial && reduced_count(x, reduced) == 0) {
      result = start.broadcast_to(kept_shape(x, reduced, keepdims)).copy();
    } else {
      result = reduce(op, values, reduced, keepdims, types.input);
      if (initial) result = apply_two(combining(op), start, result);
    }
  }
  if (!out) return result;
  array::check_reduction_out(row, out, result.shape());
  copy_into(out, result);
  return out;
}

}  // namespace td
