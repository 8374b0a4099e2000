#include "array/promotion.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "base/text.h"
#include "treadle/error.h"

namespace td {

DType dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kDTypes)
    if (row.numpy == name) return row.dtype;
  throw TypeError(
      base::cat("there is no dtype named '", name,
                "'; use one of bool, int8 to int64, uint8 to uint64, float16 to float64, bfloat16, "
                "complex64, complex128"));
}

}  // namespace td

namespace td::array {
namespace {

using base::cat;

DType of_kind(char kind, std::size_t bytes) {
  for (const DTypeInfo& row : kDTypes)
    if (row.kind == kind && row.bytes == bytes) return row.dtype;
  throw InternalError(
      cat("no dtype of kind ", kind, " with ", bytes, " bytes; please report this"));
}

int rank(char kind) { return static_cast<int>(std::string_view("buifc").find(kind)); }

// Bytes of the smallest float that holds every integer of this size: what NumPy pairs it with.
std::size_t float_bytes_for_integer(std::size_t bytes) {
  return bytes == 1 ? 2 : bytes == 2 ? 4 : 8;
}

DType signed_with_unsigned(const DTypeInfo& i, const DTypeInfo& u) {
  if (u.bytes < i.bytes) return i.dtype;
  return u.bytes == 8 ? DType::float64 : of_kind('i', 2 * u.bytes);
}

// NumPy's type letters of ops.def, in the order of tables/dtypes.def.
constexpr std::string_view kLetters = "?bhiqBHIQefdFDE";
DType from_letter(char letter) { return static_cast<DType>(kLetters.find(letter)); }

// float16 stands first in the table and is the one that NumPy pairs with int8; bfloat16 has rules
// of its own, those of ml_dtypes: it holds numbers of 8 bits, and float32 holds it. It has no dtype
// in common with float16 and wider integers.
std::optional<DType> with_bfloat16(DType other) {
  const DTypeInfo& row = info(other);
  if (other == DType::bfloat16 || row.bytes == 1) return DType::bfloat16;
  if (row.kind == 'c' || (row.kind == 'f' && row.bytes > 2)) return other;
  return {};
}

std::optional<DType> common(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::bfloat16) return with_bfloat16(b);
  if (b == DType::bfloat16) return with_bfloat16(a);
  const DTypeInfo *low = &info(a), *high = &info(b);
  if (rank(low->kind) > rank(high->kind)) std::swap(low, high);
  if (low->kind == 'b') return high->dtype;
  if (low->kind == high->kind) return low->bytes > high->bytes ? low->dtype : high->dtype;
  if (high->kind == 'i') return signed_with_unsigned(*high, *low);
  std::size_t real_bytes = high->kind == 'c' ? high->bytes / 2 : high->bytes;
  std::size_t need = low->kind == 'f' ? low->bytes : float_bytes_for_integer(low->bytes);
  std::size_t bytes = std::max(real_bytes, need);
  return of_kind(high->kind, high->kind == 'c' ? 2 * bytes : bytes);
}

// What the loops of an element-wise operation are searched with: two dtypes without a common one
// meet in float32 or float64.
DType promote_operands(DType a, DType b) {
  if (auto d = common(a, b)) return *d;
  return promote(a == DType::bfloat16 ? DType::float32 : a,
                 b == DType::bfloat16 ? DType::float32 : b);
}

bool is_integer(DType d) { return info(d).kind == 'i' || info(d).kind == 'u'; }

DType real_of(DType d) {
  return d == DType::complex64 ? DType::float32 : d == DType::complex128 ? DType::float64 : d;
}

DType with_weak(DType strong, const Scalar& value) {
  char kind = info(scalar_dtype(value)).kind;
  char have = info(strong).kind;
  if (kind == 'b') return promote(strong, DType::bool_);
  if (kind == 'i' || kind == 'u') return have == 'b' ? scalar_dtype(value) : strong;
  if (kind == 'f') return rank(have) < rank('f') ? DType::float64 : strong;
  if (have == 'c') return strong;
  return rank(have) == rank('f') && itemsize(strong) < 8 ? DType::complex64 : DType::complex128;
}

// The strong dtypes by `pair`, then the weak scalars.
DType combine(std::span<const TypeOperand> operands, DType (*pair)(DType, DType)) {
  std::optional<DType> strong;
  for (const TypeOperand& operand : operands)
    if (const auto* d = std::get_if<DType>(&operand)) strong = strong ? pair(*strong, *d) : *d;
  for (const TypeOperand& operand : operands)
    if (const auto* s = std::get_if<Scalar>(&operand))
      strong = strong ? with_weak(*strong, *s) : scalar_dtype(*s);
  if (!strong) throw ValueError("at least one array or dtype is required");
  return *strong;
}

std::string dtype_text(DType d) { return cat("dtype('", info(d).numpy, "')"); }

[[noreturn]] void no_loop(const OpInfo& row, DType promoted) {
  if (row.flags == OpFlags::no_bool && promoted == DType::bool_) {
    if (row.op == Op::subtract)
      throw TypeError(
          "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the "
          "`^` operator, or the "
          "logical_xor function instead.");
    if (row.op == Op::negative)
      throw TypeError(
          "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or "
          "the logical_not "
          "function instead.");
    throw TypeError(cat("ufunc '", row.name,
                        "' did not contain a loop with signature matching types bool; convert "
                        "the operand with astype first"));
  }
  throw TypeError(cat("ufunc '", row.name, "' not supported for the input types (",
                      info(promoted).numpy,
                      "), and the inputs could not be safely coerced to any supported types "
                      "according to the casting "
                      "rule ''safe''"));
}

// bfloat16 is computed wherever float16 is.
bool has_loop(const OpInfo& row, DType dtype) {
  if (dtype == DType::bfloat16) dtype = DType::float16;
  return row.loops.find(kLetters[static_cast<std::size_t>(dtype)]) != std::string_view::npos;
}

// The first loop that every operand casts to safely, each by itself: int8 with uint8 divides in
// float16. A weak scalar counts through the promoted dtype.
DType select_loop(const OpInfo& row, std::span<const TypeOperand> operands, DType promoted) {
  if (promoted == DType::bfloat16 && has_loop(row, promoted)) return promoted;
  if (row.flags == OpFlags::no_bool && promoted == DType::bool_) no_loop(row, promoted);
  if (row.flags == OpFlags::true_division && rank(info(promoted).kind) < rank('f'))
    return DType::float64;
  auto fits = [&](DType loop) {
    for (const TypeOperand& operand : operands) {
      const auto* dtype = std::get_if<DType>(&operand);
      if (!can_cast(dtype ? *dtype : promoted, loop, Casting::safe)) return false;
    }
    return true;
  };
  for (char letter : row.loops)
    if (fits(from_letter(letter))) return from_letter(letter);
  no_loop(row, promoted);
}

bool weak_fits(const Scalar& value, DType dtype) {
  if (!is_integer(dtype)) return true;
  int bits = static_cast<int>(8 * itemsize(dtype));
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    if (info(dtype).kind == 'u')
      return *i >= 0 && (bits == 64 || static_cast<std::uint64_t>(*i) < (std::uint64_t{1} << bits));
    return bits == 64 ||
           (*i >= -(std::int64_t{1} << (bits - 1)) && *i < (std::int64_t{1} << (bits - 1)));
  }
  if (const auto* u = std::get_if<std::uint64_t>(&value)) {
    int limit = info(dtype).kind == 'u' ? bits : bits - 1;
    return limit == 64 || *u < (std::uint64_t{1} << limit);
  }
  return true;
}

