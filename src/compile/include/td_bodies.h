// Bodies of the TD_BODY rows of device_builtins.def.
#pragma once
#pragma clang system_header

// x * 2^exponent with one rounding: at most the last of three multiplications is inexact, because
// the first two stay within the normal range (or reach the final overflow).
__TD_FN float ldexpf(float x, int exponent) {
  exponent = exponent < -400 ? -400 : exponent > 400 ? 400 : exponent;
  if (exponent > 127) {
    const int step = exponent > 254 ? 127 : exponent - 127;
    x *= 0x1p127f;
    x *= __int_as_float((step + 127) << 23);
    exponent -= 127 + step;
    exponent = exponent > 127 ? 127 : exponent;
  }
  // Steps of -102 keep 24 bits above the denormals, so that only the last product rounds.
  if (exponent < -126) {
    x *= 0x1p-102f;
    exponent += 102;
    if (exponent < -126) {
      x *= 0x1p-102f;
      exponent += 102;
      exponent = exponent < -126 ? -126 : exponent;
    }
  }
  return x * __int_as_float((exponent + 127) << 23);
}

__TD_FN double ldexp(double x, int exponent) {
  exponent = exponent < -3200 ? -3200 : exponent > 3200 ? 3200 : exponent;
  if (exponent > 1023) {
    const int step = exponent > 2046 ? 1023 : exponent - 1023;
    x *= 0x1p1023;
    x *= __longlong_as_double((long long)(step + 1023) << 52);
    exponent -= 1023 + step;
    exponent = exponent > 1023 ? 1023 : exponent;
  }
  if (exponent < -1022) {
    x *= 0x1p-969;
    exponent += 969;
    if (exponent < -1022) {
      x *= 0x1p-969;
      exponent += 969;
      exponent = exponent < -1022 ? -1022 : exponent;
    }
  }
  return x * __longlong_as_double((long long)(exponent + 1023) << 52);
}

// Zero, infinity and NaN are returned as they are, with exponent 0.
__TD_FN float frexpf(float x, int* exponent) {
  const bool denormal = (__float_as_uint(x) & 0x7f800000u) == 0;
  const unsigned bits = __float_as_uint(denormal ? x * 0x1p25f : x);
  const int field = (int)(bits >> 23 & 0xff);
  const bool as_is = x == 0.0f || field == 0xff;
  *exponent = as_is ? 0 : field - (denormal ? 126 + 25 : 126);
  return as_is ? x : __uint_as_float((bits & 0x807fffffu) | 0x3f000000u);
}

__TD_FN double frexp(double x, int* exponent) {
  const unsigned long long raw = __builtin_bit_cast(unsigned long long, x);
  const bool denormal = (raw & 0x7ff0000000000000ull) == 0;
  const unsigned long long bits =
      denormal ? __builtin_bit_cast(unsigned long long, x * 0x1p54) : raw;
  const int field = (int)(bits >> 52 & 0x7ff);
  const bool as_is = x == 0.0 || field == 0x7ff;
  *exponent = as_is ? 0 : field - (denormal ? 1022 + 54 : 1022);
  return as_is ? x
               : __builtin_bit_cast(double, (bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}

// Both parts have x's sign; an infinity leaves a zero.
__TD_FN float modff(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}

__TD_FN double modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}

// CUDA's values: INT_MIN for zero and for NaN, INT_MAX for infinity.
__TD_FN int ilogbf(float x) {
  int exponent;
  frexpf(x, &exponent);
  return x == 0.0f || x != x ? -__INT_MAX__ - 1 : __builtin_isinf(x) ? __INT_MAX__ : exponent - 1;
}

__TD_FN int ilogb(double x) {
  int exponent;
  frexp(x, &exponent);
  return x == 0.0 || x != x ? -__INT_MAX__ - 1 : __builtin_isinf(x) ? __INT_MAX__ : exponent - 1;
}

__TD_FN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  const unsigned long long x0 = (unsigned)x, x1 = x >> 32, y0 = (unsigned)y, y1 = y >> 32;
  const unsigned long long middle = x1 * y0 + (x0 * y0 >> 32);
  const unsigned long long other = x0 * y1 + (unsigned)middle;
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

__TD_FN long long __mul64hi(long long x, long long y) {
  const unsigned long long high = __umul64hi((unsigned long long)x, (unsigned long long)y);
  return (long long)(high - (x < 0 ? (unsigned long long)y : 0) -
                     (y < 0 ? (unsigned long long)x : 0));
}

// Each nibble of the selector picks one of eight bytes; its top bit spreads that byte's sign
// instead.
__TD_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned result = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 15;
    const unsigned byte = (unsigned)(bytes >> (8 * (nibble & 7))) & 0xff;
    const unsigned sign = (byte & 0x80) ? 0xffu : 0u;
    result |= ((nibble & 8) ? sign : byte) << (8 * i);
  }
  return result;
}

__TD_FN int __dp4a(int x, int y, int z) {
  unsigned sum = (unsigned)z;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    sum += (unsigned)((int)(signed char)(x >> (8 * i)) * (int)(signed char)(y >> (8 * i)));
  return (int)sum;
}

__TD_FN unsigned __dp4a(unsigned x, unsigned y, unsigned z) {
#pragma unroll
  for (int i = 0; i < 4; ++i) z += (x >> (8 * i) & 0xff) * (y >> (8 * i) & 0xff);
  return z;
}
