#include "softdev/simt/codegen.h"

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <mutex>

#include "softdev/simt/lane_tests.h"
#include "softdev/simt/mask_lowering.h"
#include "softdev/simt/phase_loops.h"
#include "softdev/simt/phases.h"
#include "softdev/simt/unsupported.h"
#include "softdev/simt/warp_jam.h"

namespace td::softdev::simt {

using namespace llvm;

namespace {

std::string host_features() {
  std::string list;
  for (const auto& feature : sys::getHostCPUFeatures())
    list += (list.empty() ? "" : ",") + std::string(feature.getValue() ? "+" : "-") +
            feature.getKey().str();
  return list;
}

// Code generation reports the stack size of each function as a diagnostic.
class StackSizes : public DiagnosticHandler {
 public:
  explicit StackSizes(std::map<std::string, std::uint64_t>& sizes) : sizes_(sizes) {}
  bool handleDiagnostics(const DiagnosticInfo& info) override {
    if (info.getKind() != DK_StackSize) return info.getSeverity() != DS_Error;
    auto& limit = static_cast<const DiagnosticInfoStackSize&>(info);
    sizes_[limit.getFunction().getName().str()] = limit.getResourceSize();
    return true;
  }

 private:
  std::map<std::string, std::uint64_t>& sizes_;
};

class LaneTests : public PassInfoMixin<LaneTests> {
 public:
  PreservedAnalyses run(Function& function, FunctionAnalysisManager&) {
    simplify_lane_tests(function);
    return PreservedAnalyses::none();
  }
};

// LLVM's instruction scheduler looks at every pair of memory accesses of a block, up to a size that
// suits scalar code: a warp's straight-line code of some thousand instructions took it most of the
// compile time (24 s to 5 s for seven kernels of 20,000 instructions each). Smaller regions leave
// it enough freedom.
void limit_scheduler_regions() {
  auto set = [](StringRef name, unsigned value) {
    auto found = cl::getRegisteredOptions().find(name);
    if (found != cl::getRegisteredOptions().end())
      static_cast<cl::opt<unsigned>*>(found->second)->setValue(value);
  };
  set("dag-maps-huge-region", 200);
  set("dag-maps-reduction-size", 100);
}

}  // namespace

std::unique_ptr<TargetMachine> host_target(const std::string& cpu, int optimize) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    limit_scheduler_regions();
  });
  std::string triple = sys::getProcessTriple(), error;
  const Target* target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    throw Unsupported("LLVM has no code generator for this machine (" + triple + "): " + error);
  TargetOptions options;
  auto level = optimize >= 2   ? CodeGenOptLevel::Default
               : optimize == 1 ? CodeGenOptLevel::Less
                               : CodeGenOptLevel::None;
  std::string name = cpu.empty() ? sys::getHostCPUName().str() : cpu;
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(triple, name, cpu.empty() ? host_features() : "", options,
                                  Reloc::PIC_, CodeModel::Small, level, true));
  if (!machine) throw Unsupported("LLVM cannot make code for the CPU `" + name + "`");
  return machine;
}

bool has_avx2(const TargetMachine& target) {
  return target.getMCSubtargetInfo()->checkFeatures("+avx2,+fma");
}

bool has_avx512(const TargetMachine& target) {
  return target.getMCSubtargetInfo()->checkFeatures("+avx512vl,+avx512bw,+avx512dq");
}

void set_host_attributes(Module& host, const TargetMachine& target) {
  for (Function& function : host) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", target.getTargetCPU());
    if (!target.getTargetFeatureString().empty())
      function.addFnAttr("target-features", target.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "256");
    function.addFnAttr("probe-stack", "inline-asm");
    function.addFnAttr("warn-stack-size", "0");
    if (!function.hasLocalLinkage()) continue;
    // Spills of 32-byte registers must not straddle cache lines, wherever the caller's stack is.
    function.addFnAttr("stackrealign");
    function.addFnAttr(Attribute::getWithStackAlignment(host.getContext(), Align(64)));
    function.addFnAttr(Attribute::NoInline);
  }
}

namespace {

FunctionPassManager host_passes(bool quick, unsigned registers) {
  FunctionPassManager passes;
  passes.addPass(EarlyCSEPass(true));
  if (!quick) {
    passes.addPass(InstCombinePass());
    passes.addPass(LaneTests());
  }
  passes.addPass(SimplifyCFGPass());
  if (!quick) {
    passes.addPass(WarpJam(registers));
    passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    passes.addPass(EarlyCSEPass(true));
    passes.addPass(InstCombinePass());
  }
  passes.addPass(DCEPass());
  return passes;
}

// Arrays of as many elements as the block has warps; others belong to the frame.
std::uint64_t bytes_for_each_warp(const Function& function) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  std::uint64_t bytes = 0;
  for (const Instruction& instruction : instructions(function))
    if (auto* array = dyn_cast<AllocaInst>(&instruction);
        array && !isa<ConstantInt>(array->getArraySize()))
      bytes += layout.getTypeAllocSize(array->getAllocatedType());
  return bytes;
}

}  // namespace

std::map<std::string, std::uint64_t> optimize_host(Module& host, TargetMachine& target, bool quick,
                                                   const StepHook& hook) {
  LoopAnalysisManager loop;
  FunctionAnalysisManager function;
  CGSCCAnalysisManager scc;
  ModuleAnalysisManager module;
  PassBuilder builder(&target);
  builder.registerModuleAnalyses(module);
  builder.registerCGSCCAnalyses(scc);
  builder.registerFunctionAnalyses(function);
  builder.registerLoopAnalyses(loop);
  builder.crossRegisterProxies(loop, function, scc, module);
  ModulePassManager first;
  first.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  first.run(host, module);
  hook("promoted", host);
  std::map<std::string, std::uint64_t> saved;
  for (Function& f : host) {
    if (f.isDeclaration() || !has_phases(f)) continue;
    bool loops = !quick && split_into_loops(f);
    if (!loops) split_phases(f);
    saved[f.getName().str()] = bytes_for_each_warp(f);
    function.invalidate(f, PreservedAnalyses::none());
    if (loops) SROAPass(SROAOptions::PreserveCFG).run(f, function);
    function.invalidate(f, PreservedAnalyses::none());
  }
  if (!saved.empty()) hook("phases", host);
  ModulePassManager all;
  all.addPass(createModuleToFunctionPassAdaptor(host_passes(quick, has_avx512(target) ? 32 : 16)));
  all.run(host, module);
  hook("host_optimized", host);
  if (!target.getMCSubtargetInfo()->checkFeatures("+avx512vl")) lower_masks(host, has_avx2(target));
  hook("masks_lowered", host);
  return saved;
}

ObjectCode emit_object(Module& host, TargetMachine& target) {
  ObjectCode object;
  host.getContext().setDiagnosticHandler(std::make_unique<StackSizes>(object.stack_sizes));
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  legacy::PassManager passes;
  if (target.addPassesToEmitFile(passes, stream, nullptr, CodeGenFileType::ObjectFile))
    throw Unsupported("LLVM cannot write object files for this machine");
  passes.run(host);
  object.bytes.assign(bytes.begin(), bytes.end());
  return object;
}

}  // namespace td::softdev::simt
