// The table of PTX instructions (tables/ptx_instructions.def), its types and special registers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace td::compile::ptx {

struct Type {
  enum class Kind { bits, integer, floating, predicate };
  std::string_view name;
  int bits;
  Kind kind;
  std::string_view cpp;
};
// nullptr when there is no such type.
const Type* find_type(std::string_view name);

struct SpecialRegister {
  std::string_view name;  // without the percent sign
  const Type* type;
  std::string_view expression;  // of C++
};
const SpecialRegister* find_special_register(std::string_view name);

// A row as it is written; the head of the table explains the columns.
struct Row {
  const char *pattern, *types, *operands, *body;
  bool supported;  // no: `body` says what the instruction is
};
const std::vector<Row>& rows();

// An operand of an instruction, from the third column.
struct Slot {
  std::string name, type;
  std::string second;  // name of the predicate of d|p; "" when there is none
  std::string space;   // of an address, when the row and not the instruction names it
  bool output = false, immediate = false, any_width = false, address = false;
};

// The row that an instruction fits, and how.
struct Match {
  const Row* row = nullptr;
  std::vector<const Type*> types;  // T, S, R
  std::vector<std::string> words;  // what $1, $2 ... stand for
  std::vector<Slot> slots;
};

// Words are matched in any order (ptxas is not strict about it), types in theirs. Instructions that
// differ in the number of operands only have several rows.
std::vector<Match> find_instruction(const std::vector<std::string>& words);

// As in a manual: "add.cc.{u32,s32,u64,s64} d, a, b"; in brackets what may be left out.
std::string spelling(const Row& row);

// Instructions of a row, for tests: each of its words occurs, and each combination of types with
// it.
std::vector<std::vector<std::string>> instances(const Row& row);

}  // namespace td::compile::ptx
