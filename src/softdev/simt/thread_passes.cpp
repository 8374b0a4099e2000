#include "softdev/simt/thread_passes.h"
#include "softdev/simt/small_copies.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "softdev/simt/functions.h"
#include "softdev/simt/thread_state.h"
#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {

using namespace llvm;

// A construct inlined from a device header is reported where the user's file called it.
static const DILocation* user_location(const Instruction& at) {
  const DILocation* location = at.getDebugLoc().get();
  const DISubprogram* kernel = at.getFunction() ? at.getFunction()->getSubprogram() : nullptr;
  if (!location) return nullptr;
  while (kernel && location->getFilename() != kernel->getFilename() && location->getInlinedAt())
    location = location->getInlinedAt();
  return location;
}

std::string source_place(const Instruction& at) {
  if (const DILocation* location = user_location(at))
    return location->getFilename().str() + ":" + std::to_string(location->getLine()) + ": ";
  return at.getFunction() ? "kernel `" + at.getFunction()->getName().str() + "`: " : "";
}

unsigned source_line(const Instruction& at) {
  const DILocation* location = user_location(at);
  return location ? location->getLine() : 0;
}

std::string source_function(const Instruction& at) {
  const DILocation* location = user_location(at);
  const DISubprogram* function = location ? location->getScope()->getSubprogram() : nullptr;
  return function ? function->getName().str() : "";
}

void refuse(const Instruction& at, const std::string& feature) {
  throw Unsupported(source_place(at) + feature + " not supported on the software device yet");
}

void leave_empty(Function& kernel) {
  GlobalValue::LinkageTypes linkage = kernel.getLinkage();
  kernel.deleteBody();
  kernel.setLinkage(linkage);
  ReturnInst::Create(kernel.getContext(), BasicBlock::Create(kernel.getContext(), "", &kernel));
}

namespace {

// What generic passes must know about the target: branches diverge, address space 0 is the generic
// one.
class ThreadTarget : public TargetTransformInfoImplCRTPBase<ThreadTarget> {
  using Base = TargetTransformInfoImplCRTPBase<ThreadTarget>;

 public:
  explicit ThreadTarget(const DataLayout& layout) : Base(layout) {}
  bool hasBranchDivergence(const Function* = nullptr) const { return true; }
  unsigned getFlatAddressSpace() const { return 0; }
};

// The analysis managers of a pass run; registered in the order that lets them refer to one another.
struct Managers {
  LoopAnalysisManager loop;
  FunctionAnalysisManager function;
  CGSCCAnalysisManager scc;
  ModuleAnalysisManager module;
  PassBuilder builder;

