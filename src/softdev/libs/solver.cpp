// cuSOLVER-shaped decompositions over LAPACK, in stream order (boundary B2; contract in
// tables/solver_api.def). LAPACK's workspaces are the host's: every _bufferSize function answers 0.
//
// Shape errors are the call's status. An operand outside of device memory is found when the stream
// reaches the work and fails the context with CUDA_ERROR_ILLEGAL_ADDRESS, as it would on a GPU.
#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <complex>
#include <vector>

#include "base/text.h"
#include "softdev/api/soft_api.h"
#include "softdev/libs/batched.h"
#include "softdev/libs/lapack.h"
#include "softdev/libs/small_matrix.h"
#include "softdev/run/context.h"
#include "softdev/run/memory.h"

struct cusolverDnContext {
  std::atomic<bool> alive{false};
  td::softdev::Context* context = nullptr;
  CUstream stream = nullptr;  // as set: null is the default stream
  void clear() {
    alive = false;
    context = nullptr;
    stream = nullptr;
  }
};

// Options of the 64-bit interface; none of them changes a result here.
struct cusolverDnParams {
  std::atomic<bool> alive{false};
  void clear() { alive = false; }
};

namespace td::softdev {

namespace {

using namespace td::solver;
namespace types = td::blas;

// Memory that an operation touches.
struct Region {
  const void* address;
  std::size_t bytes;
};

template <class T>
Region matrix(const T* a, std::int64_t rows, std::int64_t lda, std::int64_t columns) {
  if (rows <= 0 || columns <= 0) return {a, 0};
  return {a, sizeof(T) * static_cast<std::size_t>(lda * (columns - 1) + rows)};
}
template <class T>
Region vector(const T* x, std::int64_t count) {
  return matrix(x, count, count, 1);
}

// `work` returns LAPACK's info.
template <class F>
class SolverOp final : public Op {
 public:
  SolverOp(Context& context, const char* name, std::vector<Region> regions, int* info, F work)
      : Op(Kind::work, context),
        name_(name),
        regions_(std::move(regions)),
        info_(info),
        work_(std::move(work)) {
    regions_.push_back(vector(info, 1));
  }
  void run(Executor*, std::uint64_t, std::uint64_t) override {
    for (const Region& region : regions_)
      if (region.bytes &&
          !Arena::get().holds(reinterpret_cast<std::uintptr_t>(region.address), region.bytes)) {
        context().fail(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                       base::cat(name_, ": an operand lies outside of device memory"));
        return;
      }
    try {
      *info_ = work_();
    } catch (const std::bad_alloc&) {
      context().fail(cuda::CUDA_ERROR_OUT_OF_MEMORY,
                     base::cat(name_, ": no memory for its workspace"));
    }
  }

