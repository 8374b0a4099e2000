// Image <-> the byte string that the disk cache keeps.
#pragma once

#include <string>
#include <string_view>

#include "compile/compile.h"

namespace td::compile {

std::string encode_image(const Image& image);
// False for a record that is not whole; `image` is unspecified then.
bool decode_image(std::string_view record, Image& image);

}  // namespace td::compile