  Managers() {
    function.registerPass([] {
      return TargetIRAnalysis([](const Function& f) {
        return TargetTransformInfo(ThreadTarget(f.getParent()->getDataLayout()));
      });
    });
    builder.registerModuleAnalyses(module);
    builder.registerCGSCCAnalyses(scc);
    builder.registerFunctionAnalyses(function);
    builder.registerLoopAnalyses(loop);
    builder.crossRegisterProxies(loop, function, scc, module);
  }
};

void refuse_unknown_code(Function& function) {
  for (Instruction& instruction : instructions(function)) {
    auto* call = dyn_cast<CallBase>(&instruction);
    auto* text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    if (text && !text->getAsmString().empty())  // an empty one is a compiler barrier
      refuse(*call, "inline assembly (asm) is");
  }
}

void refuse_unknown_code(Module& module, ArrayRef<Function*> kernels, NoteRefused refused) {
  for (Function& function : module) {
    try {
      refuse_unknown_code(function);
    } catch (const Unsupported& why) {
      if (!is_contained(kernels, &function)) throw;
      refused(function, why.what());
      leave_empty(function);
    }
  }
}

void mark_for_inlining(Module& module, ArrayRef<Function*> kernels, const KeptFunctions& kept) {
  for (Function& function : module) {
    function.removeFnAttr(Attribute::OptimizeNone);
    function.removeFnAttr(Attribute::NoInline);
    function.removeFnAttr(Attribute::OptimizeForSize);
    if (function.isDeclaration() || is_contained(kernels, &function)) continue;
    function.setLinkage(GlobalValue::InternalLinkage);
    function.setComdat(nullptr);
    if (kept.recursive.contains(&function)) {
      function.removeFnAttr(Attribute::AlwaysInline);
      function.addFnAttr(Attribute::NoInline);
      continue;
    }
    function.addFnAttr(Attribute::AlwaysInline);
    for (User* user : function.users())
      if (auto* call = dyn_cast<CallBase>(user)) call->removeFnAttr(Attribute::NoInline);
  }
}

KeptFunctions still_there(const KeptFunctions& kept, Module& module) {
  KeptFunctions left;
  for (Function& function : module) {
    if (kept.recursive.contains(&function)) left.recursive.insert(&function);
    if (kept.address_taken.contains(&function)) left.address_taken.insert(&function);
  }
  return left;
}

bool only_loaded(Value* pointer) {
  return all_of(pointer->users(), [&](User* user) {
    if (isa<LoadInst>(user)) return true;
    if (auto* copy = dyn_cast<MemTransferInst>(user)) return copy->getRawSource() == pointer;
    return isa<GetElementPtrInst, AddrSpaceCastInst>(user) && only_loaded(user);
  });
}

// A parameter passed by value may be changed by its thread: then each thread needs its own copy.
void copy_changed_params(Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  for (Argument& argument : kernel.args()) {
    if (!argument.hasByValAttr() || only_loaded(&argument)) continue;
    IRBuilder<> b(&*kernel.getEntryBlock().getFirstInsertionPt());
    Type* type = argument.getParamByValType();
    AllocaInst* copy = b.CreateAlloca(type, nullptr, argument.getName() + ".copy");
    Align align = std::max(argument.getParamAlign().valueOrOne(), layout.getABITypeAlign(type));
    copy->setAlignment(align);
    argument.replaceAllUsesWith(copy);
    b.CreateMemCpy(copy, align, &argument, align, layout.getTypeAllocSize(type));
  }
}

void expand_constant_expressions(Module& module, Function& kernel) {
  SmallVector<Constant*> variables;
  for (GlobalVariable& variable : module.globals()) variables.push_back(&variable);
  convertUsersOfConstantsToInstructions(variables, &kernel);
  bool changed = true;
  while (changed) {
    changed = false;
    for (Instruction& instruction : make_early_inc_range(instructions(kernel)))
      for (Use& use : instruction.operands())
        if (auto* expression = dyn_cast<ConstantExpr>(use.get())) {
          auto* phi = dyn_cast<PHINode>(&instruction);
          Instruction* before = phi ? phi->getIncomingBlock(use)->getTerminator() : &instruction;
          Instruction* expanded = expression->getAsInstruction();
          expanded->insertBefore(before);
          if (phi) {
            BasicBlock* from = phi->getIncomingBlock(use);
            for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
              if (phi->getIncomingBlock(i) == from) phi->setIncomingValue(i, expanded);
          } else {
            use.set(expanded);
          }
          changed = true;
        }
  }
}

// After a trap nothing runs, so that `unreachable` may simply end the thread.
void return_from_unreachable(Function& kernel) {
  for (BasicBlock& block : kernel)
    if (auto* end = dyn_cast<UnreachableInst>(block.getTerminator())) {
      ReturnInst::Create(kernel.getContext(), nullptr, end->getIterator());
      end->eraseFromParent();
    }
}

void drop_hints(Function& kernel) {
  for (Instruction& instruction : make_early_inc_range(instructions(kernel))) {
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call) continue;
    if (call->isAssumeLikeIntrinsic() && call->use_empty()) call->eraseFromParent();
  }
}

// Fully unrolls small innermost loops with a constant trip count: such a loop runs alike in every
// lane.
class UnrollConstantLoops : public PassInfoMixin<UnrollConstantLoops> {
 public:
  PreservedAnalyses run(Function& function, FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<LoopAnalysis>(function);
    auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    auto& assumptions = analyses.getResult<AssumptionAnalysis>(function);
    auto& target = analyses.getResult<TargetIRAnalysis>(function);
    auto& remarks = analyses.getResult<OptimizationRemarkEmitterAnalysis>(function);
    bool changed = false;
    bool again = true;
    while (again) {
      again = false;
      for (Loop* loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost() || !loop->isLoopSimplifyForm()) continue;
        unsigned count = evolution.getSmallConstantTripCount(loop);
        if (count == 0 || count > max_trips || size_of(*loop) * count > max_instructions) continue;
        UnrollLoopOptions options{count, true, false, false, false, true, nullptr};
        auto result = UnrollLoop(loop, options, &loops, &evolution, &dominators, &assumptions,
                                 &target, &remarks, true);
        if (result == LoopUnrollResult::Unmodified) continue;
        changed = again = true;
        break;
      }
    }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

