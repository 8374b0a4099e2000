// The operations on arrays as data: rows of tables/ops.def and tables/reductions.def. Bindings,
// documentation and tests loop over these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "treadle/dtype.h"

namespace [[gnu::visibility("default")]] td {

enum class Op : std::uint16_t {
#define TD_OP(name, ...) name,
#include "ops.def"
};

enum class Reduction : std::uint16_t {
#define TD_REDUCTION(name, ...) name,
#include "reductions.def"
};

// Facts that decide special treatment of an element-wise operation.
enum class OpFlags : std::uint8_t {
  none,
  no_bool,
  compare,
  commutative,
  integer_power,
  true_division
};

// Where oracle tests draw operands from: any value of the dtype; |x| <= 8; x > 0; x >= 1; [-1, 1];
// not 0; shift counts.
enum class Domain : std::uint8_t { any, small, positive, from_one, unit, nonzero, shift };

struct OpInfo {
  Op op;
  std::string_view name;       // also the key of its documentation
  std::string_view signature;  // "TT->T"
  std::string_view loops;      // NumPy's type letters
  std::string_view body;       // CUDA C++ over x, y, z
  std::string_view dunder;     // "add" for __add__, __radd__, __iadd__; "" for none
  std::string_view aliases;    // separated by a space
  std::string_view numpy;      // the oracle's name
  OpFlags flags;
  Domain domain;
  int ulp16, ulp32, ulp64;
  constexpr int arity() const { return static_cast<int>(signature.find('-')); }
};

struct ReductionInfo {
  enum class Input : std::uint8_t { same, wide, truth, floating };
  enum class Result : std::uint8_t { same, index, bool_, real };
  Reduction reduction;
  std::string_view name;  // also the key of its documentation
  std::string_view functor;
  Input input;
  Result result;
  bool identity;  // false: an empty axis is a ValueError
  std::string_view aliases;
  std::string_view numpy;
  std::string_view label;  // NumPy's name in messages
  // argmin and argmax take one axis, or none.
  constexpr bool takes_one_axis() const {
    return reduction == Reduction::argmin || reduction == Reduction::argmax;
  }
};

inline constexpr OpInfo kOps[] = {
#define TD_OP(name, signature, loops, body, dunder, aliases, numpy, flags, domain, u16, u32, u64) \
  {Op::name, #name,          signature,      loops, body, dunder, aliases,                        \
   numpy,    OpFlags::flags, Domain::domain, u16,   u32,  u64},
#include "ops.def"
};

inline constexpr ReductionInfo kReductions[] = {
#define TD_REDUCTION(name, functor, input, result, identity, aliases, numpy, label) \
  {Reduction::name,                                                                 \
   #name,                                                                           \
   functor,                                                                         \
   ReductionInfo::Input::input,                                                     \
   ReductionInfo::Result::result,                                                   \
   identity != 0,                                                                   \
   aliases,                                                                         \
   numpy,                                                                           \
   label},
#include "reductions.def"
};

inline constexpr std::span<const OpInfo> ops() { return kOps; }
inline constexpr std::span<const ReductionInfo> reductions() { return kReductions; }
constexpr const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }
constexpr const ReductionInfo& info(Reduction r) {
  return kReductions[static_cast<std::size_t>(r)];
}

}  // namespace td
