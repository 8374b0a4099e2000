// One kernel's worth of work: element-wise steps over one iteration shape, in dependency order,
// with what they read and write; and for a reduction, what becomes of the last step's value.
#pragma once

#include <string>
#include <vector>

#include "array/pending.h"

namespace td::fuse {

using array::Strides;
using array::View;

struct Value {
  enum class Kind : std::uint8_t { leaf, step, scalar } kind = Kind::leaf;
  std::uint8_t index = 0;
};

struct Step {
  bool copy = false;  // the value itself, cast
  Op op{};
  std::uint8_t arity = 1;
  Value args[3];
  DType loops[3]{};               // what each argument is cast to
  DType result = DType::float64;  // what the body yields
  DType stored = DType::float64;  // what the step's value is cast to: later steps see that
};

struct Store {
  std::uint8_t step;
  View view;
};

struct ScalarOperand {
  Scalar value;
  DType dtype;
};

struct Program {
  Shape shape;
  std::vector<View> leaves;
  std::vector<ScalarOperand> scalars;
  std::vector<Step> steps;
  std::vector<Store> stores;

  // A reduction of `root` (cast to `input`) over the axes marked in `reduced`, into `out` over the
  // kept axes.
  bool reduces = false;
  Reduction reduction{};
  std::vector<bool> reduced;
  Value root;
  DType input = DType::float64;
  DType output = DType::float64;
  View out;
};

// Limits of one kernel: parameters stay within the 4 KiB that every device takes, and indices
// within a byte.
inline constexpr std::size_t kMaxOperands = 40;
inline constexpr std::size_t kMaxSteps = 64;

DType dtype_of(const Program& program, Value value);

// ---- printing (print.cpp) ----
// Device headers, step functions and `element`, which computes every store's value (or the
// reduction's input).
std::string print_prelude(const Program& program, bool wide_index);
std::string parameter_list(const Program& program);
std::string scalar_arguments(const Program& program);
std::string_view cuda_name(DType dtype);
// Device headers for kernels that are printed by hand.
std::string device_headers(bool half, bool complex, bool reduce, bool philox);

// Appends what the text depends on, and nothing else.
void append_key(const Program& program, std::string& key);

// ---- launching (launch_map.cpp, launch_reduce.cpp) ----
void launch_map(driver::DeviceState& device, CUstream stream, const Program& program);
void launch_reduce(driver::DeviceState& device, CUstream stream, const Program& program);

}  // namespace td::fuse
