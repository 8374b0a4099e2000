// The text of one asm statement -> its PTX instructions. Syntax only: what a name or an instruction
// means is translate.cpp's business.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace td::compile::ptx {

// What is wrong, and behind how many semicolons of the text (in comments too): that is easily found
// again in the user's string literals.
struct Refused : std::runtime_error {
  Refused(int after, const std::string& text) : std::runtime_error(text), after(after) {}
  int after;
};

struct Operand {
  enum class Kind { name, integer, number32, number64, vector, address };
  Kind kind = Kind::name;
  std::string name;            // "%0", "t", "%tid.x", "_"
  std::string second;          // q of p|q
  bool negated = false;        // !p
  std::uint64_t bits = 0;      // of an integer (two's complement) or a floating-point number
  std::vector<Operand> parts;  // of {a, b}; of [base + bits]: the base
};

struct Statement {
  enum class Kind { open, close, declaration, label, instruction };
  Kind kind = Kind::instruction;
  int after = 0;                   // semicolons before it
  std::vector<std::string> words;  // add.cc.u32: "add", "cc", "u32"; .reg .u32: "reg", "u32"
  std::vector<std::string> names;  // declared registers, t<3> spelled out; the label
  std::string guard;               // @p: "p"
  bool guard_negated = false;
  std::vector<Operand> operands;
};

// Throws Refused.
std::vector<Statement> parse(std::string_view text);

}  // namespace td::compile::ptx
