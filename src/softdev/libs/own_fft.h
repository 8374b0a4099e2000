// Fourier transforms of our own behind FFTW's table, for where FFTW is not installed or not wanted.
#pragma once

#include "softdev/libs/fftw.h"

namespace td::softdev {

// A table whose functions need no library. Everything is computed in double: Stockham's algorithm
// for lengths whose prime factors are at most 31, Bluestein's for the others.
template <class T>
Fftw<T> own_fft();

extern template Fftw<float> own_fft();
extern template Fftw<double> own_fft();

}  // namespace td::softdev
