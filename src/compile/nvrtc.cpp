// NVRTC, NVIDIA's run-time compiler: opened at run time, the file really loaded is reported. Makes
// a cubin for the device's own architecture; for a device newer than NVRTC, PTX that the driver
// compiles when the module is loaded.
#include <dlfcn.h>

#include <algorithm>
#include <memory>

#include "base/log.h"
#include "base/text.h"
#include "compile/compilers.h"
#include "compile/device_headers.h"
#include "compile/includes.h"
#include "compile/nvrtc_signatures.h"
#include "driver/library_search.h"

namespace td::compile {

namespace {

using Program = struct NvrtcProgram*;

// name, parameters; all return nvrtcResult, 0 for success. Public documentation: "NVRTC", user
// interface.
// clang-format off
#define TD_NVRTC(X) \
  X(nvrtcVersion,              (int* major, int* minor)) \
  X(nvrtcGetNumSupportedArchs, (int* count)) \
  X(nvrtcGetSupportedArchs,    (int* archs)) \
  X(nvrtcCreateProgram,        (Program* program, const char* text, const char* name, int headers, const char* const* texts, const char* const* names)) \
  X(nvrtcDestroyProgram,       (Program* program)) \
  X(nvrtcAddNameExpression,    (Program program, const char* name)) \
  X(nvrtcCompileProgram,       (Program program, int count, const char* const* options)) \
  X(nvrtcGetProgramLogSize,    (Program program, std::size_t* bytes)) \
  X(nvrtcGetProgramLog,        (Program program, char* log)) \
  X(nvrtcGetLoweredName,       (Program program, const char* name, const char** symbol)) \
  X(nvrtcGetCUBINSize,         (Program program, std::size_t* bytes)) \
  X(nvrtcGetCUBIN,             (Program program, char* image)) \
  X(nvrtcGetPTXSize,           (Program program, std::size_t* bytes)) \
  X(nvrtcGetPTX,               (Program program, char* image))
// clang-format on

const std::vector<std::string> kLibraryNames{"libnvrtc.so.13", "libnvrtc.so.12"};

struct Nvrtc {
#define TD_ROW(name, params) int(*name) params = nullptr;
  TD_NVRTC(TD_ROW)
#undef TD_ROW
  driver::Library library;
  std::string problem;  // "" when it can be used
  int major = 0, minor = 0;
  std::vector<int> archs;             // 90 = sm_90, ascending
  std::vector<std::string> includes;  // "-I…" of the CUDA headers beside it

