// Kernels from an expression: td::ElementwiseKernel and td::ReductionKernel.
//
// A parameter list is text, "T x, raw U y, float32 z". A type of one letter is a placeholder that
// the arguments decide, `raw` hands the whole array to the expression, and every other parameter is
// one element at a time, broadcast as NumPy does. What the expression may use stands in
// docs/kernels.md. Arrays of any layout are read rightly; a compile error names the kernel and
// quotes the expression.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "treadle/kernel.h"

namespace [[gnu::visibility("default")]] td {

namespace userkernel {
class ElementwiseState;
class ReductionState;
}  // namespace userkernel

struct KernelParameter {
  std::string name;
  std::string type;            // as written: "T", "float32"
  std::optional<DType> dtype;  // absent for a placeholder
  bool raw = false;
  bool is_const = true;  // inputs, unless marked _non_const
};

// "T x, raw U y". ValueError names what cannot be read.
std::vector<KernelParameter> parse_parameters(const std::string& text, bool is_const);

struct ElementwiseOptions {
  std::string name = "kernel";
  std::string preamble;               // stands in front of the kernel
  std::string loop_prep, after_loop;  // statements in front of and behind each thread's loop
  std::vector<std::string> options;   // for the compiler
};

struct ElementwiseCall {
  std::int64_t size = -1;  // number of indices; needed when every array is raw, else not allowed
  int block_size = 256;    // most threads of a block
};

class ElementwiseKernel {
 public:
  ElementwiseKernel(const std::string& in_params, const std::string& out_params,
                    std::string operation, ElementwiseOptions options = {});

  // Runs on the current stream. `args` are the inputs, or inputs and outputs; outputs that are not
  // given are new arrays. Returns the outputs. TypeError: a dtype that does not match or cannot be
  // inferred, a wrong count. ValueError: shapes, size, read-only outputs.
  std::vector<Array> operator()(std::span<const KernelArg> args,
                                const ElementwiseCall& call = {}) const;

  const std::string& name() const;
  const std::vector<KernelParameter>& in_params() const;
  const std::vector<KernelParameter>& out_params() const;
  // The texts that were compiled so far, each under the dtypes of its arrays.
  std::vector<std::pair<std::vector<DType>, std::string>> codes() const;

 private:
  std::shared_ptr<userkernel::ElementwiseState> state_;
};

struct ReductionOptions {
  std::string name = "reduce_kernel";
  std::string reduce_type;  // type of `a` and `b`; empty: that of the first output
  std::string preamble;
  std::vector<std::string> options;
};

struct ReductionCall {
  std::optional<Axes> axes;  // all when absent
  bool keepdims = false;
};

class ReductionKernel {
 public:
  // `identity` absent: an empty reduction is a ValueError.
  ReductionKernel(const std::string& in_params, const std::string& out_params, std::string map_expr,
                  std::string reduce_expr, std::string post_map_expr,
                  std::optional<std::string> identity, ReductionOptions options = {});

  // As ElementwiseKernel. The order in which elements are combined depends on the shapes and
  // the device only, so a result repeats exactly.
  std::vector<Array> operator()(std::span<const KernelArg> args,
                                const ReductionCall& call = {}) const;

  const std::string& name() const;
  const std::vector<KernelParameter>& in_params() const;
  const std::vector<KernelParameter>& out_params() const;
  std::vector<std::pair<std::vector<DType>, std::string>> codes() const;

 private:
  std::shared_ptr<userkernel::ReductionState> state_;
};

}  // namespace td
