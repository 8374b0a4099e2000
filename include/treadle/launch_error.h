// What a launch beyond the limits throws.
#pragma once

#include "treadle/error.h"

namespace [[gnu::visibility("default")]] td {

// Python: treadle.LaunchLimitError (a ValueError and a CUDAError). A launch that the device's or
// the kernel's limits do not allow: what the driver answers with CUDA_ERROR_INVALID_VALUE, without
// saying which limit.
class LaunchLimitError : public ValueError {
 public:
  using ValueError::ValueError;
};

}  // namespace td
