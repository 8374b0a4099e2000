// What every kernel sees without any #include, as with NVRTC. Precompiled; nothing here may emit
// code unless used. The builtins themselves are the rows of device_builtins.def; this file turns
// rows into C++.
#pragma once
#pragma clang system_header

#include "td_packed.h"
#include "td_registers.h"
#include "td_rounding.h"
#include "td_support.h"

// ---- rows -> declarations and bodies
#define TD_PARAMS_1(T) T x
#define TD_PARAMS_2(T) T x, T y
#define TD_PARAMS_3(T) T x, T y, T z

// C++'s overloads: float by the f form, integers (and mixtures) in double.
#define TD_OVERLOADS_1(name)                            \
  template <class A>                                    \
  __TD_FN __td_if<__is_integral(A), double> name(A x) { \
    return name((double)x);                             \
  }
#define TD_OVERLOADS_2(name)                                 \
  template <class A, class B>                                \
  __TD_FN __td_if<__td_mixed<A, B>, double> name(A x, B y) { \
    return name((double)x, (double)y);                       \
  }
#define TD_OVERLOADS_3(name)                                                          \
  template <class A, class B, class C>                                                \
  __TD_FN __td_if<__td_mixed<A, B> || __td_mixed<B, C>, double> name(A x, B y, C z) { \
    return name((double)x, (double)y, (double)z);                                     \
  }

