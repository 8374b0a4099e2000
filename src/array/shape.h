// Arithmetic on shapes and byte strides: contiguity, broadcasting, reshaping without a copy,
// overlap.
#pragma once

#include <optional>
#include <span>

#include "treadle/array.h"

namespace td::array {

// Number of elements. Throws ValueError for a negative dimension or a product beyond 2^63.
std::int64_t size_of(std::span<const std::int64_t> shape);
// 'C' or 'F'.
Strides contiguous_strides(const Shape& shape, std::size_t itemsize, char order = 'C');
// NumPy's flags: dimensions of length 1 do not matter, and an array without elements is both.
bool is_contiguous(const Shape& shape, const Strides& strides, std::size_t itemsize, char order);

// Shape of operands together; ValueError names every shape.
Shape broadcast_shapes(std::span<const Shape* const> shapes);
// Strides that repeat an array of `shape` over `target`. ValueError when that is not possible.
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target);

// Normalises negative axes; AxisError, or ValueError with the text for an axis named twice.
Axes normalize_axes(const Axes& axes, int ndim, const char* repeated = "duplicate value in 'axis'");
// Replaces one -1. ValueError as NumPy's.
Shape resolve_reshape(const Shape& wanted, std::int64_t size);
// Strides of the same elements under `to`, or nothing when only a copy can do it.
std::optional<Strides> reshape_strides(const Shape& from, const Strides& strides, const Shape& to,
                                       std::size_t itemsize);

// Strides for a new array of `shape` that follows the axis order of operands with these strides
// (NumPy's order 'K').
Strides keep_order_strides(const Shape& shape, std::span<const Strides* const> operands,
                           std::size_t itemsize);

// Lowest byte and one past the highest byte, relative to the storage.
struct Extent {
  std::int64_t begin = 0, end = 0;
};
Extent extent_of(const Shape& shape, const Strides& strides, std::int64_t offset,
                 std::size_t itemsize);
// True when two indices of the view may name the same element.
bool may_self_overlap(const Shape& shape, const Strides& strides, std::size_t itemsize);

}  // namespace td::array
