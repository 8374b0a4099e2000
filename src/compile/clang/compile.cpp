// td_cc_compile: options, precompiled prelude, Clang, signatures, bitcode; one step after the
// other.
#include "clang/AST/Attr.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "clang/Sema/SemaCUDA.h"
#include "compile/clang/files.h"
#include "compile/clang/finish_module.h"
#include "compile/clang/frontend.h"
#include "compile/clang/name_expressions.h"
#include "compile/clang/pch.h"
#include "compile/clang/register_names.h"
#include "compile/clang/signatures.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace td::compile {

using namespace clang;

namespace {

// What has no annotation is the device's, as NVRTC is asked to have it: functions, which Clang has
// a mode for, and variables of the global namespace.
class DefaultDevice : public SemaConsumer {
 public:
  explicit DefaultDevice(Preprocessor& preprocessor) : preprocessor_(preprocessor) {}

  void InitializeSema(Sema& sema) override {
    sema_ = &sema;
    preprocessor_.setTokenWatcher([this](const Token& token) {
      mark_register_name_(token);
      see(token);
    });
  }
  void ForgetSema() override { preprocessor_.setTokenWatcher(nullptr); }

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* declaration : group)
      if (auto* variable = llvm::dyn_cast<VarDecl>(declaration)) annotate(*variable);
    return true;
  }

 private:
  // Clang's mode adds to annotations that are there, which would make `__host__` functions callable
  // and kernels something else than kernels: it is off from an annotation to the token behind the
  // end of the declarator.
  void see(const Token& token) {
    const bool is_first = last_ == tok::unknown;  // the precompiled header has set its own mode
    if (is_first || (annotated_ && (last_ == tok::l_brace || last_ == tok::semi))) {
      sema_->CUDA().PushForceHostDevice();
      annotated_ = false;
    }
    if (!annotated_ && before_ == tok::l_paren && last_ == tok::l_paren &&
        token.is(tok::identifier)) {
      const llvm::StringRef name = token.getIdentifierInfo()->getName();
      if (name == "global" || name == "device" || name == "host")
        annotated_ = sema_->CUDA().PopForceHostDevice();
    }
    before_ = last_;
    last_ = token.getKind();
  }

  void annotate(VarDecl& variable) {
    const bool is_annotated =
        variable.hasAttr<CUDADeviceAttr>() || variable.hasAttr<CUDAConstantAttr>() ||
        variable.hasAttr<CUDASharedAttr>() || variable.hasAttr<HIPManagedAttr>();
    // Constants are known to device code as they are.
    if (is_annotated || variable.isInvalidDecl() || variable.isConstexpr() ||
        variable.getType().isConstQualified())
      return;
    variable.addAttr(CUDADeviceAttr::CreateImplicit(sema_->Context));
    sema_->CUDA().checkAllowedInitializer(&variable);
  }

  Preprocessor& preprocessor_;
  Sema* sema_ = nullptr;
  tok::TokenKind before_ = tok::unknown, last_ = tok::unknown;
  bool annotated_ = false;
  std::function<void(const Token&)> mark_register_name_ = register_name_marker();
};

// Runs last: every declaration has been seen and, with a generator, emitted.
class ReplyWriter : public ASTConsumer {
 public:
  ReplyWriter(const ClangRequest& request, ClangReply& reply, CompilerInstance& instance,
              KernelCollector& collector, CodeGenerator* generator)
      : request_(request),
        reply_(reply),
        instance_(instance),
        collector_(collector),
        generator_(generator) {}

  void HandleTranslationUnit(ASTContext& context) override {
    if (instance_.getDiagnostics().hasErrorOccurred()) return;
    for (const FunctionDecl* kernel : collector_.kernels()) {
      KernelSignature signature = signature_of(*kernel);
      signature.symbol = symbol_of(*kernel);
      reply_.kernels.push_back(std::move(signature));
    }
    resolve_names(context);
    if (generator_ != nullptr) write_image();
  }

 private:
  std::string symbol_of(const NamedDecl& declaration) {
    if (const auto* function = llvm::dyn_cast<FunctionDecl>(&declaration)) {
      if (function->isExternC()) return function->getName().str();
      if (generator_ == nullptr) return "";
      return generator_->GetMangledName(GlobalDecl(function)).str();
    }
    const auto* variable = llvm::dyn_cast<VarDecl>(&declaration);
    if (variable == nullptr || generator_ == nullptr) return "";
    return generator_->GetMangledName(GlobalDecl(variable)).str();
  }

  void resolve_names(ASTContext& context) {
    DiagnosticsEngine& diagnostics = instance_.getDiagnostics();
    const auto named = named_declarations(context, request_.name_expressions.size());
    for (std::size_t i = 0; i < named.size(); ++i) {
      const std::string& expression = request_.name_expressions[i];
      if (named[i] == nullptr) {
        const unsigned id = diagnostics.getCustomDiagID(
            DiagnosticsEngine::Error,
            "name expression '%0' names neither a kernel nor a device variable; write, "
            "for example, '&ns::kernel<int>'");
        diagnostics.Report(id) << expression;
        continue;
      }
      reply_.lowered_names.emplace_back(expression, symbol_of(*named[i]));
    }
  }

