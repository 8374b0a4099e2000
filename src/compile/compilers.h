// The two compilers behind compile(), each in a file of its own: clang_side.cpp and nvrtc.cpp.
#pragma once

#include <string>

#include "compile/compile.h"

namespace td::compile {

struct Compiler {
  const char* name;
  // Which compiler would run, as far as the file system tells; part of every cache key. Loads
  // nothing.
  std::string (*identity)();
  // Throws CompileError, or NotSupported when the compiler is missing. Thread-safe.
  Image (*compile)(const Source& source, const Target& target);
  CompilerInfo (*info)();
};

extern const Compiler kClang;
extern const Compiler kNvrtc;

// Path, size and time of a file: changes when the file does. "" when it does not exist.
std::string file_identity(const std::string& path);

// "kernel.cu does not compile (NVRTC 13.0):" and the log, shortened in the message, whole in
// CompileError::log.
[[noreturn]] void throw_compile_error(const std::string& compiler, const Source& source,
                                      const std::string& log);

// The source with a #line mark where its first line is not line 1 of the file.
std::string marked_text(const Source& source);

}  // namespace td::compile
