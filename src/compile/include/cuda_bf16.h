// bfloat16 as CUDA names it: the upper half of a float. Arithmetic is done in float and rounded
// once, which for + - * / gives the correctly rounded result (float has more than twice the bits).
#pragma once
#pragma clang system_header
#include "cuda_fp16.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
  unsigned short x, y;
};

// ---- the bits of a float in each rounding mode; NaN is 0x7fff
#define __TD_BF16_ROUND(name, added)                           \
  __TD_FN constexpr unsigned short name(float x) {             \
    const unsigned bits = __builtin_bit_cast(unsigned, x);     \
    const unsigned rounded = bits + (added);                   \
    return (unsigned short)(x != x ? 0x7fffu : rounded >> 16); \
  }
__TD_BF16_ROUND(__td_bf16_rn, 0x7fffu + (bits >> 16 & 1))
__TD_BF16_ROUND(__td_bf16_rz, 0u)
__TD_BF16_ROUND(__td_bf16_ru, bits >> 31 ? 0u : 0xffffu)
__TD_BF16_ROUND(__td_bf16_rd, bits >> 31 ? 0xffffu : 0u)
#undef __TD_BF16_ROUND

struct __nv_bfloat16 {
  unsigned short __td_bits;
  __nv_bfloat16() = default;
  __TD_MEMBER constexpr __nv_bfloat16(__nv_bfloat16_raw x) : __td_bits(x.x) {}
  __TD_MEMBER constexpr __nv_bfloat16(float x) : __td_bits(__td_bf16_rn(x)) {}
  __TD_MEMBER __nv_bfloat16(double x) : __td_bits(__td_bf16_rn(__td_narrow_odd(__td_exact(x)))) {}
  __TD_MEMBER __nv_bfloat16(int x) : __nv_bfloat16((double)x) {}
  __TD_MEMBER __nv_bfloat16(unsigned x) : __nv_bfloat16((double)x) {}
  __TD_MEMBER constexpr __nv_bfloat16(short x) : __nv_bfloat16((float)x) {}
  __TD_MEMBER constexpr __nv_bfloat16(unsigned short x) : __nv_bfloat16((float)x) {}
  __TD_MEMBER __nv_bfloat16(long long x)
      : __td_bits(__td_bf16_rn(__td_narrow_odd(__td_of_ll(1.0, x)))) {}
  __TD_MEMBER __nv_bfloat16(unsigned long long x)
      : __td_bits(__td_bf16_rn(__td_narrow_odd(__td_of_ull(1.0, x)))) {}
  __TD_MEMBER __nv_bfloat16(long x) : __nv_bfloat16((long long)x) {}
  __TD_MEMBER __nv_bfloat16(unsigned long x) : __nv_bfloat16((unsigned long long)x) {}
  __TD_MEMBER constexpr explicit __nv_bfloat16(__half x) : __nv_bfloat16((float)x) {}
  __TD_MEMBER constexpr operator float() const {
    return __builtin_bit_cast(float, (unsigned)__td_bits << 16);
  }
  __TD_MEMBER constexpr operator __nv_bfloat16_raw() const { return {__td_bits}; }
  __TD_MEMBER constexpr explicit operator bool() const { return (__td_bits & 0x7fff) != 0; }
};
typedef __nv_bfloat16 nv_bfloat16;

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __TD_MEMBER constexpr __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
  __TD_MEMBER constexpr __nv_bfloat162(__nv_bfloat162_raw v)
      : x(__nv_bfloat16_raw{v.x}), y(__nv_bfloat16_raw{v.y}) {}
  __TD_MEMBER constexpr operator __nv_bfloat162_raw() const { return {x.__td_bits, y.__td_bits}; }
};
typedef __nv_bfloat162 nv_bfloat162;

__TD_OPERATORS(__nv_bfloat16, __nv_bfloat162)
__TD_FN constexpr __nv_bfloat16 operator-(__nv_bfloat16 x) {
  return __nv_bfloat16_raw{(unsigned short)(x.__td_bits ^ 0x8000u)};
}

// The product is exact in double, whose range no intermediate result leaves.
__TD_FN __nv_bfloat16 __td_fma(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z) {
  const __td_pair sum = __td_sum((double)(float)x * (double)(float)y, (double)(float)z);
  return __nv_bfloat16_raw{__td_bf16_rn(__td_narrow_odd(sum))};
}

#define TD_H __nv_bfloat16
#define TD_H2 __nv_bfloat162
#define TD_HN(a, b) a##bfloat16##b
#define TD_HN2(a, b) a##bfloat162##b
#define TD_HTWICE __bfloat162bfloat162
#define TD_HHALVES __halves2bfloat162
#define TD_HMAKE make_bfloat162
#define TD_ROUND(mode, x) __nv_bfloat16(__nv_bfloat16_raw{__td_bf16_##mode(x)})
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

#define TD_ADD_BF16(name)                                                               \
  __TD_FN __nv_bfloat16 name(__nv_bfloat16* p, __nv_bfloat16 v) {                       \
    return __nv_bfloat16_raw{__td_rt_atomic_add_bf16((unsigned short*)p, v.__td_bits)}; \
  }                                                                                     \
  __TD_FN __nv_bfloat162 name(__nv_bfloat162* p, __nv_bfloat162 v) {                    \
    return __nv_bfloat162(name(&p->x, v.x), name(&p->y, v.y));                          \
  }
TD_ADD_BF16(atomicAdd)
TD_ADD_BF16(atomicAdd_block)
TD_ADD_BF16(atomicAdd_system)
#undef TD_ADD_BF16
