// The types and constants of the cuSOLVER C interface that Treadle uses (boundary B2), declared
// here so that no NVIDIA header is needed to build. Names and values are those of the public
// documentation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/blas_abi.h"

extern "C" {

using cusolverDnHandle_t = struct cusolverDnContext*;
using cusolverDnParams_t = struct cusolverDnParams*;
using cusolverStatus_t = int;
using cusolverEigMode_t = int;
using cublasFillMode_t = int;

}  // extern "C"

namespace td::solver {

// cusolverStatus_t. One row: value, name, meaning, cure ("" where none is known).
// clang-format off
#define TD_CUSOLVER_RESULTS(X) \
  X(0, CUSOLVER_STATUS_SUCCESS,                   "no error", "") \
  X(1, CUSOLVER_STATUS_NOT_INITIALIZED,           "the library could not start on this device", "check that the library's CUDA version is not newer than the driver's") \
  X(2, CUSOLVER_STATUS_ALLOC_FAILED,              "the library could not allocate its workspace", "free device memory (pool.free_all_blocks())") \
  X(3, CUSOLVER_STATUS_INVALID_VALUE,             "an argument is outside of its allowed range", "") \
  X(4, CUSOLVER_STATUS_ARCH_MISMATCH,             "the device lacks a feature that the function needs", "use another dtype") \
  X(6, CUSOLVER_STATUS_EXECUTION_FAILED,          "a kernel of the library failed to run", "an earlier fault on the device is the usual cause; synchronise after each step to find it") \
  X(7, CUSOLVER_STATUS_INTERNAL_ERROR,            "an internal operation of the library failed", "") \
  X(8, CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "the kind of matrix is not supported", "") \
  X(9, CUSOLVER_STATUS_NOT_SUPPORTED,             "the operation is not supported", "")
// clang-format on

enum Status : int {
#define TD_ROW(value, name, meaning, cure) name = value,
  TD_CUSOLVER_RESULTS(TD_ROW)
#undef TD_ROW
};

enum FillMode : int { FILL_LOWER = 0, FILL_UPPER = 1 };  // cublasFillMode_t
enum EigMode : int { NOVECTOR = 0, VECTOR = 1 };         // cusolverEigMode_t

}  // namespace td::solver
