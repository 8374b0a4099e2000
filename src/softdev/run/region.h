// Copies and fills of pitched regions (one, two, three dimensions) as operations of a stream.
//
// A region is rows of bytes: `pitch` from one row to the next, `slice` from one plane to the next.
// Pieces of a mebibyte, of whole rows where rows are short, are shared by all threads that ask.
// Source and destination may not overlap.
#pragma once

#include <cstddef>
#include <memory>

#include "softdev/run/context.h"

namespace td::softdev {

struct CopyRegion {
  char* to = nullptr;
  std::size_t to_pitch = 0, to_slice = 0;
  const char* from = nullptr;
  std::size_t from_pitch = 0, from_slice = 0;
  std::size_t width = 0, height = 1, depth = 1;  // bytes, rows, planes
  std::size_t bytes() const { return width * height * depth; }
};

struct FillRegion {
  char* to = nullptr;
  std::size_t pitch = 0;
  unsigned value = 0, element = 1;    // element: 1, 2 or 4 bytes
  std::size_t width = 0, height = 1;  // elements, rows
};

void copy_now(const CopyRegion& region);

Ref<Op> make_copy_op(Context& context, const CopyRegion& region);
// Copies the source aside first: the caller may reuse it at once.
Ref<Op> make_staged_copy_op(Context& context, const CopyRegion& region);
Ref<Op> make_fill_op(Context& context, const FillRegion& region);

}  // namespace td::softdev
