// cuBLAS-shaped matrix products over OpenBLAS, in stream order (boundary B2; contract in
// tables/blas_api.def).
//
// Shape errors are the call's status. An operand outside of device memory is found when the stream
// reaches the product and fails the context with CUDA_ERROR_ILLEGAL_ADDRESS, as it would on a GPU.
#include <algorithm>
#include <atomic>
#include <complex>
#include <limits>
#include <vector>

#include "base/text.h"
#include "softdev/api/soft_api.h"
#include "softdev/libs/blas_handle.h"
#include "softdev/libs/half.h"
#include "softdev/libs/openblas.h"
#include "softdev/run/context.h"
#include "softdev/run/memory.h"

namespace td::softdev {

namespace {

using namespace td::blas;

// 16-bit floats as they lie in memory.
struct Half {
  std::uint16_t bits;
  static float widen(std::uint16_t bits) { return half_to_float(bits); }
  static std::uint16_t round(float value) { return float_to_half(value); }
};
struct Bfloat {
  std::uint16_t bits;
  static float widen(std::uint16_t bits) { return bfloat_to_float(bits); }
  static std::uint16_t round(float value) { return float_to_bfloat(value); }
};

template <class T>
struct Operand {
  T* data;
  int rows, columns, leading;  // as stored
  long long stride;
};

template <class T, class S>
struct Product {
  int op_a, op_b, m, n, k, count;
  S alpha, beta;
  Operand<const T> a, b;
  Operand<T> c;
};

bool valid_operation(int op) { return op == OP_N || op == OP_T || op == OP_C; }

template <class T>
bool valid(const Operand<T>& operand) {
  return operand.leading >= std::max(1, operand.rows);
}

template <class T, class S>
bool valid(const Product<T, S>& p) {
  return valid_operation(p.op_a) && valid_operation(p.op_b) && p.m >= 0 && p.n >= 0 && p.k >= 0 &&
         p.count >= 0 && valid(p.a) && valid(p.b) && valid(p.c);
}

template <class T>
bool in_memory(const Operand<T>& operand, int count) {
  if (operand.rows == 0 || operand.columns == 0) return true;
  auto span = static_cast<__int128>(operand.leading) * (operand.columns - 1) + operand.rows;
  auto first = static_cast<__int128>(std::min(0ll, operand.stride)) * (count - 1);
  auto last = static_cast<__int128>(std::max(0ll, operand.stride)) * (count - 1) + span;
  auto base = static_cast<__int128>(reinterpret_cast<std::uintptr_t>(operand.data));
  auto begin = base + first * static_cast<int>(sizeof(T)),
       bytes = (last - first) * static_cast<int>(sizeof(T));
  if (begin < 0 || begin > std::numeric_limits<std::uintptr_t>::max() ||
      bytes > std::numeric_limits<std::int64_t>::max())
    return false;
  return Arena::get().holds(static_cast<std::uintptr_t>(begin), static_cast<std::size_t>(bytes));
}

int cblas_operation(int op) {
  return op == OP_N   ? OpenBlas::no_transpose
         : op == OP_T ? OpenBlas::transpose
                      : OpenBlas::conjugate_transpose;
}

template <class T, class S>
void multiply(const Product<T, S>& p, const T* a, const T* b, T* c) {
  OpenBlas::get().gemm(cblas_operation(p.op_a), cblas_operation(p.op_b), p.m, p.n, p.k, p.alpha, a,
                       p.a.leading, b, p.b.leading, p.beta, c, p.c.leading);
}

template <class T>
std::vector<float> widen(const T* from, int rows, int columns, int leading) {
  std::vector<float> out(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      out[static_cast<std::size_t>(j) * rows + i] =
          T::widen(from[static_cast<std::size_t>(j) * leading + i].bits);
  return out;
}

// 16-bit operands: products and sums in float, rounded once at the end.
template <class T>
void multiply_wide(const Product<T, float>& p, const T* a, const T* b, T* c) {
  std::vector<float> wide_a = widen(a, p.a.rows, p.a.columns, p.a.leading);
  std::vector<float> wide_b = widen(b, p.b.rows, p.b.columns, p.b.leading);
  // beta == 0: C is not read.
  std::vector<float> wide_c = p.beta != 0 ? widen(c, p.m, p.n, p.c.leading)
                                          : std::vector<float>(static_cast<std::size_t>(p.m) * p.n);
  OpenBlas::get().gemm(cblas_operation(p.op_a), cblas_operation(p.op_b), p.m, p.n, p.k, p.alpha,
                       wide_a.data(), std::max(1, p.a.rows), wide_b.data(), std::max(1, p.b.rows),
                       p.beta, wide_c.data(), std::max(1, p.m));
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < p.m; ++i)
      c[static_cast<std::size_t>(j) * p.c.leading + i].bits =
          T::round(wide_c[static_cast<std::size_t>(j) * p.m + i]);
}
void multiply(const Product<Half, float>& p, const Half* a, const Half* b, Half* c) {
  multiply_wide(p, a, b, c);
}
void multiply(const Product<Bfloat, float>& p, const Bfloat* a, const Bfloat* b, Bfloat* c) {
  multiply_wide(p, a, b, c);
}

template <class T, class S>
class GemmOp final : public Op {
 public:
  GemmOp(Context& context, const Product<T, S>& product)
      : Op(Kind::work, context), product_(product) {
    set_units(static_cast<std::uint64_t>(product.count), 1);
  }
  void run(Executor*, std::uint64_t begin, std::uint64_t end) override {
    const auto& p = product_;
    bool reads = p.k > 0 && p.alpha != S{};
    if (!in_memory(p.c, p.count) ||
        (reads && !(in_memory(p.a, p.count) && in_memory(p.b, p.count)))) {
      context().fail(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                     base::cat("matrix product ", p.m, " x ", p.n, " x ", p.k,
                               ": an operand lies outside of device memory"));
      return;
    }
    try {
      for (auto i = static_cast<long long>(begin); i < static_cast<long long>(end); ++i)
        multiply(p, p.a.data + i * p.a.stride, p.b.data + i * p.b.stride,
                 p.c.data + i * p.c.stride);
    } catch (const std::bad_alloc&) {
      context().fail(cuda::CUDA_ERROR_OUT_OF_MEMORY, "matrix product: no memory for its workspace");
    }
  }

