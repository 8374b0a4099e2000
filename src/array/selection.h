// What an advanced index selects, worked out to the point where a kernel only has to walk it.
#pragma once

#include "array/impl.h"
#include "treadle/indexing.h"

namespace td::array {

// An axis of the indexed array that an index array picks from.
struct IndexAxis {
  View index;           // integers, over the selection's shape
  View own;             // the same before broadcasting
  std::int64_t length;  // of the axis
  std::int64_t stride;  // of the axis, bytes
  int axis;             // for messages
};

struct Selection {
  Shape shape;                  // of the result
  std::size_t first = 0;        // where the index arrays' axes stand in it,
  Shape picked;                 // and their lengths
  View frame;                   // over `shape`: the elements at index 0 of every indexed axis
  std::vector<IndexAxis> axes;  // none is out of bounds
  bool distinct = false;        // no element is selected twice
};

}  // namespace td::array

namespace td::fuse {

// Each launches on the current stream what it says, over flushed operands.
void launch_gather(const array::Selection& selection, const array::View& out, IndexMode mode);
// `wins`: bool over the selection's shape; where it is false nothing is written. May be empty.
void launch_scatter(const array::Selection& selection, const Operand& value,
                    const array::View& wins, std::optional<Scatter> op, IndexMode mode);
// Bool over selection.picked: is this the last index that names its element?
Array last_of_each(const array::Selection& selection, IndexMode mode);

// For a C-contiguous mask: how many elements hold in front of every piece, for the functions
// below. Waits for the total.
struct MaskScan {
  Array mask;
  Array before;   // int64, one per piece, or one per 8 tiles
  Array offsets;  // int32, one per tile: how many hold in front of it of its 8 tiles; or absent
  std::int64_t piece = 0, pieces = 0, total = 0;
};
MaskScan scan_mask(const Array& mask);
// `out` (ndim, total) int64: the coordinates in `shape` of the elements that hold.
void launch_nonzero(const MaskScan& scan, const Shape& shape, const array::View& out);
// out[rank] = x[i], or x[i] = values[rank % count]; all C-contiguous.
void launch_compact(const MaskScan& scan, const array::View& x, const array::View& out);
void launch_expand(const MaskScan& scan, const array::View& x, const array::View& values);

IndexRange find_range(const array::View& packed, std::int64_t count);
void launch_bincount(const array::View& x, const array::View& weights, const array::View& out,
                     std::int64_t count, std::int64_t bins);
void launch_histogram(const array::View& x, const array::View& edges, const array::View& weights,
                      const array::View& out, std::int64_t count, std::int64_t bins, bool uniform);

}  // namespace td::fuse
