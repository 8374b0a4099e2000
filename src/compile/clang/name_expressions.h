// Name expressions, as nvrtcAddNameExpression: `&ns::kernel<int>` is instantiated and its symbol
// reported.
#pragma once

#include <string>
#include <vector>

#include "clang/AST/Decl.h"

namespace td::compile {

// Text to append to the user's source: one variable for each expression, whose initialiser is the
// expression.
std::string name_expression_text(const std::vector<std::string>& expressions);

// The functions or variables that the expressions name, in order; null where an expression names
// neither.
std::vector<const clang::NamedDecl*> named_declarations(clang::ASTContext& context,
                                                        std::size_t count);

}  // namespace td::compile
