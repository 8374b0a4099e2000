// What cuda_fp16.h and cuda_bf16.h share.
#pragma once
#pragma clang system_header
#include "treadle_prelude.h"

#define __TD_MEMBER __attribute__((host, device, always_inline, nodebug))

__TD_FN int __td_to_int(float x) { return (int)x; }
__TD_FN unsigned __td_to_uint(float x) { return (unsigned)x; }
__TD_FN short __td_to_short(float x) { return (short)x; }
__TD_FN unsigned short __td_to_ushort(float x) { return (unsigned short)x; }
__TD_FN signed char __td_to_char(float x) { return (signed char)x; }
__TD_FN unsigned char __td_to_uchar(float x) { return (unsigned char)x; }
__TD_FN long long __td_to_ll(float x) { return (long long)x; }
__TD_FN unsigned long long __td_to_ull(float x) { return (unsigned long long)x; }

// Equal numbers with different bits are zeros: a negative one is the smaller.
__TD_FN float __td_fmin(float x, float y) {
  const unsigned either = __float_as_uint(x) | __float_as_uint(y);
  return x == y ? __uint_as_float(either) : __builtin_fminf(x, y);
}
__TD_FN float __td_fmax(float x, float y) {
  const unsigned both = __float_as_uint(x) & __float_as_uint(y);
  return x == y ? __uint_as_float(both) : __builtin_fmaxf(x, y);
}

// Operators of a type T and its pair T2. A pair compares true when both of its parts do.
#define __TD_ARITHMETIC(T, T2, op)                                                    \
  __TD_FN constexpr T operator op(T x, T y) { return T((float)x op(float) y); }       \
  __TD_FN constexpr T& operator op##=(T & x, T y) { return x = x op y; }              \
  __TD_FN constexpr T2 operator op(T2 x, T2 y) { return T2(x.x op y.x, x.y op y.y); } \
  __TD_FN constexpr T2& operator op##=(T2 & x, T2 y) { return x = x op y; }
#define __TD_COMPARISON(T, T2, op)                                              \
  __TD_FN constexpr bool operator op(T x, T y) { return (float)x op(float) y; } \
  __TD_FN constexpr bool operator op(T2 x, T2 y) { return x.x op y.x && x.y op y.y; }
#define __TD_STEP(T, T2, op, sign)                                                      \
  __TD_FN constexpr T& operator op(T & x) { return x = x sign T(1.0f); }                \
  __TD_FN constexpr T operator op(T& x, int) {                                          \
    const T before = x;                                                                 \
    x = x sign T(1.0f);                                                                 \
    return before;                                                                      \
  }                                                                                     \
  __TD_FN constexpr T2& operator op(T2 & x) { return x = x sign T2(T(1.0f), T(1.0f)); } \
  __TD_FN constexpr T2 operator op(T2& x, int) {                                        \
    const T2 before = x;                                                                \
    x = x sign T2(T(1.0f), T(1.0f));                                                    \
    return before;                                                                      \
  }
#define __TD_OPERATORS(T, T2)                        \
  __TD_ARITHMETIC(T, T2, +)                          \
  __TD_ARITHMETIC(T, T2, -)                          \
  __TD_ARITHMETIC(T, T2, *)                          \
  __TD_ARITHMETIC(T, T2, /)                          \
  __TD_COMPARISON(T, T2, ==)                         \
  __TD_COMPARISON(T, T2, !=)                         \
  __TD_COMPARISON(T, T2, <)                          \
  __TD_COMPARISON(T, T2, <=)                         \
  __TD_COMPARISON(T, T2, >)                          \
  __TD_COMPARISON(T, T2, >=)                         \
  __TD_STEP(T, T2, ++, +)                            \
  __TD_STEP(T, T2, --, -)                            \
  __TD_FN constexpr T operator+(T x) { return x; }   \
  __TD_FN constexpr T2 operator+(T2 v) { return v; } \
  __TD_FN constexpr T2 operator-(T2 v) { return T2(-v.x, -v.y); }
