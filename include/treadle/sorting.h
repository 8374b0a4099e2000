// Scans, sorting and searching along one axis.
//
// Order is NumPy's: NaN stands behind every number, complex numbers are ordered by real part, then
// imaginary part (a NaN in either part stands behind), -0.0 equals 0.0. Every sort is stable,
// descending ones too. Results are new arrays; inputs are never changed.
#pragma once

#include <optional>
#include <span>

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {

// Running `op` (sum, prod, min or max) along `axis`: element k combines elements 0 … k. Dtypes are
// those of the reduction (bool and integers sum in 64 bits). float16 accumulates in float32 and
// rounds every element once. Terms are grouped by shape alone, so a scan repeats to the bit. `out`
// is cast to, as in reduce. ValueError for other reductions.
Array scan(Reduction op, const Array& x, int axis, std::optional<DType> dtype = {},
           const Array& out = {});

// Values in order along `axis`.
Array sort(const Array& x, int axis = -1, bool descending = false);
// The places (int64) that sort would take its elements from.
Array argsort(const Array& x, int axis = -1, bool descending = false);

// The elements that each sorted row (along the last axis) has at `places`, in their order: shape
// leading + {places.size()}. A few places of a few long rows of 32- or 64-bit numbers are found
// without sorting all, by a sample that says between which values they lie; that waits for counts.
// IndexError for places out of bounds.
Array sorted_elements(const Array& x, std::span<const std::int64_t> places);
// Each row with the element at `place` where sorting puts it, what is not larger in front of it and
// what is not smaller behind; and the places that these elements come from. Long rows as above,
// each part in its order; others are sorted whole.
Array partition(const Array& x, std::int64_t place);
Array argpartition(const Array& x, std::int64_t place);

// For tests: sorts, reduces and selects as on a device that holds few threads, or many. Absent: as
// the device is.
void work_as_if(std::optional<bool> few_threads);

// For each of `values`, where it belongs in 1-D ascending `sorted`: the first place that keeps the
// order (the last with `right`), as int64. `sorter`: sorted[sorter] is in order. Both arrays must
// have one dtype.
Array searchsorted(const Array& sorted, const Array& values, bool right = false,
                   const Array& sorter = {});

// ---- moving rows about, for what is built on sorting; along the last axis ----
// result[..., k] = x[..., index[..., k]]; leading shapes are equal or `x` is 1-D. Places must be
// within the row (they are results of argsort and its like): others read 0.
Array gather(const Array& x, const Array& index);
// result[..., index[..., k]] = x[..., k]: `index` is a permutation of each row.
Array scatter(const Array& x, const Array& index);

}  // namespace td
