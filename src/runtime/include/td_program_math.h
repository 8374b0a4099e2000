// Host forms of CUDA's mathematical functions that the C library lacks, and device bodies of what
// C's macros call.
#pragma once
#pragma clang system_header

extern "C" {
inline __attribute__((device, noreturn)) void __assert_fail(const char* condition, const char* file,
                                                            unsigned line,
                                                            const char* function) noexcept {
  __assertfail(condition, file, line, function, 1);
}
// Clang knows these as builtins only where they are the host's as well.
inline __attribute__((device)) void* memcpy(void* to, const void* from, size_t bytes) {
  return __builtin_memcpy(to, from, bytes);
}
inline __attribute__((device)) void* memmove(void* to, const void* from, size_t bytes) {
  return __builtin_memmove(to, from, bytes);
}
inline __attribute__((device)) void* memset(void* to, int value, size_t bytes) {
  return __builtin_memset(to, value, bytes);
}
// Where Clang's launch syntax puts the configuration.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes = 0,
                                     void* stream = 0);
}

#define __TD_HOST static inline __attribute__((unused))
#define TD_MINMAX_FN __TD_HOST
#include "../../compile/include/td_minmax.h"

__TD_HOST double rsqrt(double x) { return 1.0 / ::sqrt(x); }
__TD_HOST float rsqrtf(float x) { return (float)(1.0 / ::sqrt((double)x)); }
__TD_HOST float rsqrt(float x) { return rsqrtf(x); }
__TD_HOST double rcbrt(double x) { return 1.0 / ::cbrt(x); }
__TD_HOST float rcbrtf(float x) { return (float)(1.0 / ::cbrt((double)x)); }
__TD_HOST int mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
__TD_HOST unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }
__TD_HOST unsigned umax(unsigned x, unsigned y) { return x < y ? y : x; }
__TD_HOST long long llmin(long long x, long long y) { return x < y ? x : y; }
__TD_HOST long long llmax(long long x, long long y) { return x < y ? y : x; }
// Exact at multiples of a half; the argument is reduced before it meets pi.
__TD_HOST double sinpi(double x) {
  const double r = ::remainder(x, 2.0);
  return r == 1.0 || r == -1.0 ? ::copysign(0.0, x) : ::sin(r * 3.14159265358979323846);
}
__TD_HOST double cospi(double x) {
  const double r = ::fabs(::remainder(x, 2.0));
  return r == 0.5 ? 0.0 : ::cos(r * 3.14159265358979323846);
}
__TD_HOST float sinpif(float x) { return (float)sinpi((double)x); }
__TD_HOST float cospif(float x) { return (float)cospi((double)x); }
__TD_HOST void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
__TD_HOST void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
__TD_HOST double normcdf(double x) { return 0.5 * ::erfc(-x * 0.70710678118654752440); }
__TD_HOST float normcdff(float x) { return (float)normcdf((double)x); }
// Bits as they are: the device's forms exist as builtins.
__TD_HOST unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__TD_HOST int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__TD_HOST float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__TD_HOST float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__TD_HOST long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__TD_HOST double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
#undef __TD_HOST
