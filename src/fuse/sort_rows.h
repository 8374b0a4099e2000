// What the kernels of a sort work on.
#pragma once

#include "array/operations.h"
#include "fuse/program.h"

namespace td::fuse {

struct SortRows {
  Array in;  // packed, rows one after the other
  std::int64_t length, rows;
  unsigned flip;  // ~0: descending
  bool places;    // the result is argsort's
};

// Device headers for sorting, and the typedef T.
std::string sort_headers(DType dtype);
// Passes over a key's bytes; a bool has one bit.
inline int sort_passes(DType dtype) { return static_cast<int>(itemsize(dtype)); }

// Rows that do not fit into a block, on a device with many threads. `source` is where the rows
// are.
void sort_long_rows(const SortRows& job, CUdeviceptr source, const Array& out);

}  // namespace td::fuse
