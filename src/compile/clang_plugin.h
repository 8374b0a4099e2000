// CUDA C++ text -> image for the software device, with Clang inside the compiler plug-in.
// The core reaches it by name ("td_cc_compile") through base/plugin.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "treadle/kernel.h"

namespace td::compile {

struct ClangRequest {
  std::string source;
  std::string file_name = "kernel.cu";
  int first_line = 1;
  std::vector<std::string> options;  // NVRTC spelling
  std::vector<std::string> name_expressions;
  std::string pch_folder;    // where a precompiled device header may be kept, "" = nowhere
  bool syntax_only = false;  // signatures only (used beside NVRTC)
};

struct KernelSignature {
  std::string name;    // as written, without namespace for extern "C"
  std::string symbol;  // mangled
  std::vector<ParamInfo> params;
  bool params_known = true;  // false: no declaration was found; the driver's sizes are all there is
};

struct ClangReply {
  bool ok = false;
  std::string image;  // bitcode
  std::string log;  // diagnostics, with the user's own file and lines, a source excerpt and a caret
  std::vector<KernelSignature> kernels;
  std::vector<std::pair<std::string, std::string>> lowered_names;  // name expression -> symbol
};

}  // namespace td::compile

extern "C" void td_cc_compile(const td::compile::ClangRequest& request,
                              td::compile::ClangReply& reply);
