// Figures of the software device that need no counterpart.
#pragma once

#include <string>

namespace bench {

// Prints lines of JSON: {"what": …, "value": …, "unit": …}.
int print_facts();
// Compiles, loads, launches and awaits a kernel `void kernel(float*, int)` with one block of 32.
int first_launch(const std::string& file, const std::string& kernel);

}  // namespace bench