 private:
  const Product<T, S> product_;
};

template <class T>
struct VectorProduct {
  int op, m, n, incx, incy;
  T alpha, beta;
  Operand<const T> a;
  const T* x;
  T* y;
};

template <class T>
class GemvOp final : public Op {
 public:
  GemvOp(Context& context, const VectorProduct<T>& product)
      : Op(Kind::work, context), product_(product) {}
  void run(Executor*, std::uint64_t, std::uint64_t) override {
    const auto& p = product_;
    int length_x = p.op == OP_N ? p.n : p.m, length_y = p.op == OP_N ? p.m : p.n;
    Operand<const T> x{p.x, 1, length_x, p.incx, 0};
    Operand<T> y{p.y, 1, length_y, p.incy, 0};
    if (!in_memory(y, 1) || !in_memory(x, 1) || !in_memory(p.a, 1)) {
      context().fail(cuda::CUDA_ERROR_ILLEGAL_ADDRESS,
                     base::cat("product of a matrix ", p.m, " x ", p.n,
                               " and a vector: an operand lies outside of device memory"));
      return;
    }
    T beta = p.beta;
    if (beta == T{}) {  // y is not read
      for (long long i = 0; i < length_y; ++i) p.y[i * p.incy] = T{};
      beta = T{1};
    }
    OpenBlas::get().gemv(cblas_operation(p.op), p.m, p.n, p.alpha, p.a.data, p.a.leading, p.x,
                         p.incx, beta, p.y, p.incy);
  }

