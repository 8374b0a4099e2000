#include "compile/ptx/translate.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "base/text.h"
#include "compile/ptx/instructions.h"

namespace td::compile::ptx {
namespace {

using base::cat;
using Kind = Operand::Kind;

struct Register {
  const Type* type = nullptr;
  std::string variable;            // of C++
  std::optional<Operand> literal;  // an "n" operand
};

struct ConstraintRow {
  char letter;
  std::string_view type;
};
// "f" and "d" are floating-point registers, the others hold any bits.
constexpr ConstraintRow kConstraints[] = {
    {'h', "b16"}, {'r', "b32"}, {'l', "b64"}, {'f', "f32"}, {'d', "f64"}};

const Type* constraint_type(char letter) {
  for (const ConstraintRow& row : kConstraints)
    if (row.letter == letter) return find_type(row.type);
  return nullptr;
}

std::string hex(std::uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llxull", static_cast<unsigned long long>(bits));
  return text;
}

// ptxas's rule: of equal size, and floating point does not mix with integers but for .b types.
bool agree(const Type& held, const Type& asked) {
  if (held.kind == Type::Kind::predicate || asked.kind == Type::Kind::predicate)
    return held.kind == asked.kind;
  return held.kind == Type::Kind::bits || asked.kind == Type::Kind::bits || held.kind == asked.kind;
}

const char* const kSpaces[] = {"shared", "global", "local", "const", "param"};

class Translator {
 public:
  Translator(const std::vector<AsmOperand>& operands, std::string_view text)
      : statements_(parse(text)) {
    scopes_.emplace_back();
    for (std::size_t i = 0; i < operands.size(); ++i) add_operand(operands, i);
  }

  Function run(const std::string& name) {
    open_labels(0);
    for (at_ = 0; at_ < statements_.size(); ++at_) translate(statements_[at_]);
    Function function;
    function.text = cat("extern \"C\" __device__ __attribute__((always_inline, nodebug)) void ",
                        name, "(", base::join(parameters_, ", "), ") {\n", body_, "}\n");
    function.half = half_;
    function.bfloat = bfloat_;
    return function;
  }

 private:
  [[noreturn]] void fail(const std::string& text) const { throw Refused(after_, text); }

  void add_operand(const std::vector<AsmOperand>& operands, std::size_t index) {
    const AsmOperand& operand = operands[index];
    const std::string name = cat("%", index);
    Register& made = scopes_.back().registers[name];
    if (operand.same_as >= 0) {
      made = scopes_.back().registers.at(cat("%", operand.same_as));
      return;
    }
    if (operand.immediate) {
      made.literal.emplace();
      made.literal->kind = Kind::integer;
      made.literal->bits = static_cast<std::uint64_t>(operand.value);
      return;
    }
    made.type = constraint_type(operand.constraint);
    if (made.type == nullptr) fail(cat("operand ", name, " has no register"));
    made.variable = cat("x", index);
    parameters_.push_back(cat(made.type->cpp, operand.output ? "& " : " ", made.variable));
  }

  // ---- scopes

  struct Scope {
    std::map<std::string, Register> registers;
    std::map<std::string, std::string> labels;
  };

  // A label is known in all of its block, before it too.
  void open_labels(std::size_t first) {
    int depth = 0;
    for (std::size_t i = first; i < statements_.size() && depth >= 0; ++i) {
      const Statement& statement = statements_[i];
      if (statement.kind == Statement::Kind::open) ++depth;
      if (statement.kind == Statement::Kind::close) --depth;
      if (statement.kind != Statement::Kind::label || depth != 0) continue;
      after_ = statement.after;
      if (!scopes_.back().labels.emplace(statement.names[0], cat("L", labels_)).second)
        fail(cat("label '", statement.names[0], "' is defined twice"));
      ++labels_;
    }
  }

  const Register* find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto found = scope->registers.find(name); found != scope->registers.end())
        return &found->second;
    return nullptr;
  }
  const Register& require(const std::string& name) const {
    if (const Register* found = find(name)) return *found;
    if (name.size() > 1 && name[0] == '%' && name[1] >= '0' && name[1] <= '9')
      fail(cat("the asm statement has no operand ", name));
    fail(cat("'", name,
             "' is neither a register of this asm statement nor a special register that "
             "the software device has"));
  }

  // ---- statements

