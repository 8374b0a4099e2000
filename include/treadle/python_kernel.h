// What kernels that are written in Python need of the core: the device functions that their text
// is printed in terms of, and a launch whose parameters are in place already.
#pragma once

#include <span>
#include <string_view>

#include "treadle/kernel.h"

namespace [[gnu::visibility("default")]] td {

// CUDA C++ text of namespace tdpy: Python's arithmetic, arrays, tuples, records, atomic operations.
std::string_view python_prelude();

// As Kernel::launch, but `parameters[i]` points to the value of parameter i, of the parameter's own
// type and size: only their number is checked. Launches pending work first. Arrays whose addresses
// the values hold must be on the current device and have been exposed (Array::data does that).
void launch_packed(const Kernel& kernel, const LaunchConfig& config, std::span<void*> parameters);

}  // namespace td
