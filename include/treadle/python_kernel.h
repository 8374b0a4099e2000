// What kernels that are written in Python need of the core: the device functions that their text
// is printed in terms of, and a launch whose parameters are in place already.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "treadle/kernel.h"

namespace [[gnu::visibility("default")]] td {

// CUDA C++ text of namespace tdpy: Python's arithmetic, arrays, tuples, records, atomic operations.
std::string_view python_prelude();

// What was printed for a Python function before, in the disk cache. `key` stands for everything
// that the text depends on; a damaged entry counts as none.
std::optional<std::string> load_python_kernel(std::string_view key);
void store_python_kernel(std::string_view key, std::string_view value);

// As Kernel::launch, but `parameters[i]` points to the value of parameter i, of the parameter's own
// type and size: only their number is checked. Launches pending work first. Arrays whose addresses
// the values hold must be on the current device and have been exposed (Array::data does that).
void launch_packed(const Kernel& kernel, const LaunchConfig& config, std::span<void*> parameters);

}  // namespace td
