// td_cc_lower: the way from the IR of one thread to the object code of a warp, as one list of
// steps. TREADLE_SIMT_DUMP=<folder> writes the IR after each step and checks it;
// TREADLE_SIMT_TIME=1 prints each step's time.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "softdev/simt/codegen.h"
#include "softdev/simt/kernel_function.h"
#include "softdev/simt/layout.h"
#include "softdev/simt/lower.h"
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

void lower(const LowerRequest& request, LowerReply& reply) {
  LLVMContext context;
  StepHook hook = make_hook();
  std::unique_ptr<Module> thread =
      read_image(StringRef(request.bitcode.data(), request.bitcode.size()), context);
  hook("image", *thread);
  define_semantics(*thread);
  prepare_threads(*thread, hook);

  DataSegment data = lay_out_data(*thread, reply);
  std::unique_ptr<TargetMachine> target = host_target(request.cpu, request.optimize);
  std::unique_ptr<Module> host = make_host_module(context, *target);
  std::vector<KernelFunctions> functions;
  for (Function* function : find_kernels(*thread)) {
    if (!request.kernel.empty() && function->getName() != StringRef(request.kernel)) continue;
    KernelContext kernel;
    std::copy(request.block, request.block + 3, kernel.block);
    kernel.thread = function;
    kernel.host = host.get();
    kernel.data = &data;
    kernel.has_avx2 = has_avx2(*target);
    kernel.shared = lay_out_shared(*function);
    LoweredKernel& result = reply.kernels.emplace_back();
    kernel.params = lay_out_params(*function, result.param_bytes);
    inspect_kernel(kernel);
    functions.push_back(
        build_kernel(kernel, static_cast<unsigned>(request.width), request.stackful));
    result.name = function->getName().str();
    result.warp_symbol = functions.back().warp_symbol;
    result.block_symbol = functions.back().block_symbol;
    result.params = kernel.params;
    result.static_shared = kernel.shared.static_bytes;
    result.local_bytes = kernel.local_bytes;
    result.width = functions.back().width;
    result.has_barrier = kernel.has_barrier && !functions.back().phased;
    result.max_threads = max_threads(*function);
  }
  hook("warp", *host);
  set_host_attributes(*host, *target);
  auto saved = optimize_host(*host, *target, hook);
  ObjectCode object = emit_object(*host, *target);
  hook("object", *host);
  for (unsigned i = 0; i < functions.size(); ++i) {
    LoweredKernel& kernel = reply.kernels[i];
    std::uint64_t bytes = object.stack_sizes[functions[i].range_symbol] + callee_stack;
    if (functions[i].phased) {
      std::uint64_t local = std::uint64_t{kernel.local_bytes} * kernel.width + 64;
      bytes += functions[i].warps_at_most * (saved[functions[i].range_symbol] + local);
    }
    kernel.stack_bytes = static_cast<std::uint32_t>(bytes);
  }
  reply.object = std::move(object.bytes);
  reply.ok = true;
}

}  // namespace
}  // namespace td::softdev::simt

extern "C" __attribute__((visibility("default"))) void td_cc_lower(
    const td::softdev::LowerRequest& request, td::softdev::LowerReply& reply) {
  reply = {};
  try {
    td::softdev::simt::lower(request, reply);
  } catch (const std::exception& error) {
    reply = {};
    reply.error = error.what();
  }
}