  Nvrtc() {
    library = driver::open_library(kLibraryNames, "libnvrtc-builtins.so", "nvidia-cuda-nvrtc");
    problem = library.problem;
    if (!library) return;
#define TD_ROW(name, params)                                            \
  name = reinterpret_cast<int(*) params>(dlsym(library.handle, #name)); \
  if (!name) problem = library.file + " has no " #name "; use CUDA 12 or newer";
    TD_NVRTC(TD_ROW)
#undef TD_ROW
    if (!problem.empty()) return;
    nvrtcVersion(&major, &minor);
    int count = 0;
    if (nvrtcGetNumSupportedArchs(&count) == 0 && count > 0) {
      archs.resize(static_cast<std::size_t>(count));
      nvrtcGetSupportedArchs(archs.data());
      std::sort(archs.begin(), archs.end());
    }
    find_headers();
  }

  std::string name() const { return base::cat("NVRTC ", major, ".", minor); }

 private:
  // <root>/lib64/libnvrtc.so.13 and <root>/targets/x86_64-linux/lib/… of a toolkit have
  // <root>/include; the wheels have nvidia/cuda_nvrtc/lib beside nvidia/cuda_runtime/include, or
  // nvidia/cu13/lib beside nvidia/cu13/include.
  void find_headers() {
    std::string folder = library.file.substr(0, library.file.rfind('/'));
    std::vector<std::string> places{folder + "/../include", folder + "/../../cuda_runtime/include",
                                    folder + "/../../../include"};
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
      if (const char* root = std::getenv(variable); root && *root)
        places.push_back(std::string(root) + "/include");
    for (const std::string& place : places)
      if (!file_identity(place + "/cuda_fp16.h").empty()) {
        includes.push_back("-I" + place);
        // libcu++, which other headers include: since CUDA 13 in a folder of its own, of CUDA 12's
        // wheels in one of them.
        for (const std::string& part : {place + "/cccl", folder + "/../../cuda_cccl/include"})
          if (!file_identity(part + "/cuda/std/version").empty()) includes.push_back("-I" + part);
        return;
      }
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc& library = *new Nvrtc;
  return library;
}

std::string identity() {
  std::string file = driver::find_library_file(kLibraryNames);
  // Only the system's loader knows it: then it has to be opened to learn which file it is.
  if (file.empty()) file = nvrtc().library.file;
  return file_identity(file);
}

// Headers that NVRTC is given as text: ours of cuRAND for a source that wants <curand_kernel.h>
// where NVIDIA's is missing (the wheels of NVRTC and the runtime have none), or libcu++, which that
// one includes.
struct OwnHeaders {
  std::vector<const char*> names, texts;

  OwnHeaders(const Source& source, const std::vector<std::string>& options) {
    if (source.text.find("curand") == std::string::npos) return;
    const std::vector<std::string> folders = include_folders(options);
    auto has = [&](const char* file) {
      return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        return !file_identity(folder + file).empty();
      });
    };
    if (has("/curand_kernel.h") && has("/nv/target")) return;
    for (std::size_t i = 0; i < kCurandHeaderCount; ++i) {
      names.push_back(kCurandHeaders[i].name.data());
      texts.push_back(kCurandHeaders[i].text.data());
    }
  }
};

// Owns the program; every call is checked.
class Compilation {
 public:
  Compilation(const Nvrtc& api, const Source& source, const OwnHeaders& headers)
      : api_(api), source_(source), text_(marked_text(source)) {
    check(api.nvrtcCreateProgram(&program_, text_.c_str(), source.options.file_name.c_str(),
                                 static_cast<int>(headers.names.size()), headers.texts.data(),
                                 headers.names.data()),
          "nvrtcCreateProgram");
  }
  ~Compilation() { api_.nvrtcDestroyProgram(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  Image run(const std::vector<std::string>& options) {
    for (const std::string& name : source_.options.name_expressions)
      check(api_.nvrtcAddNameExpression(program_, name.c_str()), "nvrtcAddNameExpression");
    std::vector<const char*> list;
    for (const std::string& option : options) list.push_back(option.c_str());
    int result = api_.nvrtcCompileProgram(program_, static_cast<int>(list.size()), list.data());
    Image image;
    image.log = log();
    if (result != 0 && !image.log.empty())
      throw_compile_error(api_.name(), source_, image.log + cure_of(image.log));
    check(result, "nvrtcCompileProgram");
    image.bytes = bytes(api_.nvrtcGetCUBINSize, api_.nvrtcGetCUBIN);
    if (image.bytes.empty()) image.bytes = bytes(api_.nvrtcGetPTXSize, api_.nvrtcGetPTX);
    if (image.bytes.empty()) throw InternalError(api_.name() + " made neither a cubin nor PTX");
    for (const std::string& name : source_.options.name_expressions) {
      const char* symbol = nullptr;
      check(api_.nvrtcGetLoweredName(program_, name.c_str(), &symbol), "nvrtcGetLoweredName");
      image.lowered_names[name] = symbol;
    }
    image.kernels = nvrtc_signatures(image.bytes, source_);
    return image;
  }

 private:
  void check(int result, const char* call) const {
    if (result == 0) return;
    throw InternalError(base::cat(call, " of ", api_.library.file, " failed with ", result));
  }

  // NVIDIA's headers come with the toolkit, and in several wheels; NVRTC says "cannot open" where
  // it has folders to look in, and "could not open" where it has none.
  static std::string cure_of(const std::string& log) {
    constexpr const char* kParts[][2] = {
        {"nv/", "nvidia-cuda-cccl"},      {"cuda/", "nvidia-cuda-cccl"},
        {"cub/", "nvidia-cuda-cccl"},     {"thrust/", "nvidia-cuda-cccl"},
        {"crt/", "nvidia-cuda-crt"},      {"cooperative_groups", "nvidia-cuda-runtime"},
        {"cuda_", "nvidia-cuda-runtime"}, {"mma.h", "nvidia-cuda-runtime"}};
    for (auto [file, wheel] : kParts)
      if (log.find(base::cat("open source file \"", file)) != std::string::npos)
        return base::cat(
            "The file belongs to a part of the toolkit that is not beside this NVRTC; "
            "install it (of wheels: `pip install ",
            wheel, "`) or name its folder with -I");
    return "";
  }

  std::string log() const {
    std::size_t size = 0;
    if (api_.nvrtcGetProgramLogSize(program_, &size) != 0 || size < 2) return "";
    std::string text(size, '\0');
    api_.nvrtcGetProgramLog(program_, text.data());
    text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
    return text;
  }

  template <class Size, class Get>
  std::string bytes(Size get_size, Get get) const {
    std::size_t size = 0;
    if (get_size(program_, &size) != 0 || size == 0) return "";
    std::string out(size, '\0');
    return get(program_, out.data()) == 0 ? out : "";
  }

  const Nvrtc& api_;
  const Source& source_;
  std::string text_;
  Program program_ = nullptr;
};

bool given(const std::vector<std::string>& options,
           std::initializer_list<std::string_view> spellings) {
  return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return std::any_of(spellings.begin(), spellings.end(),
                       [&](std::string_view s) { return option.starts_with(s); });
  });
}

std::string arch_option(const Nvrtc& api, int capability) {
  if (api.archs.empty() || std::binary_search(api.archs.begin(), api.archs.end(), capability))
    return base::cat("-arch=sm_", capability);
  if (capability < api.archs.front())
    throw NotSupported(base::cat(
        api.name(), " (", api.library.file, ") no longer compiles for compute capability ",
        capability / 10, ".", capability % 10, "; the oldest is ", api.archs.front() / 10, ".",
        api.archs.front() % 10, ": install an older CUDA toolkit or wheel"));
  int known = *std::prev(std::upper_bound(api.archs.begin(), api.archs.end(), capability));
  base::log_once(base::LogLevel::warn,
                 base::cat(api.name(), " does not know compute capability ", capability / 10, ".",
                           capability % 10, ": making PTX for ", known / 10, ".", known % 10,
                           ", which the driver compiles at load; a newer NVRTC avoids that"));
  return base::cat("-arch=compute_", known);
}

Image compile_with_nvrtc(const Source& source, const Target& target) {
  const Nvrtc& api = nvrtc();
  if (!api.problem.empty()) throw NotSupported("no compiler for NVIDIA GPUs: " + api.problem);
  std::vector<std::string> options = source.options.options;
  if (!given(options, {"-arch", "--gpu-architecture"}))
    options.push_back(arch_option(api, target.compute_capability));
  if (!given(options, {"-std", "--std"})) options.push_back("--std=c++17");
  // What has no annotation is the device's: Clang is told the same.
  if (!given(options, {"-default-device", "--device-as-default-execution-space"}))
    options.push_back("--device-as-default-execution-space");
  options.insert(options.end(), api.includes.begin(), api.includes.end());
  return Compilation(api, source, OwnHeaders(source, options)).run(options);
}

CompilerInfo info() {
  const Nvrtc& api = nvrtc();
  CompilerInfo out;
  out.found = api.problem.empty();
  out.name = out.found ? api.name() : "NVRTC";
  out.file = api.library.file;
  out.problem = api.problem;
  return out;
}

}  // namespace

const Compiler kNvrtc{"NVRTC", identity, compile_with_nvrtc, info};

}  // namespace td::compile
