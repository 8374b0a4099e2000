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
// What some kernels need behind it: "complex" (cmath), "folds" (sums of whole arrays), "bfloat16",
// "declared" (calls of functions of CUDA C++).
std::string python_part(std::string_view name);

// What was printed for a Python function before, in the disk cache. `key` stands for everything
// that the text depends on; a damaged entry counts as none.
std::optional<std::string> load_python_kernel(std::string_view key);
void store_python_kernel(std::string_view key, std::string_view value);

// What a kernel is given of an array. The references live as long as the array.
struct ArrayParameter {
  std::uint64_t address;
  const Shape& shape;
  const Strides& strides;
  DType dtype;
  bool c_contiguous, f_contiguous, writeable;
};
// Pending work of the device must have been launched before (flush_all), since memory may come with
// it. ValueError: the array is on another device than the current one.
ArrayParameter array_parameter(const Array& array);

// As Kernel::launch, but `parameters[i]` points to the value of parameter i, of the parameter's own
// type and size: only their number is checked. Launches pending work first. Addresses of
// arrays come from array_parameter.
void launch_packed(const Kernel& kernel, const LaunchConfig& config, std::span<void*> parameters);

}  // namespace td
