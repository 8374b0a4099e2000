// What CUDA's type names mean for a kernel argument: kind, dtype, size, alignment.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compile/cuda_lexer.h"
#include "treadle/kernel.h"

namespace td::compile {

// A type as far as it is known. Unknown stays unknown: never a guess.
struct TypeFacts {
  ParamInfo::Kind kind = ParamInfo::Kind::unknown;
  std::optional<DType>
      dtype;  // of the scalar, of the complex aggregate, or of the pointer's element
  std::size_t size = 0, align = 0;
  bool is_const = false;  // the type itself, or of a pointer: what it points to
  bool no_word =
      false;  // a macro for nothing or for __restrict__ and the like: skipped where it stands
  bool operator==(const TypeFacts&) const = default;
};

// Names that the source itself gives to types (typedef, using, struct, a #define of a type), and
// names whose meaning is hidden (other macros, template parameters, two different definitions):
// those map to an unknown TypeFacts.
using TypeNames = std::map<std::string, TypeFacts, std::less<>>;

// What `#define name body` makes of the name.
TypeFacts macro_facts(std::string_view name, std::string_view body, const TypeNames& names);

// One parameter declaration, default argument removed: "const float* __restrict__ x", "unsigned
// long long n", "float a[]", "T v". A declaration that is not understood gives kind unknown; the
// name is read where there is one.
ParamInfo read_parameter(std::span<const Token> tokens, const TypeNames& names);

// The facts and the declared name of `typedef` (without the keyword and the semicolon), same
// grammar.
TypeFacts facts_of(const ParamInfo& parameter);

}  // namespace td::compile
