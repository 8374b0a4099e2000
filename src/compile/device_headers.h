// Our CUDA device headers as text; the definitions are generated from src/compile/include by
// embed.cmake.
#pragma once

#include <cstddef>
#include <string_view>

namespace td::compile {

struct DeviceHeader {
  std::string_view name;  // as an #include spells it
  std::string_view text;  // followed by a NUL
};
extern const DeviceHeader kDeviceHeaders[];
extern const std::size_t kDeviceHeaderCount;

// curand_kernel.h and what it includes, for NVRTC.
extern const DeviceHeader kCurandHeaders[];
extern const std::size_t kCurandHeaderCount;

// Headers of whole programs (src/runtime/include).
extern const DeviceHeader kProgramHeaders[];
extern const std::size_t kProgramHeaderCount;

}  // namespace td::compile