#define TD_MATH_EXTERN(name, arity, double_symbol, float_symbol)           \
  __TD_PURE double name(TD_PARAMS_##arity(double)) __asm__(double_symbol); \
  __TD_PURE float name##f(TD_PARAMS_##arity(float)) __asm__(float_symbol); \
  __TD_PURE float name(TD_PARAMS_##arity(float)) __asm__(float_symbol);    \
  TD_OVERLOADS_##arity(name)
#define TD_MATH_INLINE(name, arity, double_body, float_body)             \
  __TD_FN double name(TD_PARAMS_##arity(double)) { return double_body; } \
  __TD_FN float name##f(TD_PARAMS_##arity(float)) { return float_body; } \
  __TD_FN float name(TD_PARAMS_##arity(float)) { return float_body; }    \
  TD_OVERLOADS_##arity(name)
// The double form is written in td_bodies.h, td_ranges.h, td_special.h or td_bessel.h, the float
// form is the expression.
#define TD_MATH_BODY(name, arity, unused, float_body)                    \
  __TD_FN double name(TD_PARAMS_##arity(double));                        \
  __TD_FN float name##f(TD_PARAMS_##arity(float)) { return float_body; } \
  __TD_FN float name(TD_PARAMS_##arity(float)) { return float_body; }    \
  TD_OVERLOADS_##arity(name)

// The types that CUDA has of each.
#define TD_TYPES_UNSIGNED(M, name, expression) M(unsigned, name, expression)
#define TD_TYPES_WORD(M, name, expression) \
  M(int, name, expression)                 \
  M(unsigned, name, expression)
#define TD_TYPES_INTEGER(M, name, expression) \
  TD_TYPES_WORD(M, name, expression)          \
  M(long long, name, expression)              \
  M(unsigned long long, name, expression)
#define TD_TYPES_EXCHANGE(M, name, expression) \
  TD_TYPES_WORD(M, name, expression)           \
  M(unsigned long long, name, expression)      \
  M(float, name, expression)
#define TD_TYPES_ADD(M, name, expression) \
  TD_TYPES_EXCHANGE(M, name, expression)  \
  M(double, name, expression)
#define TD_ATOMIC_ONE(T, name, expression)                 \
  __TD_FN T name(T* p, T v) { return expression; }         \
  __TD_FN T name##_block(T* p, T v) { return expression; } \
  __TD_FN T name##_system(T* p, T v) { return expression; }

#define TD_LIST(...) __VA_ARGS__
#define TD_SHUFFLE_ONE(T, Bits, size, name, lane_params, lane, mode, clamp)           \
  __TD_FN T name(unsigned mask, T value, TD_LIST lane_params, int width = 32) {       \
    const Bits bits = __builtin_bit_cast(Bits, value);                                \
    return __builtin_bit_cast(                                                        \
        T, __td_shuffle##size##_##mode(mask, bits, lane, (32 - width) << 8 | clamp)); \
  }
#define TD_SHUFFLE_32(T, name, lane_params, lane, mode, clamp) \
  TD_SHUFFLE_ONE(T, unsigned, 32, name, lane_params, lane, mode, clamp)
#define TD_SHUFFLE_64(T, name, lane_params, lane, mode, clamp) \
  TD_SHUFFLE_ONE(T, unsigned long long, 64, name, lane_params, lane, mode, clamp)

#define TD_MATH(name, arity, space, how, double_body, float_body) \
  TD_MATH_##how(name, arity, double_body, float_body)
#define TD_INLINE(result, name, params, expression, test) \
  __TD_FN result name params { return expression; }
#define TD_EXACT(result, name, params, expression, test) \
  __TD_FN result name params { _Pragma("clang fp contract(off)") return expression; }
#define TD_BODY(result, name, params, test) __TD_FN result name params;
#define TD_PACKED(name, arity, parts, expression, test) \
  TD_PACKED_BODY(name, arity, parts, expression, JOIN)
#define TD_PACKED_SUM(name, arity, parts, expression, test) \
  TD_PACKED_BODY(name, arity, parts, expression, TOTAL)
#define TD_SHUFFLE(name, lane_params, lane, mode, clamp)                  \
  TD_SHUFFLE_32(int, name, lane_params, lane, mode, clamp)                \
  TD_SHUFFLE_32(unsigned, name, lane_params, lane, mode, clamp)           \
  TD_SHUFFLE_64(long, name, lane_params, lane, mode, clamp)               \
  TD_SHUFFLE_64(unsigned long, name, lane_params, lane, mode, clamp)      \
  TD_SHUFFLE_64(long long, name, lane_params, lane, mode, clamp)          \
  TD_SHUFFLE_64(unsigned long long, name, lane_params, lane, mode, clamp) \
  TD_SHUFFLE_32(float, name, lane_params, lane, mode, clamp)              \
  TD_SHUFFLE_64(double, name, lane_params, lane, mode, clamp)
#define TD_ATOMIC(name, types, expression) TD_TYPES_##types(TD_ATOMIC_ONE, name, expression)
template <bool>
struct __td_when {};
template <>
struct __td_when<true> {
  using type = int;
};
// "[treadle]" tells Messages where its own words begin.
// A template: a function of the program's own with this name and these types comes before it.
#define TD_NO_ATOMIC_ONE(name, T, cure)                             \
  template <class U, typename __td_when<__is_same(U, T)>::type = 0> \
  __TD_FN T name(U*, T)                                             \
      __attribute__((unavailable("[treadle]" #name " has no form for " #T "* in CUDA; " cure)));
#define TD_NO_ATOMIC(name, T, cure)       \
  TD_NO_ATOMIC_ONE(name, T, cure)         \
  TD_NO_ATOMIC_ONE(name##_block, T, cure) \
  TD_NO_ATOMIC_ONE(name##_system, T, cure)
#define TD_UNSUPPORTED(name, what, test)                       \
  template <class Result = void, class... T>                   \
  __TD_FN __td_anything name(T...) __attribute__((unavailable( \
      "[treadle]" #name " (" what ") is known, but not supported on the software device yet")));
#include "device_builtins.def"

// The table undefines its own macros; the user's names may be the same as ours.
#undef TD_PARAMS_1
#undef TD_PARAMS_2
#undef TD_PARAMS_3
#undef TD_OVERLOADS_1
#undef TD_OVERLOADS_2
#undef TD_OVERLOADS_3
#undef TD_MATH_EXTERN
#undef TD_MATH_INLINE
#undef TD_MATH_BODY
#undef TD_TYPES_UNSIGNED
#undef TD_TYPES_WORD
#undef TD_TYPES_INTEGER
#undef TD_TYPES_EXCHANGE
#undef TD_TYPES_ADD
#undef TD_NO_ATOMIC_ONE
#undef TD_ATOMIC_ONE
#undef TD_LIST
#undef TD_SHUFFLE_ONE
#undef TD_SHUFFLE_32
#undef TD_SHUFFLE_64
#undef TD_PART_2S
#undef TD_PART_2U
#undef TD_PART_4S
#undef TD_PART_4U
#undef TD_PACKED_PARAMS_1
#undef TD_PACKED_PARAMS_2
#undef TD_PACKED_PARAMS_3
#undef TD_PACKED_ARGS_1
#undef TD_PACKED_ARGS_2
#undef TD_PACKED_ARGS_3
#undef TD_PART
#undef TD_JOIN_2
#undef TD_JOIN_4
#undef TD_TOTAL_2
#undef TD_TOTAL_4
#undef TD_JOIN_2S
#undef TD_JOIN_2U
#undef TD_JOIN_4S
#undef TD_JOIN_4U
#undef TD_TOTAL_2S
#undef TD_TOTAL_2U
#undef TD_TOTAL_4S
#undef TD_TOTAL_4U
#undef TD_PACKED_BODY

#include "td_bessel.h"
#include "td_bodies.h"
#include "td_integers.h"
#include "td_ranges.h"
#include "td_special.h"
#include "td_std.h"
#include "td_templates.h"
#include "td_textures.h"
