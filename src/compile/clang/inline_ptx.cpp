#include "compile/clang/inline_ptx.h"

#include <map>
#include <optional>

#include "compile/clang/files.h"
#include "clang/Basic/SourceManager.h"
#include "compile/clang/frontend.h"
#include "compile/clang/module_action.h"
#include "compile/clang/pch.h"
#include "compile/clang/register_names.h"
#include "compile/ptx/translate.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Linker/Linker.h"

namespace td::compile {

using namespace llvm;

namespace {

// An asm statement as LLVM has it. Operands are numbered outputs first, as %0, %1 ... of the text;
// the inputs are the call's arguments in their order, the outputs its result.
struct Statement {
  CallInst* call;
  std::string text;
  std::vector<ptx::AsmOperand> operands;
  std::string function;
};

// LLVM's spelling -> PTX: $0 is %0, $$ is $, ${:uid} a number of its own.
std::string ptx_text(StringRef text) {
  std::string result;
  while (!text.empty()) {
    if (text.consume_front("$$")) {
      result += '$';
    } else if (text.consume_front("${:uid}")) {
      result += '0';
    } else if (text.consume_front("$")) {
      const bool braces = text.consume_front("{");
      result += '%';
      while (!text.empty() && isDigit(text.front())) {
        result += text.front();
        text = text.drop_front();
      }
      if (braces) text = text.drop_front(std::min(text.find('}'), text.size() - 1) + 1);
    } else {
      result += text.front() == kRegisterSign ? '%' : text.front();
      text = text.drop_front();
    }
  }
  return result;
}

class Replacement {
 public:
  Replacement(Module& module, clang::DiagnosticsEngine& diagnostics, const std::string& pch_folder)
      : module_(module), diagnostics_(diagnostics), pch_folder_(pch_folder) {}

  void run() {
    std::vector<CallInst*> calls;
    for (Function& function : module_)
      for (Instruction& instruction : instructions(function))
        if (auto* call = dyn_cast<CallInst>(&instruction); call && is_statement(*call))
          calls.push_back(call);
    if (calls.empty()) return;
    for (CallInst* call : calls) add(*call);
    if (diagnostics_.hasErrorOccurred() || !link()) return;
    for (Statement& statement : statements_) replace(statement);
  }

 private:
  // An empty one without operands is a compiler barrier as it stands.
  static bool is_statement(const CallInst& call) {
    const auto* text = dyn_cast<InlineAsm>(call.getCalledOperand());
    return text && !(text->getAsmString().empty() && call.getType()->isVoidTy());
  }

  void add(CallInst& call) {
    Statement statement{&call, "", {}, ""};
    const auto& code = *cast<InlineAsm>(call.getCalledOperand());
    statement.text = ptx_text(code.getAsmString());
    try {
      read_operands(statement, code);
      statement.function = function_of(statement);
    } catch (const ptx::Refused& why) {
      report(call, why);
      return;
    }
    statements_.push_back(std::move(statement));
  }

  static void read_operands(Statement& statement, const InlineAsm& code) {
    unsigned argument = 0, result = 0;
    for (const InlineAsm::ConstraintInfo& info : code.ParseConstraints()) {
      if (info.Type == InlineAsm::isClobber) continue;
      const std::string letters = info.Codes.empty() ? "" : info.Codes[0];
      ptx::AsmOperand operand;
      operand.output = info.Type == InlineAsm::isOutput;
      Value* value = operand.output ? nullptr : statement.call->getArgOperand(argument++);
      if (!operand.output && !letters.empty() && isDigit(letters[0])) {
        operand.same_as = std::stoi(letters);
      } else if (letters == "n" || letters == "i") {
        const auto* constant = dyn_cast<ConstantInt>(value);
        if (!constant) throw ptx::Refused(0, "an \"n\" operand must be an integer constant");
        operand.immediate = true;
        operand.value = constant->getSExtValue();
      } else {
        operand.constraint = letters.size() == 1 ? letters[0] : '?';
        Type* type = operand.output ? result_type(*statement.call, result++) : value->getType();
        check(operand, letters, *type, statement);
      }
      statement.operands.push_back(operand);
    }
  }

