// The name that a kernel's author gave it, for messages.
#pragma once

#include <string_view>

namespace td::base {

// Functions of Python are compiled as "py__name": names with two underscores belong to the
// implementation, so no C++ program has one of its own.
constexpr std::string_view author_name(std::string_view symbol) {
  constexpr std::string_view kPython = "py__";
  return symbol.starts_with(kPython) ? symbol.substr(kPython.size()) : symbol;
}

}  // namespace td::base
