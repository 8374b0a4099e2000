// Every driver function, answering "success" and doing nothing; liar_libcuda.cpp replaces some.
#include "base/cuda_abi.h"

extern "C" {
#define TD_DRIVER_API(name, symbol, since, params) \
  __attribute__((weak, visibility("default"))) CUresult symbol params { return 0; }
#include "driver_api.def"
}