  static Type* result_type(const CallInst& call, unsigned index) {
    auto* all = dyn_cast<StructType>(call.getType());
    return all ? all->getElementType(index) : call.getType();
  }

  static unsigned bits_of(char constraint) {
    return constraint == 'h' ? 16 : constraint == 'l' || constraint == 'd' ? 64 : 32;
  }

  static void check(const ptx::AsmOperand& operand, const std::string& letters, Type& type,
                    const Statement& statement) {
    const std::string number = std::to_string(statement.operands.size());
    if (!ptx::register_type(operand.constraint))
      throw ptx::Refused(0, "operand %" + number +
                                ": the software device knows the constraints "
                                "h, r, l, f, d and n, not '" +
                                letters + "'");
    const DataLayout& layout = statement.call->getModule()->getDataLayout();
    const unsigned held = static_cast<unsigned>(layout.getTypeSizeInBits(&type).getFixedValue());
    const unsigned bits = bits_of(operand.constraint);
    if (held != bits)
      throw ptx::Refused(0, "operand %" + number + " has " + std::to_string(held) +
                                " bits, but its constraint '" + letters + "' is for " +
                                std::to_string(bits) + "; convert it first");
  }

  // Equal statements share a function.
  std::string function_of(const Statement& statement) {
    std::string key = statement.text;
    for (const ptx::AsmOperand& operand : statement.operands)
      key += "|" + std::string(1, operand.constraint) + std::to_string(operand.output) +
             std::to_string(operand.same_as) + std::to_string(operand.immediate) +
             std::to_string(operand.value);
    std::string& name = names_[key];
    if (!name.empty()) return name;
    const std::string fresh = "__td_asm_" + std::to_string(names_.size());
    const ptx::Function function = ptx::translate(statement.text, statement.operands, fresh);
    source_ += function.text;
    half_ |= function.half;
    bfloat_ |= function.bfloat;
    return name = fresh;
  }

  bool link() {
    std::string log;
    std::unique_ptr<Module> functions = compile(log);
    if (!functions) {
      diagnostics_.Report(
          diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                       "inline PTX was translated into wrong C++, which is a "
                                       "fault of Treadle's: %0"))
          << log + source_;
      return false;
    }
    StripDebugInfo(*functions);
    // The flags of the user's module count.
    if (NamedMDNode* flags = functions->getModuleFlagsMetadata()) flags->eraseFromParent();
    if (Linker::linkModules(module_, std::move(functions))) return false;
    for (const auto& [key, name] : names_)
      module_.getFunction(name)->setLinkage(GlobalValue::InternalLinkage);
    return true;
  }

  std::unique_ptr<Module> compile(std::string& log) {
    Options options;
    options.prelude = bfloat_ ? kPreludeBfloatFile : half_ ? kPreludeHalfFile : kPreludePtxFile;
    std::string text = "#pragma clang fp contract(off)\n#include \"td_ptx.h\"\n";
    if (half_ || bfloat_) text += "#include \"td_ptx_half.h\"\n";
    if (bfloat_) text += "#include \"td_ptx_bfloat.h\"\n";
    FrontendJob job;
    job.options = &options;
    job.main = MemoryBuffer::getMemBufferCopy(text + source_, kMainFile);
    job.pch = precompiled_prelude(options, pch_folder_, log);
    job.log = &log;
    if (!job.pch) return nullptr;
    std::unique_ptr<clang::CompilerInstance> instance = make_frontend(std::move(job));
    if (!instance) return nullptr;
    std::unique_ptr<Module> result;
    ModuleAction action("ptx", module_.getContext(),
                        [&](std::unique_ptr<Module> module, clang::CompilerInstance&) {
                          result = std::move(module);
                        });
    return run_action(*instance, action) ? std::move(result) : nullptr;
  }

