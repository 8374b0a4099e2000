// Clang's diagnostics as text, with the user's lines only.
//
// A diagnostic inside our device headers is shown at the user's expansion of our macro, or at the
// user's call of our template, or else without a position; notes that point into our headers are
// dropped. Only while the headers themselves are precompiled are their own lines shown.
#pragma once

#include <memory>
#include <string>

#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/TextDiagnostic.h"
#include "llvm/Support/raw_ostream.h"

namespace td::compile {

class Messages : public clang::DiagnosticConsumer {
 public:
  // Text is appended to `log`, which must outlive this object.
  Messages(std::string& log, clang::DiagnosticOptions* options) : stream_(log), options_(options) {}

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* pp) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override;

 private:
  void print_pending();

  llvm::raw_string_ostream stream_;
  // An error inside our headers that waits for the note that tells the user's line.
  std::string pending_;
  bool error_shown_ = false;
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options_;
  std::unique_ptr<clang::TextDiagnostic> printer_;
};

}  // namespace td::compile