// Comparisons are exact where the promoted dtype would not be: signed against uint64, and weak
// integers of any size.
bool exact_comparison(std::span<const TypeOperand> operands, DType promoted, Loop& loop) {
  DType sides[2];
  bool exact = false;
  for (int k = 0; k < 2; ++k) {
    if (const auto* scalar = std::get_if<Scalar>(&operands[k])) {
      sides[k] = scalar_dtype(*scalar);
      exact = exact || (is_integer(sides[k]) && !weak_fits(*scalar, promoted));
    } else {
      sides[k] = std::get<DType>(operands[k]);
    }
  }
  for (DType side : sides)
    if (rank(info(side).kind) >= rank('f')) return false;
  exact = exact || promoted == DType::float64;
  if (!exact) return false;
  for (int k = 0; k < 2; ++k)
    loop.inputs[k] = info(sides[k]).kind == 'i' ? DType::int64 : DType::uint64;
  loop.result = DType::bool_;
  return true;
}

// The operands whose dtypes select T.
std::vector<TypeOperand> selecting(const OpInfo& row, std::span<const TypeOperand> operands) {
  std::vector<TypeOperand> out;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (row.signature[k] == 'T') out.push_back(operands[k]);
  return out;
}

void check_scalars(const OpInfo& row, std::span<const TypeOperand> operands, DType loop) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const auto* value = std::get_if<Scalar>(&operands[k]);
    if (!value || row.signature[k] != 'T') continue;
    // where() chooses and does not compute: NumPy lets its numbers wrap.
    if (row.op != Op::where) check_weak_fits(*value, loop);
    const auto* i = std::get_if<std::int64_t>(value);
    if (row.flags == OpFlags::integer_power && k == 1 && is_integer(loop) && i && *i < 0)
      throw ValueError("Integers to negative integer powers are not allowed.");
  }
}

