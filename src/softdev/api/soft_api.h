// Declarations of the software device's functions, one for each row of the border's tables. A row
// without a body is a link error in entry.cpp.
#pragma once

#include "base/blas_abi.h"
#include "base/cuda_abi.h"
#include "base/fft_abi.h"
#include "base/solver_abi.h"

extern "C" {
#define TD_DRIVER_API(name, symbol, since, params) CUresult td_soft_##symbol params;
#include "driver_api.def"
#define TD_BLAS_API(name, symbol, since, params) cublasStatus_t td_soft_##symbol params;
#include "blas_api.def"
#define TD_SOLVER_API(symbol, since, params) cusolverStatus_t td_soft_##symbol params;
#include "solver_api.def"
#define TD_FFT_API(symbol, since, params) cufftResult td_soft_##symbol params;
#include "fft_api.def"
const char* td_soft_last_fault();
}
