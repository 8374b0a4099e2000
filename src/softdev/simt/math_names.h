// Names of SLEEF's vector functions.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace td::softdev::simt {

// The vector function for C's `name` ("expf", "pow"), "" when there is none; `part` becomes its
// number of lanes. `lanes512`: lanes of the caller's vectors on a CPU with AVX-512, else 0.
std::string vector_math_symbol(llvm::StringRef name, bool has_avx2, unsigned lanes512,
                               unsigned& part);

}  // namespace td::softdev::simt