  void translate(const Statement& statement) {
    after_ = statement.after;
    switch (statement.kind) {
      case Statement::Kind::open:
        scopes_.emplace_back();
        open_labels(at_ + 1);
        body_ += "{\n";
        return;
      case Statement::Kind::close:
        scopes_.pop_back();
        body_ += ";}\n";
        return;
      case Statement::Kind::declaration:
        return declare(statement);
      case Statement::Kind::label:
        body_ += scopes_.back().labels.at(statement.names[0]) + ":;\n";
        return;
      case Statement::Kind::instruction:
        if (!statement.guard.empty()) {
          Operand guard;
          guard.name = statement.guard;
          guard.negated = statement.guard_negated;
          body_ += cat("if (", read(guard, *find_type("pred"), false), ") ");
        }
        return instruction(statement);
    }
  }

  void declare(const Statement& statement) {
    const Type* type = statement.words.size() == 2 && statement.words[0] == "reg"
                           ? find_type(statement.words[1])
                           : nullptr;
    if (type == nullptr)
      fail(cat("'.", base::join(statement.words, "."),
               "' is not supported: only registers can be declared, as '.reg .u32 name;'"));
    note_headers(*type);
    for (const std::string& name : statement.names) {
      Register made{type, cat("r", registers_++), {}};
      body_ += cat(type->cpp, " ", made.variable, ";\n");
      if (!scopes_.back().registers.emplace(name, made).second)
        fail(cat("register '", name, "' is declared twice"));
    }
  }

  void instruction(const Statement& statement) {
    instruction_ = statement.words[0];
    if (statement.words[0] == "bra") return branch(statement);
    const Match match = choose(statement);
    if (statement.words[0] == "mov" &&
        std::any_of(statement.operands.begin(), statement.operands.end(),
                    [](const Operand& o) { return o.kind == Kind::vector; }))
      return move_parts(statement, *match.types[0]);
    body_ += "{ ";
    emit(statement, match);
    body_ += " }\n";
  }

