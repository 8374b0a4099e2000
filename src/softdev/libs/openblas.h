// OpenBLAS, opened at first use: only its C interface for matrix products, column-major.
#pragma once

#include <complex>
#include <string>

namespace td::softdev {

struct OpenBlas {
  // The enumerators of the public CBLAS interface.
  enum Order : int { column_major = 102 };
  enum Transpose : int { no_transpose = 111, transpose = 112, conjugate_transpose = 113 };

  template <class T>
  using RealGemm = void (*)(int order, int op_a, int op_b, int m, int n, int k, T alpha, const T* a,
                            int lda, const T* b, int ldb, T beta, T* c, int ldc);
  using ComplexGemm = void (*)(int order, int op_a, int op_b, int m, int n, int k,
                               const void* alpha, const void* a, int lda, const void* b, int ldb,
                               const void* beta, void* c, int ldc);
  template <class T>
  using RealGemv = void (*)(int order, int op, int m, int n, T alpha, const T* a, int lda,
                            const T* x, int incx, T beta, T* y, int incy);
  using ComplexGemv = void (*)(int order, int op, int m, int n, const void* alpha, const void* a,
                               int lda, const void* x, int incx, const void* beta, void* y,
                               int incy);
  RealGemm<float> sgemm = nullptr;
  RealGemm<double> dgemm = nullptr;
  ComplexGemm cgemm = nullptr, zgemm = nullptr;
  RealGemv<float> sgemv = nullptr;
  RealGemv<double> dgemv = nullptr;
  ComplexGemv cgemv = nullptr, zgemv = nullptr;
  std::string problem;  // "" when it can be used

  static const OpenBlas& get();

  void gemm(int op_a, int op_b, int m, int n, int k, float alpha, const float* a, int lda,
            const float* b, int ldb, float beta, float* c, int ldc) const {
    sgemm(column_major, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  void gemm(int op_a, int op_b, int m, int n, int k, double alpha, const double* a, int lda,
            const double* b, int ldb, double beta, double* c, int ldc) const {
    dgemm(column_major, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  void gemm(int op_a, int op_b, int m, int n, int k, std::complex<float> alpha,
            const std::complex<float>* a, int lda, const std::complex<float>* b, int ldb,
            std::complex<float> beta, std::complex<float>* c, int ldc) const {
    cgemm(column_major, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
  }
  void gemm(int op_a, int op_b, int m, int n, int k, std::complex<double> alpha,
            const std::complex<double>* a, int lda, const std::complex<double>* b, int ldb,
            std::complex<double> beta, std::complex<double>* c, int ldc) const {
    zgemm(column_major, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
  }

  void gemv(int op, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
            float beta, float* y, int incy) const {
    sgemv(column_major, op, m, n, alpha, a, lda, x, incx, beta, y, incy);
  }
  void gemv(int op, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
            double beta, double* y, int incy) const {
    dgemv(column_major, op, m, n, alpha, a, lda, x, incx, beta, y, incy);
  }
  void gemv(int op, int m, int n, std::complex<float> alpha, const std::complex<float>* a, int lda,
            const std::complex<float>* x, int incx, std::complex<float> beta,
            std::complex<float>* y, int incy) const {
    cgemv(column_major, op, m, n, &alpha, a, lda, x, incx, &beta, y, incy);
  }
  void gemv(int op, int m, int n, std::complex<double> alpha, const std::complex<double>* a,
            int lda, const std::complex<double>* x, int incx, std::complex<double> beta,
            std::complex<double>* y, int incy) const {
    zgemv(column_major, op, m, n, &alpha, a, lda, x, incx, &beta, y, incy);
  }
};

}  // namespace td::softdev
