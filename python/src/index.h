// x[key] and x[key] = value.
#pragma once

#include "bind.h"

namespace td::python {

Array get_item(const Array& array, nb::handle key);
void set_item(const Array& array, nb::handle key, nb::handle value);

}  // namespace td::python
