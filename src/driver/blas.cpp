#include "driver/blas.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/text.h"
#include "driver/call_counts.h"
#include "driver/result_row.h"
#include "treadle/precision.h"

namespace td::driver {

namespace {

// ---- the library ----

// The majors that this driver can run, newest first.
std::vector<std::string> library_names(int driver_version) {
  std::vector<std::string> names;
  for (int major : {13, 12})
    if (driver_version >= major * 1000) names.push_back(base::cat("libcublas.so.", major));
  if (names.empty()) names.push_back("libcublas.so.12");
  return names;
}

std::string fill(BlasApi& api, Resolve resolve, void* context) {
  std::string missing;
#define TD_BLAS_API(name, symbol, since, params)                                   \
  api.name = reinterpret_cast<decltype(BlasApi::name)>(resolve(context, #symbol)); \
  if (!api.name && since == 0 && missing.empty()) missing = #symbol;
#include "blas_api.def"
  return missing;
}

LibraryFacts facts_of(const Provider& provider) {
  return {library_names(provider.driver_version),
          "libcublasLt.so",
          "nvidia-cublas",
          "matrix products",
          "install OpenBLAS's development package and build again",
          "cuBLAS 12 or newer"};
}

// ---- handles ----

constexpr ResultRow kStatus[] = {
#define TD_ROW(value, name, meaning, cure) {value, #name, meaning, cure},
    TD_CUBLAS_RESULTS(TD_ROW)
#undef TD_ROW
};

void check_blas(const BlasLibrary& library, cublasStatus_t status, const char* call) {
  if (status == blas::CUBLAS_STATUS_SUCCESS) return;
  const ResultRow* known = find(kStatus, status);
  const ResultRow row =
      known ? *known : ResultRow{status, "CUBLAS_STATUS", "an unknown status", ""};
  throw DriverError(base::cat(call, " failed: ", row.name, " (", status, "): ", row.meaning, " (",
                              library.file, ")", *row.cure ? "; " : "", row.cure),
                    status, row.name, call);
}

// cuBLAS wants one handle per context and one user at a time. Handles live as long as the process:
// destroying one waits for the device, and at exit the driver may be gone already.
struct Handle {
  std::mutex mutex;
  cublasHandle_t handle = nullptr;
  std::uint64_t generation = 0;
  bool tf32 = false;
};

std::atomic<bool>& tf32_flag() {
  static std::atomic<bool> flag = [] {
    const char* text = std::getenv("TREADLE_TF32");
    return text && std::string_view(text) == "1";
  }();
  return flag;
}

Handle& handle_of(const DeviceState& device) {
  static std::mutex mutex;
  static auto& handles = *new std::map<const DeviceState*, Handle>;
  std::lock_guard lock(mutex);
  return handles[&device];
}

// Under the handle's mutex.
void prepare(const BlasLibrary& library, Handle& handle, const StreamState& stream) {
  DeviceState& device = stream.device();
  if (!handle.handle || handle.generation != device.generation()) {
    check_blas(library, library.api.cublasCreate(&handle.handle), "cublasCreate");
    handle.generation = device.generation();
    handle.tf32 = false;
  }
  if (handle.tf32 != tf32()) {
    handle.tf32 = !handle.tf32;
    int mode = handle.tf32 ? blas::TF32_TENSOR_OP_MATH : blas::DEFAULT_MATH;
    check_blas(library, library.api.cublasSetMathMode(handle.handle, mode), "cublasSetMathMode");
  }
  check_blas(library, library.api.cublasSetStream(handle.handle, stream.handle()),
             "cublasSetStream");
  note_library_call();
}

// ---- one call ----

struct Call {
  const BlasApi& api;
  cublasHandle_t handle;
  int m, n, k;  // column-major
  cublasOperation_t op_a, op_b;
  CUdeviceptr a, b, c;
  int lda, ldb, ldc;
  long long stride_a, stride_b, stride_c;
  int count;
};

template <class T>
T* at(CUdeviceptr address) {
  return reinterpret_cast<T*>(address);
}

#define TD_GEMM(T, single, batched)                                                           \
  cublasStatus_t run(const Call& x, T one, T zero) {                                          \
    if (x.count == 1)                                                                         \
      return x.api.single(x.handle, x.op_a, x.op_b, x.m, x.n, x.k, &one, at<T>(x.a), x.lda,   \
                          at<T>(x.b), x.ldb, &zero, at<T>(x.c), x.ldc);                       \
    return x.api.batched(x.handle, x.op_a, x.op_b, x.m, x.n, x.k, &one, at<T>(x.a), x.lda,    \
                         x.stride_a, at<T>(x.b), x.ldb, x.stride_b, &zero, at<T>(x.c), x.ldc, \
                         x.stride_c, x.count);                                                \
  }
TD_GEMM(float, cublasSgemm, cublasSgemmStridedBatched)
TD_GEMM(double, cublasDgemm, cublasDgemmStridedBatched)
TD_GEMM(cuComplex, cublasCgemm, cublasCgemmStridedBatched)
TD_GEMM(cuDoubleComplex, cublasZgemm, cublasZgemmStridedBatched)
#undef TD_GEMM

// A matrix and a vector: y = op(A) x.
struct VectorCall {
  const BlasApi& api;
  cublasHandle_t handle;
  cublasOperation_t op;
  int m, n;  // of A, column-major
  CUdeviceptr a, x, y;
  int lda, incx, incy;
};

#define TD_GEMV(T, function)                                                                     \
  cublasStatus_t run(const VectorCall& v, T one, T zero) {                                       \
    return v.api.function(v.handle, v.op, v.m, v.n, &one, at<T>(v.a), v.lda, at<T>(v.x), v.incx, \
                          &zero, at<T>(v.y), v.incy);                                            \
  }
TD_GEMV(float, cublasSgemv)
TD_GEMV(double, cublasDgemv)
TD_GEMV(cuComplex, cublasCgemv)
TD_GEMV(cuDoubleComplex, cublasZgemv)
#undef TD_GEMV

template <int type>
cublasStatus_t run_half(const Call& x) {
  const float one = 1, zero = 0;
  if (x.count == 1)
    return x.api.cublasGemmEx(x.handle, x.op_a, x.op_b, x.m, x.n, x.k, &one, at<void>(x.a), type,
                              x.lda, at<void>(x.b), type, x.ldb, &zero, at<void>(x.c), type, x.ldc,
                              blas::COMPUTE_32F, blas::GEMM_DEFAULT);
  return x.api.cublasGemmStridedBatchedEx(
      x.handle, x.op_a, x.op_b, x.m, x.n, x.k, &one, at<void>(x.a), type, x.lda, x.stride_a,
      at<void>(x.b), type, x.ldb, x.stride_b, &zero, at<void>(x.c), type, x.ldc, x.stride_c,
      x.count, blas::COMPUTE_32F, blas::GEMM_DEFAULT);
}

struct GemmRow {
  DType dtype;
  const char* call;
  bool (*present)(const BlasApi& api);
  cublasStatus_t (*run)(const Call& call);
  cublasStatus_t (*run_vector)(const VectorCall& call);  // null: a product does it
};

bool always(const BlasApi&) { return true; }
bool has_ex(const BlasApi& api) { return api.cublasGemmEx && api.cublasGemmStridedBatchedEx; }

constexpr GemmRow kGemm[] = {
    {DType::float32, "cublasSgemm", always, [](const Call& x) { return run(x, 1.0f, 0.0f); },
     [](const VectorCall& v) { return run(v, 1.0f, 0.0f); }},
    {DType::float64, "cublasDgemm", always, [](const Call& x) { return run(x, 1.0, 0.0); },
     [](const VectorCall& v) { return run(v, 1.0, 0.0); }},
    {DType::complex64, "cublasCgemm", always,
     [](const Call& x) { return run(x, cuComplex{1, 0}, cuComplex{}); },
     [](const VectorCall& v) { return run(v, cuComplex{1, 0}, cuComplex{}); }},
    {DType::complex128, "cublasZgemm", always,
     [](const Call& x) { return run(x, cuDoubleComplex{1, 0}, cuDoubleComplex{}); },
     [](const VectorCall& v) { return run(v, cuDoubleComplex{1, 0}, cuDoubleComplex{}); }},
    {DType::float16, "cublasGemmEx", has_ex, run_half<blas::R_16F>, nullptr},
    {DType::bfloat16, "cublasGemmEx", has_ex, run_half<blas::R_16BF>, nullptr},
};

const GemmRow* row_of(DType dtype) {
  for (const GemmRow& row : kGemm)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

int narrow(std::int64_t value, const char* what) {
  if (value < 0 || value > INT_MAX)
    throw ValueError(base::cat("matmul: ", what, " of ", value,
                               " is beyond the 32 bits of cuBLAS; split the product"));
  return static_cast<int>(value);
}

// A sum over nothing is zero. Rows (or columns) of C may have gaps between them.
void write_zeros(const StreamState& stream, std::size_t itemsize, std::int64_t m, std::int64_t n,
                 const GemmMatrix& c, std::int64_t count) {
  if (c.by_columns) std::swap(m, n);
  for (std::int64_t matrix = 0; matrix < count; ++matrix)
    for (std::int64_t i = 0; i < m; ++i) {
      CUdeviceptr line = c.address + (matrix * c.batch_stride + i * c.leading) * itemsize;
      TD_CALL(stream.device(), cuMemsetD8Async, line, 0, n * itemsize, stream.handle());
    }
}

// The row-major product C = A B is the column-major product C' = B' A', read from the same memory.
Call column_major(const BlasApi& api, cublasHandle_t handle, std::int64_t m, std::int64_t n,
                  std::int64_t k, GemmMatrix a, GemmMatrix b, const GemmMatrix& c,
                  std::int64_t count) {
  // C by columns: transpose the whole equation, C' = B' A' with every matrix seen the other way
  // round.
  if (c.by_columns) {
    std::swap(a, b);
    std::swap(m, n);
    a.by_columns = !a.by_columns;
    b.by_columns = !b.by_columns;
  }
  auto leading = [](const GemmMatrix& x, std::int64_t rows, std::int64_t columns) {
    return narrow(std::max<std::int64_t>({x.leading, x.by_columns ? rows : columns, 1}),
                  "a row stride");
  };
  return Call{api,
              handle,
              narrow(n, "a dimension"),
              narrow(m, "a dimension"),
              narrow(k, "a dimension"),
              b.by_columns ? blas::OP_T : blas::OP_N,
              a.by_columns ? blas::OP_T : blas::OP_N,
              b.address,
              a.address,
              c.address,
              leading(b, k, n),
              leading(a, m, k),
              narrow(std::max<std::int64_t>({c.leading, n, 1}), "a row stride"),
              b.batch_stride,
              a.batch_stride,
              c.batch_stride,
              narrow(count, "a batch")};
}

// A product with one row or one column, as y = A x: `a` is rows x k, `x` and `y` lie along columns.
VectorCall matrix_vector(const BlasApi& api, cublasHandle_t handle, std::int64_t rows,
                         std::int64_t k, const GemmMatrix& a, const GemmMatrix& x,
                         const GemmMatrix& y) {
  auto step = [](const GemmMatrix& v) { return narrow(v.by_columns ? 1 : v.leading, "a stride"); };
  int lda = narrow(std::max<std::int64_t>({a.leading, a.by_columns ? rows : k, 1}), "a row stride");
  return {api,
          handle,
          a.by_columns ? blas::OP_N : blas::OP_T,
          narrow(a.by_columns ? rows : k, "a dimension"),
          narrow(a.by_columns ? k : rows, "a dimension"),
          a.address,
          x.address,
          y.address,
          lda,
          step(x),
          step(y)};
}

GemmMatrix transposed(GemmMatrix x) {
  x.by_columns = !x.by_columns;
  return x;
}

}  // namespace

const BlasLibrary& blas_library(const Provider& provider) {
  return math_library<BlasApi>(provider, facts_of, fill);
}

bool gemm_supports(const DeviceState& device, DType dtype) {
  const BlasLibrary& library = blas_library(device.provider());
  const GemmRow* row = row_of(dtype);
  return library.usable() && row && row->present(library.api);
}

void gemm(const StreamState& stream, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
          const GemmMatrix& a, const GemmMatrix& b, const GemmMatrix& c, std::int64_t count) {
  if (m == 0 || n == 0 || count == 0) return;
  DeviceState& device = stream.device();
  device.make_current();
  if (k == 0) return write_zeros(stream, itemsize(dtype), m, n, c, count);
  const BlasLibrary& library = blas_library(device.provider());
  if (!library.usable()) throw NotSupported("matmul: " + library.problem);
  const GemmRow* row = row_of(dtype);
  if (!row || !row->present(library.api))
    throw NotSupported(base::cat("matmul of ", info(dtype).numpy, " is not supported by ",
                                 library.file, "; convert to float32 or float64"));
  Handle& handle = handle_of(device);
  std::lock_guard lock(handle.mutex);
  prepare(library, handle, stream);
  if (count == 1 && (m == 1 || n == 1) && row->run_vector) {
    VectorCall call = n == 1 ? matrix_vector(library.api, handle.handle, m, k, a, b, c)
                             : matrix_vector(library.api, handle.handle, n, k, transposed(b),
                                             transposed(a), transposed(c));
    return check_blas(library, row->run_vector(call), row->call);
  }
  check_blas(library, row->run(column_major(library.api, handle.handle, m, n, k, a, b, c, count)),
             row->call);
}

namespace {

// The functions for one dtype.
template <class T>
struct Lu {
  cublasStatus_t (*getrf)(cublasHandle_t, int, T* const*, int, int*, int*, int);
  cublasStatus_t (*getrs)(cublasHandle_t, cublasOperation_t, int, int, const T* const*, int,
                          const int*, T* const*, int, int*, int);
};

// Calls `use` with them; false for other dtypes.
template <class F>
bool with_lu(const BlasApi& api, DType dtype, const F& use) {
  switch (dtype) {
    case DType::float32:
      return use(Lu<float>{api.cublasSgetrfBatched, api.cublasSgetrsBatched});
    case DType::float64:
      return use(Lu<double>{api.cublasDgetrfBatched, api.cublasDgetrsBatched});
    case DType::complex64:
      return use(Lu<cuComplex>{api.cublasCgetrfBatched, api.cublasCgetrsBatched});
    case DType::complex128:
      return use(Lu<cuDoubleComplex>{api.cublasZgetrfBatched, api.cublasZgetrsBatched});
    default:
      return false;
  }
}

// Calls `use` with the functions and the handle, ready for the stream.
template <class F>
void run_lu(const StreamState& stream, DType dtype, const char* call, const F& use) {
  DeviceState& device = stream.device();
  device.make_current();
  const BlasLibrary& library = blas_library(device.provider());
  Handle& handle = handle_of(device);
  std::lock_guard lock(handle.mutex);
  prepare(library, handle, stream);
  with_lu(library.api, dtype, [&](auto lu) {
    check_blas(library, use(lu, handle.handle), call);
    return true;
  });
}

}  // namespace

bool lu_batched_supported(const DeviceState& device, DType dtype) {
  const BlasLibrary& library = blas_library(device.provider());
  return library.usable() &&
         with_lu(library.api, dtype, [](auto lu) { return lu.getrf && lu.getrs; });
}

void getrf_batched(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t count,
                   CUdeviceptr matrices, CUdeviceptr pivots, CUdeviceptr info) {
  int size = narrow(n, "a dimension"), matrix_count = narrow(count, "a batch");
  run_lu(stream, dtype, "cublas<t>getrfBatched", [&]<class T>(Lu<T> lu, cublasHandle_t handle) {
    return lu.getrf(handle, size, at<T* const>(matrices), size, at<int>(pivots), at<int>(info),
                    matrix_count);
  });
}

void getrs_batched(const StreamState& stream, DType dtype, std::int64_t n, std::int64_t nrhs,
                   std::int64_t count, CUdeviceptr matrices, CUdeviceptr pivots,
                   CUdeviceptr right) {
  int size = narrow(n, "a dimension"), columns = narrow(nrhs, "a dimension");
  int matrix_count = narrow(count, "a batch"), host_info = 0;
  run_lu(stream, dtype, "cublas<t>getrsBatched", [&]<class T>(Lu<T> lu, cublasHandle_t handle) {
    return lu.getrs(handle, blas::OP_N, size, columns, at<const T* const>(matrices), size,
                    at<const int>(pivots), at<T* const>(right), size, &host_info, matrix_count);
  });
}

}  // namespace td::driver

namespace td {

bool tf32() { return driver::tf32_flag().load(std::memory_order_relaxed); }
void set_tf32(bool on) { driver::tf32_flag().store(on, std::memory_order_relaxed); }

}  // namespace td
