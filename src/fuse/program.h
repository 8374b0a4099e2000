// One kernel's worth of work: element-wise steps over one iteration shape, in dependency order,
// with what they read and write; and for a reduction, what becomes of the last step's value.
#pragma once

#include <string>
#include <vector>

#include "array/pending.h"

namespace td::fuse {

using array::View;

struct Value {
  enum class Kind : std::uint8_t { leaf, step, scalar, root } kind = Kind::leaf;
  std::uint8_t index = 0;
};

struct Step {
  bool copy = false;  // the value itself, cast
  bool kept = false;  // one value for each result of the reductions, not for each index
  Op op{};
  std::uint8_t arity = 1;
  std::uint8_t stage = 0;
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

// A reduction of `value`, cast to `input`.
struct Root {
  Reduction reduction{};
  Value value;
  DType input = DType::float64;
  DType output = DType::float64;
  std::uint8_t stage = 0;
  double correction = 0;  // taken off the number of elements
};

// A root or a kept step that goes to memory; strides along reduced axes are 0.
struct KeptStore {
  Value value;
  View view;
};

// Every view is over `shape`.
//
// With reductions, work is in stages: stage s runs over all indices, reduces its roots over the
// axes marked in `reduced`, and computes its kept steps; the steps over all indices of later stages
// see what earlier ones gave. A full step of an earlier stage is computed again where it is needed.
struct Program {
  Shape shape;
  std::vector<View> leaves;
  std::vector<ScalarOperand> scalars;
  std::vector<Step> steps;
  std::vector<Store> stores;  // of steps that are not kept

  std::vector<Root> roots;
  std::vector<bool> reduced;
  std::vector<KeptStore> kept_stores;

  bool reduces() const { return !roots.empty(); }
  int stages() const;
  // One reduction, and nothing but element-wise work in front of it.
  bool plain_reduction() const;
};

// Limits of one kernel: parameters stay within the 4 KiB that every device takes, and indices
// within a byte.
inline constexpr std::size_t kMaxOperands = 40;
inline constexpr std::size_t kMaxSteps = 64;
// Of a reduction's kernel: accumulators of a block stay within 48 KiB of shared memory.
inline constexpr std::size_t kMaxAccumulatorBytes = 160;
std::size_t accumulator_bytes(Reduction reduction, DType input);
// Rows that one block walks several times; they stay in a cache meanwhile.
inline constexpr std::int64_t kLongestRow = 8192;
// The same for threads that walk down a column each.
inline constexpr std::int64_t kLongestColumn = 32;
// True when a reduction of operands with these strides gives each thread a result of its own
// (otherwise several threads share one).
bool thread_per_result(const Shape& shape, const std::vector<bool>& reduced,
                       const std::vector<const View*>& leaves);

DType dtype_of(const Program& program, Value value);

// ---- printing (print.cpp) ----
// Device headers, step functions and `element`, which computes every store's value, or the input of
// a plain reduction.
std::string print_prelude(const Program& program, bool wide_index);
// The same for work in stages. For each stage s: `element<s>`, which computes the inputs of its
// roots (In<s>) and its stores' values z<k>; the functor F<s> of all its roots with the accumulator
// A<s>; and `results<s>`, which computes its kept steps.
std::string print_stages_prelude(const Program& program, bool wide_index);
// What the functions of a stage take; the kernel calls them with it.
struct StageUse {
  std::vector<std::size_t> roots, stores, kept;  // of this stage
  std::vector<bool> leaves, steps;               // used by `element<s>`
  std::vector<bool> kept_leaves;                 // used by `results<s>`
};
StageUse stage_use(const Program& program, int stage);
// Headers and functors alone, for the kernel that combines partial accumulators.
std::string print_finish_prelude(const Program& program, bool wide_index);
std::string parameter_list(const Program& program);
std::string scalar_arguments(const Program& program);
std::string_view cuda_name(DType dtype);
// The type that memory is read as. A bool is a byte there, and any byte but 0 means true: views of
// other dtypes, and memory that a host or a kernel wrote, hold others than 1.
std::string_view read_name(DType dtype);
// Device headers for kernels that are printed by hand.
std::string device_headers(bool half, bool complex, bool reduce, bool philox);

// Appends what the text depends on, and nothing else.
void append_key(const Program& program, std::string& key);

// ---- launching (launch_map.cpp, launch_reduce.cpp: plain reductions, launch_staged.cpp) ----
// False when it was not the program's kernel that was launched, but one for each of its steps
// (step_by_step.h).
bool launch_map(driver::DeviceState& device, CUstream stream, const Program& program);
// Loads the kernel that launch_map would launch, unless that takes a compiler: then false.
bool load_map(driver::DeviceState& device, const Program& program);
void launch_reduce(driver::DeviceState& device, CUstream stream, const Program& program);
void launch_staged(driver::DeviceState& device, CUstream stream, Program program);

}  // namespace td::fuse
