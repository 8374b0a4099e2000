// Matrix products through the cuBLAS interface (boundary B2): NVIDIA's library on a GPU, opened on
// first use, and functions of the same names on the software device.
#pragma once

#include <cstdint>
#include <string>

#include "base/blas_abi.h"
#include "driver/math_library.h"
#include "driver/state.h"
#include "treadle/dtype.h"

namespace td::driver {

// One pointer per row of tables/blas_api.def; null where an optional function is absent.
struct BlasApi {
#define TD_BLAS_API(name, symbol, since, params) cublasStatus_t(*name) params = nullptr;
#include "blas_api.def"
};

using BlasLibrary = MathLibrary<BlasApi>;
// The library for a provider's devices, opened once. Never throws.
const BlasLibrary& blas_library(const Provider& provider);

// True when gemm() takes this dtype: float32, float64, complex64, complex128, and float16 and
// bfloat16 where the library has them.
bool gemm_supports(const DeviceState& device, DType dtype);

// A stack of matrices in device memory, in elements. Element (i, j) of matrix b is at
//   b * batch_stride + i * leading + j       (by_columns == false: rows are contiguous)
//   b * batch_stride + i + j * leading       (by_columns == true:  columns are contiguous)
// so a transposed view of a contiguous matrix needs no copy. A batch_stride of 0 repeats one
// matrix.
struct GemmMatrix {
  CUdeviceptr address = 0;
  std::int64_t leading = 0;
  bool by_columns = false;
  std::int64_t batch_stride = 0;
};

// C[m, n] = A[m, k] B[k, n] for `count` matrices, enqueued on the stream. C is written without
// being read, and k == 0 gives zeros. `c` may lie by rows or by columns. Sums are taken in the
// dtype (float32 for float16 and bfloat16), in TF32 only when tf32() is on. Throws ValueError for a
// size beyond cuBLAS's 32 bits, NotSupported for a dtype, DriverError for a failure.
void gemm(const StreamState& stream, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
          const GemmMatrix& a, const GemmMatrix& b, const GemmMatrix& c, std::int64_t count = 1);

// LU of many small matrices with one call each. The addresses of the n x n column-major matrices
// stand in device memory, as do `count` * n int32 pivots, counted from 1, and `count` int32 of
// info.
bool lu_batched_supported(const DeviceState& device, DType dtype);
void getrf_batched(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t count,
                   CUdeviceptr matrices, CUdeviceptr pivots, CUdeviceptr info);
// Solves with these factors, in place of the right-hand sides: `count` addresses of n x nrhs.
void getrs_batched(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t nrhs,
                   std::int64_t count, CUdeviceptr matrices, CUdeviceptr pivots, CUdeviceptr right);

}  // namespace td::driver
