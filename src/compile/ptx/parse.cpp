#include "compile/ptx/parse.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace td::compile::ptx {
namespace {

struct Token {
  enum class Kind { word, number, sign, end };
  Kind kind = Kind::end;
  std::string_view text;
  int after = 0;  // semicolons before it
};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Words (names, parts of an instruction), numbers, signs of one character and "::".
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    skip_space();
    Token token{Token::Kind::end, text_.substr(at_, 0), after_};
    if (at_ == text_.size()) return token;
    const std::size_t start = at_;
    if (is_digit(text_[at_])) {
      token.kind = Token::Kind::number;
      skip_number();
    } else if (is_letter(text_[at_]) || text_[at_] == '%') {
      token.kind = Token::Kind::word;
      ++at_;
      while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    } else {
      token.kind = Token::Kind::sign;
      after_ += text_[at_] == ';';
      at_ += text_.substr(at_, 2) == "::" ? 2 : 1;
    }
    token.text = text_.substr(start, at_ - start);
    return token;
  }

 private:
  void skip_space() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("//")) {
        skip_to(std::min(text_.find('\n', at_), text_.size()));
      } else if (rest.starts_with("/*")) {
        skip_to(std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2);
      } else if (std::isspace(static_cast<unsigned char>(rest.front()))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  void skip_to(std::size_t end) {
    for (; at_ < end; ++at_) after_ += text_[at_] == ';';
  }

  // A point belongs to a number when a digit follows it; a sign follows the exponent of a decimal.
  void skip_number() {
    const std::size_t start = at_;
    auto decimal = [&] {
      for (std::size_t i = start; i < at_; ++i)
        if (!is_digit(text_[i]) && std::strchr(".eE", text_[i]) == nullptr) return false;
      return true;
    };
    while (at_ < text_.size()) {
      const char c = text_[at_], following = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
      const bool exponent = at_ > start && std::strchr("eE", text_[at_ - 1]) != nullptr;
      if (is_letter(c) || (c == '.' && is_digit(following)) ||
          ((c == '-' || c == '+') && exponent && is_digit(following) && decimal()))
        ++at_;
      else
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int after_ = 0;
};

// 0f3f800000 and 0d3ff0000000000000 are bit patterns.
bool is_pattern(std::string_view text, char letter, std::size_t digits) {
  return text.size() == digits + 2 && text[0] == '0' &&
         std::tolower(static_cast<unsigned char>(text[1])) == letter;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { token_ = lexer_.next(); }

  std::vector<Statement> run() {
    int depth = 0;
    while (token_.kind != Token::Kind::end) {
      Statement statement;
      statement.after = token_.after;
      if (accept("{")) {
        statement.kind = Statement::Kind::open;
        ++depth;
      } else if (is("}")) {
        statement.kind = Statement::Kind::close;
        if (--depth < 0) fail("'}' without '{'");
        advance();
      } else if (accept(";")) {
        continue;
      } else if (is(".")) {
        declaration(statement);
      } else {
        instruction(statement);
      }
      statements_.push_back(std::move(statement));
    }
    if (depth > 0) fail("'}' is missing");
    return std::move(statements_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) { throw Refused(token_.after, text); }
  [[noreturn]] void expected(const std::string& what) {
    fail("expected " + what + " before " +
         (token_.kind == Token::Kind::end ? "the end" : "'" + std::string(token_.text) + "'"));
  }

  bool is(std::string_view sign) const {
    return token_.kind == Token::Kind::sign && token_.text == sign;
  }
  void advance() { token_ = lexer_.next(); }
  bool accept(std::string_view sign) {
    if (!is(sign)) return false;
    advance();
    return true;
  }
  void require(std::string_view sign) {
    if (!accept(sign)) expected("'" + std::string(sign) + "'");
  }
  std::string word(const char* what) {
    if (token_.kind != Token::Kind::word) expected(what);
    std::string text(token_.text);
    advance();
    return text;
  }

  // .reg .u32 a, t<3>;
  void declaration(Statement& statement) {
    statement.kind = Statement::Kind::declaration;
    while (accept(".")) {
      if (token_.kind != Token::Kind::word) expected("the name of a directive");
      statement.words.push_back(word("a directive"));
    }
    do {
      std::string name = word("the name of a register");
      if (!accept("<")) {
        statement.names.push_back(name);
        continue;
      }
      const std::uint64_t count = integer();
      if (count > 1024) fail("more than 1024 registers '" + name + "'");
      for (std::uint64_t i = 0; i < count; ++i) statement.names.push_back(name + std::to_string(i));
      require(">");
    } while (accept(","));
    require(";");
  }

  void instruction(Statement& statement) {
    if (accept("@")) {
      statement.guard_negated = accept("!");
      statement.guard = word("a predicate");
    }
    statement.after = token_.after;
    std::string name = word("an instruction");
    if (statement.guard.empty() && accept(":")) {
      statement.kind = Statement::Kind::label;
      statement.names.push_back(name);
      return;
    }
    statement.words.push_back(name);
    while (accept(".")) statement.words.push_back(modifier());
    if (!is(";")) {
      do statement.operands.push_back(operand());
      while (accept(","));
    }
    require(";");
  }

  // cc, L1::evict_last, L2::128B
  std::string modifier() {
    auto part = [&] {
      if (token_.kind != Token::Kind::word && token_.kind != Token::Kind::number)
        expected("a modifier of the instruction");
      std::string text(token_.text);
      advance();
      return text;
    };
    std::string text = part();
    while (accept("::")) text += "::" + part();
    return text;
  }

  std::uint64_t integer() {
    if (token_.kind != Token::Kind::number) expected("an integer");
    std::string text(token_.text);
    while (!text.empty() && std::strchr("uU", text.back()) != nullptr) text.pop_back();
    int base = 10;
    std::size_t skip = 0;
    if (text.size() > 1 && text[0] == '0') {
      const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(text[1])));
      base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
      skip = base == 8 ? 1 : 2;
    }
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data() + skip, end, value, base);
    if (result.ec == std::errc::result_out_of_range)
      fail("the integer " + text + " does not fit in 64 bits");
    if (result.ec != std::errc() || result.ptr != end) fail("'" + text + "' is no number");
    advance();
    return value;
  }

  Operand number() {
    Operand operand;
    const std::string text(token_.text);
    const bool narrow = is_pattern(text, 'f', 8), wide = is_pattern(text, 'd', 16);
    if (narrow || wide) {
      operand.kind = narrow ? Operand::Kind::number32 : Operand::Kind::number64;
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data() + 2, end, operand.bits, 16).ptr != end)
        fail("'" + text + "' is no number");
      advance();
      return operand;
    }
    const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
    if (hexadecimal || text.find_first_of(".eE") == std::string::npos) {
      operand.kind = Operand::Kind::integer;
      operand.bits = integer();
      return operand;
    }
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str() + text.size()) fail("'" + text + "' is no number");
    operand.kind = Operand::Kind::number64;
    std::memcpy(&operand.bits, &value, sizeof value);
    advance();
    return operand;
  }

  Operand literal() {
    const bool minus = accept("-"), invert = !minus && accept("~");
    if (token_.kind != Token::Kind::number) expected("a number");
    Operand operand = number();
    if (operand.kind == Operand::Kind::integer) {
      if (minus) operand.bits = 0 - operand.bits;
      if (invert) operand.bits = ~operand.bits;
      return operand;
    }
    if (invert) fail("'~' takes an integer");
    if (minus) operand.bits ^= 1ull << (operand.kind == Operand::Kind::number32 ? 31 : 63);
    return operand;
  }

  Operand register_name() {
    Operand operand;
    operand.name = word("an operand");
    while (accept(".")) operand.name += "." + word("a part of a register");
    return operand;
  }

  Operand operand() {
    Operand operand;
    if (is("(")) fail("calls of functions are not supported");
    if (accept("{")) {
      operand.kind = Operand::Kind::vector;
      do operand.parts.push_back(element());
      while (accept(","));
      require("}");
      return operand;
    }
    if (accept("[")) return address();
    if (accept("!")) {
      operand = register_name();
      operand.negated = true;
      return operand;
    }
    operand = element();
    if (operand.kind == Operand::Kind::name && accept("|"))
      operand.second = word("a second destination");
    return operand;
  }

  Operand element() {
    return token_.kind == Token::Kind::number || is("-") || is("~") ? literal() : register_name();
  }

  Operand address() {
    Operand operand;
    operand.kind = Operand::Kind::address;
    operand.parts.push_back(element());
    const bool plus = accept("+");
    if (plus || is("-")) {
      const Operand offset = literal();
      if (offset.kind != Operand::Kind::integer) fail("an address takes an integer offset");
      operand.bits = offset.bits;
    }
    require("]");
    return operand;
  }

  Lexer lexer_;
  Token token_;
  std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace td::compile::ptx
