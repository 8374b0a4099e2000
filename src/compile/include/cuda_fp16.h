// float16 as CUDA names it. A value is Clang's _Float16; arithmetic is done in float and rounded
// once, which for
// + - * / gives the correctly rounded result (float has more than twice the bits).
#pragma once
#pragma clang system_header
#include "treadle_prelude.h"

struct __half {
  _Float16 __td_value;
#define __TD_MEMBER __attribute__((host, device, always_inline, nodebug))
  __half() = default;
  __TD_MEMBER constexpr __half(_Float16 x) : __td_value(x) {}
  __TD_MEMBER constexpr __half(float x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(double x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(int x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(short x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned short x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(long long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned long long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr operator float() const { return (float)__td_value; }
  __TD_MEMBER constexpr explicit operator bool() const { return (float)__td_value != 0.0f; }
};
typedef __half half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __TD_MEMBER constexpr __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

#define __TD_OPERATOR(op)                                                               \
  __TD_FN constexpr __half operator op(__half x, __half y) {                            \
    return __half((float)x op(float) y);                                                \
  }                                                                                     \
  __TD_FN constexpr __half& operator op##=(__half & x, __half y) { return x = x op y; } \
  __TD_FN constexpr __half2 operator op(__half2 x, __half2 y) {                         \
    return __half2(x.x op y.x, x.y op y.y);                                             \
  }                                                                                     \
  __TD_FN constexpr __half2& operator op##=(__half2 & x, __half2 y) { return x = x op y; }
__TD_OPERATOR(+)
__TD_OPERATOR(-)
__TD_OPERATOR(*)
__TD_OPERATOR(/)
#undef __TD_OPERATOR

#define __TD_OPERATOR(op) \
  __TD_FN constexpr bool operator op(__half x, __half y) { return (float)x op(float) y; }
__TD_OPERATOR(==)
__TD_OPERATOR(!=)
__TD_OPERATOR(<)
__TD_OPERATOR(<=)
__TD_OPERATOR(>)
__TD_OPERATOR(>=)
#undef __TD_OPERATOR
__TD_FN constexpr __half operator-(__half x) { return __half((_Float16)-x.__td_value); }
__TD_FN constexpr __half operator+(__half x) { return x; }
__TD_FN constexpr __half2 operator-(__half2 v) { return __half2(-v.x, -v.y); }
__TD_FN constexpr __half& operator++(__half& x) { return x = x + __half(1.0f); }
__TD_FN constexpr __half& operator--(__half& x) { return x = x - __half(1.0f); }

// x*y is exact in double and the sum has one rounding there; a second one, to 11 bits, would err
// only on a tie that the first one made, so the sum is rounded to odd first.
__TD_FN __half __td_half_fma(__half x, __half y, __half z) {
#pragma clang fp contract(off)
  const double product = (double)(float)x * (double)(float)y;
  const double c = (double)(float)z;
  const double sum = product + c;
  const double t = sum - product;
  const double error = (product - (sum - t)) + (c - t);
  unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
  if (error != 0.0 && (bits & 1) == 0) bits += ((error > 0.0) == (sum > 0.0)) ? 1 : -1;
  return __half((_Float16)__builtin_bit_cast(double, bits));
}

#define TD_HALF(result, name, params, expression, test) \
  __TD_FN result name params { return expression; }
#include "device_half.def"

#include "td_half_atomics.h"
#undef __TD_MEMBER