 private:
  const VectorProduct<T> product_;
};

template <class T, class S>
cublasStatus_t gemm(cublasHandle_t handle, int op_a, int op_b, int m, int n, int k,
                    const void* alpha, const void* a, int lda, long long stride_a, const void* b,
                    int ldb, long long stride_b, const void* beta, void* c, int ldc,
                    long long stride_c, int count) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
  Product<T, S> p{
      op_a, op_b, m, n, k, count, *static_cast<const S*>(alpha), *static_cast<const S*>(beta),
      {},   {},   {}};
  p.a = {static_cast<const T*>(a), op_a == OP_N ? m : k, op_a == OP_N ? k : m, lda, stride_a};
  p.b = {static_cast<const T*>(b), op_b == OP_N ? k : n, op_b == OP_N ? n : k, ldb, stride_b};
  p.c = {static_cast<T*>(c), m, n, ldc, stride_c};
  if (!valid(p)) return CUBLAS_STATUS_INVALID_VALUE;
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  Context& context = *handle->context;
  CUstream stream = context.resolve(handle->stream);
  if (context.error != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!stream) return CUBLAS_STATUS_INVALID_VALUE;
  try {
    Ref<Op> op(new GemmOp<T, S>(context, p));
    Scheduler::get().enqueue(stream->queue, *op);
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Increments below 1, which cuBLAS gives a meaning of their own, are not supported.
template <class T>
cublasStatus_t gemv(cublasHandle_t handle, int op, int m, int n, const void* alpha, const void* a,
                    int lda, const void* x, int incx, const void* beta, void* y, int incy) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!alpha || !beta || !valid_operation(op) || m < 0 || n < 0 || lda < std::max(1, m) ||
      incx == 0 || incy == 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (incx < 0 || incy < 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  VectorProduct<T> p{op,
                     m,
                     n,
                     incx,
                     incy,
                     *static_cast<const T*>(alpha),
                     *static_cast<const T*>(beta),
                     {static_cast<const T*>(a), m, n, lda, 0},
                     static_cast<const T*>(x),
                     static_cast<T*>(y)};
  Context& context = *handle->context;
  CUstream stream = context.resolve(handle->stream);
  if (context.error != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!stream) return CUBLAS_STATUS_INVALID_VALUE;
  try {
    Ref<Op> enqueued(new GemvOp<T>(context, p));
    Scheduler::get().enqueue(stream->queue, *enqueued);
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t gemm_ex(cublasHandle_t handle, int op_a, int op_b, int m, int n, int k,
                       const void* alpha, const void* a, int type_a, int lda, long long stride_a,
                       const void* b, int type_b, int ldb, long long stride_b, const void* beta,
                       void* c, int type_c, int ldc, long long stride_c, int count, int compute) {
  if (type_a != type_b || type_a != type_c) return CUBLAS_STATUS_NOT_SUPPORTED;
  struct Row {
    int type, compute;
    decltype(&gemm<float, float>) function;
  };
  constexpr Row kRows[] = {
      {R_16F, COMPUTE_32F, gemm<Half, float>},
      {R_16BF, COMPUTE_32F, gemm<Bfloat, float>},
      {R_32F, COMPUTE_32F, gemm<float, float>},
      {R_64F, COMPUTE_64F, gemm<double, double>},
      {C_32F, COMPUTE_32F, gemm<std::complex<float>, std::complex<float>>},
      {C_64F, COMPUTE_64F, gemm<std::complex<double>, std::complex<double>>},
  };
  for (const Row& row : kRows)
    if (row.type == type_a && row.compute == compute)
      return row.function(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,
                          beta, c, ldc, stride_c, count);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace

}  // namespace td::softdev

using namespace td::softdev;

extern "C" {

cublasStatus_t td_soft_cublasCreate_v2(cublasHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  Context* context = current_context();
  if (!context || context->error != 0 || !OpenBlas::get().problem.empty())
    return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = handle_pool<cublasContext>().make();
  (*handle)->context = context;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t td_soft_cublasDestroy_v2(cublasHandle_t handle) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle_pool<cublasContext>().recycle(handle);
  return CUBLAS_STATUS_SUCCESS;
}

// The interface that we follow is that of cuBLAS 13.0.
cublasStatus_t td_soft_cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (!version) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t td_soft_cublasSetStream_v2(cublasHandle_t handle, CUstream stream) {
  if (!is_live(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

// Products are always computed in full precision, which every mode allows.
cublasStatus_t td_soft_cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
  return is_live(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

#define TD_GEMM(letter, type, cpp)                                                                 \
  cublasStatus_t td_soft_cublas##letter##gemm_v2(                                                  \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const type* alpha, const type* a, int lda, const type* b, int ldb, const type* beta,         \
      type* c, int ldc) {                                                                          \
    return gemm<cpp, cpp>(handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc,  \
                          0, 1);                                                                   \
  }                                                                                                \
  cublasStatus_t td_soft_cublas##letter##gemmStridedBatched(                                       \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const type* alpha, const type* a, int lda, long long stride_a, const type* b, int ldb,       \
      long long stride_b, const type* beta, type* c, int ldc, long long stride_c, int count) {     \
    return gemm<cpp, cpp>(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,  \
                          beta, c, ldc, stride_c, count);                                          \
  }                                                                                                \
  cublasStatus_t td_soft_cublas##letter##gemv_v2(                                                  \
      cublasHandle_t handle, cublasOperation_t op, int m, int n, const type* alpha, const type* a, \
      int lda, const type* x, int incx, const type* beta, type* y, int incy) {                     \
    return gemv<cpp>(handle, op, m, n, alpha, a, lda, x, incx, beta, y, incy);                     \
  }
TD_GEMM(S, float, float)
TD_GEMM(D, double, double)
TD_GEMM(C, cuComplex, std::complex<float>)
TD_GEMM(Z, cuDoubleComplex, std::complex<double>)
#undef TD_GEMM

cublasStatus_t td_soft_cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                    cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                    const void* a, cudaDataType_t type_a, int lda, const void* b,
                                    cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                    cudaDataType_t type_c, int ldc, cublasComputeType_t compute,
                                    cublasGemmAlgo_t) {
  return gemm_ex(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c,
                 type_c, ldc, 0, 1, compute);
}

cublasStatus_t td_soft_cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType_t type_a, int lda, long long stride_a,
    const void* b, cudaDataType_t type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType_t type_c, int ldc, long long stride_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  return gemm_ex(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb,
                 stride_b, beta, c, type_c, ldc, stride_c, count, compute);
}

}  // extern "C"
