// Finds the kernels that CUDA C++ text declares, with their parameters, without a compiler.
//
// It reads declarations at namespace scope and expands no macro. What it cannot know it leaves
// unknown (kind unknown, params_known false); it never guesses, since launch/ refuses arguments on
// the strength of what is known. Kernels under an untaken #if are listed too: the symbols of the
// image say which exist.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/clang_plugin.h"

namespace td::compile {

struct ReadKernel {
  KernelSignature signature;  // name with its namespaces; symbol only for extern "C"
  bool is_template = false;
};

// `options`: the compiler's options; names that -D gives hide types as #define does.
std::vector<ReadKernel> read_kernels(std::string_view source,
                                     const std::vector<std::string>& options);

// The parameters in a demangled symbol, "scale<float>(float*, float const*, int)". Exact: typedefs
// are resolved there. `name` receives "scale<float>". Nothing when there is no parameter list or it
// is not understood.
std::optional<std::vector<ParamInfo>> read_demangled(std::string_view demangled, std::string& name);

}  // namespace td::compile
