#include "program/command_line.h"

#include <algorithm>
#include <string_view>

namespace td::program {

namespace {

enum class Value { none, required };

// What an option does; returns "" or why its value is refused.
using Apply = std::string (*)(CommandLine& line, const std::string& value);

struct OptionRow {
  std::string_view name, other;  // with their dashes; "" = none
  Value value;
  Apply apply;  // null: accepted, without effect here
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return parts;
}

void note(CommandLine& line, const std::string& text) {
  if (std::find(line.notes.begin(), line.notes.end(), text) == line.notes.end())
    line.notes.push_back(text);
}

std::string host(CommandLine& line, const std::string& option) {
  line.host_options.push_back(option);
  if (option == "-fopenmp") line.openmp = true;
  if (option == "-pthread" || option == "-pg" || option == "-static-libstdc++")
    line.link_options.push_back(option);
  return "";
}

template <char letter>
std::string host_value(CommandLine& line, const std::string& value) {
  return host(line, std::string("-") + letter + value);
}

std::string host_list(CommandLine& line, const std::string& value) {
  for (const std::string& option : split(value)) host(line, option);
  return "";
}

std::string link_list(CommandLine& line, const std::string& value) {
  for (const std::string& option : split(value)) line.link_options.push_back("-Wl," + option);
  return "";
}

// Libraries of the toolkit: the runtime is ours, and has the driver's place; kernels need nothing
// of cuRAND's, and <curand.h> refuses the rest of it; the others are missing.
std::string library(CommandLine& line, const std::string& name) {
  for (std::string_view ours : {"cudart", "cudart_static", "cuda", "cudadevrt", "curand",
                                "curand_static", "nvToolsExt", "culibos"})
    if (name == ours) return "";
  for (std::string_view missing :
       {"cublas", "cublasLt", "cufft", "cufftw", "cusolver", "cusparse", "nvrtc", "nppc", "nppi",
        "npps", "nvjpeg", "nccl", "cudnn", "nvgraph"}) {
    if (name == missing || name == std::string(missing) + "_static")
      return "lib" + name +
             " is a library of NVIDIA's toolkit, which programs on the software device do not have "
             "yet";
  }
  line.link_options.push_back("-l" + name);
  return "";
}

std::string standard(CommandLine& line, const std::string& value) {
  std::string name = value;
  if (name.rfind("gnu++", 0) == 0) name = "c++" + name.substr(5);
  for (std::string_view known : {"c++03", "c++11", "c++14", "c++17", "c++20", "c++23"}) {
    if (name != known) continue;
    // The device headers themselves are written in C++17.
    const std::string level = name < "c++17" || name == "c++03" ? "17" : name.substr(3);
    return host(line, "-std=gnu++" + level);
  }
  return "known are c++11, c++14, c++17, c++20 and c++23";
}

std::string optimize(CommandLine& line, const std::string& value) {
  return host(line, "-O" + (value == "fast" ? std::string("3") : value));
}

std::string architecture(CommandLine& line, const std::string&) {
  note(line,
       "-arch, -code and -gencode have no effect: the device code is for the software device "
       "(compute 9.0)");
  return "";
}

std::string on_off(const std::string& value, bool& out) {
  if (value != "true" && value != "false") return "its value must be true or false";
  out = value == "true";
  return "";
}

// A thread's own default stream is ordered with other streams less than the legacy one, so that the
// latter does for both.
std::string default_stream(CommandLine& line, const std::string& value) {
  if (value == "legacy" || value == "null") return "";
  if (value != "per-thread") return "known are legacy, null and per-thread";
  note(line, "--default-stream per-thread: all threads share the legacy default stream");
  return host(line, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
}

std::string language(CommandLine& line, const std::string& value) {
  if (value != "cu" && value != "c++" && value != "c") return "known are cu, c++ and c";
  line.inputs.push_back({"", value == "cu" ? "cuda" : value});  // a mark: see take_input
  return "";
}

std::string refuse(CommandLine&, const std::string&) {
  return "only whole programs, objects (-c) and preprocessed text (-E) can be made; the software "
         "device has no PTX";
}

// clang-format off
const OptionRow kOptions[] = {
    // names                                             value             effect
    {"-o", "--output-file",                              Value::required,
     [](CommandLine& l, const std::string& v) { l.output = v; return std::string(); }},
    {"-c", "--compile",                                  Value::none,
     [](CommandLine& l, const std::string&) { l.compile_only = true; return std::string(); }},
    {"-dc", "--device-c",                                Value::none,
     [](CommandLine& l, const std::string&) { l.compile_only = l.relocatable = true; return std::string(); }},
    {"-dw", "--device-w",                                Value::none,
     [](CommandLine& l, const std::string&) { l.compile_only = true; return std::string(); }},
    {"-E", "--preprocess",                               Value::none,
     [](CommandLine& l, const std::string&) { l.preprocess = true; return std::string(); }},
    {"-shared", "--shared",                              Value::none,
     [](CommandLine& l, const std::string&) { l.shared = true; return std::string(); }},
    {"-ptx", "--ptx",                                    Value::none,      refuse},
    {"-cubin", "--cubin",                                Value::none,      refuse},
    {"-fatbin", "--fatbin",                              Value::none,      refuse},
    {"-I", "--include-path",                             Value::required,  host_value<'I'>},
    {"-isystem", "--system-include",                     Value::required,
     [](CommandLine& l, const std::string& v) { host(l, "-isystem"); return host(l, v); }},
    {"-include", "--pre-include",                        Value::required,
     [](CommandLine& l, const std::string& v) { host(l, "-include"); return host(l, v); }},
    {"-D", "--define-macro",                             Value::required,  host_value<'D'>},
    {"-U", "--undefine-macro",                           Value::required,  host_value<'U'>},
    {"-L", "--library-path",                             Value::required,
     [](CommandLine& l, const std::string& v) { l.link_options.push_back("-L" + v); return std::string(); }},
    {"-l", "--library",                                  Value::required,  library},
    {"-std", "--std",                                    Value::required,  standard},
    {"-O", "--optimize",                                 Value::required,  optimize},
    {"-x", "--x",                                        Value::required,  language},
    {"-g", "--debug",                                    Value::none,
     [](CommandLine& l, const std::string&) { return host(l, "-g"); }},
    {"-w", "--disable-warnings",                         Value::none,
     [](CommandLine& l, const std::string&) { return host(l, "-w"); }},
    {"-Xcompiler", "--compiler-options",                 Value::required,  host_list},
    {"-Xlinker", "--linker-options",                     Value::required,  link_list},
    {"-ccbin", "--compiler-bindir",                      Value::required,
     [](CommandLine& l, const std::string& v) { l.compiler = v; return std::string(); }},
    {"-arch", "--gpu-architecture",                      Value::required,  architecture},
    {"-code", "--gpu-code",                              Value::required,  architecture},
    {"-gencode", "--generate-code",                      Value::required,  architecture},
    {"-fmad", "--fmad",                                  Value::required,
     [](CommandLine& l, const std::string& v) { return on_off(v, l.contract); }},
    {"-ftz", "--ftz",                                    Value::required,
     [](CommandLine& l, const std::string& v) { return on_off(v, l.flush_denormals); }},
    {"-use_fast_math", "--use_fast_math",                Value::none,
     [](CommandLine& l, const std::string&) { l.contract = l.flush_denormals = true; return std::string(); }},
    {"-rdc", "--relocatable-device-code",                Value::required,
     [](CommandLine& l, const std::string& v) { return on_off(v, l.relocatable); }},
    {"-v", "--verbose",                                  Value::none,
     [](CommandLine& l, const std::string&) { l.verbose = true; return std::string(); }},
    {"-h", "--help",                                     Value::none,
     [](CommandLine& l, const std::string&) { l.help = true; return std::string(); }},
    {"--run", "-run",                                    Value::none,
     [](CommandLine& l, const std::string&) { l.run = true; return std::string(); }},
    // without effect
    {"-G", "--device-debug",                             Value::none,      nullptr},
    {"-lineinfo", "--generate-line-info",                Value::none,      nullptr},
    {"-prec-div", "--prec-div",                          Value::required,  nullptr},
    {"-prec-sqrt", "--prec-sqrt",                        Value::required,  nullptr},
    {"-maxrregcount", "--maxrregcount",                  Value::required,  nullptr},
    {"-Xptxas", "--ptxas-options",                       Value::required,  nullptr},
    {"-Xnvlink", "--nvlink-options",                     Value::required,  nullptr},
    {"-Xcudafe", "-Xfatbin",                             Value::required,  nullptr},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", Value::none,   nullptr},
    {"-expt-extended-lambda", "--expt-extended-lambda",  Value::none,      nullptr},
    {"-extended-lambda", "--extended-lambda",            Value::none,      nullptr},
    {"-default-stream", "--default-stream",              Value::required,
     default_stream},
    {"-cudart", "--cudart",                              Value::required,  nullptr},
    {"-m64", "--m64",                                    Value::none,      nullptr},
    {"-m", "--machine",                                  Value::required,  nullptr},
    {"-t", "--threads",                                  Value::required,  nullptr},
    {"-keep", "--keep",                                  Value::none,      nullptr},
    {"-keep-dir", "--keep-dir",                          Value::required,  nullptr},
    {"-restrict", "--restrict",                          Value::none,      nullptr},
    {"-res-usage", "--resource-usage",                   Value::none,      nullptr},
    {"-diag-suppress", "--diag-suppress",                Value::required,  nullptr},
    {"-Werror", "--Werror",                              Value::required,  nullptr},
    {"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets", Value::none, nullptr},
    {"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", Value::none, nullptr},
    {"-dlto", "-lto",                                    Value::none,      nullptr},
    {"-split-compile", "--split-compile",                Value::required,  nullptr},
    {"-dopt", "--dopt",                                  Value::required,  nullptr},
};
// clang-format on

struct Match {
  const OptionRow* row = nullptr;
  bool has_value = false;
  std::string value;
};

// -Ifolder, -O3: one letter with the value joined on.
bool joins_value(const OptionRow& row, std::string_view text) {
  return row.value == Value::required && row.name.size() == 2 && row.name[1] != '-' &&
         text.size() > 2 && text.substr(0, 2) == row.name && row.name != "-t" && row.name != "-m" &&
         row.name != "-x";
}

Match match_option(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = std::string_view(text).substr(0, equals);
  for (const OptionRow& row : kOptions) {
    if (name != row.name && (row.other.empty() || name != row.other)) continue;
    if (equals == std::string::npos) return {&row, false, ""};
    return {&row, true, text.substr(equals + 1)};
  }
  for (const OptionRow& row : kOptions)
    if (joins_value(row, text)) return {&row, true, text.substr(2)};
  return {};
}

// Options of the host's compiler that need no -Xcompiler.
bool is_host_option(std::string_view text) {
  for (std::string_view start :
       {"-f", "-W", "-m", "-pthread", "-pg", "-O", "-M", "-static-lib", "-g"})
    if (text.substr(0, start.size()) == start) return true;
  return false;
}

std::string language_of(const std::string& file) {
  const std::size_t dot = file.rfind('.');
  const std::string_view end = dot == std::string::npos ? "" : std::string_view(file).substr(dot);
  if (end == ".cu") return "cuda";
  if (end == ".cpp" || end == ".cc" || end == ".cxx" || end == ".c++" || end == ".C") return "c++";
  if (end == ".c") return "c";
  return "";
}

void take_input(CommandLine& line, const std::string& file, const std::string& forced) {
  const std::string own = language_of(file);
  const std::size_t dot = file.rfind('.');
  const std::string_view end = dot == std::string::npos ? "" : std::string_view(file).substr(dot);
  const bool object = end == ".o" || end == ".a" || end == ".so" || end == ".obj" ||
                      file.find(".so.") != std::string::npos;
  if (own.empty() && !object && forced.empty()) {
    line.error = "input file '" + file +
                 "' has no known ending (.cu, .cpp, .cc, .cxx, .c, .o, .a, .so); say -x cu "
                 "for CUDA C++";
    return;
  }
  line.inputs.push_back({file, object ? "" : forced.empty() ? own : forced});
}

void take_option(CommandLine& line, const std::vector<std::string>& arguments, std::size_t& i) {
  const std::string& text = arguments[i];
  Match match = match_option(text);
  if (match.row == nullptr) {
    if (is_host_option(text)) {
      host(line, text);
    } else {
      line.error = "option '" + text +
                   "' is not known; hand options of the host compiler over with -Xcompiler, and "
                   "see treadle cc --help";
    }
    return;
  }
  if (match.row->value == Value::required && !match.has_value) {
    if (i + 1 == arguments.size()) {
      line.error = "option '" + text + "' needs a value";
      return;
    }
    match.value = arguments[++i];
  }
  if (match.row->apply == nullptr) return;
  const std::string problem = match.row->apply(line, match.value);
  if (!problem.empty()) line.error = "option '" + text + "': " + problem;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  std::string forced;
  for (std::size_t i = 0; i < arguments.size() && line.error.empty(); ++i) {
    const std::string& text = arguments[i];
    if (text == "--") {
      line.run_arguments.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                arguments.end());
      if (!line.run)
        line.error = "'--' ends the options only with --run; what follows is for the program";
      break;
    }
    if (text.size() > 1 && text[0] == '-') {
      take_option(line, arguments, i);
      if (!line.inputs.empty() && line.inputs.back().file.empty()) {
        forced = line.inputs.back().language;
        line.inputs.pop_back();
      }
    } else {
      take_input(line, text, forced);
    }
  }
  if (!line.error.empty() || line.help) return line;
  if (line.inputs.empty()) line.error = "there is no input file: treadle cc program.cu -o program";
  if (line.run && (line.compile_only || line.preprocess || line.shared))
    line.error = "--run needs a whole program: leave out -c, -E and -shared";
  if (line.compile_only && !line.output.empty() && line.inputs.size() > 1)
    line.error = "-o names one object, but there are several inputs for -c";
  return line;
}

}  // namespace td::program
