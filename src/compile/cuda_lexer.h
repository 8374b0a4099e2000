// Cuts CUDA C++ text into tokens, as far as reading declarations needs: comments, literals and
// preprocessor lines are recognised, nothing is expanded. Any input is fine: what cannot be a token
// becomes punctuation, an unterminated comment or literal ends with the text. Views point into the
// text given.
#pragma once

#include <string_view>
#include <vector>

namespace td::compile {

struct Token {
  enum class Kind { identifier, number, literal, punctuation, end };
  Kind kind = Kind::end;
  std::string_view text;  // one character for punctuation, except "::" and "..."
  bool is(std::string_view other) const { return text == other && kind != Kind::literal; }
  bool identifier() const { return kind == Kind::identifier; }
};

struct IncludeLine {
  std::string_view name;  // "" when it is a macro: only the preprocessor knows the file
  bool angled = false;
};

struct MacroLine {
  std::string_view name, body;  // body: rest of the line
  bool plain = true;            // false: with parameters, or an #undef
  bool conditional = false;     // inside an #if
};

struct Tokens {
  std::vector<Token> list;  // ends with Kind::end
  std::vector<MacroLine> macros;
  std::vector<IncludeLine> includes;
};

Tokens lex_cuda(std::string_view text);

}  // namespace td::compile
