// The arguments of one call of a user kernel: checked, broadcast, printed as kernel parameters and
// packed for the launch.
#pragma once

#include <string>
#include <vector>

#include "array/impl.h"
#include "fuse/geometry.h"
#include "fuse/kernel_cache.h"
#include "userkernel/parameters.h"

namespace td::userkernel {

struct Operand {
  enum class Kind : char { element = 'e', raw = 'r', scalar = 's' } kind = Kind::scalar;
  const KernelParameter* param = nullptr;
  DType dtype = DType::float64;
  bool output = false;
  Array array;  // element: already broadcast to the shape that the kernel runs over
  TypedScalar scalar{};
};

// How C++ text in a user kernel spells a dtype.
std::string_view type_name(DType dtype);
// Types of the placeholders, as typedefs; device headers for what the kernel uses.
std::string print_head(const Types& types, const std::vector<Operand>& operands,
                       const std::string& user_text);
// A user's text with a mark, so that errors name `label` and the user's own line; then a mark that
// leads back.
std::string marked(const std::string& label, const std::string& text);
// Does `text` name this identifier?
bool mentions(const std::string& text, std::string_view identifier);

// Inputs and outputs that were given, as operands. Throws TypeError or ValueError. The elements are
// not broadcast yet.
std::vector<Operand> bind(const std::string& kernel, const std::vector<KernelParameter>& in,
                          const std::vector<KernelParameter>& out, std::span<const KernelArg> args,
                          const Types& types);
// NumPy's broadcasting of every element operand of `operands`; absent when there is none.
std::optional<Shape> common_shape(const std::string& kernel, const std::vector<Operand>& operands);
// An input that shares memory with an output at other indices is replaced by a copy, as if it had
// been read first.
void separate(std::vector<Operand>& operands);

// ---- as kernel parameters ----

// A stride that the text needs per axis of the walk: none for flat and constant operands, and none
// of the last axis where it is 0 or 1.
std::size_t stride_count(const fuse::Walk& walk, std::size_t operand);
// Index of an operand's element as text: `linear` for flat ones, else coordinates `<coordinate>0` …
// times strides `<name>_0` ….
std::string place(const fuse::Walk& walk, std::size_t operand, const std::string& linear,
                  const std::string& coordinate, const std::string& name);

// Addresses, whole raw arrays and numbers: "const float* _p0, …, " and their values. Every operand
// k is called _p<k>.
std::string print_parameters(const std::vector<Operand>& operands);
void pack(fuse::Arguments& arguments, const std::vector<Operand>& operands);
// Statements that give raw arrays and numbers their names.
std::string print_locals(const std::vector<Operand>& operands);
// "const float x = _p0[<place>];", or a reference for an output.
std::string print_element(const Operand& operand, std::size_t k, const std::string& place);
// An indexer `_name` over `shape`, parameters `_name_d0` … of the kernel.
std::string print_indexer_parameters(const std::string& name, std::size_t ndim);
std::string print_indexer(const std::string& name, std::size_t ndim, const std::string& size);

// What the text of operands depends on.
void append_key(const std::vector<Operand>& operands, std::string& key);

}  // namespace td::userkernel
