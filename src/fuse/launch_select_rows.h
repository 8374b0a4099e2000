// Elements by their place in sorted order of many rows: host side of select_rows.cuh.
#pragma once

#include <span>

#include "fuse/axis_rows.h"

namespace td::fuse {

// Is finding so many places in rows of this length and dtype less work than sorting them?
bool selects_rows(const Array& table, std::size_t places);
// `table` (rows, length) and `out` (rows, places) are packed; places rise and are within a row.
void launch_select_rows(const Array& table, std::span<const std::int64_t> places, const Array& out);

}  // namespace td::fuse
