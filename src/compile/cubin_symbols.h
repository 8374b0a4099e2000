// The kernels of an image that NVRTC made, by symbol. Any bytes are fine: a damaged image gives an
// empty list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace td::compile {

// The function symbols of a cubin that carry the entry mark, or the .entry directives of PTX text;
// in order, each once.
std::vector<std::string> entry_symbols(std::string_view image);

// "ns::scale<float>(float*, int)" for a mangled name, the name itself otherwise.
std::string demangle(const std::string& symbol);

}  // namespace td::compile
