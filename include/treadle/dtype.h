// Element types of arrays; the rows are in tables/dtypes.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace [[gnu::visibility("default")]] td {

enum class DType : std::uint8_t {
#define TD_DTYPE(name, kind, bytes, cuda, numpy) name,
#include "dtypes.def"
};

struct DTypeInfo {
  DType dtype;
  char kind;  // b bool, i signed, u unsigned, f floating, c complex
  std::size_t bytes;
  std::string_view cuda;   // spelling in generated CUDA C++
  std::string_view numpy;  // NumPy's name
};

inline constexpr DTypeInfo kDTypes[] = {
#define TD_DTYPE(name, kind, bytes, cuda, numpy) {DType::name, kind, bytes, cuda, numpy},
#include "dtypes.def"
};

constexpr const DTypeInfo& info(DType d) { return kDTypes[static_cast<std::size_t>(d)]; }
constexpr std::size_t itemsize(DType d) { return info(d).bytes; }
// float16 and bfloat16: stored in 16 bits, computed in float32 and rounded once.
constexpr bool is_half(DType d) { return info(d).kind == 'f' && info(d).bytes == 2; }

// The dtype with this NumPy name ("float32"). Throws TypeError naming `name` if there is none.
DType dtype_from_name(std::string_view name);

// Enumerators as constants, so that users write td::float32.
#define TD_DTYPE(name, kind, bytes, cuda, numpy) inline constexpr DType name = DType::name;
#include "dtypes.def"

}  // namespace td
