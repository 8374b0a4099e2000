#include "compile/clang/module_action.h"

#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "compile/clang/register_names.h"

namespace td::compile {

using namespace clang;

namespace {

class ModuleConsumer : public ASTConsumer {
 public:
  ModuleConsumer(CompilerInstance& instance, CodeGenerator* generator, const Finish& finish)
      : instance_(instance), generator_(generator), finish_(finish) {}
  void HandleTranslationUnit(ASTContext&) override {
    if (instance_.getDiagnostics().hasErrorOccurred()) return;
    std::unique_ptr<llvm::Module> module(generator_->ReleaseModule());
    if (module) finish_(std::move(module), instance_);
  }

 private:
  CompilerInstance& instance_;
  CodeGenerator* generator_;
  const Finish& finish_;
};

}  // namespace

std::unique_ptr<ASTConsumer> ModuleAction::CreateASTConsumer(CompilerInstance& instance,
                                                             llvm::StringRef) {
  if (instance.getLangOpts().CUDAIsDevice)
    instance.getPreprocessor().setTokenWatcher(register_name_marker());
  CodeGenerator* generator =
      CreateLLVMCodeGen(instance.getDiagnostics(), name_, &instance.getVirtualFileSystem(),
                        instance.getHeaderSearchOpts(), instance.getPreprocessorOpts(),
                        instance.getCodeGenOpts(), context_);
  std::vector<std::unique_ptr<ASTConsumer>> consumers;
  consumers.emplace_back(generator);
  consumers.push_back(std::make_unique<ModuleConsumer>(instance, generator, finish_));
  return std::make_unique<MultiplexConsumer>(std::move(consumers));
}

bool run_action(CompilerInstance& instance, FrontendAction& action) {
  return instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred();
}

}  // namespace td::compile