  void write_image() {
    std::unique_ptr<llvm::Module> module(generator_->ReleaseModule());
    if (!module) return;
    module->setSourceFileName(request_.file_name);
    finish_module(*module, instance_.getDiagnostics(), false, request_.pch_folder);
    if (instance_.getDiagnostics().hasErrorOccurred()) return;
    llvm::raw_string_ostream stream(reply_.image);
    llvm::WriteBitcodeToFile(*module, stream);
  }

  const ClangRequest& request_;
  ClangReply& reply_;
  CompilerInstance& instance_;
  KernelCollector& collector_;
  CodeGenerator* generator_;
};

class CompileAction : public ASTFrontendAction {
 public:
  CompileAction(const ClangRequest& request, ClangReply& reply)
      : request_(request), reply_(reply) {}

 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& instance,
                                                 llvm::StringRef) override {
    std::vector<std::unique_ptr<ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<DefaultDevice>(instance.getPreprocessor()));
    auto collector = std::make_unique<KernelCollector>();
    KernelCollector& kernels = *collector;
    consumers.push_back(std::move(collector));
    CodeGenerator* generator = nullptr;
    if (!request_.syntax_only) {
      llvm_context_.setDiscardValueNames(true);
      generator = CreateLLVMCodeGen(instance.getDiagnostics(), request_.file_name,
                                    &instance.getVirtualFileSystem(),
                                    instance.getHeaderSearchOpts(), instance.getPreprocessorOpts(),
                                    instance.getCodeGenOpts(), llvm_context_);
      consumers.emplace_back(generator);
    }
    consumers.push_back(
        std::make_unique<ReplyWriter>(request_, reply_, instance, kernels, generator));
    return std::make_unique<MultiplexConsumer>(std::move(consumers));
  }

 private:
  const ClangRequest& request_;
  ClangReply& reply_;
  llvm::LLVMContext llvm_context_;
};

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c != '\n') result += c;
  }
  return result + "\"";
}

// nvcc takes `__shared__ alignas(16) int x`, Clang wants alignas first. The two words become the
// name of a macro (td_annotations.h) in the same place, so that columns stay.
std::string join_alignas(std::string text) {
  const std::string second = "alignas";
  for (const std::string first : {"__shared__", "__constant__", "__device__"}) {
    for (std::size_t at = text.find(first); at != std::string::npos;
         at = text.find(first, at + 1)) {
      const std::size_t end = at + first.size(), next = text.find_first_not_of(' ', end);
      if (next == end || text.compare(next, second.size(), second) != 0) continue;
      text.replace(end, next + second.size() - end,
                   "_" + second + std::string(next - end - 1, ' '));
    }
  }
  return text;
}

// The user's text with his macros in front; #line keeps his own numbers.
std::string main_text(const ClangRequest& request, const Options& options) {
  std::string text = "#line 1 \"<command line>\"\n";
  for (const std::string& macro : options.macros) text += macro + "\n";
  for (const std::string& file : options.pre_includes) text += "#include " + quoted(file) + "\n";
  text += "#line " + std::to_string(request.first_line) + " " + quoted(request.file_name) + "\n";
  text += join_alignas(request.source);
  text += "\n";
  return text + name_expression_text(request.name_expressions);
}

// The big headers are precompiled with the prelude for sources that mention them.
const char* prelude_for(const std::string& source) {
  auto mentions = [&](const char* header) { return source.find(header) != std::string::npos; };
  if (mentions("cuda_bf16.h") || mentions("cuda_fp8.h") || mentions("mma.h"))
    return kPreludeBfloatFile;
  if (mentions("cuda_fp16.h")) return kPreludeHalfFile;
  return mentions("curand_kernel.h") && !mentions("QUALIFIERS") ? kPreludeRandomFile : nullptr;
}

void compile_with_clang(const ClangRequest& request, ClangReply& reply) {
  Options options = parse_options(request.options);
  if (!options.error.empty()) {
    reply.log = options.error;
    return;
  }
  options.prelude = prelude_for(request.source);
  FrontendJob job;
  job.options = &options;
  job.main = llvm::MemoryBuffer::getMemBufferCopy(main_text(request, options), kMainFile);
  job.pch = precompiled_prelude(options, request.pch_folder, reply.log);
  if (!job.pch) return;
  job.log = &reply.log;
  std::unique_ptr<CompilerInstance> instance = make_frontend(std::move(job));
  if (!instance) return;
  CompileAction action(request, reply);
  instance->ExecuteAction(action);
  reply.ok = !instance->getDiagnostics().hasErrorOccurred();
  if (reply.ok) return;
  reply.image.clear();
  reply.kernels.clear();
  reply.lowered_names.clear();
}

}  // namespace
}  // namespace td::compile

__attribute__((visibility("default"))) void td_cc_compile(const td::compile::ClangRequest& request,
                                                          td::compile::ClangReply& reply) {
  reply = {};
  td::compile::compile_with_clang(request, reply);
}