// An operand that the row wants as int32 must be an integer.
void check_integer_operands(const OpInfo& row, std::span<const TypeOperand> operands) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (row.signature[k] != 'i') continue;
    const auto* dtype = std::get_if<DType>(&operands[k]);
    DType own = dtype ? *dtype : scalar_dtype(std::get<Scalar>(operands[k]));
    if (!can_cast(own, DType::int64, Casting::safe)) no_loop(row, own);
  }
}

DType forced_loop(const OpInfo& row, std::span<const TypeOperand> operands, DType dtype) {
  bool boolean_result = row.signature.back() == '?';
  if (boolean_result && dtype == DType::bool_) {
    auto chosen = selecting(row, operands);
    return select_loop(row, chosen, combine(chosen, promote_operands));
  }
  if (!has_loop(row, dtype))
    throw TypeError(cat("No loop matching the specified signature and casting was found for ufunc ",
                        row.name, " with dtype ", info(dtype).numpy));
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const auto* from = std::get_if<DType>(&operands[k]);
    if (from && row.signature[k] == 'T' && !can_cast(*from, dtype, Casting::same_kind))
      throw TypeError(cat("Cannot cast ufunc '", row.name, "' input ", k, " from ",
                          dtype_text(*from), " to ", dtype_text(dtype),
                          " with casting rule 'same_kind'"));
  }
  return dtype;
}

}  // namespace

DType promote(DType a, DType b) {
  if (auto d = common(a, b)) return *d;
  throw TypeError(cat("the dtypes ", info(a).numpy, " and ", info(b).numpy,
                      " have no common dtype; convert one of them with astype"));
}

bool can_cast(DType from, DType to, Casting casting) {
  if (casting == Casting::unsafe || common(from, to) == to) return true;
  return casting == Casting::same_kind && rank(info(from).kind) <= rank(info(to).kind);
}

DType scalar_dtype(const Scalar& value) {
  constexpr DType kinds[] = {DType::bool_, DType::int64, DType::uint64, DType::float64,
                             DType::complex128};
  return kinds[value.index()];
}

DType result_type(std::span<const TypeOperand> operands) { return combine(operands, promote); }

void check_weak_fits(const Scalar& value, DType dtype) {
  if (weak_fits(value, dtype)) return;
  std::string text = std::visit(
      [](const auto& v) {
        if constexpr (std::is_integral_v<std::decay_t<decltype(v)>>)
          return std::to_string(v);
        else
          return std::string();
      },
      value);
  throw OverflowError(cat("Python integer ", text, " out of bounds for ", info(dtype).numpy));
}

void check_storable(const Scalar& value, DType dtype) {
  const DTypeInfo& row = info(dtype);
  check_weak_fits(value, dtype);
  if (row.kind == 'b') return;
  if (std::holds_alternative<std::complex<double>>(value) && row.kind != 'c')
    throw TypeError(
        cat("a complex value cannot be stored in an array of ", row.numpy, "; take its real part"));
  const double* real = std::get_if<double>(&value);
  if (!real || !is_integer(dtype)) return;
  if (std::isnan(*real)) throw ValueError("cannot convert float NaN to integer");
  if (std::isinf(*real)) throw OverflowError("cannot convert float infinity to integer");
  int bits = static_cast<int>(8 * row.bytes);
  double whole = std::trunc(*real), end = std::ldexp(1.0, row.kind == 'u' ? bits : bits - 1);
  if (whole >= end || whole < (row.kind == 'u' ? 0.0 : -end))
    throw OverflowError(cat("Python float ", *real, " out of bounds for ", row.numpy));
}

void check_operand_count(Op op, std::size_t given) {
  const OpInfo& row = info(op);
  if (given != static_cast<std::size_t>(row.arity()))
    throw TypeError(
        cat(row.name, "() takes ", row.arity(), " operands but ", given, " were given"));
}

Loop resolve(Op op, std::span<const TypeOperand> operands, std::optional<DType> dtype) {
  const OpInfo& row = info(op);
  check_operand_count(op, operands.size());
  Loop loop{};
  DType t;
  if (dtype) {
    t = forced_loop(row, operands, *dtype);
  } else {
    auto chosen = selecting(row, operands);
    DType promoted = combine(chosen, promote_operands);
    if (row.flags == OpFlags::compare && exact_comparison(operands, promoted, loop)) return loop;
    t = select_loop(row, chosen, promoted);
  }
  check_scalars(row, operands, t);
  check_integer_operands(row, operands);
  for (std::size_t k = 0; k < operands.size(); ++k)
    loop.inputs[k] = row.signature[k] == '?'   ? DType::bool_
                     : row.signature[k] == 'i' ? DType::int32
                                               : t;
  char result = row.signature.back();
  loop.result = result == '?' ? DType::bool_ : result == 'R' ? real_of(t) : t;
  return loop;
}

