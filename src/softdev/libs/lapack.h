// LAPACK's routines as OpenBLAS's shared library exports them (Fortran's calling convention, 32-bit
// integers, one hidden length for each character argument), with workspaces managed.
//
// Every function returns LAPACK's info. Matrices are column-major.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

namespace td::softdev::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;

// Why the routines cannot be used, with a cure; "" when they can.
const std::string& problem();

template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots);
template <class T>
int getrs(char op, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb);
template <class T>
int potrf(char uplo, int n, T* a, int lda);
template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau);
// The first n columns of Q from k Householder vectors.
template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau);
template <class T>
int gesdd(char job, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt);
template <class T>
int syevd(char job, char uplo, int n, T* a, int lda, Real<T>* w);
// Right vectors in LAPACK's form: for a real matrix, two columns for a pair of complex vectors.
template <class T>
int geev(bool vectors, int n, T* a, int lda, std::complex<Real<T>>* w, T* vr, int ldvr);

}  // namespace td::softdev::lapack
