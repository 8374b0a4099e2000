// Kernel signatures from Clang's AST.
#pragma once

#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "compile/clang_plugin.h"

namespace td::compile {

// Collects every __global__ function with a body that the translation unit itself declares (not our
// headers), instances of templates included. Read `kernels()` after the translation unit was
// handled.
class KernelCollector : public clang::ASTConsumer {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  std::vector<const clang::FunctionDecl*> kernels() const;

 private:
  std::vector<clang::Decl*> declarations_;
};

// `symbol` is left empty: only code generation knows it for sure.
KernelSignature signature_of(const clang::FunctionDecl& kernel);

}  // namespace td::compile