namespace {

// What decides about an operand's part in the choice of a loop: the dtype of an array; the kind of
// a scalar, where its value does not matter. Integers from 0 to 127 fit every dtype.
enum TypeClass : std::size_t {
  kWeakBool = std::size(kDTypes),
  kWeakSmallInteger,
  kWeakFloat,
  kWeakComplex,
  kNoOperand,
  kTypeClasses,
};

std::optional<std::size_t> class_of(const OperandRef& operand) {
  if (operand.array) return static_cast<std::size_t>(operand.array->dtype());
  if (std::holds_alternative<double>(*operand.scalar)) return kWeakFloat;
  if (const auto* i = std::get_if<std::int64_t>(operand.scalar))
    return *i >= 0 && *i <= 127 ? std::optional<std::size_t>(kWeakSmallInteger) : std::nullopt;
  if (std::holds_alternative<bool>(*operand.scalar)) return kWeakBool;
  if (std::holds_alternative<std::complex<double>>(*operand.scalar)) return kWeakComplex;
  return {};
}

Loop resolve_anew(Op op, std::span<const OperandRef> operands, std::optional<DType> dtype) {
  TypeOperand types[kMostOperands];
  check_operand_count(op, operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].array)
      types[k] = operands[k].array->dtype();
    else
      types[k] = *operands[k].scalar;
  }
  return resolve(op, std::span<const TypeOperand>(types, operands.size()), dtype);
}

}  // namespace

// The loops of up to two operands are remembered by the classes of these.
Loop resolve(Op op, std::span<const OperandRef> operands, std::optional<DType> dtype) {
  static std::atomic<std::uint32_t> known[std::size(kOps)][kTypeClasses][kTypeClasses];
  static_assert(sizeof(Loop) == sizeof(std::uint32_t) && std::size(kDTypes) < 255);
  std::size_t count = operands.size();
  if (dtype || count == 0 || count > 2) return resolve_anew(op, operands, dtype);
  std::optional<std::size_t> first = class_of(operands[0]), second = kNoOperand;
  if (count == 2) second = class_of(operands[1]);
  if (!first || !second) return resolve_anew(op, operands, dtype);
  std::atomic<std::uint32_t>& slot = known[static_cast<std::size_t>(op)][*first][*second];
  std::uint32_t seen = slot.load(std::memory_order_relaxed);
  if (seen) return std::bit_cast<Loop>(~seen);
  Loop loop = resolve_anew(op, operands, dtype);
  slot.store(~std::bit_cast<std::uint32_t>(loop), std::memory_order_relaxed);
  return loop;
}

ReductionTypes resolve(Reduction reduction, DType input, std::optional<DType> dtype,
                       std::optional<DType> out) {
  using Input = ReductionInfo::Input;
  const ReductionInfo& row = info(reduction);
  ReductionTypes types{input, input};
  char kind = info(input).kind;
  bool follows_out =
      row.input == Input::wide || (row.input == Input::floating && rank(kind) >= rank('f'));
  if (out && !dtype && follows_out) dtype = promote_operands(input, *out);
  if (dtype && (row.input == Input::wide || row.input == Input::floating)) {
    types.input = *dtype;
  } else if (row.input == Input::truth) {
    types.input = DType::bool_;
  } else if (row.input == Input::wide && rank(kind) < rank('f')) {
    types.input = kind == 'u' ? DType::uint64 : DType::int64;
  } else if (row.input == Input::floating && rank(kind) < rank('f')) {
    types.input = DType::float64;
  }
  types.result = row.result == ReductionInfo::Result::index   ? DType::int64
                 : row.result == ReductionInfo::Result::bool_ ? DType::bool_
                 : row.result == ReductionInfo::Result::real  ? real_of(types.input)
                                                              : types.input;
  return types;
}

void check_output_cast(std::string_view operation, DType from, DType to) {
  if (can_cast(from, to, Casting::same_kind)) return;
  throw TypeError(cat("Cannot cast ufunc '", operation, "' output from ", dtype_text(from), " to ",
                      dtype_text(to),
                      " with casting rule 'same_kind'; convert the result with astype"));
}

}  // namespace td::array
