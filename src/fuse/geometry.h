// How a kernel walks its operands: axes reordered and merged, strides in elements, and for each
// operand the cheapest way to find its element.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fuse/program.h"

namespace td::fuse {

// How the text addresses an operand. Never a size or a stride value: those are parameters.
enum class Access : char {
  flat = 'c',      // the linear index itself
  constant = 'b',  // one element for every index
  unit = 'i',      // last axis has stride 1
  repeated = 'z',  // last axis has stride 0
  strided = 's',
};

struct Walk {
  Shape dims;                    // outermost first; empty for one element
  std::vector<Strides> strides;  // per operand, elements
  InlineVector<Access, 8> access;
  std::int64_t count = 1;
  bool wide = false;  // indices need 64 bits
};

// The axes listed in `axes` of `shape`, for operands with these byte strides. Axes are sorted so
// that `leader`'s strides fall, unless `keep_order`, and merged where all operands allow it.
Walk make_walk(const Shape& shape, std::span<const int> axes, std::span<const View* const> operands,
               std::size_t leader, bool keep_order);
// The walk over all axes where every operand lies in C order or is one element, without `strides`,
// which nobody needs then; nothing for other operands.
std::optional<Walk> flat_walk(const Shape& shape, std::span<const View* const> operands);

// Index arithmetic as text: splits `linear` (an expression) into coordinates `<name>0`, `<name>1`,
// … using the parameters
// `<dim>0`, …; `upto` axes are split.
std::string split_index(const std::string& linear, const std::string& name, const std::string& dim,
                        std::size_t upto);

}  // namespace td::fuse
