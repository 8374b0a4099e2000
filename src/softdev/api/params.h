// The parameters of a launch, as one packed buffer of CUDA's layout.
#pragma once

#include <vector>

#include "base/cuda_abi.h"
#include "softdev/simt/lower.h"

namespace td::softdev {

class PackedParams {
 public:
  // From `params` (a pointer to each value) or `extra` (a packed buffer with its size). A buffer
  // that is too long is CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, of one that is too short the rest is
  // zero, both as NVIDIA's driver answers.
  CUresult pack(const LoweredKernel& kernel, void** params, void** extra);
  // Null when the kernel has no parameters.
  const unsigned char* data() const { return data_; }

 private:
  CUresult take_buffer(const LoweredKernel& kernel, void** extra);
  unsigned char* room(std::size_t bytes);

  const unsigned char* data_ = nullptr;
  unsigned char inline_[512];
  std::vector<unsigned char> large_;
};

}  // namespace td::softdev
