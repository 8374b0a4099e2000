// How the image of a program's device code lies in the program's file: this header, then the
// bitcode.
#pragma once

#include <cstdint>

namespace td::compile {

struct ProgramImage {
  char magic[8] = {'t', 'd', 'i', 'm', 'a', 'g', 'e', '1'};
  std::uint64_t bytes = 0;  // of the bitcode that follows
  std::uint64_t relocatable = 0;
};

}  // namespace td::compile
