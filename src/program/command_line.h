// nvcc's command line, as far as programs use it.
#pragma once

#include <string>
#include <vector>

namespace td::program {

struct Input {
  std::string file;
  std::string language;  // "cuda", "c++", "c"; "" = handed to the linker (object, archive, library)
};

struct CommandLine {
  std::string error;  // "" = well formed
  std::vector<Input> inputs;
  std::vector<std::string> host_options;  // of each compilation
  std::vector<std::string> link_options;
  std::string output;
  std::string compiler;  // host compiler, "" = $CXX or c++
  bool compile_only = false;
  bool preprocess = false;
  bool shared = false;
  bool help = false;
  bool verbose = false;
  bool relocatable = false;
  bool contract = true;
  bool flush_denormals = false;
  bool openmp = false;
  bool run = false;
  std::vector<std::string> run_arguments;
  std::vector<std::string> notes;  // for the user, each once
};

CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace td::program
