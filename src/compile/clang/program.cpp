// td_cc_program: the device code of a source file becomes an image as a kernel's does; the host
// code becomes an object file which carries that image and hands it to the runtime when the program
// starts (Clang's own registration).
#include "compile/program.h"

#include "clang/CodeGen/BackendUtil.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "compile/clang/files.h"
#include "compile/clang/finish_host.h"
#include "compile/clang/finish_module.h"
#include "compile/clang/messages.h"
#include "compile/clang/module_action.h"
#include "compile/clang/program_arguments.h"
#include "compile/program_image.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"

namespace td::compile {

using namespace clang;

namespace {

std::unique_ptr<CompilerInstance> make_instance(const Arguments& arguments,
                                                const std::string* image, std::string& log) {
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  auto instance = std::make_unique<CompilerInstance>();
  instance->setVerboseOutputStream(llvm::nulls());
  auto* options = new DiagnosticOptions;
  IntrusiveRefCntPtr<DiagnosticsEngine> early =
      CompilerInstance::createDiagnostics(options, new Messages(log, options), true);
  if (!CompilerInvocation::CreateFromArgs(instance->getInvocation(), pointers, *early))
    return nullptr;
  instance->createDiagnostics(new Messages(log, &instance->getDiagnosticOpts()), true);
  instance->createFileManager(
      make_program_file_system(instance->getFrontendOpts().Inputs[0].getFile().str(), image));
  return instance;
}

// Device code -> image with its header, "" after errors.
std::string device_image(const ProgramRequest& request, const Arguments& host, std::string& log) {
  auto instance = make_instance(device_side(request, host), nullptr, log);
  if (!instance) return "";
  std::string bitcode;
  llvm::LLVMContext context;
  ModuleAction action(request.file, context,
                      [&](std::unique_ptr<llvm::Module> module, CompilerInstance& compiler) {
                        module->setSourceFileName(request.file);
                        finish_module(*module, compiler.getDiagnostics(), request.relocatable, "");
                        if (compiler.getDiagnostics().hasErrorOccurred()) return;
                        llvm::raw_string_ostream stream(bitcode);
                        llvm::WriteBitcodeToFile(*module, stream);
                      });
  if (!run_action(*instance, action)) return "";
  ProgramImage header;
  header.bytes = bitcode.size();
  header.relocatable = request.relocatable;
  std::string image(reinterpret_cast<const char*>(&header), sizeof header);
  return image + bitcode;
}

bool host_object(const ProgramRequest& request, const Arguments& host, const std::string& image,
                 std::string& log) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();
  auto instance = make_instance(host_side(request, host), &image, log);
  if (!instance) return false;
  if (request.preprocess) {
    instance->getFrontendOpts().OutputFile = request.object.empty() ? "-" : request.object;
    instance->getPreprocessorOutputOpts().ShowCPP = true;
    PrintPreprocessedAction action;
    return run_action(*instance, action);
  }
  llvm::LLVMContext context;
  ModuleAction action(
      request.file, context, [&](std::unique_ptr<llvm::Module> module, CompilerInstance& compiler) {
        finish_host(*module);
        std::error_code error;
        auto output = std::make_unique<llvm::raw_fd_ostream>(request.object, error);
        if (error) {
          log += "error: cannot write " + request.object + ": " + error.message() + "\n";
          return;
        }
        EmitBackendOutput(compiler.getDiagnostics(), compiler.getHeaderSearchOpts(),
                          compiler.getCodeGenOpts(), compiler.getTargetOpts(),
                          compiler.getLangOpts(), compiler.getTarget().getDataLayoutString(),
                          module.get(), Backend_EmitObj, &compiler.getVirtualFileSystem(),
                          std::move(output));
      });
  return run_action(*instance, action) && log.find("error: cannot write") == std::string::npos;
}

}  // namespace
}  // namespace td::compile

__attribute__((visibility("default"))) void td_cc_program(
    const td::compile::ProgramRequest& request, td::compile::ProgramReply& reply) {
  using namespace td::compile;
  reply = {};
  const auto host = host_arguments(request, reply.log);
  if (!host) return;
  std::string image;
  if (request.language == "cuda") {
    image = device_image(request, *host, reply.log);
    if (image.empty()) return;
  }
  reply.ok = host_object(request, *host, image, reply.log);
}
