// What the folders above need of the recording side beyond the public API.
#pragma once

#include "array/pending.h"

namespace td::array {

// The same values in another dtype and memory order ('C', 'F', 'A', 'K'): always a new array.
Array converted(const Array& x, DType dtype, char order);
// `x` itself when it is C-contiguous, else a packed copy.
Array packed(const Array& x);
// As `packed`, for kernels that read bool as 0 or 1: a copy of bools, whose bytes may be others.
Array packed_values(const Array& x);
// Equal strides along every axis that has more than one element.
bool same_steps(const View& a, const View& b);
// Checks that `out` may receive a result of this shape and dtype (ValueError, TypeError).
void check_out(std::string_view operation, const Array& out, const Shape& shape, DType result);
// As check_out for a reduction or a scan, whose results are cast to any dtype of `out`; only
// places of extremes want one that int64 holds.
void check_reduction_out(const ReductionInfo& row, const Array& out, const Shape& shape);
// Which axes a reduction of an array of `ndim` dimensions takes: all without `axes`; 0 and -1 mean
// none of an array without dimensions, but for mean.
Axes reduced_axes(const ReductionInfo& row, const std::optional<Axes>& axes, int ndim);

}  // namespace td::array
