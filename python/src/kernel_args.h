// Python objects as kernel arguments.
#pragma once

#include <vector>

#include "bind.h"

namespace td::python {

// A tuple or list of arrays, numbers, NumPy scalars and pointers. TypeError names the first that a
// kernel cannot take.
std::vector<KernelArg> to_kernel_args(PyObject* object);
// A grid or block size: (x,), (x, y), (x, y, z), a list of these, or an int.
Dim3 to_dim3(PyObject* object, const char* what);

}  // namespace td::python
