// Discrete Fourier transforms, computed by cuFFT on a GPU and by FFTW on the software device.
//
// Transforms are unnormalised: forward and inverse together multiply by the number of points.
// float32 and complex64 are computed in single precision, float16 too; everything else in double.
// Results are new; they are F-contiguous where the operand is, else C-contiguous.
#pragma once

#include "treadle/array.h"

namespace [[gnu::visibility("default")]] td {
namespace fft {

// Complex to complex over each axis once, real input becomes complex.
Array c2c(const Array& x, const Axes& axes, bool inverse);
// Real to complex: n points along the axis become n/2 + 1. TypeError for complex input.
Array r2c(const Array& x, int axis);
// Complex to real: the first n/2 + 1 values along the axis of a Hermitian spectrum become n points.
// Imaginary parts that such a spectrum cannot have are ignored.
Array c2r(const Array& x, std::int64_t n, int axis);
// Cut or padded with zeros at the end to n elements along the axis; `x` itself when it fits.
Array resized(const Array& x, std::int64_t n, int axis);

}  // namespace fft
}  // namespace td
