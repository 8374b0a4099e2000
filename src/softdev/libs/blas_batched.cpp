// cuBLAS-shaped LU of many small matrices over LAPACK (boundary B2; contract in
// tables/blas_api.def).
#include <array>
#include <complex>

#include "softdev/api/soft_api.h"
#include "softdev/libs/batched.h"
#include "softdev/libs/blas_handle.h"
#include "softdev/libs/lapack.h"
#include "softdev/libs/small_matrix.h"

namespace td::softdev {

namespace {

using namespace td::blas;

// Checks the handle, and calls `use` with its context and stream.
template <class F>
cublasStatus_t on_stream(cublasHandle_t handle, const F& use) {
  if (!is_live(handle) || !lapack::problem().empty()) return CUBLAS_STATUS_NOT_INITIALIZED;
  Context& context = *handle->context;
  CUstream stream = context.resolve(handle->stream);
  if (context.error != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!stream) return CUBLAS_STATUS_INVALID_VALUE;
  return use(context, stream) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

constexpr int kSmall = 64;  // beyond, OpenBLAS's blocks pay

std::size_t size(int value) { return static_cast<std::size_t>(value); }

template <class T>
cublasStatus_t getrf(cublasHandle_t handle, int n, T* const* a, int lda, int* pivots, int* info,
                     int count) {
  // Without pivots cuBLAS would not exchange rows, which LAPACK cannot do.
  if (n < 0 || lda < std::max(1, n) || count < 0 || !a || !info) return CUBLAS_STATUS_INVALID_VALUE;
  if (!pivots) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return on_stream(handle, [&](Context& context, CUstream stream) {
    std::vector<Span> lists{span_of(a, size(count)), span_of(info, size(count)),
                            span_of(pivots, size(count) * size(n))};
    auto spans = [=](std::uint64_t i) {
      return std::array{span_of(a[i], size(lda) * size(n - 1) + size(n))};
    };
    return enqueue_batched(
        context, stream, "getrfBatched", count, std::move(lists), spans,
        [=](std::uint64_t i) { info[i] = lapack::getrf(n, n, a[i], lda, pivots + i * size(n)); });
  });
}

template <class T>
cublasStatus_t getrs(cublasHandle_t handle, int op, int n, int nrhs, const T* const* a, int lda,
                     const int* pivots, T* const* b, int ldb, int* info, int count) {
  if (!info) return CUBLAS_STATUS_INVALID_VALUE;
  *info = 0;
  if (op < OP_N || op > OP_C || n < 0 || nrhs < 0 || lda < std::max(1, n) || ldb < std::max(1, n) ||
      count < 0 || !a || !b)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!pivots) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (n == 0 || nrhs == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return on_stream(handle, [&](Context& context, CUstream stream) {
    std::vector<Span> lists{span_of(a, size(count)), span_of(b, size(count)),
                            span_of(pivots, size(count) * size(n))};
    auto spans = [=](std::uint64_t i) {
      return std::array{span_of(a[i], size(lda) * size(n - 1) + size(n)),
                        span_of(b[i], size(ldb) * size(nrhs - 1) + size(n))};
    };
    return enqueue_batched(
        context, stream, "getrsBatched", count, std::move(lists), spans, [=](std::uint64_t i) {
          const int* own = pivots + i * size(n);
          if (op == OP_N && n <= kSmall)
            small_matrix::solve(size(n), size(nrhs), a[i], size(lda), own, b[i], size(ldb));
          else
            lapack::getrs("NTC"[op], n, nrhs, a[i], lda, own, b[i], ldb);
        });
  });
}

}  // namespace

}  // namespace td::softdev

using namespace td::softdev;

extern "C" {

#define TD_LU(letter, cuda, cpp)                                                                   \
  cublasStatus_t td_soft_cublas##letter##getrfBatched(                                             \
      cublasHandle_t handle, int n, cuda* const* a, int lda, int* pivots, int* info, int count) {  \
    return getrf(handle, n, reinterpret_cast<cpp* const*>(a), lda, pivots, info, count);           \
  }                                                                                                \
  cublasStatus_t td_soft_cublas##letter##getrsBatched(                                             \
      cublasHandle_t handle, cublasOperation_t op, int n, int nrhs, const cuda* const* a, int lda, \
      const int* pivots, cuda* const* b, int ldb, int* info, int count) {                          \
    return getrs(handle, op, n, nrhs, reinterpret_cast<const cpp* const*>(a), lda, pivots,         \
                 reinterpret_cast<cpp* const*>(b), ldb, info, count);                              \
  }
TD_LU(S, float, float)
TD_LU(D, double, double)
TD_LU(C, cuComplex, std::complex<float>)
TD_LU(Z, cuDoubleComplex, std::complex<double>)
#undef TD_LU

}  // extern "C"
