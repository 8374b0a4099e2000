// x[key] and x[key] = value.
#pragma once

#include "bind.h"
#include "treadle/indexing.h"

namespace td::python {

std::vector<AnyIndexItem> to_items(nb::handle key);
// A C-contiguous NumPy array of int64 or bool on the device, its range known.
Array to_index_array(nb::handle host);

}  // namespace td::python
