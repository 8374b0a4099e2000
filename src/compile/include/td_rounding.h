// Directed rounding without a rounding mode: an operation gives its result rounded to nearest and
// the sign of what that leaves over, and one step to the neighbour corrects it. Branch-free, so
// that it becomes vector code.
//
// A pair is exact as far as it matters: `value` is the nearest double, `rest` has the sign of
// (true result - value), or is NaN where value is no number or an exact infinity. After an
// overflow, value is infinite and rest points back to the finite numbers. The pragma keeps
// multiplications and additions apart.
#pragma once
#pragma clang system_header
#include "td_annotations.h"

// Nothing here is a function of the device: the host's float16 is rounded by it as well.
#pragma push_macro("__TD_FN")
#undef __TD_FN
#define __TD_FN __TD_HD_FN

struct __td_pair {
  double value, rest;
};

// ---- the pairs
__TD_FN __td_pair __td_exact(double x) { return {x, 0.0}; }

__TD_FN __td_pair __td_sum(double x, double y) {
#pragma clang fp contract(off)
  const double sum = x + y;
  const bool first = __builtin_fabs(x) >= __builtin_fabs(y);
  const double large = first ? x : y, small = first ? y : x;
  return {sum, small - (sum - large)};
}

// Of a tiny product the rest would underflow: it is taken from both factors times 2^600.
__TD_FN __td_pair __td_product(double x, double y) {
#pragma clang fp contract(off)
  const double product = x * y;
  const double scale = __builtin_fabs(product) < 0x1p-900 ? 0x1p600 : 1.0;
  return {product, __builtin_fma(x * scale, y * scale, -(product * scale * scale))};
}

__TD_FN __td_pair __td_quotientf(double x, double y) {
#pragma clang fp contract(off)
  const double quotient = x / y;
  const double left = __builtin_fma(-quotient, y, x);
  return {quotient, y < 0.0 ? -left : left};
}

// The scale goes to the quotient or to y, whichever is the smaller.
__TD_FN __td_pair __td_quotient(double x, double y) {
#pragma clang fp contract(off)
  const double quotient = x / y;
  const double scale = __builtin_fabs(x) < 0x1p-500 ? 0x1p600 : 1.0;
  const bool large = __builtin_fabs(y) > 1.0;
  const double q = quotient * (large ? scale : 1.0), d = y * (large ? 1.0 : scale);
  const double left = __builtin_fma(-q, d, x * scale);
  return {quotient, y < 0.0 ? -left : left};
}

__TD_FN __td_pair __td_rootf(double x) {
#pragma clang fp contract(off)
  const double root = __builtin_sqrt(x);
  return {root, __builtin_fma(-root, root, x)};
}

__TD_FN __td_pair __td_root(double x) {
#pragma clang fp contract(off)
  const double root = __builtin_sqrt(x);
  const bool tiny = x < 0x1p-500;
  const double r = root * (tiny ? 0x1p300 : 1.0);
  return {root, __builtin_fma(-r, r, x * (tiny ? 0x1p600 : 1.0))};
}

// |exponent| <= 1022.
__TD_FN double __td_power_of_2(int exponent) {
  return __builtin_bit_cast(double, (long long)(exponent + 1023) << 52);
}

// |x| in [1, 2) with x's sign; 0, infinity and NaN stay what they are, with exponent `of_zero`.
__TD_FN double __td_normalized(double x, int of_zero, int* exponent) {
  const bool denormal = __builtin_fabs(x) < 0x1p-1022;
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, denormal ? x * 0x1p64 : x);
  const int field = (int)(bits >> 52 & 0x7ff);
  const bool as_is = x == 0.0 || field == 0x7ff;
  *exponent = as_is ? of_zero : field - (denormal ? 1023 + 64 : 1023);
  return as_is ? x
               : __builtin_bit_cast(double, (bits & 0x800fffffffffffffull) | 0x3ff0000000000000ull);
}

