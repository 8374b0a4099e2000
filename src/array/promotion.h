// Which dtype an operation computes in: NumPy 2's promotion (NEP 50), casting rules and loop
// selection.
//
// Python scalars are weak: they take the dtype of the arrays they meet, unless their kind is
// higher. Python's bool is not weak.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "treadle/array.h"

namespace td::array {

enum class Casting { safe, same_kind, unsafe };

DType promote(DType a, DType b);
bool can_cast(DType from, DType to, Casting casting);

// What promotion sees of an operand: a dtype, or a weak scalar's value.
using TypeOperand = std::variant<DType, Scalar>;

// NumPy's result_type. At least one operand.
DType result_type(std::span<const TypeOperand> operands);

// The dtypes that one operation runs in.
struct Loop {
  DType inputs[3];  // what each operand is cast to
  DType result;
};

// TypeError unless `op` takes `given` operands.
void check_operand_count(Op op, std::size_t given);

// Selects the loop of `op` as NumPy does, for the operands that it takes. Throws TypeError (no
// loop), OverflowError (a weak integer that does not fit), ValueError (negative integer power).
// `dtype` forces the loop type.
Loop resolve(Op op, std::span<const TypeOperand> operands, std::optional<DType> dtype);
Loop resolve(Op op, std::span<const OperandRef> operands, std::optional<DType> dtype);

// What elements are cast to, and the dtype of the result. `dtype` as in NumPy's dtype= argument;
// without it sums, products and means are computed in what the input and an output array `out`
// have in common.
struct ReductionTypes {
  DType input, result;
};
ReductionTypes resolve(Reduction reduction, DType input, std::optional<DType> dtype,
                       std::optional<DType> out = {});

// Throws OverflowError when a weak integer does not fit an integer dtype.
void check_weak_fits(const Scalar& value, DType dtype);
// Throws unless a number of the host may be stored in an array of `dtype`: OverflowError for one
// out of an integer dtype's range (a float without its fraction), ValueError for NaN as an integer,
// TypeError for a complex number as a real one. Only bool takes them all.
void check_storable(const Scalar& value, DType dtype);

// The dtype of a scalar on its own: bool, int64, uint64, float64, complex128.
DType scalar_dtype(const Scalar& value);

// Throws TypeError unless `from` casts to `to` by the same_kind rule (out= and in-place
// operations).
void check_output_cast(std::string_view operation, DType from, DType to);

}  // namespace td::array
