// Fills of device memory with elements of one, two or four bytes.
#include "softdev/api/guard.h"
#include "softdev/api/soft_api.h"
#include "softdev/run/work.h"

using namespace td::softdev;
using namespace td::cuda;

namespace {

CUresult fill(const CUDA_MEMSET_NODE_PARAMS& params, CUstream handle) {
  return in_stream(handle, [&](Context& context, CUstream_st& stream) -> CUresult {
    FillRegion region;
    if (CUresult error = check_fill(params, &region)) return error;
    if (params.width == 0 || params.height == 0) return CUDA_SUCCESS;
    return submit(context, stream, FillWork{params});
  });
}

CUresult fill_row(CUdeviceptr to, unsigned value, unsigned element, std::size_t count,
                  CUstream stream) {
  return fill({to, 0, value, element, count, 1}, stream);
}

}  // namespace

extern "C" {

CUresult td_soft_cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_row(to, value, 1, count, nullptr);
}
CUresult td_soft_cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill_row(to, value, 2, count, nullptr);
}
CUresult td_soft_cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill_row(to, value, 4, count, nullptr);
}
CUresult td_soft_cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                 CUstream stream) {
  return fill_row(to, value, 1, count, stream);
}
CUresult td_soft_cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                                  CUstream stream) {
  return fill_row(to, value, 2, count, stream);
}
CUresult td_soft_cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count,
                                  CUstream stream) {
  return fill_row(to, value, 4, count, stream);
}

CUresult td_soft_cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                 std::size_t width, std::size_t height) {
  return fill({to, pitch, value, 1, width, height}, nullptr);
}
CUresult td_soft_cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                  std::size_t width, std::size_t height) {
  return fill({to, pitch, value, 2, width, height}, nullptr);
}
CUresult td_soft_cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value,
                                  std::size_t width, std::size_t height) {
  return fill({to, pitch, value, 4, width, height}, nullptr);
}
CUresult td_soft_cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                   std::size_t width, std::size_t height, CUstream stream) {
  return fill({to, pitch, value, 1, width, height}, stream);
}
CUresult td_soft_cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                    std::size_t width, std::size_t height, CUstream stream) {
  return fill({to, pitch, value, 2, width, height}, stream);
}
CUresult td_soft_cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value,
                                    std::size_t width, std::size_t height, CUstream stream) {
  return fill({to, pitch, value, 4, width, height}, stream);
}

}  // extern "C"
