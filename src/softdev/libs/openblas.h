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
  RealGemm<float> sgemm = nullptr;
  RealGemm<double> dgemm = nullptr;
  ComplexGemm cgemm = nullptr, zgemm = nullptr;
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
};

}  // namespace td::softdev
