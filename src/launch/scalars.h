// Numbers and C types: what a number is, and its bytes as another type when that is exact.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "treadle/kernel.h"

namespace td::launch {

enum class Fit {
  exact,
  rounded,       // a floating type that cannot hold the value exactly; the nearest one was written
  out_of_range,  // the type cannot hold it at all
  wrong_kind,    // a fraction for an integer, a complex number for a real one
};

// Writes `value` as `dtype` to `out` (itemsize bytes). Integers take integers only, whatever the
// value.
Fit write_scalar(const Scalar& value, DType dtype, unsigned char* out);

// The number that a typed scalar holds. float16, bfloat16 and float32 become double, exactly.
Scalar value_of(const TypedScalar& typed);

// "2.5 (float)", "7 (int)", "True (bool)", "1+2j (complex)".
std::string describe(const Scalar& value);
// "-2147483648 to 2147483647" of an integer type; "" for others.
std::string range_text(DType dtype);

}  // namespace td::launch
