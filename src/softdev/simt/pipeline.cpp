// td_cc_lower: the way from the IR of one thread to the object code of a warp, as one list of
// steps. TREADLE_SIMT_DUMP=<folder> writes the IR after each step and checks it;
// TREADLE_SIMT_TIME=1 prints each step's time.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "softdev/simt/codegen.h"
#include "softdev/simt/fused.h"
#include "softdev/simt/kernel_function.h"
#include "softdev/simt/layout.h"
#include "softdev/simt/lower.h"
#include "softdev/simt/progress.h"
#include "softdev/simt/scalar.h"
#include "softdev/simt/thread_passes.h"
#include "softdev/simt/unsupported.h"

namespace td::softdev::simt {
namespace {

using namespace llvm;

StepHook make_clock() {
  auto last =
      std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
  return [last](const char* name, Module&) {
    auto now = std::chrono::steady_clock::now();
    errs() << "simt: " << name << " "
           << format("%.2f", std::chrono::duration<double, std::milli>(now - *last).count())
           << " ms\n";
    *last = now;
  };
}

StepHook make_hook() {
  if (std::getenv("TREADLE_SIMT_TIME")) return make_clock();
  const char* folder = std::getenv("TREADLE_SIMT_DUMP");
  if (!folder || !*folder) return [](const char*, Module&) {};
  static std::atomic<unsigned> runs{0};
  std::string prefix = std::string(folder) + "/" + std::to_string(runs++) + "_";
  auto step = std::make_shared<unsigned>(0);
  return [prefix, step](const char* name, Module& module) {
    std::error_code error;
    raw_fd_ostream file(prefix + std::to_string((*step)++) + "_" + name + ".ll", error);
    if (!error) module.print(file, nullptr);
    file.flush();
    if (verifyModule(module, &errs()))
      report_fatal_error(Twine("broken IR after step ") + name, false);
  };
}

std::unique_ptr<Module> read_image(StringRef bitcode, LLVMContext& context) {
  auto buffer = MemoryBufferRef(bitcode, "image");
  Expected<std::unique_ptr<Module>> module = parseBitcodeFile(buffer, context);
  if (!module)
    throw Unsupported("the image cannot be read (" + toString(module.takeError()) +
                      "): compile it again with this version");
  return std::move(*module);
}

std::unique_ptr<Module> make_host_module(LLVMContext& context, const TargetMachine& target) {
  auto host = std::make_unique<Module>("warp", context);
  host->setTargetTriple(target.getTargetTriple().str());
  host->setDataLayout(target.createDataLayout());
  host->setPICLevel(PICLevel::BigPIC);
  return host;
}

// What a call into SLEEF, libm or the runtime may need below the warp function.
constexpr std::uint64_t callee_stack = 16 * 1024;

// In a hurry: where the request allows it and it saves something. Not where only the first code is
// ever run (kernels whose threads wait for one another), and not with -use_fast_math, whose
// liberties the two code generators would use differently.
bool in_a_hurry(const LowerRequest& request, ArrayRef<Function*> kernels,
                const KeptFunctions& kept) {
  // TREADLE_SIMT_QUICK=1: all kernels, for tests.
  static const unsigned large = std::getenv("TREADLE_SIMT_QUICK") ? 0 : 300;
  if (request.optimize != 0) return false;
  unsigned size = 0;
  for (Function* kernel : kernels) {
    Progress progress = find_progress(*kernel, kept);
    if (progress.in_rows != Fairness::none || progress.elsewhere != Fairness::none) return false;
    size += kernel->getInstructionCount();
    for (const Instruction& instruction : instructions(*kernel)) {
      auto* op = dyn_cast<FPMathOperator>(&instruction);
      if (op && (op->hasAllowReassoc() || op->hasAllowReciprocal() || op->hasApproxFunc()))
        return false;
    }
  }
  return size >= large;
}

// The kernels of a module on their way.
class Lowering {
 public:
  Lowering(const LowerRequest& request, LowerReply& reply, Module& thread, Module& host,
           const TargetMachine& target, const KeptFunctions& kept, bool quick)
      : request_(request),
        reply_(reply),
        thread_(thread),
        host_(host),
        kept_(kept),
        has_avx2_(has_avx2(target)),
        has_avx512_(has_avx512(target)),
        quick_(quick),
        data_(lay_out_data(thread, reply)),
        scalar_(host, data_, function_shared_, kept, has_avx2_) {}

  void make_code(NoteRefused refused) {
    for (Function& function : thread_) {
      if (has_avx2_) fuse_products(function);
      if (kept_.holds(&function)) lay_out_shared(function, function_shared_);
    }
    for (Function* function : data_.functions) scalar_.function(*function);
    std::vector<Function*> kernels = find_kernels(thread_);
    if (!request_.kernel.empty())
      erase_if(kernels, [&](const Function* kernel) {
        return kernel->getName() != StringRef(request_.kernel);
      });
    // Scalar code refers to what belongs to a kernel until its bodies are made.
    contexts_.resize(kernels.size());
    for (unsigned i = 0; i < kernels.size(); ++i) make_kernel(*kernels[i], contexts_[i]);
    scalar_.emit_bodies(refused);
  }

  // Refused kernels are no kernels of the reply.
  void drop_refused() {
    erase_if(reply_.kernels, [&](const LoweredKernel& kernel) {
      return any_of(reply_.refused, [&](const RefusedKernel& r) { return r.name == kernel.name; });
    });
    if (!reply_.refused.empty() && reply_.kernels.empty())
      throw Unsupported(reply_.refused.front().why);
  }

