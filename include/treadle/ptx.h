// CUDA C++ text as PTX, for people to read: NVRTC makes it, whatever the current device is.
#pragma once

#include <string>

#include "treadle/kernel.h"

namespace [[gnu::visibility("default")]] td {

// The PTX of `text` for a compute capability (90: 9.0). NotSupported when there is no NVRTC, with
// the file that was looked for; CompileError with the log.
std::string ptx_of(const std::string& text, const ModuleOptions& options, int compute_capability);

}  // namespace td
