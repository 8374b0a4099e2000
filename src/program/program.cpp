// treadle cc: parse, compile each source in the compiler plug-in, link with the host's C++
// compiler, run.
#include "treadle/program.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/plugin.h"
#include "base/text.h"
#include "compile/program.h"
#include "program/command_line.h"

extern char** environ;

namespace td {

namespace {

namespace fs = std::filesystem;
using program::CommandLine;
using program::Input;
using Words = std::vector<std::string>;

constexpr const char* kHelp =
    R"(usage: treadle cc [OPTIONS] FILE.cu … [-o PROGRAM]
       treadle cc --run [OPTIONS] FILE.cu … [-- ARGUMENT …]

Compiles and links CUDA C++ programs as nvcc does; they run on the software device of this machine.

  -o FILE  -c  -E  -shared          what to make
  -I -isystem -D -U -include -x cu  preprocessor and language
  -std=c++17  -O2  -g  -w           compiler
  -L -l -Xlinker OPTIONS            linker
  -Xcompiler OPTIONS                options of the host compiler, such as -Xcompiler -fopenmp
  --use_fast_math --fmad= --ftz=    arithmetic of device code
  -rdc=true, -dc                    device functions shared between files
  -v                                show what is done
  --run                             start the program; what follows -- are its arguments
  -arch, -gencode, -G, -lineinfo …  accepted, without effect
)";

void say(const std::string& text) { std::fprintf(stderr, "treadle cc: %s\n", text.c_str()); }

// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "treadle-cc-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Waits for the command; its exit status, 127 when it cannot be started.
int run(const Words& words, bool verbose) {
  if (verbose) say(base::join(words, " "));
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, pointers[0], nullptr, nullptr, pointers.data(), environ) != 0)
    return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string host_compiler(const CommandLine& line) {
  if (!line.compiler.empty())
    return fs::is_directory(line.compiler) ? line.compiler + "/c++" : line.compiler;
  const char* named = std::getenv("CXX");
  return named && *named ? named : "c++";
}

// Where libtreadle.so lies; the runtime is beside it.
std::string library_folder() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&library_folder), &here);
  return fs::absolute(here.dli_fname).parent_path().string();
}

bool compile(const CommandLine& line, const Input& input, const std::string& object) {
  using Function = void (*)(const compile::ProgramRequest&, compile::ProgramReply&);
  std::string why;
  auto function = reinterpret_cast<Function>(base::cc_plugin_symbol("td_cc_program", &why));
  if (function == nullptr) {
    say("this build has no compiler: " + why);
    return false;
  }
  if (!fs::exists(input.file)) {
    say("there is no file '" + input.file + "'");
    return false;
  }
  compile::ProgramRequest request;
  request.file = input.file;
  request.language = input.language;
  request.object = object;
  request.preprocess = line.preprocess;
  request.relocatable = line.relocatable;
  request.contract = line.contract;
  request.flush_denormals = line.flush_denormals;
  request.options = line.host_options;
  if (input.language == "c") {
    // nvcc takes -std for C++ only.
    std::erase_if(request.options,
                  [](const std::string& option) { return option.rfind("-std=", 0) == 0; });
  }
  if (line.verbose) say("compiling " + input.file);
  compile::ProgramReply reply;
  function(request, reply);
  std::fputs(reply.log.c_str(), stderr);
  return reply.ok;
}

bool link(const CommandLine& line, const Words& objects, const std::string& output) {
  const std::string folder = library_folder();
  Words words = {host_compiler(line)};
  words.insert(words.end(), objects.begin(), objects.end());
  words.insert(words.end(), {"-o", output});
  if (line.shared) words.push_back("-shared");
  words.insert(words.end(), line.link_options.begin(), line.link_options.end());
  words.insert(words.end(), {"-L" + folder, "-ltreadle_rt", "-Wl,-rpath," + folder});
  if (line.openmp) {
    // Clang's OpenMP calls go to LLVM's library.
    words.insert(words.end(), {std::string("-L") + TREADLE_LLVM_LIBRARIES,
                               std::string("-Wl,-rpath,") + TREADLE_LLVM_LIBRARIES, "-lomp"});
    if (!fs::exists(std::string(TREADLE_LLVM_LIBRARIES) + "/libomp.so")) {
      say("-fopenmp needs LLVM's OpenMP library: install the Debian package libomp-19-dev");
      return false;
    }
  }
  words.insert(words.end(), {"-lpthread", "-lm", "-ldl"});
  const int status = run(words, line.verbose);
  if (status == 127)
    say("the linker '" + words[0] + "' could not be started; install g++ or name one with -ccbin");
  return status == 0;
}

std::string object_name(const Input& input) { return fs::path(input.file).stem().string() + ".o"; }

int make(const CommandLine& line) {
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    say("no temporary folder could be made below " + fs::temp_directory_path().string());
    return 1;
  }
  Words objects;
  for (std::size_t i = 0; i < line.inputs.size(); ++i) {
    const Input& input = line.inputs[i];
    if (input.language.empty()) {
      objects.push_back(input.file);
      continue;
    }
    std::string object = (folder.path() / (std::to_string(i) + ".o")).string();
    if (line.preprocess) object = line.output;
    if (line.compile_only) object = line.output.empty() ? object_name(input) : line.output;
    if (!compile(line, input, object)) return 1;
    objects.push_back(object);
  }
  if (line.compile_only || line.preprocess) return 0;
  const bool temporary = line.run && line.output.empty();
  const std::string output = temporary             ? (folder.path() / "program").string()
                             : line.output.empty() ? "a.out"
                                                   : line.output;
  if (!link(line, objects, output)) return 1;
  if (!line.run) return 0;
  Words words = {fs::absolute(output).string()};
  words.insert(words.end(), line.run_arguments.begin(), line.run_arguments.end());
  return run(words, line.verbose);
}

}  // namespace

int compile_program(const std::vector<std::string>& arguments) {
  CommandLine line = program::parse_command_line(arguments);
  if (!line.error.empty()) {
    say(line.error);
    return 2;
  }
  if (line.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  for (const std::string& note : line.notes) say("note: " + note);
  return make(line);
}

}  // namespace td
