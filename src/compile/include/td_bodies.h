// Bodies of the TD_BODY rows of device_math.def, the special functions excepted.
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

__TD_FN float logbf(float x) {
  const float of_number = (float)ilogbf(x);
  return x == 0.0f ? -__builtin_inff() : __builtin_isfinite(x) ? of_number : x * x;
}

__TD_FN double logb(double x) {
  const double of_number = (double)ilogb(x);
  return x == 0.0 ? -__builtin_inf() : __builtin_isfinite(x) ? of_number : x * x;
}

// One step of the bit pattern; from zero to the least number with y's sign.
__TD_FN float __td_nextafterf(float x, float y) {
  const int bits = __float_as_int(x);
  const bool outwards = (x < y) == (bits >= 0);
  const float step = __int_as_float(outwards ? bits + 1 : bits - 1);
  const float from_zero = __builtin_copysignf(0x1p-149f, y);
  return x != x || y != y ? x + y : x == y ? y : x == 0.0f ? from_zero : step;
}

__TD_FN double nextafter(double x, double y) {
  const long long bits = __double_as_longlong(x);
  const bool outwards = (x < y) == (bits >= 0);
  const double step = __longlong_as_double(outwards ? bits + 1 : bits - 1);
  const double from_zero = __builtin_copysign(0x1p-1074, y);
  return x != x || y != y ? x + y : x == y ? y : x == 0.0 ? from_zero : step;
}

// |x| modulo 8 |y| keeps the three bits of the quotient that CUDA promises. Where 8 |y| would
// overflow, |x| is below 16 |y| anyway.
__TD_FN double remquo(double x, double y, int* quotient) {
  const double d = __builtin_fabs(y), size = __builtin_fabs(x);
  const bool large = d >= 0x1p1020;
  const double scale = large ? 0.0625 : 1.0;
  double rest = large ? size : fmod(size, 8.0 * d);
  int q = 0;
#pragma unroll
  for (int bit = 8; bit != 0; bit >>= 1) {
    const bool fits = scale * rest >= scale * bit * d;
    rest = fits ? rest - bit * d : rest;
    q += fits ? bit : 0;
  }
  const bool up = rest > d - rest || (rest == d - rest && (q & 1) != 0);
  rest = up ? rest - d : rest;
  q = (q + up) & 7;
  const bool undefined = rest != rest || __builtin_isinf(x);
  *quotient = undefined ? 0 : __builtin_signbit(x) != __builtin_signbit(y) ? -q : q;
  return undefined ? __builtin_nan("") : __builtin_signbit(x) ? -rest : rest;
}

__TD_FN double remainder(double x, double y) {
  int quotient;
  return remquo(x, y, &quotient);
}

// Exact in double, whose range also holds 8 |y|.
__TD_FN float remquof(float x, float y, int* quotient) {
  return (float)remquo((double)x, (double)y, quotient);
}

// ---- memory and strings: as C has them

// The product of the sizes does not fit: no memory.
__TD_FN void* calloc(size_t count, size_t size) {
  if (size != 0 && count > ~(size_t)0 / size) return 0;
  void* memory = malloc(count * size);
  if (memory) memset(memory, 0, count * size);
  return memory;
}

__TD_FN int memcmp(const void* a, const void* b, size_t bytes) {
  const unsigned char *x = (const unsigned char*)a, *y = (const unsigned char*)b;
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

__TD_FN const void* memchr(const void* p, int byte, size_t bytes) {
  const unsigned char* at = (const unsigned char*)p;
  for (size_t i = 0; i < bytes; ++i)
    if (at[i] == (unsigned char)byte) return at + i;
  return 0;
}

__TD_FN size_t strlen(const char* s) {
  size_t n = 0;
  while (s[n]) ++n;
  return n;
}

__TD_FN int strncmp(const char* a, const char* b, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
    if (x != y) return x < y ? -1 : 1;
    if (!x) break;
  }
  return 0;
}

__TD_FN int strcmp(const char* a, const char* b) { return strncmp(a, b, ~(size_t)0); }

__TD_FN char* strcpy(char* to, const char* from) {
  size_t i = 0;
  while ((to[i] = from[i])) ++i;
  return to;
}

// Fills up with zeros; without a zero when `from` is too long.
__TD_FN char* strncpy(char* to, const char* from, size_t n) {
  size_t i = 0;
  for (; i < n && from[i]; ++i) to[i] = from[i];
  for (; i < n; ++i) to[i] = 0;
  return to;
}

__TD_FN char* strcat(char* to, const char* from) {
  strcpy(to + strlen(to), from);
  return to;
}

// The zero at the end counts as part of the text.
__TD_FN const char* strchr(const char* s, int c) {
  while (*s != (char)c)
    if (!*s++) return 0;
  return s;
}

__TD_FN const char* strrchr(const char* s, int c) {
  const char* found = 0;
  do {
    if (*s == (char)c) found = s;
  } while (*s++);
  return found;
}

__TD_FN const char* strstr(const char* s, const char* part) {
  const size_t n = strlen(part);
  for (;; ++s) {
    if (strncmp(s, part, n) == 0) return s;
    if (!*s) return 0;
  }
}

// Position of a set bit of `mask`, from bit `base` on: offset 1 is the first at or above it, -1 the
// first at or below, and so on; offset 0 asks for bit `base` itself. All ones when there is none.
__TD_FN unsigned __fns(unsigned mask, unsigned base, int offset) {
  base &= 31;
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int at = (int)base; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && --left == 0) return (unsigned)at;
  return ~0u;
}
