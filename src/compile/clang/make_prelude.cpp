// Build step: makes the precompiled preludes that lie beside the compiler plug-in. Usage:
// treadle_make_prelude FOLDER
//
// One for each set of options that Treadle itself asks for: raw kernels, and generated kernels,
// which do not contract; and one for the translation of inline PTX.
#include <cstdio>
#include <filesystem>

#include "compile/clang_plugin.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::filesystem::remove_all(arguments[1]);
  for (std::vector<std::string> options : {std::vector<std::string>{}, {"--fmad=false"}}) {
    td::compile::ClangRequest request;
    request.source = "extern \"C\" __global__ void prelude() { asm volatile(\"exit;\"); }";
    request.options = options;
    request.pch_folder = arguments[1];
    td::compile::ClangReply reply;
    td_cc_compile(request, reply);
    if (!reply.ok) {
      std::fprintf(stderr, "%s\n", reply.log.c_str());
      return 1;
    }
  }
  return std::filesystem::is_empty(arguments[1]);
}
