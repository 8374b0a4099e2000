// Triangular work on one small column-major matrix. OpenBLAS wakes its threads and takes its locks
// even for 4 x 4; with thousands of matrices on all threads of the device that costs more than the
// arithmetic.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>

namespace td::softdev::small_matrix {

// Without the branches for NaN that std::complex has.
template <class T>
T product(T a, T b) {
  return a * b;
}
template <class T>
std::complex<T> product(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
T conjugate(T a) {
  return a;
}
template <class T>
std::complex<T> conjugate(std::complex<T> a) {
  return std::conj(a);
}

// X of A X = B from P A = L U with pivots counted from 1, in place of B.
template <class T>
void solve(std::size_t n, std::size_t nrhs, const T* a, std::size_t lda, const int* pivots, T* b,
           std::size_t ldb) {
  for (std::size_t column = 0; column < nrhs; ++column) {
    T* x = b + column * ldb;
    for (std::size_t i = 0; i < n; ++i) std::swap(x[i], x[static_cast<std::size_t>(pivots[i]) - 1]);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j + 1; i < n; ++i) x[i] -= product(x[j], a[j * lda + i]);
    for (std::size_t j = n; j-- > 0;) {
      x[j] /= a[j * lda + j];
      for (std::size_t i = 0; i < j; ++i) x[i] -= product(x[j], a[j * lda + i]);
    }
  }
}

// The lower factor of a positive definite matrix in place of its lower triangle; for `upper` the
// upper one. Returns LAPACK's info: 0, or the order of the leading part that is not positive.
template <class T>
int cholesky(bool upper, std::size_t n, T* a, std::size_t lda) {
  if (upper)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j + 1; i < n; ++i) a[j * lda + i] = conjugate(a[i * lda + j]);
  for (std::size_t j = 0; j < n; ++j) {
    T* column = a + j * lda;
    for (std::size_t k = 0; k < j; ++k) {
      const T factor = conjugate(a[k * lda + j]);
      for (std::size_t i = j; i < n; ++i) column[i] -= product(factor, a[k * lda + i]);
    }
    auto pivot = std::real(column[j]);
    if (!(pivot > 0)) return static_cast<int>(j) + 1;
    pivot = std::sqrt(pivot);
    column[j] = pivot;
    for (std::size_t i = j + 1; i < n; ++i) column[i] /= pivot;
  }
  if (upper)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j + 1; i < n; ++i) a[i * lda + j] = conjugate(a[j * lda + i]);
  return 0;
}

}  // namespace td::softdev::small_matrix
