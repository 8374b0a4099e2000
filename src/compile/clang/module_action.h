// One Clang run whose result is an LLVM module.
#pragma once

#include <functional>
#include <string>

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace td::compile {

// Takes the module of a translation unit when Clang is through with it; not called after errors.
using Finish = std::function<void(std::unique_ptr<llvm::Module>, clang::CompilerInstance&)>;

class ModuleAction : public clang::ASTFrontendAction {
 public:
  ModuleAction(std::string name, llvm::LLVMContext& context, Finish finish)
      : name_(std::move(name)), context_(context), finish_(std::move(finish)) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override;

 private:
  std::string name_;
  llvm::LLVMContext& context_;
  Finish finish_;
};

// False after errors, which the instance has reported.
bool run_action(clang::CompilerInstance& instance, clang::FrontendAction& action);

}  // namespace td::compile