  void note_stack_sizes(const ObjectCode& object,
                        const std::map<std::string, std::uint64_t>& saved) {
    std::uint64_t scalar = 0;
    for (const std::string& symbol : scalar_.symbols()) scalar += size_of(object, symbol);
    for (unsigned i = 0; i < functions_.size(); ++i) {
      LoweredKernel& kernel = reply_.kernels[i];
      std::uint64_t bytes = size_of(object, functions_[i].range_symbol) + callee_stack + scalar;
      if (functions_[i].phased)
        bytes += functions_[i].warps_at_most * saved.find(functions_[i].range_symbol)->second;
      kernel.stack_bytes = static_cast<std::uint32_t>(bytes);
      kernel.thread_stack_bytes = static_cast<std::uint32_t>(scalar + callee_stack);
      kernel.recursive = !kept_.recursive.empty();
    }
  }

 private:
  static std::uint64_t size_of(const ObjectCode& object, const std::string& symbol) {
    auto found = object.stack_sizes.find(symbol);
    return found == object.stack_sizes.end() ? 0 : found->second;
  }

  void make_kernel(Function& function, KernelContext& kernel) {
    std::copy(request_.block, request_.block + 3, kernel.block);
    kernel.thread = &function;
    kernel.host = &host_;
    kernel.data = &data_;
    kernel.has_avx2 = has_avx2_;
    kernel.has_avx512 = has_avx512_;
    kernel.shared = function_shared_;
    kernel.scalar = &scalar_;
    lay_out_shared(function, kernel.shared);
    LoweredKernel& result = reply_.kernels.emplace_back();
    kernel.params = lay_out_params(function, result.param_bytes);
    result.name = function.getName().str();
    result.params = kernel.params;
    result.static_shared = kernel.shared.static_bytes;
    result.max_threads = max_threads(function);
    result.quick_size = quick_ ? function.getInstructionCount() : 0;
    Progress progress = find_progress(function, kept_);
    result.fairness_in_rows = progress.in_rows;
    result.fairness = progress.elsewhere;
    functions_.emplace_back();
    if (progress.in_rows != Fairness::threads || progress.elsewhere != Fairness::threads)
      make_vector_code(kernel, progress, result);
    if (result.fairness_in_rows == Fairness::threads || result.fairness == Fairness::threads)
      result.thread_symbol = scalar_.kernel(kernel);
  }

  // What vector code cannot do runs as single threads.
  void make_vector_code(KernelContext& kernel, const Progress& progress, LoweredKernel& result) {
    bool fair = progress.in_rows == Fairness::warps || progress.elsewhere == Fairness::warps;
    if (fair) kernel.progress = &progress;
    inspect_kernel(kernel);
    kernel.has_barrier |= fair && progress.separate_warps;
    try {
      unsigned width = request_.careful ? 8 : static_cast<unsigned>(request_.width);
      functions_.back() =
          build_kernel(kernel, width, request_.stackful || (fair && progress.separate_warps));
    } catch (const Unsupported& why) {
      if (std::getenv("TREADLE_SIMT_DUMP"))
        errs() << "simt: " << result.name << " runs as single threads: " << why.what() << "\n";
      result.fairness_in_rows = result.fairness = Fairness::threads;
      return;
    }
    kernel.progress = nullptr;
    result.warp_symbol = functions_.back().warp_symbol;
    result.block_symbol = functions_.back().block_symbol;
    result.local_bytes = kernel.local_bytes;
    result.width = functions_.back().width;
    result.has_barrier = kernel.has_barrier && !functions_.back().phased;
  }

  const LowerRequest& request_;
  LowerReply& reply_;
  Module &thread_, &host_;
  const KeptFunctions& kept_;
  bool has_avx2_, has_avx512_, quick_;
  DataSegment data_;
  SharedLayout function_shared_;
  ScalarCode scalar_;
  std::vector<KernelContext> contexts_;
  std::vector<KernelFunctions> functions_;
};

void lower(const LowerRequest& request, LowerReply& reply) {
  LLVMContext context;
  StepHook hook = make_hook();
  std::unique_ptr<Module> thread =
      read_image(StringRef(request.bitcode.data(), request.bitcode.size()), context);
  hook("image", *thread);
  define_semantics(*thread);
  auto refused = [&](const Function& kernel, const char* why) {
    reply.refused.push_back({kernel.getName().str(), why});
  };
  KeptFunctions kept = prepare_threads(*thread, hook, refused);
  bool hurry = in_a_hurry(request, find_kernels(*thread), kept);
  int level = hurry || request.careful ? 0 : request.optimize == 0 ? 2 : request.optimize;
  std::unique_ptr<TargetMachine> target = host_target(request.cpu, level);
  std::unique_ptr<Module> host = make_host_module(context, *target);
  Lowering lowering(request, reply, *thread, *host, *target, kept, hurry && !request.careful);
  lowering.make_code(refused);
  hook("warp", *host);
  set_host_attributes(*host, *target);
  auto saved = optimize_host(*host, *target, level == 0, hook);
  ObjectCode object = emit_object(*host, *target);
  hook("object", *host);
  lowering.note_stack_sizes(object, saved);
  lowering.drop_refused();
  reply.object = std::move(object.bytes);
  reply.ok = true;
}

}  // namespace
}  // namespace td::softdev::simt

extern "C" __attribute__((visibility("default"))) void td_cc_lower(
    const td::softdev::LowerRequest& request, td::softdev::LowerReply& reply) {
  // What LLVM gives up on is a crash like others: who calls us may survive it and try again.
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
      llvm::errs() << "treadle: LLVM: " << reason << "\n";
      __builtin_trap();
    });
  });
  reply = {};
  try {
    td::softdev::simt::lower(request, reply);
  } catch (const std::exception& error) {
    reply = {};
    reply.error = error.what();
  }
}
