// Complex numbers in the style of C: a pair of numbers and functions. Division and magnitude scale,
// so that they overflow only where their results do.
#pragma once
#pragma clang system_header
#include "treadle_prelude.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define TD_COMPLEX(C, T, f, make, fabs_, norm_)                                            \
  __TD_FN C make(T real, T imaginary) { return {real, imaginary}; }                        \
  __TD_FN T cuCreal##f(C z) { return z.x; }                                                \
  __TD_FN T cuCimag##f(C z) { return z.y; }                                                \
  __TD_FN C cuConj##f(C z) { return {z.x, -z.y}; }                                         \
  __TD_FN C cuCadd##f(C x, C y) { return {x.x + y.x, x.y + y.y}; }                         \
  __TD_FN C cuCsub##f(C x, C y) { return {x.x - y.x, x.y - y.y}; }                         \
  __TD_FN C cuCmul##f(C x, C y) { return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x}; } \
  __TD_FN C cuCdiv##f(C x, C y) {                                                          \
    const T scale = (T)1 / (fabs_(y.x) + fabs_(y.y));                                      \
    const T a = x.x * scale, b = x.y * scale, c = y.x * scale, d = y.y * scale;            \
    const T size = (T)1 / (c * c + d * d);                                                 \
    return {(a * c + b * d) * size, (b * c - a * d) * size};                               \
  }                                                                                        \
  __TD_FN T cuCabs##f(C z) { return norm_(z.x, z.y); }                                     \
  __TD_FN C cuCfma##f(C x, C y, C z) {                                                     \
    const T real = x.x * y.x + z.x, imaginary = x.x * y.y + z.y;                           \
    return {-(x.y * y.y) + real, x.y * y.x + imaginary};                                   \
  }
TD_COMPLEX(cuFloatComplex, float, f, make_cuFloatComplex, fabsf, hypotf)
TD_COMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex, fabs, hypot)
#undef TD_COMPLEX

__TD_FN cuComplex make_cuComplex(float x, float y) { return {x, y}; }
__TD_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
  return {(double)z.x, (double)z.y};
}
__TD_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
  return {(float)z.x, (float)z.y};
}
