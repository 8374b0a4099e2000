// The options of loading an image. Only the log buffers mean something to the software device; the
// rest are hints to a compiler that is not ours.
#pragma once

#include <string>

#include "base/cuda_abi.h"

namespace td::softdev {

class JitOptions {
 public:
  JitOptions(unsigned count, const CUjit_option* options, void** values);
  // Writes the text into the error log and clears the other one. Sizes come in by value and go out
  // as what was written.
  void report(const std::string& text) const;

 private:
  struct Log {
    char* buffer = nullptr;
    void** size = nullptr;
    void write(const std::string& text) const;
  };
  Log info_, error_;
};

// The bytes of a file, with zeros behind them, so that reading its header stays inside. False when
// it cannot be read.
bool read_image(const char* file, std::string* out);

}  // namespace td::softdev
