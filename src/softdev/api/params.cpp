#include "softdev/api/params.h"

#include <algorithm>
#include <cstring>

namespace td::softdev {

using namespace cuda;

namespace {

// A structure of the parameters may have padding at its end.
std::size_t structure_bytes(const LoweredKernel& kernel) {
  std::size_t align = 1;
  for (const ParamLayout& param : kernel.params) align = std::max<std::size_t>(align, param.align);
  return (kernel.param_bytes + align - 1) / align * align;
}

}  // namespace

unsigned char* PackedParams::room(std::size_t bytes) {
  if (bytes <= sizeof inline_) return inline_;
  large_.resize(bytes);
  return large_.data();
}

CUresult PackedParams::take_buffer(const LoweredKernel& kernel, void** extra) {
  const unsigned char* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (; *extra != LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<const unsigned char*>(extra[1]);
    else if (extra[0] == LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const std::size_t*>(extra[1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (kernel.param_bytes == 0 && (!size || *size == 0)) return CUDA_SUCCESS;
  if (!buffer || !size) return CUDA_ERROR_INVALID_VALUE;
  if (*size > structure_bytes(kernel)) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  data_ = buffer;
  if (*size >= kernel.param_bytes) return CUDA_SUCCESS;
  unsigned char* padded = room(kernel.param_bytes);
  std::memset(padded, 0, kernel.param_bytes);
  std::memcpy(padded, buffer, *size);
  data_ = padded;
  return CUDA_SUCCESS;
}

CUresult PackedParams::pack(const LoweredKernel& kernel, void** params, void** extra) {
  if (params && extra) return CUDA_ERROR_INVALID_VALUE;
  if (extra) return take_buffer(kernel, extra);
  if (kernel.params.empty()) return CUDA_SUCCESS;
  if (!params) return CUDA_ERROR_INVALID_VALUE;
  unsigned char* to = room(kernel.param_bytes);
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(to + kernel.params[i].offset, params[i], kernel.params[i].size);
  }
  data_ = to;
  return CUDA_SUCCESS;
}

}  // namespace td::softdev
