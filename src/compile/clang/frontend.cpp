#include "compile/clang/frontend.h"

#include "clang/Frontend/CompilerInvocation.h"
#include "compile/clang/files.h"
#include "compile/clang/messages.h"

namespace td::compile {

using namespace clang;

std::vector<std::string> language_arguments(const Options& options) {
  return {
      "-triple",
      "nvptx64-nvidia-cuda",
      "-target-cpu",
      "sm_90",
      "-target-feature",
      "+ptx80",
      "-x",
      "cuda",
      "-fcuda-is-device",
      "-std=" + options.standard,
      // The IR of one thread before any pass; no optnone, so that our own pipeline may work on it.
      "-O1",
      "-disable-llvm-passes",
      "-discard-value-names",
      // The pragma is how __fadd_rn and its kin keep a multiplication and an addition apart.
      options.contract ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off",
      // Conversions of float to integer saturate, as on a GPU.
      "-fno-strict-float-cast-overflow",
      // new gives null when the heap is full.
      "-fcheck-new",
      "-fno-sized-deallocation",
      "-nostdsysteminc",
      "-nobuiltininc",
      // Ahead of -I: a program that names NVIDIA's include folder still gets our headers.
      std::string("-I") + kHeaderFolder,
      "-D__TREADLE__=1",
      "-D__CUDACC__=1",
      "-D__CUDACC_RTC__=1",
      "-D__CUDACC_VER_MAJOR__=12",
      "-D__CUDACC_VER_MINOR__=0",
      "-D__CUDACC_VER_BUILD__=0",
      "-fdeprecated-macro",
      "-Wno-unused-value",
      "-Wno-pragma-once-outside-header",
      "-Wno-pragma-system-header-outside-header",
      "-ferror-limit",
      "20",
      "-fmessage-length=0",
      "-main-file-name",
      "kernel.cu",
  };
}

std::unique_ptr<CompilerInstance> make_frontend(FrontendJob job) {
  std::vector<std::string> arguments = language_arguments(*job.options);
  arguments.insert(arguments.end(),
                   {"-debug-info-kind=line-tables-only", "-dwarf-version=4",
                    // No folder of this process in the image: equal sources give equal bytes.
                    "-fdebug-compilation-dir=."});
  if (job.options->flush_denormals)
    arguments.push_back("-fdenormal-fp-math-f32=preserve-sign,preserve-sign");
  if (!job.options->warnings) arguments.push_back("-w");
  for (const std::string& folder : job.options->include_paths)
    arguments.insert(arguments.end(), {"-I", folder});
  if (job.pch) arguments.insert(arguments.end(), {"-include-pch", kPchFile});
  const char* prelude = job.options->prelude ? job.options->prelude : kPreludeFile;
  arguments.push_back(job.main ? kMainFile : prelude);

  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());

  auto instance = std::make_unique<CompilerInstance>();
  instance->setVerboseOutputStream(llvm::nulls());
  auto* diagnostic_options = new DiagnosticOptions;
  IntrusiveRefCntPtr<DiagnosticsEngine> early = CompilerInstance::createDiagnostics(
      diagnostic_options, new Messages(*job.log, diagnostic_options), true);
  if (!CompilerInvocation::CreateFromArgs(instance->getInvocation(), pointers, *early))
    return nullptr;
  instance->createDiagnostics(new Messages(*job.log, &instance->getDiagnosticOpts()), true);
  auto files = make_file_system(std::move(job.main), std::move(job.pch));
  instance->createFileManager(std::move(files));
  return instance;
}

}  // namespace td::compile
