// PTX made from the rows of tables/ptx_instructions.def: what the tests feed to the translation.
#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "compile/ptx/instructions.h"

namespace td::compile::ptx::test {

// A block that declares registers and uses one instruction of a row: { .reg .u32 d; ... add.u32 d,
// a, b; }. The words must match the row.
inline std::string sample(const Row& row, const std::vector<std::string>& words) {
  const std::string name = base::join(words, ".");
  if (words[0] == "bra") return "{ bra END; END: }";
  Match match;
  for (const Match& found : find_instruction(words))
    if (found.row == &row) match = found;
  if (match.row == nullptr) return "";
  const int length = name.find(".v4.") != std::string::npos   ? 4
                     : name.find(".v2.") != std::string::npos ? 2
                                                              : 1;
  auto type_of = [&](const Slot& slot) -> std::string {
    const std::size_t index = std::string("TSR").find(slot.type);
    if (slot.type == "V") return std::string(match.types[0]->name);
    if (slot.type == "wide")
      return std::string(match.types[0]->name.substr(0, 1)) +
             std::to_string(2 * match.types[0]->bits);
    return index == std::string::npos ? slot.type : std::string(match.types[index]->name);
  };
  auto register_type = [](const std::string& type) -> std::string {
    if (type == "u8" || type == "s8" || type == "b8") return type.substr(0, 1) + "16";
    const Type* known = find_type(type);
    const bool scalar = type == "f32" || type == "f64" || type == "f16" || type == "f16x2";
    if (known->kind == Type::Kind::floating && !scalar) return "b" + std::to_string(known->bits);
    return type == "u16x2" || type == "s16x2" ? "b32" : type;
  };
  std::string before = "{ ", operands;
  for (const Slot& slot : match.slots) {
    operands += operands.empty() ? " " : ", ";
    if (slot.immediate) {
      operands += slot.name == "zero" ? "0" : slot.name == "n" ? "16" : "4";
      continue;
    }
    if (slot.address) {
      before += ".reg .b64 " + slot.name + "; ";
      operands += "[" + slot.name + "+16]";
      continue;
    }
    const std::string type = register_type(type_of(slot));
    if (slot.type == "V" && length > 1) {
      before += ".reg ." + type + " " + slot.name + "<" + std::to_string(length) + ">; ";
      operands += "{";
      for (int i = 0; i < length; ++i) operands += (i ? ", " : "") + slot.name + std::to_string(i);
      operands += "}";
      continue;
    }
    before += ".reg ." + type + " " + slot.name + "; ";
    operands += slot.name;
    if (!slot.second.empty()) {
      before += ".reg .pred " + slot.second + "; ";
      operands += "|" + slot.second;
    }
  }
  return before + name + operands + "; }";
}

}  // namespace td::compile::ptx::test
