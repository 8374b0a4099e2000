#include "softdev/api/jit_options.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace td::softdev {

using namespace cuda;

void JitOptions::Log::write(const std::string& text) const {
  if (!size) return;
  auto room = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*size) & 0xffffffffu);
  std::size_t length = 0;
  if (buffer && room > 0) {
    length = std::min(text.size(), room - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = 0;
  }
  *size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(length));
}

JitOptions::JitOptions(unsigned count, const CUjit_option* options, void** values) {
  for (unsigned i = 0; options && values && i < count; ++i) {
    switch (options[i]) {
      case JIT_INFO_LOG_BUFFER:
        info_.buffer = static_cast<char*>(values[i]);
        break;
      case JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.size = &values[i];
        break;
      case JIT_ERROR_LOG_BUFFER:
        error_.buffer = static_cast<char*>(values[i]);
        break;
      case JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.size = &values[i];
        break;
      default:
        break;
    }
  }
}

void JitOptions::report(const std::string& text) const {
  error_.write(text);
  info_.write("");
}

bool read_image(const char* file, std::string* out) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return false;
  out->assign(std::istreambuf_iterator<char>(in), {});
  out->append(64, '\0');
  return true;
}

}  // namespace td::softdev
