// What generated code may call: td_rt_*, memory functions, scalar functions of libm, vector
// functions of SLEEF.
#pragma once

#include <string>

namespace td::softdev {

// Address of a function, or null; then `problem` says what to do about it.
void* find_extern(const std::string& name, std::string* problem);

}  // namespace td::softdev
