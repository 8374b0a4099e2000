// One Clang run: the same language set-up for the precompiled prelude and for the user's text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"
#include "compile/clang/options.h"

namespace td::compile {

struct FrontendJob {
  const Options* options = nullptr;
  std::unique_ptr<llvm::MemoryBuffer>
      main;  // text of kMainFile; null: the prelude itself is to be precompiled
  std::unique_ptr<llvm::MemoryBuffer> pch;  // precompiled prelude, null while making it
  std::string* log = nullptr;
};

// Arguments of Clang's cc1 that decide what a precompiled prelude contains.
std::vector<std::string> language_arguments(const Options& options);

// Ready for ExecuteAction. Null when Clang refuses the set-up itself; the reason is then in the
// log.
std::unique_ptr<clang::CompilerInstance> make_frontend(FrontendJob job);

}  // namespace td::compile
