// Decompositions of dense matrices through the cuSOLVER interface (boundary B2): NVIDIA's library
// on a GPU, opened on first use, and functions of the same names on the software device.
//
// Every function takes `count` matrices one after the other in device memory, each contiguous and
// column-major, of dtype float32, float64, complex64 or complex128, and enqueues its work on the
// stream. `info` receives one int32 for each matrix: 0, or what LAPACK's routine of that name
// gives. Sizes must not be 0. Throws NotSupported where the library is missing or lacks the
// function, DriverError for a failure.
#pragma once

#include <cstdint>
#include <string>

#include "base/solver_abi.h"
#include "driver/math_library.h"
#include "driver/state.h"
#include "treadle/dtype.h"

namespace td::driver {

// One pointer per row of tables/solver_api.def; null where an optional function is absent.
struct SolverApi {
#define TD_SOLVER_API(symbol, since, params) cusolverStatus_t(*symbol) params = nullptr;
#include "solver_api.def"
};

using SolverLibrary = MathLibrary<SolverApi>;
// The library for a provider's devices, opened once. Never throws.
const SolverLibrary& solver_library(const Provider& provider);

namespace solver {

// P A = L U of n x n matrices, in place; n int64 pivots each, counted from 1.
void getrf(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t count,
           CUdeviceptr a, CUdeviceptr pivots, CUdeviceptr info);
// Solves with these factors, in place of the n x nrhs right-hand sides.
void getrs(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t nrhs,
           std::int64_t count, CUdeviceptr a, CUdeviceptr pivots, CUdeviceptr b, CUdeviceptr info);
// Cholesky's factor in one triangle; the other one keeps its values.
void potrf(const StreamState& stream, DType dtype, bool upper, std::int64_t n, std::int64_t count,
           CUdeviceptr a, CUdeviceptr info);
// The same for many matrices whose addresses stand in device memory, with one call; the other
// triangle is lost.
bool potrf_batched_supported(const DeviceState& device);
void potrf_batched(const StreamState& stream, DType dtype, bool upper, std::int64_t n,
                   std::int64_t count, CUdeviceptr matrices, CUdeviceptr info);
// A = Q R of m x n matrices: R and the Householder vectors in place, min(m, n) scales in `tau`.
void geqrf(const StreamState& stream, DType dtype, std::int64_t m, std::int64_t n,
           std::int64_t count, CUdeviceptr a, CUdeviceptr tau, CUdeviceptr info);
// The first n columns (m >= n >= k) of Q, in place, from k Householder vectors.
void orgqr(const StreamState& stream, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
           std::int64_t count, CUdeviceptr a, CUdeviceptr tau, CUdeviceptr info);
// Ascending real eigenvalues `w` from one triangle of a Hermitian matrix; vectors in its place.
void syevd(const StreamState& stream, DType dtype, bool vectors, bool upper, std::int64_t n,
           std::int64_t count, CUdeviceptr a, CUdeviceptr w, CUdeviceptr info);
// A = U S V', m >= n. job 'A': U is m x m; 'S': m x n; 'N': neither. A is lost.
void gesvd(const StreamState& stream, DType dtype, char job, std::int64_t m, std::int64_t n,
           std::int64_t count, CUdeviceptr a, CUdeviceptr s, CUdeviceptr u, CUdeviceptr vt,
           CUdeviceptr info);
// Complex eigenvalues `w` of general matrices; right vectors in LAPACK's form unless `vr` is 0.
void geev(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t count, CUdeviceptr a,
          CUdeviceptr w, CUdeviceptr vr, CUdeviceptr info);

}  // namespace solver

}  // namespace td::driver
