// Sorting rows that fit into the registers of a warp.
#pragma once

#include "fuse/axis_rows.h"

namespace td::fuse {

// Rows of this length and dtype can be sorted in a warp, and are too long for counting.
bool sorts_in_a_warp(DType dtype, std::int64_t length, bool places);
// Rows of `length` packed elements at `source`, sorted into `out`; or their places, in int64.
void launch_sort_warp(CUdeviceptr source, const Array& out, DType dtype, std::int64_t length,
                      bool descending, bool places);

}  // namespace td::fuse
