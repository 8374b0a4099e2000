// Small text helpers: concatenation and splitting. (std::format needs a newer library than Debian
// 12 has.)
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace td::base {

// Streams all parts into one string: cat("block of ", 1025, " threads").
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class Range>
std::string join(const Range& items, std::string_view separator) {
  std::ostringstream out;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out << separator;
    first = false;
    out << item;
  }
  return out.str();
}

// "(3, 4)", "(3,)", "()" as Python prints a tuple.
template <class Range>
std::string tuple_text(const Range& items) {
  std::string inner = join(items, ", ");
  return "(" + inner + (items.size() == 1 ? ",)" : ")");
}

std::vector<std::string> split(std::string_view text, char separator);

// "12.5 MiB"
std::string bytes_text(std::size_t bytes);

}  // namespace td::base
