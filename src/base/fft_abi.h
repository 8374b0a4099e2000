// The types and constants of the cuFFT C interface that Treadle uses (boundary B2), declared here
// so that no NVIDIA header is needed to build. Names and values are those of the public
// documentation.
#pragma once

#include <cstddef>

#include "base/blas_abi.h"

extern "C" {

using cufftHandle = int;
using cufftResult = int;

}  // extern "C"

namespace td::fft_abi {

// cufftResult. One row: value, name, meaning, cure ("" where none is known).
// clang-format off
#define TD_CUFFT_RESULTS(X) \
  X(0,  CUFFT_SUCCESS,            "no error", "") \
  X(1,  CUFFT_INVALID_PLAN,       "the plan is not valid", "") \
  X(2,  CUFFT_ALLOC_FAILED,       "the library could not allocate its workspace", "free device memory (pool.free_all_blocks())") \
  X(3,  CUFFT_INVALID_TYPE,       "the type is not supported", "") \
  X(4,  CUFFT_INVALID_VALUE,      "an argument is outside of its allowed range", "") \
  X(5,  CUFFT_INTERNAL_ERROR,     "an internal operation of the library failed", "") \
  X(6,  CUFFT_EXEC_FAILED,        "a kernel of the library failed to run", "an earlier fault on the device is the usual cause; synchronise after each step to find it") \
  X(7,  CUFFT_SETUP_FAILED,       "the library could not start on this device", "check that the library's CUDA version is not newer than the driver's") \
  X(8,  CUFFT_INVALID_SIZE,       "the number of points is not supported", "") \
  X(11, CUFFT_INVALID_DEVICE,     "the plan belongs to another device", "") \
  X(13, CUFFT_NO_WORKSPACE,       "no workspace was given", "") \
  X(16, CUFFT_NOT_SUPPORTED,      "the operation is not supported", "")
// clang-format on

enum Status : int {
#define TD_ROW(value, name, meaning, cure) name = value,
  TD_CUFFT_RESULTS(TD_ROW)
#undef TD_ROW
};

enum Direction : int { FORWARD = -1, INVERSE = 1 };

}  // namespace td::fft_abi
