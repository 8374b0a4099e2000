// fp8 as CUDA names it: e4m3 (largest 448, no infinity, NaN 0x7f) and e5m2 (largest 57344), their
// pairs and quadruples, and conversions. To fp8 everything is rounded once, to nearest and even.
#pragma once
#pragma clang system_header
#include "cuda_bf16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
// What becomes of too large a number: infinity (NaN in e4m3), or the largest finite one.
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// ---- one number. Below the smallest normal number the addition of a constant rounds at the last
// place of the denormals; above it the bits below the last place are rounded in place.
__TD_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t kind) {
  const bool e4m3 = kind == __NV_E4M3;
  const int drop = e4m3 ? 20 : 21;  // bits of the significand that do not fit
  const unsigned bits = __float_as_uint(x), size = bits & 0x7fffffffu;
  const float magic = e4m3 ? 0x1p14f : 0x1p7f;  // 2^23 times the smallest denormal
  const unsigned denormal = __float_as_uint(__builtin_fabsf(x) + magic) - __float_as_uint(magic);
  const unsigned rounded = size + ((1u << (drop - 1)) - 1) + (size >> drop & 1);
  const unsigned normal = (rounded >> drop) - ((e4m3 ? 120u : 112u) << (23 - drop));
  const unsigned largest = e4m3 ? 0x7eu : 0x7bu;
  const bool tiny = size < (e4m3 ? 0x3c800000u : 0x38800000u);  // 2^-6, 2^-14
  unsigned code = tiny ? denormal : normal;
  const bool over = !tiny && normal > largest;
  code = over ? (saturate == __NV_SATFINITE ? largest : e4m3 ? 0x7fu : 0x7cu) : code;
  code = x != x ? 0x7fu : code | (bits >> 24 & 0x80u);
  return (__nv_fp8_storage_t)code;
}

// A float that is rounded to odd leaves the rounding to the conversion above.
__TD_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t kind) {
  const float odd = __td_narrow_odd(__td_exact(x));
  return __nv_cvt_float_to_fp8(odd, saturate, kind);
}
__TD_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__half(x), saturate, kind);
}
__TD_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                       __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, kind);
}
// e5m2 is the upper byte of a float16. e4m3's fields, put in their places, mean 2^8 times less.
__TD_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  const unsigned short e5m2 = (unsigned short)(x << 8);
  const unsigned short fields = (unsigned short)((x & 0x80) << 8 | (x & 0x7f) << 7);
  const float value = (float)__half(__half_raw{fields}) * 256.0f;
  const unsigned short e4m3 =
      (x & 0x7f) == 0x7f ? (unsigned short)0x7fff : ((__half_raw)__half(value)).x;
  return {kind == __NV_E5M2 ? e5m2 : e4m3};
}

// ---- pairs
#define __TD_FP8_PAIR(name, T, one, low, high)                                                \
  __TD_FN __nv_fp8x2_storage_t name(T v, __nv_saturation_t saturate,                          \
                                    __nv_fp8_interpretation_t kind) {                         \
    return (__nv_fp8x2_storage_t)(one(low, saturate, kind) | one(high, saturate, kind) << 8); \
  }
__TD_FP8_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8, v.x, v.y)
__TD_FP8_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8, v.x, v.y)
__TD_FP8_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __nv_cvt_halfraw_to_fp8, __half_raw{v.x},
              __half_raw{v.y})
__TD_FP8_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_fp8,
              __nv_bfloat16_raw{v.x}, __nv_bfloat16_raw{v.y})
#undef __TD_FP8_PAIR
__TD_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                               __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, kind).x,
          __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), kind).x};
}

// ---- classes: conversions to fp8 saturate, those to integers cut and saturate
#define __TD_FROM(name, T, expression) \
  __TD_MEMBER explicit name(T x) : __x(expression) {}
#define __TD_TO(T, expression) \
  __TD_MEMBER explicit operator T() const { return expression; }
