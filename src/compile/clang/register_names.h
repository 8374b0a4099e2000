// nvcc lets an asm statement with operands write %laneid where GCC's rules ask for %%laneid.
#pragma once

#include "clang/Lex/Preprocessor.h"

namespace td::compile {

// What stands for the percent sign of such a register in the text that Clang keeps; PTX has no use
// for it.
inline constexpr char kRegisterSign = '`';

// To be called before the preprocessor's first token: in string literals of asm statements a
// percent sign in front of a letter becomes kRegisterSign. Lengths and places stay as they are.
void mark_register_names(clang::Preprocessor& preprocessor);

}  // namespace td::compile
