// nvcc lets an asm statement with operands write %laneid where GCC's rules ask for %%laneid.
#pragma once

#include <functional>

#include "clang/Lex/Token.h"

namespace td::compile {

// What stands for the percent sign of such a register in the text that Clang keeps; PTX has no use
// for it.
inline constexpr char kRegisterSign = '`';

// For the preprocessor to call from its first token on (setTokenWatcher): in string literals of asm
// statements a percent sign in front of a letter becomes kRegisterSign. Lengths and places stay as
// they are.
std::function<void(const clang::Token&)> register_name_marker();

}  // namespace td::compile
