// float16 as CUDA names it. A value is Clang's _Float16; arithmetic is done in float and rounded
// once, which for + - * / gives the correctly rounded result (float has more than twice the bits).
#pragma once
#pragma clang system_header
#include "td_half_support.h"

struct __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x, y;
};

// ---- the float in each rounding mode
__TD_FN _Float16 __td_half_rn(float x) { return (_Float16)x; }
// One step from the nearest number, where that is on the wrong side.
__TD_FN _Float16 __td_half_ru(float x) {
  const _Float16 nearest = (_Float16)x;
  const short bits = __builtin_bit_cast(short, nearest);
  const short next = (short)(bits < 0 ? bits - 1 : bits + 1);
  return __builtin_bit_cast(_Float16, (float)nearest < x ? next : bits);
}
__TD_FN _Float16 __td_half_rd(float x) { return -__td_half_ru(-x); }
__TD_FN _Float16 __td_half_rz(float x) {
  const _Float16 nearest = (_Float16)x;
  const short bits = __builtin_bit_cast(short, nearest);
  const bool outside = __builtin_fabsf((float)nearest) > __builtin_fabsf(x);
  return __builtin_bit_cast(_Float16, (short)(outside ? bits - 1 : bits));
}
// A double goes through a float that is rounded to odd: its second rounding then is the only one.
__TD_FN _Float16 __td_half_of_double(double x) { return (_Float16)__td_narrow_odd(__td_exact(x)); }

struct __half {
  _Float16 __td_value;
  __half() = default;
  __TD_MEMBER constexpr __half(_Float16 x) : __td_value(x) {}
  __TD_MEMBER constexpr __half(float x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(double x)
      : __td_value(__builtin_is_constant_evaluated() ? (_Float16)x : __td_half_of_double(x)) {}
  __TD_MEMBER constexpr __half(int x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(short x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned short x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(long long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(unsigned long long x) : __td_value((_Float16)x) {}
  __TD_MEMBER constexpr __half(__half_raw x) : __td_value(__builtin_bit_cast(_Float16, x.x)) {}
  __TD_MEMBER constexpr operator float() const { return (float)__td_value; }
  __TD_MEMBER constexpr operator __half_raw() const {
    return {__builtin_bit_cast(unsigned short, __td_value)};
  }
  __TD_MEMBER constexpr explicit operator bool() const { return (float)__td_value != 0.0f; }
};
typedef __half half;
typedef __half nv_half;
typedef __half __nv_half;

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __TD_MEMBER constexpr __half2(__half x, __half y) : x(x), y(y) {}
  __TD_MEMBER constexpr __half2(__half2_raw v) : x(__half_raw{v.x}), y(__half_raw{v.y}) {}
  __TD_MEMBER constexpr operator __half2_raw() const {
    return {((__half_raw)x).x, ((__half_raw)y).x};
  }
};
typedef __half2 half2;
typedef __half2 nv_half2;
typedef __half2 __nv_half2;

__TD_OPERATORS(__half, __half2)
__TD_FN constexpr __half operator-(__half x) { return __half((_Float16)-x.__td_value); }

// x*y is exact in float. The sum is rounded to odd there: to nearest a second rounding could err on
// a tie that the first one made.
__TD_FN __half __td_fma(__half x, __half y, __half z) {
#pragma clang fp contract(off)
  const float product = (float)x * (float)y, c = (float)z;
  const float sum = product + c;
  const bool first = __builtin_fabsf(product) >= __builtin_fabsf(c);
  const float large = first ? product : c, small = first ? c : product;
  const float error = small - (sum - large);
  const int bits = __float_as_int(sum);
  const int odd = (error > 0.0f) == (sum > 0.0f) ? bits + 1 : bits - 1;
  const bool adjust = (bits & 1) == 0 && (error > 0.0f || error < 0.0f);
  return __half((_Float16)__int_as_float(adjust ? odd : bits));
}

#define TD_H __half
#define TD_H2 __half2
#define TD_HN(a, b) a##half##b
#define TD_HN2(a, b) a##half2##b
#define TD_HTWICE __half2half2
#define TD_HHALVES __halves2half2
#define TD_HMAKE make_half2
#define TD_ROUND(mode, x) __half(__td_half_##mode(x))
#define TD_HALF(result, name, params, expression, test) \
  __TD_FN result name params { return expression; }
#include "device_half.def"
#undef TD_H
#undef TD_H2
#undef TD_HN
#undef TD_HN2
#undef TD_HTWICE
#undef TD_HHALVES
#undef TD_HMAKE
#undef TD_ROUND

#include "td_half_atomics.h"