#define __TD_FP8(name, kind)                                                                   \
  struct name {                                                                                \
    __nv_fp8_storage_t __x;                                                                    \
    name() = default;                                                                          \
    __TD_FROM(name, float, __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind))                     \
    __TD_FROM(name, double, __nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind))                   \
    __TD_FROM(name, __half, __nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, kind))                  \
    __TD_FROM(name, __nv_bfloat16, __nv_cvt_bfloat16raw_to_fp8(x, __NV_SATFINITE, kind))       \
    __TD_FROM(name, int, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))                \
    __TD_FROM(name, unsigned, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))           \
    __TD_FROM(name, short, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))              \
    __TD_FROM(name, unsigned short, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))     \
    __TD_FROM(name, long, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))               \
    __TD_FROM(name, unsigned long, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))      \
    __TD_FROM(name, long long, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind))          \
    __TD_FROM(name, unsigned long long, __nv_cvt_float_to_fp8((float)x, __NV_SATFINITE, kind)) \
    __TD_TO(__half, __half(__nv_cvt_fp8_to_halfraw(__x, kind)))                                \
    __TD_TO(float, (float)(__half) * this)                                                     \
    __TD_TO(double, (double)(float)*this)                                                      \
    __TD_TO(__nv_bfloat16, __nv_bfloat16((float)*this))                                        \
    __TD_TO(bool, (__x & 0x7f) != 0)                                                           \
    __TD_TO(signed char, __td_to_char((float)*this))                                           \
    __TD_TO(char, (char)__td_to_char((float)*this))                                            \
    __TD_TO(unsigned char, __td_to_uchar((float)*this))                                        \
    __TD_TO(short, __td_to_short((float)*this))                                                \
    __TD_TO(unsigned short, __td_to_ushort((float)*this))                                      \
    __TD_TO(int, __td_to_int((float)*this))                                                    \
    __TD_TO(unsigned, __td_to_uint((float)*this))                                              \
    __TD_TO(long, (long)__td_to_ll((float)*this))                                              \
    __TD_TO(unsigned long, (unsigned long)__td_to_ull((float)*this))                           \
    __TD_TO(long long, __td_to_ll((float)*this))                                               \
    __TD_TO(unsigned long long, __td_to_ull((float)*this))                                     \
  };
#define __TD_FP8_2(name, kind)                                                               \
  struct name {                                                                              \
    __nv_fp8x2_storage_t __x;                                                                \
    name() = default;                                                                        \
    __TD_FROM(name, float2, __nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, kind))               \
    __TD_FROM(name, double2, __nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, kind))             \
    __TD_FROM(name, __half2, __nv_cvt_halfraw2_to_fp8x2(x, __NV_SATFINITE, kind))            \
    __TD_FROM(name, __nv_bfloat162, __nv_cvt_bfloat16raw2_to_fp8x2(x, __NV_SATFINITE, kind)) \
    __TD_TO(__half2, __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)))                         \
    __TD_TO(float2, __half22float2((__half2) * this))                                        \
  };
#define __TD_JOIN(convert, low, high)           \
  (convert(low, __NV_SATFINITE, kind_of_this) | \
   (unsigned)convert(high, __NV_SATFINITE, kind_of_this) << 16)
#define __TD_FP8_4(name, kind)                                                                   \
  struct name {                                                                                  \
    static constexpr __nv_fp8_interpretation_t kind_of_this = kind;                              \
    __nv_fp8x4_storage_t __x;                                                                    \
    name() = default;                                                                            \
    __TD_FROM(name, float4,                                                                      \
              __TD_JOIN(__nv_cvt_float2_to_fp8x2, make_float2(x.x, x.y), make_float2(x.z, x.w))) \
    __TD_FROM(name, double4,                                                                     \
              __TD_JOIN(__nv_cvt_double2_to_fp8x2, make_double2(x.x, x.y),                       \
                        make_double2(x.z, x.w)))                                                 \
    __TD_MEMBER explicit name(__half2 low, __half2 high)                                         \
        : __x(__TD_JOIN(__nv_cvt_halfraw2_to_fp8x2, low, high)) {}                               \
    __TD_MEMBER explicit name(__nv_bfloat162 low, __nv_bfloat162 high)                           \
        : __x(__TD_JOIN(__nv_cvt_bfloat16raw2_to_fp8x2, low, high)) {}                           \
    __TD_MEMBER explicit operator float4() const {                                               \
      const __half2 low = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)__x, kind);           \
      const __half2 high = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(__x >> 16), kind);  \
      return make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y);              \
    }                                                                                            \
  };
__TD_FP8(__nv_fp8_e4m3, __NV_E4M3)
__TD_FP8(__nv_fp8_e5m2, __NV_E5M2)
__TD_FP8_2(__nv_fp8x2_e4m3, __NV_E4M3)
__TD_FP8_2(__nv_fp8x2_e5m2, __NV_E5M2)
__TD_FP8_4(__nv_fp8x4_e4m3, __NV_E4M3)
__TD_FP8_4(__nv_fp8x4_e5m2, __NV_E5M2)
#undef __TD_FROM
#undef __TD_TO
#undef __TD_FP8
#undef __TD_FP8_2
#undef __TD_FP8_4
#undef __TD_JOIN
