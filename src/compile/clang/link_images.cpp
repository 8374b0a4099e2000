// td_cc_link_images: the relocatable images of a program become one, as nvlink does for a GPU.
#include "compile/program.h"
#include "compile/clang/finish_module.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"

namespace td::compile {

using namespace llvm;

namespace {

// What the linker says goes to the log.
class LogHandler : public DiagnosticHandler {
 public:
  explicit LogHandler(std::string& log) : log_(log) {}
  bool handleDiagnostics(const DiagnosticInfo& info) override {
    if (info.getSeverity() != DS_Error) return true;
    raw_string_ostream stream(log_);
    DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream << "\n";
    return true;
  }

 private:
  std::string& log_;
};

std::unique_ptr<Module> read_image(std::string_view image, LLVMContext& context, std::string& log) {
  auto module =
      parseBitcodeFile(MemoryBufferRef(StringRef(image.data(), image.size()), "image"), context);
  if (module) return std::move(*module);
  log += "an image of the program is damaged: " + toString(module.takeError()) + "\n";
  return nullptr;
}

void note_missing(const Module& module, std::string& log) {
  // What stands in virtual tables for a function without a body; nobody defines it.
  constexpr StringRef pure_virtual = "__cxa_pure_virtual";
  for (const Function& function : module) {
    const StringRef name = function.getName();
    if (!function.isDeclaration() || function.use_empty() || is_provided(name) ||
        name == pure_virtual)
      continue;
    log += "function '" + demangle(function.getName().str()) +
           "' is called, but no file of the program defines it\n";
  }
}

void link_images(const LinkRequest& request, LinkReply& reply) {
  LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<LogHandler>(reply.log));
  auto whole = std::make_unique<Module>("program", context);
  bool first = true;
  for (std::string_view image : request.images) {
    std::unique_ptr<Module> part = read_image(image, context, reply.log);
    if (!part) return;
    if (first) {
      whole->setDataLayout(part->getDataLayout());
      whole->setTargetTriple(part->getTargetTriple());
      first = false;
    }
    if (Linker::linkModules(*whole, std::move(part))) return;
  }
  drop_unreachable_functions(*whole);
  note_missing(*whole, reply.log);
  if (!reply.log.empty()) return;
  raw_string_ostream stream(reply.image);
  WriteBitcodeToFile(*whole, stream);
  reply.ok = true;
}

}  // namespace
}  // namespace td::compile

__attribute__((visibility("default"))) void td_cc_link_images(
    const td::compile::LinkRequest& request, td::compile::LinkReply& reply) {
  reply = {};
  td::compile::link_images(request, reply);
}
