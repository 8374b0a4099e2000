#include "compile/cuda_lexer.h"

#include <algorithm>
#include <string>

namespace td::compile {

namespace {

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}
bool digit(char c) { return c >= '0' && c <= '9'; }
bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Tokens run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
      } else if (blank(c)) {
        ++at_;
      } else if (skip_comment() || skip_splice()) {
      } else if (c == '#' && line_start) {
        directive();
      } else {
        line_start = false;
        token();
      }
    }
    out_.list.push_back({});
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool at(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  void jump_behind(std::string_view mark, std::size_t from) {
    std::size_t found = text_.find(mark, from);
    at_ = found == std::string_view::npos ? text_.size() : found + mark.size();
  }

  // comment := '//' to the end of the line (a backslash continues it) | '/*' … '*/'
  bool skip_comment() {
    if (at("/*")) {
      jump_behind("*/", at_ + 2);
      return true;
    }
    if (!at("//")) return false;
    while (at_ < text_.size() && text_[at_] != '\n') at_ += splice() ? splice() : 1;
    return true;
  }

  // splice := '\' newline; its length, 0 where there is none
  std::size_t splice() const {
    if (peek() != '\\') return 0;
    if (peek(1) == '\n') return 2;
    return peek(1) == '\r' && peek(2) == '\n' ? 3 : 0;
  }
  bool skip_splice() {
    std::size_t length = splice();
    at_ += length;
    return length > 0;
  }

  // identifier := letter (letter | digit)*
  std::string_view word() {
    std::size_t start = at_;
    while (letter(peek()) || digit(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }

  // directive := '#' name rest, to the end of the line; keeps what #define, #undef and #include say
  void directive() {
    ++at_;
    skip_blanks();
    std::string_view name = word();
    skip_blanks();
    if (name == "if" || name == "ifdef" || name == "ifndef") ++conditions_;
    if (name == "endif" && conditions_ > 0) --conditions_;
    if (name == "include" || name == "include_next" || name == "import") include();
    bool define = name == "define", undefine = name == "undef";
    std::string_view macro = define || undefine ? word() : "";
    bool plain = define && peek() != '(';
    std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '\n')
      if (!skip_comment() && !skip_splice()) ++at_;
    if (!macro.empty())
      out_.macros.push_back({macro, text_.substr(start, at_ - start), plain, conditions_ > 0});
  }

  void skip_blanks() {
    while (at_ < text_.size() && (blank(peek()) || at("/*")))
      if (!skip_comment()) ++at_;
  }

  // include := '"' name '"' | '<' name '>' | macro
  void include() {
    bool angled = peek() == '<';
    if (!angled && peek() != '"') {
      out_.includes.push_back({});
      return;
    }
    std::size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != (angled ? '>' : '"')) ++at_;
    out_.includes.push_back({text_.substr(start, at_ - start), angled});
  }

  void add(Token::Kind kind, std::size_t start) {
    out_.list.push_back({kind, text_.substr(start, at_ - start)});
  }

  void token() {
    std::size_t start = at_;
    char c = peek();
    if (letter(c)) {
      std::string_view name = word();
      bool prefix = name == "R" || name == "L" || name == "u" || name == "U" || name == "u8" ||
                    name == "LR" || name == "uR" || name == "UR" || name == "u8R";
      if (prefix && peek() == '"' && name.back() == 'R') return raw_literal(start);
      if (prefix && (peek() == '"' || peek() == '\'')) return literal(start);
      add(Token::Kind::identifier, start);
    } else if (digit(c) || (c == '.' && digit(peek(1)))) {
      number(start);
    } else if (c == '"' || c == '\'') {
      literal(start);
    } else {
      at_ += at("::") ? 2 : at("...") ? 3 : 1;
      add(Token::Kind::punctuation, start);
    }
  }

  // number := (letter | digit | '.' | "'" between them | sign behind an exponent)*
  void number(std::size_t start) {
    while (at_ < text_.size()) {
      char c = peek();
      bool sign = (c == '+' || c == '-') &&
                  std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
      bool separator = c == '\'' && (letter(peek(1)) || digit(peek(1)));
      if (!letter(c) && !digit(c) && c != '.' && !separator && !(sign && at_ > start)) break;
      ++at_;
    }
    add(Token::Kind::number, start);
  }

  // literal := quote (character | '\' character)* quote; ends with its line when the quote is
  // missing
  void literal(std::size_t start) {
    char quote = text_[at_++];
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    add(Token::Kind::literal, start);
  }

  // raw := 'R"' mark '(' … ')' mark '"'
  void raw_literal(std::size_t start) {
    std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
    } else {
      std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      jump_behind(close, open);
    }
    add(Token::Kind::literal, start);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int conditions_ = 0;
  Tokens out_;
};

}  // namespace

Tokens lex_cuda(std::string_view text) { return Lexer(text).run(); }

}  // namespace td::compile
