#include "compile/clang/finish_module.h"
#include "compile/clang/inline_ptx.h"

#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

namespace td::compile {

using namespace llvm;

namespace {

// Functions that lowering or run/ provides, besides __td_* and LLVM's intrinsics.
const char* const kProvided[] = {"vprintf", "__assertfail"};

// Names of the kernels: Clang lists them in !nvvm.annotations as (function, "kernel", 1).
StringSet<> kernel_names(const Module& module) {
  StringSet<> names;
  const NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (annotations == nullptr) return names;
  for (const MDNode* node : annotations->operands()) {
    if (node->getNumOperands() < 2) continue;
    const auto* function = mdconst::dyn_extract_or_null<Function>(node->getOperand(0));
    const auto* kind = dyn_cast_or_null<MDString>(node->getOperand(1));
    if (function != nullptr && kind != nullptr && kind->getString() == "kernel")
      names.insert(function->getName());
  }
  return names;
}

// Mathematical functions (they are declared const) do not communicate between threads, so calls of
// them may move across branches.
void drop_convergence_of_math(Module& module) {
  for (Function& function : module) {
    if (!function.getName().starts_with("__td_") || !function.doesNotAccessMemory()) continue;
    function.removeFnAttr(Attribute::Convergent);
    for (User* user : function.users()) {
      if (auto* call = dyn_cast<CallBase>(user)) call->removeFnAttr(Attribute::Convergent);
    }
  }
}

// LLVM's saturating conversion gives 0 for NaN; PTX gives the sign bit alone when either side has
// 64 bits.
void set_nan_conversion(Module& module) {
  for (Function& function : module) {
    const Intrinsic::ID id = function.getIntrinsicID();
    if (id != Intrinsic::fptosi_sat && id != Intrinsic::fptoui_sat) continue;
    Type* integer = function.getReturnType();
    if (!integer->isIntegerTy() || integer->getIntegerBitWidth() < 32) continue;
    if (integer->getIntegerBitWidth() == 32 && !function.getArg(0)->getType()->isDoubleTy())
      continue;
    for (User* user : make_early_inc_range(function.users())) {
      auto* call = cast<CallInst>(user);
      IRBuilder<> builder(call->getNextNode());
      builder.SetCurrentDebugLocation(call->getDebugLoc());
      Value* number = call->getArgOperand(0);
      Value* is_nan = builder.CreateFCmpUNO(number, number);
      Value* sign = ConstantInt::get(integer, APInt::getSignMask(integer->getIntegerBitWidth()));
      Value* result = builder.CreateSelect(is_nan, sign, call);
      call->replaceUsesWithIf(result, [&](Use& use) { return use.getUser() != result; });
    }
  }
}

// Of a relocatable file, Clang renames a static variable that host code uses (its name, then
// __static__ and the file's identity), but only once it has seen that use: kernels before it refer
// to the old name.
void join_renamed_variables(Module& module) {
  for (GlobalVariable& variable : module.globals()) {
    const std::size_t end = variable.getName().rfind("__static__");
    if (end == StringRef::npos || variable.isDeclaration()) continue;
    GlobalVariable* old = module.getNamedGlobal(variable.getName().take_front(end));
    if (old == nullptr || !old->isDeclaration()) continue;
    old->replaceAllUsesWith(&variable);
    old->eraseFromParent();
  }
}

class Checker {
 public:
  Checker(clang::DiagnosticsEngine& diagnostics, bool relocatable)
      : diagnostics_(diagnostics), relocatable_(relocatable) {}

  void check(const Module& module) {
    for (const Function& function : module) {
      for (const Instruction& instruction : instructions(function)) {
        if (const auto* call = dyn_cast<CallBase>(&instruction)) check_call(*call);
      }
    }
  }

 private:
  void check_call(const CallBase& call) {
    if (call.isInlineAsm()) return;
    const Function* callee = call.getCalledFunction();
    if (callee == nullptr || !callee->isDeclaration() || is_provided(callee->getName())) return;
    if (relocatable_) return;
    if (!reported_.insert(callee->getName()).second) return;
    report(location_of(call), call,
           "function '" + llvm::demangle(callee->getName().str()) +
               "' is called but has no body in this source; add its definition (modules are not "
               "linked together)");
  }

  // From the line table back into the main file; #line shifts line numbers, so the answer is looked
  // for and checked.
  clang::SourceLocation location_of(const CallBase& call) const {
    const DILocation* place = call.getDebugLoc();
    if (place == nullptr) return {};
    const clang::SourceManager& sources = diagnostics_.getSourceManager();
    const clang::FileID file = sources.getMainFileID();
    const unsigned lines = static_cast<unsigned>(sources.getBufferData(file).count('\n')) + 1;
    for (unsigned line = 1; line <= lines; ++line) {
      const clang::SourceLocation found = sources.translateLineCol(file, line, place->getColumn());
      const clang::PresumedLoc presumed = sources.getPresumedLoc(found);
      if (presumed.isValid() && presumed.getLine() == place->getLine() &&
          place->getFilename().ends_with(StringRef(presumed.getFilename()))) {
        return found;
      }
    }
    return {};
  }

  void report(clang::SourceLocation place, const CallBase& call, const std::string& text) {
    std::string message = text;
    if (const DILocation* line = call.getDebugLoc(); place.isInvalid() && line != nullptr) {
      message = line->getFilename().str() + ":" + std::to_string(line->getLine()) + ": " + text;
    }
    diagnostics_.Report(place, diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0"))
        << message;
  }

  clang::DiagnosticsEngine& diagnostics_;
  const bool relocatable_;
  StringSet<> reported_;
};

}  // namespace

bool is_provided(StringRef name) {
  return name.starts_with("llvm.") || name.starts_with("__td_") ||
         any_of(kProvided, [&](const char* known) { return name == known; });
}

void drop_unreachable_functions(Module& module, bool all) {
  const StringSet<> kernels = kernel_names(module);
  for (Function& function : module) {
    // A GPU may keep a call; vectorised code gains nothing from it.
    function.removeFnAttr(Attribute::NoInline);
    if (!all && !function.isDeclaration() && !kernels.contains(function.getName())) {
      function.setComdat(nullptr);
      function.setLinkage(GlobalValue::InternalLinkage);
    }
  }
  ModuleAnalysisManager analyses;
  FunctionAnalysisManager functions;
  analyses.registerPass([&] { return FunctionAnalysisManagerModuleProxy(functions); });
  analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  functions.registerPass([] { return PassInstrumentationAnalysis(); });
  functions.registerPass([&] { return ModuleAnalysisManagerFunctionProxy(analyses); });
  GlobalDCEPass().run(module, analyses);
}

void finish_module(Module& module, clang::DiagnosticsEngine& diagnostics, bool relocatable,
                   const std::string& pch_folder) {
  if (relocatable) join_renamed_variables(module);
  drop_unreachable_functions(module, relocatable);
  replace_inline_ptx(module, diagnostics, pch_folder);
  if (diagnostics.hasErrorOccurred()) return;
  drop_convergence_of_math(module);
  set_nan_conversion(module);
  Checker(diagnostics, relocatable).check(module);
}

}  // namespace td::compile
