// Every function of the table, answering CUDA_ERROR_NOT_SUPPORTED unless standin_libcuda.cpp has a
// body for it.
#include "base/cuda_abi.h"

extern "C" {
#define TD_DRIVER_API(name, symbol, since, params)                      \
  __attribute__((weak, visibility("default"))) CUresult symbol params { \
    return td::cuda::CUDA_ERROR_NOT_SUPPORTED;                          \
  }
#include "driver_api.def"
}
