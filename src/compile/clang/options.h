// NVRTC's option spelling -> what our Clang run needs to know.
#pragma once

#include <string>
#include <vector>

namespace td::compile {

struct Options {
  std::string standard = "c++17";
  std::vector<std::string> macros;         // text lines "#define A 1" / "#undef A", in order
  std::vector<std::string> include_paths;  // in order
  std::vector<std::string> pre_includes;   // included before the first line of the source
  bool contract = true;                    // fuse a*b+c (CUDA's default)
  bool flush_denormals =
      false;  // -ftz=true: recorded in the image; denormals are kept on the software device
  bool warnings = true;
  const char* prelude = nullptr;  // what is precompiled (files.h); null: the plain prelude
  std::string error;              // not empty: an option was refused, and this says which and why
};

// Options that only steer NVIDIA's code generator (-arch, -G, -lineinfo, -maxrregcount, ...) are
// accepted and have no effect. A value may follow its option after '=', or, for long names and -I,
// -D, -U, as the next element.
Options parse_options(const std::vector<std::string>& options);

}  // namespace td::compile
