// Whole CUDA C++ programs on the software device: what the command `treadle cc` does.
#pragma once

#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] td {

// Compiles and links as nvcc does with the same arguments (without the command's name); --run
// starts the program that was made. Messages go to standard error. Returns the exit status: 0, 1
// after errors in the sources, 2 after wrong arguments, with --run the program's own.
int compile_program(const std::vector<std::string>& arguments);

}  // namespace td
