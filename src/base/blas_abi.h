// The types and constants of the cuBLAS C interface that Treadle uses (boundary B2), declared here
// so that no NVIDIA header is needed to build. Names and values are those of the public
// documentation.
#pragma once

#include "base/cuda_abi.h"

extern "C" {

using cublasHandle_t = struct cublasContext*;
using cublasStatus_t = int;
using cublasOperation_t = int;
using cublasMath_t = int;
using cublasComputeType_t = int;
using cublasGemmAlgo_t = int;
using cudaDataType_t = int;

struct cuComplex {
  float x, y;
};
struct cuDoubleComplex {
  double x, y;
};

}  // extern "C"

namespace td::blas {

// cublasStatus_t. One row: value, name, meaning, cure ("" where none is known).
// clang-format off
#define TD_CUBLAS_RESULTS(X) \
  X(0,  CUBLAS_STATUS_SUCCESS,          "no error", "") \
  X(1,  CUBLAS_STATUS_NOT_INITIALIZED,  "the library could not start on this device", "check that the library's CUDA version is not newer than the driver's") \
  X(3,  CUBLAS_STATUS_ALLOC_FAILED,     "the library could not allocate its workspace", "free device memory (pool.free_all_blocks())") \
  X(7,  CUBLAS_STATUS_INVALID_VALUE,    "an argument is outside of its allowed range", "") \
  X(8,  CUBLAS_STATUS_ARCH_MISMATCH,    "the device lacks a feature that the function needs", "use another dtype") \
  X(11, CUBLAS_STATUS_MAPPING_ERROR,    "device memory could not be accessed", "") \
  X(13, CUBLAS_STATUS_EXECUTION_FAILED, "a kernel of the library failed to run", "an earlier fault on the device is the usual cause; synchronise after each step to find it") \
  X(14, CUBLAS_STATUS_INTERNAL_ERROR,   "an internal operation of the library failed", "") \
  X(15, CUBLAS_STATUS_NOT_SUPPORTED,    "the operation is not supported", "")
// clang-format on

enum Status : int {
#define TD_ROW(value, name, meaning, cure) name = value,
  TD_CUBLAS_RESULTS(TD_ROW)
#undef TD_ROW
};

// cublasOperation_t.
enum Operation : int { OP_N = 0, OP_T = 1, OP_C = 2 };

// cublasMath_t. Default keeps full float32 products; TF32 would round the inputs to 10 bits.
enum Math : int { DEFAULT_MATH = 0, TF32_TENSOR_OP_MATH = 3 };

// cudaDataType_t.
enum DataType : int { R_32F = 0, R_64F = 1, R_16F = 2, C_32F = 4, C_64F = 5, R_16BF = 14 };

// cublasComputeType_t.
enum ComputeType : int { COMPUTE_32F = 68, COMPUTE_64F = 70 };

// cublasGemmAlgo_t.
enum Algorithm : int { GEMM_DEFAULT = -1 };

}  // namespace td::blas
