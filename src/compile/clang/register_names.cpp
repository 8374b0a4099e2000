#include "compile/clang/register_names.h"

#include <deque>
#include <memory>
#include <string>

#include "llvm/ADT/StringExtras.h"

namespace td::compile {

using namespace clang;

namespace {

// Follows the tokens: asm, its qualifiers, the parenthesis, string literals.
class Watcher {
 public:
  void see(Token& token) {
    if (token.is(tok::kw_asm)) {
      place_ = Place::qualifiers;
    } else if (place_ == Place::qualifiers) {
      if (token.is(tok::l_paren))
        place_ = Place::text;
      else if (!token.isOneOf(tok::kw_volatile, tok::kw_inline))
        place_ = Place::elsewhere;
    } else if (place_ == Place::text) {
      if (tok::isStringLiteral(token.getKind()))
        mark(token);
      else
        place_ = Place::elsewhere;
    }
  }

 private:
  enum class Place { elsewhere, qualifiers, text };

  void mark(Token& token) {
    if (token.getLiteralData() == nullptr) return;
    std::string text(token.getLiteralData(), token.getLength());
    bool changed = false;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
      if (text[i] != '%') continue;
      if (llvm::isAlpha(text[i + 1]) || text[i + 1] == '_') {
        text[i] = kRegisterSign;
        changed = true;
      }
      ++i;
    }
    if (!changed) return;
    texts_.push_back(std::move(text));
    token.setLiteralData(texts_.back().c_str());
  }

  Place place_ = Place::elsewhere;
  std::deque<std::string> texts_;  // the parser reads them later
};

}  // namespace

std::function<void(const Token&)> register_name_marker() {
  // The preprocessor shows its own token to a watcher before anybody has it.
  return [watcher = std::make_shared<Watcher>()](const Token& token) {
    watcher->see(const_cast<Token&>(token));
  };
}

}  // namespace td::compile
