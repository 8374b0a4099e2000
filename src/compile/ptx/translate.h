// Inline PTX -> CUDA C++. One asm statement becomes one function whose body calls what the device
// headers (td_ptx.h) offer, so that everything behind sees ordinary CUDA.
//
// Registers become variables, predicated instructions `if`, labels and branches `goto`. The carry
// flag is a variable of the thread (td_ptx.h) and lives from one asm statement to the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/ptx/parse.h"

namespace td::compile::ptx {

// An operand of the asm statement, in the order of %0, %1 ...
struct AsmOperand {
  char constraint = 'r';   // h, r, l, f or d
  bool output = false;     // for "+r" too
  int same_as = -1;        // an input that shares the register of this output
  bool immediate = false;  // "n": `value` is all there is
  long long value = 0;
};

// The C++ type of a constraint's register, nullptr when the software device has no such constraint.
const char* register_type(char constraint);

struct Function {
  std::string text;     // a definition in C++
  bool half = false;    // needs <cuda_fp16.h>
  bool bfloat = false;  // needs <cuda_bf16.h>
};

// void name(outputs by reference and inputs by value, both as register_type says; immediates and
// shared inputs are no parameters). Throws Refused.
Function translate(std::string_view text, const std::vector<AsmOperand>& operands,
                   const std::string& name);

}  // namespace td::compile::ptx