  void branch(const Statement& statement) {
    const bool plain =
        statement.words.size() == 1 || (statement.words.size() == 2 && statement.words[1] == "uni");
    if (!plain || statement.operands.size() != 1 || statement.operands[0].kind != Kind::name)
      fail("'bra' is supported as 'bra[.uni] label'");
    const std::string& label = statement.operands[0].name;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto found = scope->labels.find(label); found != scope->labels.end()) {
        body_ += cat("goto ", found->second, ";\n");
        return;
      }
    fail(cat("label '", label, "' is not defined in this asm statement"));
  }

  // The row for the instruction and its number of operands.
  Match choose(const Statement& statement) const {
    const std::string name = base::join(statement.words, ".");
    std::vector<Match> matches = find_instruction(statement.words);
    if (matches.empty()) unknown(statement.words[0], name);
    if (!matches[0].row->supported)
      fail(cat("'", name, "' (", matches[0].row->body,
               ") is known, but not supported on the software device yet"));
    for (Match& match : matches)
      if (match.slots.size() == statement.operands.size()) return std::move(match);
    std::vector<std::string> forms;
    for (const Match& match : matches) forms.push_back(spelling(*match.row));
    fail(cat("'", name, "' does not take ", statement.operands.size(),
             " operands; supported: ", some_of(forms)));
  }

  [[noreturn]] void unknown(const std::string& first, const std::string& name) const {
    std::vector<std::string> forms;
    for (const Row& row : rows()) {
      const std::string form = spelling(row);
      if (form.substr(0, form.find_first_of(".[ ")) == first) forms.push_back(form);
    }
    if (forms.empty())
      fail(cat("instruction '", name,
               "' is not known; docs/inline-ptx.md lists what the software device has"));
    fail(cat("'", name, "' is not supported; of '", first, "' there is: ", some_of(forms)));
  }

  static std::string some_of(const std::vector<std::string>& forms) {
    constexpr std::size_t most = 6;
    if (forms.size() <= most) return base::join(forms, "; ");
    const std::vector<std::string> first(forms.begin(), forms.begin() + most);
    return cat(base::join(first, "; "), " and ", forms.size() - most, " more (docs/inline-ptx.md)");
  }

  // ---- one instruction: operands into variables of their slots' names, the row's expression, and
  // results back into registers

  void emit(const Statement& statement, const Match& match) {
    const unsigned length = vector_length(statement);
    for (std::size_t i = 0; i < match.types.size(); ++i) {
      body_ +=
          cat("using ", std::string_view("TSR").substr(i, 1), " = ", match.types[i]->cpp, "; ");
      note_headers(*match.types[i]);
    }
    if (!match.types.empty()) {
      body_ +=
          cat("using W = ", match.types[0]->bits > 32 ? "unsigned long long" : "unsigned", "; ");
      body_ += length > 1 ? cat("using V = __td_ptx_vector<T, ", length, ">; ") : "using V = T; ";
    }
    std::string results;
    for (std::size_t i = 0; i < match.slots.size(); ++i) {
      const Slot& slot = match.slots[i];
      const Operand& operand = statement.operands[i];
      if (slot.output) {
        results += result(slot, operand, match, length);
      } else if (slot.address) {
        body_ += cat(cpp_type(slot, match), "* const ", slot.name, " = (", cpp_type(slot, match),
                     "*)", address(statement, slot, operand), "; ");
      } else {
        body_ += cat("const ", cpp_type(slot, match), " ", slot.name, " = ",
                     input(statement, slot, operand, match, length), "; ");
      }
    }
    const bool has_result = !match.slots.empty() && match.slots[0].output;
    if (has_result && !match.slots[0].second.empty())
      body_ += cat("bool ", match.slots[0].second, " = false; ");
    std::string expression = substitute(match);
    if (has_result) {
      const Type* type = slot_type(match.slots[0], match);
      const bool is_float = type != nullptr && type->kind == Type::Kind::floating;
      if (is_float && has_word(statement, "sat"))
        expression = cat("__td_ptx_sat(", expression, ")");
      if (is_float && flushes(statement, *type)) expression = cat("__td_ptx_ftz(", expression, ")");
      expression = cat("const ", cpp_type(match.slots[0], match), " ", match.slots[0].name, " = (",
                       expression, ")");
    }
    body_ += cat(expression, "; ", results);
  }

  static bool has_word(const Statement& statement, std::string_view word) {
    return std::find(statement.words.begin(), statement.words.end(), word) != statement.words.end();
  }
  static unsigned vector_length(const Statement& statement) {
    return has_word(statement, "v4") ? 4 : has_word(statement, "v2") ? 2 : 1;
  }

  // $1 is the first word that a group of the row has matched.
  static std::string substitute(const Match& match) {
    std::string text;
    const std::string_view body = match.row->body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] != '$') {
        text += body[i];
        continue;
      }
      const auto index = static_cast<std::size_t>(body[++i] - '1');
      std::string word = match.words.at(index);
      std::replace(word.begin(), word.end(), ':', '_');
      text += word;
    }
    return text;
  }

  // nullptr for V (a vector) and for what is no register's type.
  static const Type* slot_type(const Slot& slot, const Match& match) {
    const std::size_t index = std::string_view("TSR").find(slot.type);
    if (index != std::string_view::npos && index < match.types.size()) return match.types[index];
    if (slot.type == "wide") {
      const std::string_view name = match.types[0]->name;
      return find_type(cat(name.substr(0, 1), 2 * match.types[0]->bits));
    }
    return find_type(slot.type);
  }
  static std::string cpp_type(const Slot& slot, const Match& match) {
    const Type* type = slot_type(slot, match);
    return type != nullptr ? std::string(type->cpp) : slot.type;
  }

  void note_headers(const Type& type) {
    half_ |= type.cpp.starts_with("__half");
    bfloat_ |= type.cpp.starts_with("__nv_bfloat");
  }

  // .ftz of a conversion is about f32 only.
  static bool flushes(const Statement& statement, const Type& type) {
    return has_word(statement, "ftz") && type.kind == Type::Kind::floating &&
           (type.name == "f32" || statement.words[0] != "cvt");
  }

  std::string input(const Statement& statement, const Slot& slot, const Operand& operand,
                    const Match& match, unsigned length) {
    if (slot.immediate) {
      const Register* held = operand.kind == Kind::name ? find(operand.name) : nullptr;
      if (operand.kind != Kind::integer && !(held && held->literal))
        fail(cat("operand ", slot.name, " of '", match.row->pattern,
                 "' must be an integer constant"));
      if (slot.name == "zero" && (held ? held->literal->bits : operand.bits) != 0)
        fail(cat("'", match.row->pattern, "' is supported for barrier 0 only"));
    }
    const Type* type = slot_type(slot, match);
    if (slot.type == "V" && length > 1) {
      std::vector<std::string> parts;
      for (const Operand& part : vector_parts(operand, length))
        parts.push_back(read(part, *match.types[0], slot.any_width));
      return cat("{{", base::join(parts, ", "), "}}");
    }
    if (slot.type == "V") type = match.types[0];
    std::string text = read(operand, *type, slot.any_width);
    return flushes(statement, *type) ? cat("__td_ptx_ftz(", text, ")") : text;
  }

  std::string result(const Slot& slot, const Operand& operand, const Match& match,
                     unsigned length) {
    if (!operand.second.empty() && slot.second.empty())
      fail(cat("'", match.row->pattern, "' has one result, not ", operand.name, "|",
               operand.second));
    std::string text;
    if (slot.type == "V" && length > 1) {
      const std::vector<Operand>& parts = vector_parts(operand, length);
      for (unsigned i = 0; i < length; ++i)
        text += write(parts[i], *match.types[0], cat(slot.name, ".part[", i, "]"), slot.any_width);
      return text;
    }
    const Type* type = slot.type == "V" ? match.types[0] : slot_type(slot, match);
    text = write(operand, *type, slot.name, slot.any_width);
    if (!operand.second.empty()) {
      Operand second;
      second.name = operand.second;
      text += write(second, *find_type("pred"), slot.second, false);
    }
    return text;
  }

  const std::vector<Operand>& vector_parts(const Operand& operand, unsigned length) const {
    if (operand.kind != Kind::vector || operand.parts.size() != length)
      fail(cat("expected a vector of ", length, " registers, as {a, b}"));
    return operand.parts;
  }

  // ---- registers and constants

  std::string read(const Operand& operand, const Type& type, bool any_width) const {
    if (operand.kind == Kind::vector) fail("a vector does not stand here");
    if (operand.kind == Kind::address) fail("an address in brackets does not stand here");
    if (!operand.second.empty()) fail(cat("'|' does not stand behind ", operand.name, " here"));
    if (operand.kind != Kind::name) return literal(operand, type);
    if (operand.name == "WARP_SZ") return cat("(", type.cpp, ")32");
    if (operand.negated && type.kind != Type::Kind::predicate)
      fail(cat("'!' stands before predicates only, not before ", operand.name));
    const std::string negation = operand.negated ? "!" : "";
    if (!operand.name.empty() && operand.name[0] == '%' && find(operand.name) == nullptr) {
      if (const SpecialRegister* row = find_special_register(operand.name.substr(1))) {
        if (instruction_ != "mov" && instruction_ != "cvt")
          fail(cat("special register ", operand.name, " is read by mov and cvt only"));
        check(operand.name, *row->type, type, any_width || type.bits == 16);
        return cat(negation, convert(*row->type, type), "(", row->expression, ")");
      }
    }
    const Register& held = require(operand.name);
    if (held.literal) return literal(*held.literal, type);
    check(operand.name, *held.type, type, any_width);
    return cat(negation, convert(*held.type, type), "(", held.variable, ")");
  }

  std::string write(const Operand& operand, const Type& type, const std::string& value,
                    bool any_width) const {
    if (operand.kind != Kind::name || operand.negated) fail("a result goes to a register");
    if (operand.name == "_") return "";
    if (operand.name[0] == '%' && find(operand.name) == nullptr &&
        find_special_register(operand.name.substr(1)) != nullptr)
      fail(cat("special register ", operand.name, " cannot be written"));
    const Register& held = require(operand.name);
    if (held.literal) fail(cat("operand ", operand.name, " is a constant and cannot be written"));
    check(operand.name, *held.type, type, any_width);
    if (held.type->kind == Type::Kind::predicate) return cat(held.variable, " = ", value, "; ");
    return cat(held.variable, " = __td_ptx_extend<", held.type->cpp, ">(", value, "); ");
  }

  void check(const std::string& name, const Type& held, const Type& asked, bool any_width) const {
    const bool wider = any_width && held.bits >= asked.bits;
    if (agree(held, asked) && (held.bits == asked.bits || wider)) return;
    fail(cat(name, " is a ", held.bits, "-bit ",
             held.kind == Type::Kind::floating    ? "floating-point register"
             : held.kind == Type::Kind::predicate ? "predicate"
                                                  : "register",
             " (.", held.name, "), but a .", asked.name, " is needed"));
  }

  static std::string convert(const Type& held, const Type& asked) {
    return held.cpp == asked.cpp ? "" : cat("__td_ptx_low<", asked.cpp, ">");
  }

  std::string literal(const Operand& operand, const Type& type) const {
    if (operand.negated) fail("'!' stands before predicates only");
    const bool is_float = type.kind == Type::Kind::floating;
    if (operand.kind == Kind::integer) {
      if (is_float) fail(cat("a .", type.name, " is needed; write 1.0 or 0f3f800000"));
      return cat("(", type.cpp, ")", hex(operand.bits));
    }
    if (type.kind == Type::Kind::integer || type.kind == Type::Kind::predicate ||
        (type.bits != 32 && type.bits != 64) ||
        (type.name == "b32" && operand.kind == Kind::number64))
      fail(cat("a floating-point constant does not stand for a .", type.name));
    const std::string number =
        operand.kind == Kind::number32
            ? cat("__builtin_bit_cast(float, (unsigned)", hex(operand.bits), ")")
            : cat("__builtin_bit_cast(double, ", hex(operand.bits), ")");
    if (is_float && type.cpp != "float" && type.cpp != "double")
      fail(cat("a .", type.name, " constant is written as its bits, in a .b register"));
    return cat("__td_ptx_low<", type.cpp, ">((", type.bits == 32 ? "float" : "double", ")", number,
               ")");
  }

  std::string address(const Statement& statement, const Slot& slot, const Operand& operand) const {
    if (operand.kind != Kind::address) fail("expected an address, as [a] or [a+4]");
    std::string space = slot.space;
    if (space.empty())
      for (const std::string& word : statement.words)
        for (const char* known : kSpaces)
          if (word.substr(0, word.find("::")) == known) space = known;
    const Operand& base = operand.parts[0];
    if (base.kind != Kind::integer && base.kind != Kind::name) fail("an address is an integer");
    const Register* held = base.kind == Kind::name ? find(base.name) : nullptr;
    const bool narrow = held != nullptr && held->type != nullptr && held->type->bits == 32;
    if (narrow && space != "shared")
      fail(cat(base.name, " has 32 bits: addresses have 64, but for those of .shared"));
    std::string value =
        cat("(unsigned long long)", read(base, *find_type(narrow ? "b32" : "b64"), false));
    if (operand.bits != 0) value += cat(" + ", hex(operand.bits));
    return space == "shared" ? cat("__cvta_shared_to_generic((unsigned)(", value, "))")
                             : cat("(", value, ")");
  }

  // mov.b64 %0, {a, b}; mov.b64 {a, b}, %0: the first part has the lowest bits.
  void move_parts(const Statement& statement, const Type& type) {
    const bool pack = statement.operands[1].kind == Kind::vector;
    const Operand& whole = statement.operands[pack ? 0 : 1];
    const std::vector<Operand>& parts = statement.operands[pack ? 1 : 0].parts;
    const bool possible = type.kind == Type::Kind::bits &&
                          (parts.size() == 2 || parts.size() == 4) && whole.kind != Kind::vector;
    const Type* part =
        possible ? find_type(cat("b", type.bits / static_cast<int>(parts.size()))) : nullptr;
    if (part == nullptr)
      fail("a vector is moved as in 'mov.b64 %0, {%1, %2}', of 2 or 4 parts, in a .b type");
    const auto count = static_cast<int>(parts.size());
    if (pack) {
      body_ += cat("{ const ", type.cpp, " d = (", type.cpp, ")(");
      for (int i = 0; i < count; ++i)
        body_ +=
            cat(i ? " | " : "", "(unsigned long long)",
                read(parts[static_cast<std::size_t>(i)], *part, false), " << ", i * part->bits);
      body_ += cat("); ", write(whole, type, "d", false), "}\n");
      return;
    }
    body_ += cat("{ const ", type.cpp, " a = ", read(whole, type, false), "; ");
    for (int i = 0; i < count; ++i)
      body_ += write(parts[static_cast<std::size_t>(i)], *part,
                     cat("(", part->cpp, ")(a >> ", i * part->bits, ")"), false);
    body_ += "}\n";
  }

  std::vector<Statement> statements_;
  std::vector<Scope> scopes_;
  std::vector<std::string> parameters_;
  std::string body_, instruction_;
  std::size_t at_ = 0;
  int after_ = 0, registers_ = 0, labels_ = 0;
  bool half_ = false, bfloat_ = false;
};

}  // namespace

const char* register_type(char constraint) {
  const Type* type = constraint_type(constraint);
  return type == nullptr ? nullptr : type->cpp.data();
}

Function translate(std::string_view text, const std::vector<AsmOperand>& operands,
                   const std::string& name) {
  return Translator(operands, text).run(name);
}

}  // namespace td::compile::ptx