 private:
  const char* name_;
  std::vector<Region> regions_;
  int* info_;
  const F work_;
};

template <class Handle>
bool is_live(Handle handle) {
  return handle && handle->alive.load(std::memory_order_acquire);
}

template <class F>
cusolverStatus_t enqueue(cusolverDnHandle_t handle, const char* name, std::vector<Region> regions,
                         int* info, F work) {
  if (!is_live(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  Context& context = *handle->context;
  CUstream stream = context.resolve(handle->stream);
  if (context.error != 0) return CUSOLVER_STATUS_EXECUTION_FAILED;
  if (!stream) return CUSOLVER_STATUS_INVALID_VALUE;
  try {
    Ref<Op> op(new SolverOp<F>(context, name, std::move(regions), info, std::move(work)));
    Scheduler::get().enqueue(stream->queue, *op);
  } catch (const std::bad_alloc&) {
    return CUSOLVER_STATUS_ALLOC_FAILED;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

// Calls `use` with a value of the type that a cudaDataType names.
template <class F>
cusolverStatus_t by_type(int type, const F& use) {
  switch (type) {
    case types::R_32F:
      return use(float{});
    case types::R_64F:
      return use(double{});
    case types::C_32F:
      return use(std::complex<float>{});
    case types::C_64F:
      return use(std::complex<double>{});
    default:
      return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
}

int real_type(int type) {
  return type == types::C_32F ? types::R_32F : type == types::C_64F ? types::R_64F : type;
}
int complex_type(int type) {
  return type == types::R_32F ? types::C_32F : type == types::R_64F ? types::C_64F : type;
}

// A matrix with these sizes can be described, and LAPACK's integers hold them.
bool valid(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  return rows >= 0 && columns >= 0 && columns <= INT_MAX &&
         leading >= std::max<std::int64_t>(1, rows) && leading <= INT_MAX;
}
int narrow(std::int64_t value) { return static_cast<int>(value); }

bool valid_mode(int mode) { return mode == NOVECTOR || mode == VECTOR; }
bool valid_fill(int fill) { return fill == FILL_LOWER || fill == FILL_UPPER; }
char letter_of(int fill) { return fill == FILL_LOWER ? 'L' : 'U'; }

cusolverStatus_t no_workspace(std::size_t* device_bytes, std::size_t* host_bytes) {
  if (!device_bytes || !host_bytes) return CUSOLVER_STATUS_INVALID_VALUE;
  *device_bytes = *host_bytes = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t many_cholesky(cusolverDnHandle_t handle, int uplo, int n, T** a, int lda,
                               int* info, int count) {
  if (!valid(n, n, lda) || !valid_fill(uplo) || count < 0 || !a || !info)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (!is_live(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (n == 0 || count == 0) return CUSOLVER_STATUS_SUCCESS;
  Context& context = *handle->context;
  CUstream stream = context.resolve(handle->stream);
  if (context.error != 0) return CUSOLVER_STATUS_EXECUTION_FAILED;
  if (!stream) return CUSOLVER_STATUS_INVALID_VALUE;
  auto bytes = sizeof(T) * (static_cast<std::size_t>(lda) * static_cast<std::size_t>(n - 1) +
                            static_cast<std::size_t>(n));
  auto spans = [=](std::uint64_t i) { return std::array{Span{a[i], bytes}}; };
  auto total = static_cast<std::size_t>(count);
  bool enqueued = enqueue_batched(
      context, stream, "potrfBatched", count, {span_of(a, total), span_of(info, total)}, spans,
      [=](std::uint64_t i) {
        constexpr int kSmall = 64;  // beyond, OpenBLAS's blocks pay
        info[i] = n <= kSmall
                      ? small_matrix::cholesky(uplo == FILL_UPPER, static_cast<std::size_t>(n),
                                               a[i], static_cast<std::size_t>(lda))
                      : lapack::potrf(letter_of(uplo), n, a[i], lda);
      });
  return enqueued ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

template <class T>
cusolverStatus_t make_q(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda, const T* tau,
                        int* info) {
  if (!valid(m, n, lda) || n > m || k < 0 || k > n) return CUSOLVER_STATUS_INVALID_VALUE;
  return enqueue(handle, "orgqr", {matrix(a, m, lda, n), vector(tau, k)}, info,
                 [=] { return lapack::orgqr(m, n, k, a, lda, tau); });
}

}  // namespace

}  // namespace td::softdev

using namespace td::softdev;

extern "C" {

cusolverStatus_t td_soft_cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  Context* context = current_context();
  if (!context || context->error != 0 || !lapack::problem().empty())
    return CUSOLVER_STATUS_NOT_INITIALIZED;
  *handle = handle_pool<cusolverDnContext>().make();
  (*handle)->context = context;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t td_soft_cusolverDnDestroy(cusolverDnHandle_t handle) {
  if (!is_live(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle_pool<cusolverDnContext>().recycle(handle);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t td_soft_cusolverDnSetStream(cusolverDnHandle_t handle, CUstream stream) {
  if (!is_live(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t td_soft_cusolverDnCreateParams(cusolverDnParams_t* params) {
  if (!params) return CUSOLVER_STATUS_INVALID_VALUE;
  *params = handle_pool<cusolverDnParams>().make();
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t td_soft_cusolverDnDestroyParams(cusolverDnParams_t params) {
  if (!is_live(params)) return CUSOLVER_STATUS_INVALID_VALUE;
  handle_pool<cusolverDnParams>().recycle(params);
  return CUSOLVER_STATUS_SUCCESS;
}

// ---- LU ----

cusolverStatus_t td_soft_cusolverDnXgetrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                     std::int64_t, std::int64_t, cudaDataType_t,
                                                     const void*, std::int64_t, cudaDataType_t,
                                                     std::size_t* device_bytes,
                                                     std::size_t* host_bytes) {
  return no_workspace(device_bytes, host_bytes);
}

cusolverStatus_t td_soft_cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          std::int64_t m, std::int64_t n, cudaDataType_t type_a,
                                          void* a, std::int64_t lda, std::int64_t* pivots,
                                          cudaDataType_t compute, void*, std::size_t, void*,
                                          std::size_t, int* info) {
  if (!valid(m, n, lda) || compute != type_a) return CUSOLVER_STATUS_INVALID_VALUE;
  return by_type(type_a, [&](auto zero) {
    auto* data = static_cast<decltype(zero)*>(a);
    std::int64_t count = std::min(m, n);
    return enqueue(handle, "getrf", {matrix(data, m, lda, n), vector(pivots, count)}, info, [=] {
      std::vector<int> narrow_pivots(static_cast<std::size_t>(count));
      int result = lapack::getrf(narrow(m), narrow(n), data, narrow(lda), narrow_pivots.data());
      std::copy(narrow_pivots.begin(), narrow_pivots.end(), pivots);
      return result;
    });
  });
}

cusolverStatus_t td_soft_cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          cublasOperation_t op, std::int64_t n, std::int64_t nrhs,
                                          cudaDataType_t type_a, const void* a, std::int64_t lda,
                                          const std::int64_t* pivots, cudaDataType_t type_b,
                                          void* b, std::int64_t ldb, int* info) {
  if (!valid(n, n, lda) || !valid(n, nrhs, ldb) || type_a != type_b || op < types::OP_N ||
      op > types::OP_C)
    return CUSOLVER_STATUS_INVALID_VALUE;
  return by_type(type_a, [&](auto zero) {
    using T = decltype(zero);
    auto* factors = static_cast<const T*>(a);
    auto* x = static_cast<T*>(b);
    return enqueue(handle, "getrs",
                   {matrix(factors, n, lda, n), vector(pivots, n), matrix(x, n, ldb, nrhs)}, info,
                   [=] {
                     std::vector<int> narrow_pivots(pivots, pivots + n);
                     return lapack::getrs("NTC"[op], narrow(n), narrow(nrhs), factors, narrow(lda),
                                          narrow_pivots.data(), x, narrow(ldb));
                   });
  });
}

// ---- Cholesky ----

cusolverStatus_t td_soft_cusolverDnXpotrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                     cublasFillMode_t, std::int64_t, cudaDataType_t,
                                                     const void*, std::int64_t, cudaDataType_t,
                                                     std::size_t* device_bytes,
                                                     std::size_t* host_bytes) {
  return no_workspace(device_bytes, host_bytes);
}

cusolverStatus_t td_soft_cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          cublasFillMode_t uplo, std::int64_t n,
                                          cudaDataType_t type_a, void* a, std::int64_t lda,
                                          cudaDataType_t compute, void*, std::size_t, void*,
                                          std::size_t, int* info) {
  if (!valid(n, n, lda) || !valid_fill(uplo) || compute != type_a)
    return CUSOLVER_STATUS_INVALID_VALUE;
  return by_type(type_a, [&](auto zero) {
    auto* data = static_cast<decltype(zero)*>(a);
    return enqueue(handle, "potrf", {matrix(data, n, lda, n)}, info,
                   [=] { return lapack::potrf(letter_of(uplo), narrow(n), data, narrow(lda)); });
  });
}

// ---- QR ----

cusolverStatus_t td_soft_cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                     std::int64_t, std::int64_t, cudaDataType_t,
                                                     const void*, std::int64_t, cudaDataType_t,
                                                     const void*, cudaDataType_t,
                                                     std::size_t* device_bytes,
                                                     std::size_t* host_bytes) {
  return no_workspace(device_bytes, host_bytes);
}

cusolverStatus_t td_soft_cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          std::int64_t m, std::int64_t n, cudaDataType_t type_a,
                                          void* a, std::int64_t lda, cudaDataType_t type_tau,
                                          void* tau, cudaDataType_t compute, void*, std::size_t,
                                          void*, std::size_t, int* info) {
  if (!valid(m, n, lda) || type_tau != type_a || compute != type_a)
    return CUSOLVER_STATUS_INVALID_VALUE;
  return by_type(type_a, [&](auto zero) {
    using T = decltype(zero);
    auto *data = static_cast<T*>(a), *scales = static_cast<T*>(tau);
    return enqueue(handle, "geqrf", {matrix(data, m, lda, n), vector(scales, std::min(m, n))}, info,
                   [=] { return lapack::geqrf(narrow(m), narrow(n), data, narrow(lda), scales); });
  });
}

#define TD_MAKE_Q(name, type, cpp)                                                          \
  cusolverStatus_t td_soft_cusolverDn##name##_bufferSize(                                   \
      cusolverDnHandle_t, int, int, int, const type*, int, const type*, int* elements) {    \
    if (!elements) return CUSOLVER_STATUS_INVALID_VALUE;                                    \
    *elements = 0;                                                                          \
    return CUSOLVER_STATUS_SUCCESS;                                                         \
  }                                                                                         \
  cusolverStatus_t td_soft_cusolverDn##name(cusolverDnHandle_t handle, int m, int n, int k, \
                                            type* a, int lda, const type* tau, type*, int,  \
                                            int* info) {                                    \
    return make_q(handle, m, n, k, reinterpret_cast<cpp*>(a), lda,                          \
                  reinterpret_cast<const cpp*>(tau), info);                                 \
  }
TD_MAKE_Q(Sorgqr, float, float)
TD_MAKE_Q(Dorgqr, double, double)
TD_MAKE_Q(Cungqr, cuComplex, std::complex<float>)
TD_MAKE_Q(Zungqr, cuDoubleComplex, std::complex<double>)
#undef TD_MAKE_Q

// ---- eigenvalues ----

cusolverStatus_t td_soft_cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t,
                                                     cusolverEigMode_t, cublasFillMode_t,
                                                     std::int64_t, cudaDataType_t, const void*,
                                                     std::int64_t, cudaDataType_t, const void*,
                                                     cudaDataType_t, std::size_t* device_bytes,
                                                     std::size_t* host_bytes) {
  return no_workspace(device_bytes, host_bytes);
}

cusolverStatus_t td_soft_cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          cusolverEigMode_t jobz, cublasFillMode_t uplo,
                                          std::int64_t n, cudaDataType_t type_a, void* a,
                                          std::int64_t lda, cudaDataType_t type_w, void* w,
                                          cudaDataType_t compute, void*, std::size_t, void*,
                                          std::size_t, int* info) {
  if (!valid(n, n, lda) || !valid_mode(jobz) || !valid_fill(uplo) || type_w != real_type(type_a) ||
      compute != type_a)
    return CUSOLVER_STATUS_INVALID_VALUE;
  return by_type(type_a, [&](auto zero) {
    using T = decltype(zero);
    auto* data = static_cast<T*>(a);
    auto* values = static_cast<lapack::Real<T>*>(w);
    return enqueue(handle, "syevd", {matrix(data, n, lda, n), vector(values, n)}, info, [=] {
      return lapack::syevd(jobz == VECTOR ? 'V' : 'N', letter_of(uplo), narrow(n), data,
                           narrow(lda), values);
    });
  });
}

cusolverStatus_t td_soft_cusolverDnXgeev_bufferSize(
    cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t, cusolverEigMode_t, std::int64_t,
    cudaDataType_t, const void*, std::int64_t, cudaDataType_t, const void*, cudaDataType_t,
    const void*, std::int64_t, cudaDataType_t, const void*, std::int64_t, cudaDataType_t,
    std::size_t* device_bytes, std::size_t* host_bytes) {
  return no_workspace(device_bytes, host_bytes);
}

cusolverStatus_t td_soft_cusolverDnXgeev(
    cusolverDnHandle_t handle, cusolverDnParams_t, cusolverEigMode_t jobvl, cusolverEigMode_t jobvr,
    std::int64_t n, cudaDataType_t type_a, void* a, std::int64_t lda, cudaDataType_t type_w,
    void* w, cudaDataType_t, void*, std::int64_t, cudaDataType_t type_vr, void* vr,
    std::int64_t ldvr, cudaDataType_t compute, void*, std::size_t, void*, std::size_t, int* info) {
  bool vectors = jobvr == VECTOR;
  if (!valid(n, n, lda) || !valid_mode(jobvr) || (vectors && !valid(n, n, ldvr)) ||
      type_vr != type_a || compute != type_a)
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (jobvl != NOVECTOR || type_w != complex_type(type_a)) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return by_type(type_a, [&](auto zero) {
    using T = decltype(zero);
    auto *data = static_cast<T*>(a), *right = static_cast<T*>(vr);
    auto* values = static_cast<std::complex<lapack::Real<T>>*>(w);
    return enqueue(
        handle, "geev",
        {matrix(data, n, lda, n), vector(values, n), matrix(right, n, ldvr, vectors ? n : 0)}, info,
        [=] {
          return lapack::geev(vectors, narrow(n), data, narrow(lda), values, right,
                              narrow(std::max<std::int64_t>(ldvr, 1)));
        });
  });
}

// ---- singular values ----

cusolverStatus_t td_soft_cusolverDnXgesvd_bufferSize(
    cusolverDnHandle_t, cusolverDnParams_t, signed char, signed char, std::int64_t, std::int64_t,
    cudaDataType_t, const void*, std::int64_t, cudaDataType_t, const void*, cudaDataType_t,
    const void*, std::int64_t, cudaDataType_t, const void*, std::int64_t, cudaDataType_t,
    std::size_t* device_bytes, std::size_t* host_bytes) {
  return no_workspace(device_bytes, host_bytes);
}

// Divide and conquer: the same values as the QR iteration that the name promises, in less time.
cusolverStatus_t td_soft_cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          signed char jobu, signed char jobvt, std::int64_t m,
                                          std::int64_t n, cudaDataType_t type_a, void* a,
                                          std::int64_t lda, cudaDataType_t type_s, void* s,
                                          cudaDataType_t type_u, void* u, std::int64_t ldu,
                                          cudaDataType_t type_vt, void* vt, std::int64_t ldvt,
                                          cudaDataType_t compute, void*, std::size_t, void*,
                                          std::size_t, int* info) {
  bool vectors = jobu != 'N';
  if (!valid(m, n, lda) || m < n || type_s != real_type(type_a) || compute != type_a ||
      (vectors &&
       (!valid(m, m, ldu) || !valid(n, n, ldvt) || type_u != type_a || type_vt != type_a)))
    return CUSOLVER_STATUS_INVALID_VALUE;
  if (jobu != jobvt || (jobu != 'A' && jobu != 'S' && jobu != 'N'))
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  return by_type(type_a, [&](auto zero) {
    using T = decltype(zero);
    auto *data = static_cast<T*>(a), *left = static_cast<T*>(u), *right = static_cast<T*>(vt);
    auto* values = static_cast<lapack::Real<T>*>(s);
    std::int64_t columns = !vectors ? 0 : jobu == 'A' ? m : n;
    return enqueue(handle, "gesvd",
                   {matrix(data, m, lda, n), vector(values, n), matrix(left, m, ldu, columns),
                    matrix(right, n, ldvt, vectors ? n : 0)},
                   info, [=] {
                     return lapack::gesdd(static_cast<char>(jobu), narrow(m), narrow(n), data,
                                          narrow(lda), values, left,
                                          narrow(std::max<std::int64_t>(ldu, 1)), right,
                                          narrow(std::max<std::int64_t>(ldvt, 1)));
                   });
  });
}

#define TD_CHOLESKY(letter, type, cpp)                                                       \
  cusolverStatus_t td_soft_cusolverDn##letter##potrfBatched(                                 \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, type** a, int lda, int* info, \
      int count) {                                                                           \
    return many_cholesky(handle, uplo, n, reinterpret_cast<cpp**>(a), lda, info, count);     \
  }
TD_CHOLESKY(S, float, float)
TD_CHOLESKY(D, double, double)
TD_CHOLESKY(C, cuComplex, std::complex<float>)
TD_CHOLESKY(Z, cuDoubleComplex, std::complex<double>)
#undef TD_CHOLESKY

}  // extern "C"
