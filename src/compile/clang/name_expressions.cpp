#include "compile/clang/name_expressions.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"

namespace td::compile {

using namespace clang;

namespace {

std::string variable_name(std::size_t index) {
  return "__td_name_expression_" + std::to_string(index);
}

const NamedDecl* named_by(const Expr* expression) {
  while (expression != nullptr) {
    expression = expression->IgnoreParenCasts();
    const auto* unary = llvm::dyn_cast<UnaryOperator>(expression);
    if (unary == nullptr || unary->getOpcode() != UO_AddrOf) break;
    expression = unary->getSubExpr();
  }
  const auto* reference = llvm::dyn_cast_or_null<DeclRefExpr>(expression);
  return reference == nullptr ? nullptr : reference->getDecl();
}

}  // namespace

std::string name_expression_text(const std::vector<std::string>& expressions) {
  std::string text;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    // On a line of its own: a message about it shows nothing of ours.
    text += "static const auto " + variable_name(i) + " = (\n#line 1 \"<name expression>\"\n" +
            expressions[i] + "\n);\n";
  }
  return text;
}

std::vector<const NamedDecl*> named_declarations(ASTContext& context, std::size_t count) {
  std::vector<const NamedDecl*> result;
  for (std::size_t i = 0; i < count; ++i) {
    const NamedDecl* named = nullptr;
    for (NamedDecl* found :
         context.getTranslationUnitDecl()->lookup(&context.Idents.get(variable_name(i)))) {
      if (const auto* variable = llvm::dyn_cast<VarDecl>(found))
        named = named_by(variable->getInit());
    }
    result.push_back(named);
  }
  return result;
}

}  // namespace td::compile
