// Parameter lists of user kernels: their text, and the dtypes that arguments give them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "treadle/user_kernel.h"

namespace td::userkernel {

// The dtypes of every parameter, inputs first, and of every placeholder.
struct Types {
  std::vector<DType> params;
  std::map<std::string, DType> placeholders;
};

// Outputs decide first, then input arrays, then numbers with a type, then weak numbers (NEP 50).
// `args`: inputs, or inputs and outputs. TypeError names the parameter that does not match.
Types infer_types(const std::string& kernel, const std::vector<KernelParameter>& in,
                  const std::vector<KernelParameter>& out, std::span<const KernelArg> args);

// The number as an exact `dtype`. TypeError: another kind; OverflowError or ValueError: out of
// range.
TypedScalar convert_scalar(const std::string& kernel, const KernelParameter& param,
                           const KernelArg& arg, DType dtype);

// ValueError unless `name` is a C identifier.
void check_kernel_name(const std::string& name);
// ValueError when two parameters share a name or one has a name that the kernel needs.
void check_names(const std::string& kernel, const std::vector<KernelParameter>& in,
                 const std::vector<KernelParameter>& out);

}  // namespace td::userkernel