  // Outputs are variables that the function writes; registers hold bits, whatever the operand's
  // type.
  void replace(const Statement& statement) {
    CallInst& call = *statement.call;
    Function& function = *module_.getFunction(statement.function);
    IRBuilder<> b(&call), entry(&*call.getFunction()->getEntryBlock().getFirstInsertionPt());
    std::vector<Value*> arguments;
    std::vector<AllocaInst*> outputs;
    unsigned input = 0;
    for (const ptx::AsmOperand& operand : statement.operands) {
      if (operand.output) {
        Type* type = operand.constraint == 'f'   ? b.getFloatTy()
                     : operand.constraint == 'd' ? b.getDoubleTy()
                                                 : b.getIntNTy(bits_of(operand.constraint));
        outputs.push_back(entry.CreateAlloca(type));
        arguments.push_back(outputs.back());
        continue;
      }
      Value* value = call.getArgOperand(input++);
      if (operand.immediate) continue;
      if (operand.same_as >= 0) {
        b.CreateStore(value, outputs[static_cast<unsigned>(operand.same_as)]);
        continue;
      }
      Type* type =
          function.getFunctionType()->getParamType(static_cast<unsigned>(arguments.size()));
      arguments.push_back(b.CreateBitOrPointerCast(value, type));
    }
    b.CreateCall(&function, arguments);
    finish(call, outputs, b);
  }

  static void finish(CallInst& call, ArrayRef<AllocaInst*> outputs, IRBuilder<>& b) {
    if (outputs.size() == 1) {
      call.replaceAllUsesWith(b.CreateLoad(call.getType(), outputs[0]));
    } else if (!outputs.empty()) {
      Value* all = PoisonValue::get(call.getType());
      for (unsigned i = 0; i < outputs.size(); ++i)
        all = b.CreateInsertValue(all, b.CreateLoad(result_type(call, i), outputs[i]), i);
      call.replaceAllUsesWith(all);
    }
    call.eraseFromParent();
  }

  void report(const CallInst& call, const ptx::Refused& why) {
    diagnostics_.Report(
        place_of(call, why.after),
        diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error, "inline PTX: %0"))
        << why.what();
  }

  // The first character of the text behind so many semicolons. Clang has the place where the string
  // literals begin.
  clang::SourceLocation place_of(const CallInst& call, int semicolons) const {
    const MDNode* lines = call.getMetadata("srcloc");
    if (!lines || lines->getNumOperands() == 0) return {};
    const auto* raw = mdconst::dyn_extract<ConstantInt>(lines->getOperand(0));
    if (!raw) return {};
    const auto start = clang::SourceLocation::getFromRawEncoding(
        static_cast<clang::SourceLocation::UIntTy>(raw->getZExtValue()));
    bool invalid = start.isMacroID();
    if (invalid) return start;
    const char* text = diagnostics_.getSourceManager().getCharacterData(start, &invalid);
    if (invalid) return start;
    const char* at = text;
    for (; semicolons > 0; ++at) {
      if (*at == '\0') return start;
      semicolons -= *at == ';';
    }
    at = skip_blank(at);
    return start.getLocWithOffset(static_cast<int>(at - text));
  }

  // Over white space, escapes of it, and the quotes between two literals.
  static const char* skip_blank(const char* at) {
    while (isSpace(*at) || *at == '"' || (*at == '\\' && (at[1] == 'n' || at[1] == 't')))
      at += *at == '\\' ? 2 : 1;
    return at;
  }

  Module& module_;
  clang::DiagnosticsEngine& diagnostics_;
  const std::string& pch_folder_;
  std::vector<Statement> statements_;
  std::map<std::string, std::string> names_;  // of the functions
  std::string source_;
  bool half_ = false, bfloat_ = false;
};

}  // namespace

void replace_inline_ptx(Module& module, clang::DiagnosticsEngine& diagnostics,
                        const std::string& pch_folder) {
  Replacement(module, diagnostics, pch_folder).run();
}

}  // namespace td::compile
