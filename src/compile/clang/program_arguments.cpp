#include "compile/clang/program_arguments.h"

#include <set>

#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Frontend/CompilerInstance.h"
#include "compile/clang/files.h"
#include "compile/clang/messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"

namespace td::compile {

using namespace clang;

namespace {

// Options of the host that the device takes over. With a value in the next argument:
const std::set<llvm::StringRef> kSharedPairs = {"-D",
                                                "-U",
                                                "-I",
                                                "-include",
                                                "-isystem",
                                                "-iquote",
                                                "-idirafter",
                                                "-resource-dir",
                                                "-internal-isystem",
                                                "-internal-externc-isystem",
                                                "-ferror-limit",
                                                "-fdebug-compilation-dir"};
// Alone:
const std::set<llvm::StringRef> kShared = {
    "-fdeprecated-macro", "-fcxx-exceptions", "-fexceptions", "-fgnu-keywords", "-fno-rtti", "-w",
    "-fsigned-char",      "-fno-signed-char", "-fpermissive", "-fms-extensions"};

bool is_shared(llvm::StringRef argument) {
  if (kShared.count(argument)) return true;
  for (llvm::StringRef start :
       {"-std=", "-fgnuc-version=", "-fconstexpr-", "-ftemplate-", "-fbracket-depth="})
    if (argument.starts_with(start)) return true;
  // -DNAME and -Ifolder, joined.
  return argument.size() > 2 &&
         (argument.starts_with("-D") || argument.starts_with("-U") || argument.starts_with("-I"));
}

// Names of nvcc for what is compiled.
const Arguments kProgramArguments = {"-D__TREADLE__=1",
                                     "-D__TREADLE_PROGRAM__=1",
                                     "-D__CUDACC__=1",
                                     "-D__NVCC__=1",
                                     "-D__CUDACC_VER_MAJOR__=12",
                                     "-D__CUDACC_VER_MINOR__=4",
                                     "-D__CUDACC_VER_BUILD__=0",
                                     "-D__CUDACC_EXTENDED_LAMBDA__=1",
                                     "-D__CUDACC_RELAXED_CONSTEXPR__=1",
                                     "-target-sdk-version=12.4",
                                     "-Wno-unused-value",
                                     "-Wno-register",
                                     "-Wno-unknown-pragmas",
                                     "-Wno-unknown-cuda-version",
                                     "-Wno-pragma-once-outside-header",
                                     "-Wno-c++11-narrowing",
                                     "-Wno-c11-extensions"};

void append(Arguments& arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
}

// The identity of a file: names of its static variables and kernels are made from it, on both sides
// alike.
Arguments relocatable_arguments(const ProgramRequest& request) {
  llvm::SmallString<256> path(request.file);
  llvm::sys::fs::make_absolute(path);
  return {"-fgpu-rdc", "-cuid=" + llvm::utohexstr(llvm::xxh3_64bits(path.str()), true)};
}

}  // namespace

std::optional<Arguments> host_arguments(const ProgramRequest& request, std::string& log) {
  const std::string resources = TREADLE_CLANG_RESOURCES;
  if (!llvm::sys::fs::exists(resources + "/include/stddef.h")) {
    log = "error: Clang's own headers were not found in " + resources +
          "; install the Debian package libclang-common-19-dev\n";
    return std::nullopt;
  }
  auto* options = new DiagnosticOptions;
  IntrusiveRefCntPtr<DiagnosticsEngine> diagnostics =
      CompilerInstance::createDiagnostics(options, new Messages(log, options), true);
  driver::Driver driver(resources + "/../../../bin/clang++", llvm::sys::getDefaultTargetTriple(),
                        *diagnostics);
  driver.ResourceDir = resources;
  Arguments line = {"clang++",    "-c", "-x",          request.language == "c" ? "c" : "c++",
                    request.file, "-o", request.object};
  if (request.language == "c") {
    // As GCC compiles C: old programs declare too little.
    append(line, {"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
                  "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types",
                  "-Wno-error=return-type"});
  }
  // Programs are tested with GCC, which makes less of the overflow of signed integers being
  // undefined than Clang does.
  line.push_back("-fwrapv");
  append(line, request.options);
  std::vector<const char*> pointers;
  for (const std::string& argument : line) pointers.push_back(argument.c_str());
  std::unique_ptr<driver::Compilation> compilation(driver.BuildCompilation(pointers));
  if (!compilation || compilation->containsError() || diagnostics->hasErrorOccurred())
    return std::nullopt;
  if (compilation->getJobs().size() != 1) {
    log += "error: these options do not ask for a compilation\n";
    return std::nullopt;
  }
  const auto& command = *compilation->getJobs().begin();
  Arguments result;
  const auto& arguments = command.getArguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const llvm::StringRef argument = arguments[i];
    if (argument == "-cc1" || argument == "-emit-obj") continue;
    if (argument == request.file && i + 1 == arguments.size()) continue;
    if (argument == "-o" || argument == "-x") {
      ++i;
      continue;
    }
    result.push_back(argument.str());
  }
  return result;
}

Arguments host_side(const ProgramRequest& request, const Arguments& host) {
  Arguments result = {"-I", kProgramFolder};
  append(result, host);
  if (request.language == "cuda") {
    append(result, kProgramArguments);
    append(result, {"-aux-triple", "nvptx64-nvidia-cuda", "-aux-target-cpu", "sm_90", "-include",
                    kProgramPrelude, "-fcuda-include-gpubinary", kImageFile});
    if (request.relocatable) append(result, relocatable_arguments(request));
  }
  append(result, {"-fmessage-length=0", "-x",
                  request.language == "cuda" ? "cuda" : request.language, request.file});
  return result;
}

Arguments device_side(const ProgramRequest& request, const Arguments& host) {
  Arguments result = {"-triple",
                      "nvptx64-nvidia-cuda",
                      "-target-cpu",
                      "sm_90",
                      "-target-feature",
                      "+ptx80",
                      "-aux-triple",
                      llvm::sys::getDefaultTargetTriple(),
                      "-aux-target-cpu",
                      "x86-64",
                      "-I",
                      kProgramFolder};
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (kSharedPairs.count(host[i]) && i + 1 < host.size()) {
      append(result, {host[i], host[i + 1]});
      ++i;
    } else if (is_shared(host[i])) {
      result.push_back(host[i]);
    }
  }
  append(result, kProgramArguments);
  append(result, {"-fcuda-is-device", "-O1", "-disable-llvm-passes", "-discard-value-names",
                  request.contract ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off",
                  "-fno-strict-float-cast-overflow", "-debug-info-kind=line-tables-only",
                  "-dwarf-version=4", "-w", "-fmessage-length=0", "-include", kProgramPrelude});
  if (request.flush_denormals)
    result.push_back("-fdenormal-fp-math-f32=preserve-sign,preserve-sign");
  if (request.relocatable) append(result, relocatable_arguments(request));
  append(result, {"-x", "cuda", request.file});
  return result;
}

}  // namespace td::compile