 private:
  static constexpr unsigned max_trips = 32, max_instructions = 256;
  static unsigned size_of(const Loop& loop) {
    unsigned size = 0;
    for (BasicBlock* block : loop.blocks()) size += block->size();
    return size;
  }
};

FunctionPassManager clean_up(bool scalarize) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  if (scalarize) {
    passes.addPass(ExpandSmallCopies());
    ScalarizerPassOptions options;
    options.ScalarizeVariableInsertExtract = true;
    options.ScalarizeLoadStore = true;
    passes.addPass(ScalarizerPass(options));
    passes.addPass(InferAddressSpacesPass(0));
    passes.addPass(LoopSimplifyPass());
    passes.addPass(LCSSAPass());
    passes.addPass(UnrollConstantLoops());
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass(true));
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());
  }
  return passes;
}

FunctionPassManager normalize() {
  FunctionPassManager passes;
  passes.addPass(LowerSwitchPass());
  passes.addPass(UnifyFunctionExitNodesPass());
  passes.addPass(FixIrreduciblePass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  return passes;
}

}  // namespace

std::vector<Function*> find_kernels(Module& module) {
  std::vector<Function*> kernels;
  auto add = [&](Function* function) {
    if (function && !function->isDeclaration() && !is_contained(kernels, function))
      kernels.push_back(function);
  };
  for (Function& function : module)
    if (function.getCallingConv() == CallingConv::PTX_Kernel) add(&function);
  if (NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations"))
    for (MDNode* node : annotations->operands()) {
      auto* function = mdconst::dyn_extract_or_null<Function>(node->getOperand(0));
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2)
        if (auto* key = dyn_cast<MDString>(node->getOperand(i));
            key && key->getString() == "kernel")
          add(function);
    }
  return kernels;
}

unsigned max_threads(const Function& kernel) {
  unsigned product = 1;
  bool found = false;
  NamedMDNode* annotations =
      const_cast<Module*>(kernel.getParent())->getNamedMetadata("nvvm.annotations");
  if (!annotations) return 1024;
  for (MDNode* node : annotations->operands()) {
    if (mdconst::dyn_extract_or_null<Function>(node->getOperand(0)) != &kernel) continue;
    for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
      auto* key = dyn_cast<MDString>(node->getOperand(i));
      if (!key || !key->getString().starts_with("maxntid")) continue;
      if (auto* value = mdconst::dyn_extract<ConstantInt>(node->getOperand(i + 1))) {
        product *= static_cast<unsigned>(value->getZExtValue());
        found = true;
      }
    }
  }
  return found ? std::min(product, 1024u) : 1024;
}

KeptFunctions prepare_threads(Module& module, const StepHook& hook, NoteRefused refused) {
  std::vector<Function*> kernels = find_kernels(module);
  KeptFunctions kept;
  {
    Managers managers;
    ModulePassManager drop;
    drop.addPass(GlobalDCEPass());
    drop.run(module, managers.module);
    kept = find_kept_functions(module, kernels);
    mark_for_inlining(module, kernels, kept);
    expand_indirect_calls(module, kept);
  }
  {
    Managers managers;
    ModulePassManager passes;
    FunctionPassManager early;
    early.addPass(SROAPass(SROAOptions::ModifyCFG));
    early.addPass(EarlyCSEPass());
    early.addPass(SimplifyCFGPass());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(early)));
    passes.addPass(AlwaysInlinerPass(false));
    passes.addPass(GlobalDCEPass());
    passes.run(module, managers.module);
    kept = still_there(kept, module);
  }
  refuse_unknown_code(module, kernels, refused);
  place_thread_state(module, kernels);
  hook("inlined", module);
  for (Function* kernel : kernels) copy_changed_params(*kernel);
  Managers managers;
  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(clean_up(true)));
  passes.run(module, managers.module);
  hook("cleaned", module);
  for (Function& function : module) {
    if (function.isDeclaration()) continue;
    expand_constant_expressions(module, function);
    drop_hints(function);
    if (is_contained(kernels, &function)) return_from_unreachable(function);
    removeUnreachableBlocks(function);
  }
  managers.function.clear();
  managers.module.clear();
  ModulePassManager shape;
  shape.addPass(createModuleToFunctionPassAdaptor(normalize()));
  shape.run(module, managers.module);
  hook("normalized", module);
  return kept;
}

}  // namespace td::softdev::simt