__TD_FN int __td_within(int x, int limit) { return x < -limit ? -limit : x > limit ? limit : x; }

// The product of the significands is near 1 and z follows it, at most 2^300 away: beyond that only
// its sign matters. There the error of a fused multiply-add has a known exact form; the step from
// that result to the real one (which may be denormal or infinite) is added by comparison.
__TD_FN __td_pair __td_fused(double x, double y, double z) {
#pragma clang fp contract(off)
  const double result = __builtin_fma(x, y, z);
  int ex, ey, ez;
  const double mx = __td_normalized(x, 0, &ex), my = __td_normalized(y, 0, &ey);
  const double mz = __td_normalized(z, -5000, &ez);
  const int e = ex + ey, distance = ez - e;
  const double near_z = mz * __td_power_of_2(__td_within(distance, 300));
  const double near = __builtin_fma(mx, my, near_z);
  const int half = __td_within(-e >> 1, 1000);
  const double scaled = distance > 300 ? near_z
                                       : result * __td_power_of_2(half) *
                                             __td_power_of_2(__td_within(-e - half, 1000));

  const double high = mx * my, low = __builtin_fma(mx, my, -high);
  const __td_pair a = __td_sum(near_z, low), b = __td_sum(high, a.value);
  const double rest = ((b.value - near) + b.rest) + a.rest;
  const double step = near - scaled;
  // near - near is 0, or NaN where an argument was infinite.
  return {result, high == 0.0 ? 0.0 : (step != 0.0 ? step : rest) + (near - near)};
}

// sign * x for sign 1 or -1.
__TD_FN __td_pair __td_of_ll(double sign, long long x) {
  return __td_sum(sign * ((double)(int)(x >> 32) * 0x1p32), sign * (double)(unsigned)x);
}
__TD_FN __td_pair __td_of_ull(double sign, unsigned long long x) {
  return __td_sum(sign * ((double)(unsigned)(x >> 32) * 0x1p32), sign * (double)(unsigned)x);
}

// ---- the pair rounded: upwards, towards zero
__TD_FN double __td_round_ru(__td_pair p) {
  const long long bits = __builtin_bit_cast(long long, p.value);
  return __builtin_bit_cast(double, p.rest > 0.0 ? bits + (bits < 0 ? -1 : 1) : bits);
}
__TD_FN double __td_round_rz(__td_pair p) {
  const long long bits = __builtin_bit_cast(long long, p.value);
  return __builtin_bit_cast(double, (bits < 0 ? p.rest > 0.0 : p.rest < 0.0) ? bits - 1 : bits);
}
__TD_FN float __td_narrow_ru(__td_pair p) {
#pragma clang fp contract(off)
  const float nearest = (float)p.value;
  const double step = p.value - (double)nearest;
  const double rest = step != 0.0 ? step : p.rest;
  const int bits = __builtin_bit_cast(int, nearest);
  return __builtin_bit_cast(float, rest > 0.0 ? bits + (bits < 0 ? -1 : 1) : bits);
}
__TD_FN float __td_narrow_rz(__td_pair p) {
#pragma clang fp contract(off)
  const float nearest = (float)p.value;
  const double step = p.value - (double)nearest;
  const double rest = step != 0.0 ? step : p.rest;
  const int bits = __builtin_bit_cast(int, nearest);
  return __builtin_bit_cast(float, (bits < 0 ? rest > 0.0 : rest < 0.0) ? bits - 1 : bits);
}
// To nearest where a second rounding follows: the last bit is 1 unless the float is exact.
__TD_FN float __td_narrow_odd(__td_pair p) {
  const float cut = __td_narrow_rz(p);
  const bool inexact =
      (double)cut < p.value || (double)cut > p.value || p.rest < 0.0 || p.rest > 0.0;
  const int bits = __builtin_bit_cast(int, cut);
  return __builtin_bit_cast(float, inexact ? bits | 1 : bits);
}

#pragma pop_macro("__TD_FN")
