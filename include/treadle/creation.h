// Sequences and views beyond the methods of td::Array.
#pragma once

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

// start + i * step for i in [0, count), in the arithmetic of `dtype`: floating types round the
// first two elements and take their difference as the step, as NumPy does.
Array sequence(double start, double step, std::int64_t count, DType dtype);
// The same in whole numbers modulo 2^64, cut to `dtype`; every integer is exact.
Array sequence(std::int64_t start, std::int64_t step, std::int64_t count, DType dtype);

// A view of the memory of `x`: shape, byte strides and an offset in bytes from the first element of
// `x`, read as `dtype`. ValueError when a part of it lies outside of the memory that `x` stands in.
Array strided_view(const Array& x, const Shape& shape, const Strides& strides, std::int64_t offset,
                   DType dtype, bool writeable);

// Memory of somebody else on `device`, alive as long as `owner` is. `address` is the first element.
Array foreign_array(const Device& device, std::uint64_t address, const Shape& shape,
                    const Strides& strides, DType dtype, std::shared_ptr<void> owner,
                    bool writeable);

// True when the extents in memory of two arrays overlap.
bool may_share_memory(const Array& a, const Array& b);

}  // namespace td
