// The build ID that the linker writes into a library: a hash of the library's content. Two copies
// of one build have the same, wherever they lie and however they were stripped; two builds differ.
#pragma once

#include <string>

namespace td::base {

// The GNU build ID of an ELF file as hexadecimal digits, read from the file without loading it; ""
// when the file cannot be read, is no ELF file of 64 bits, or has none.
std::string build_id(const std::string& path);

}  // namespace td::base
