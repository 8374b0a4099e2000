// Evidence about this machine that turns "no CUDA" into a justified sentence with a cure. Reads
// files only.
#pragma once

#include <string>

#include "base/cuda_abi.h"

namespace td::driver {

// Why libcuda.so.1 cannot be opened here, as far as the evidence goes, and the cure.
std::string explain_missing_driver();

// Why cuInit answered `result`, and the cure.
std::string explain_init_failure(CUresult result, const std::string& file);

}  // namespace td::driver
