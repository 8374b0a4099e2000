// What is known of one result code of a library: a table of these makes its error messages.
#pragma once

#include <span>

namespace td::driver {

struct ResultRow {
  int value;
  const char* name;
  const char* meaning;
  const char* cure;
};

// The row of `value`, or null.
inline const ResultRow* find(std::span<const ResultRow> rows, int value) {
  for (const ResultRow& row : rows)
    if (row.value == value) return &row;
  return nullptr;
}

}  // namespace td::driver
