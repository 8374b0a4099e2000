// Arguments that the vector library's functions do not reach (it gives infinities, NaN, or zeros of
// the other sign there): the bodies of those rows of device_math.def. All of it is rare, so it
// stands behind branches, which cost nothing while no thread takes them.
#pragma once
#pragma clang system_header

#define TD_LN2 0.6931471805599453

__TD_FN double log1p(double x) { return x > 0x1p60 ? log(x) : __td_log1p(x); }
__TD_FN float __td_log1p_float(float x) { return x > 0x1p30f ? logf(x) : __td_log1pf(x); }

// sqrt(x^2 +- 1) overflows there; the logarithm of 2x is log(x) + log(2).
__TD_FN double asinh(double x) {
  if (!(__builtin_fabs(x) > 0x1p40)) return __td_asinh(x);
  return __builtin_copysign(log(__builtin_fabs(x)) + TD_LN2, x);
}
__TD_FN float __td_asinh_float(float x) {
  if (!(__builtin_fabsf(x) > 0x1p20f)) return __td_asinhf(x);
  return __builtin_copysignf(logf(__builtin_fabsf(x)) + (float)TD_LN2, x);
}
__TD_FN double acosh(double x) { return x > 0x1p40 ? log(x) + TD_LN2 : __td_acosh(x); }
__TD_FN float __td_acosh_float(float x) {
  return x > 0x1p20f ? logf(x) + (float)TD_LN2 : __td_acoshf(x);
}

// exp(|x|) / 2 = exp(|x| - 64 ln 2) * 2^63; the first part of 64 ln 2 is short, so that the
// difference is exact, and what it leaves out comes in behind the exponential.
__TD_FN double __td_half_exp(double x) {
  const double high = x - 0x1.62e42fefa398p+5;
  const double low = -0x1.bcd5e4f1d9ccp-41;
  const double e = exp(high);
  return e < __builtin_inf() ? __builtin_fma(e, low, e) * 0x1p63 : e;
}
__TD_FN double sinh(double x) {
  if (!(__builtin_fabs(x) > 700.0)) return __td_sinh(x);
  return __builtin_copysign(__td_half_exp(__builtin_fabs(x)), x);
}
__TD_FN double cosh(double x) {
  return __builtin_fabs(x) > 700.0 ? __td_half_exp(__builtin_fabs(x)) : __td_cosh(x);
}
__TD_FN float __td_sinh_float(float x) {
  return __builtin_fabsf(x) > 88.0f ? (float)__td_sinh((double)x) : __td_sinhf(x);
}
__TD_FN float __td_cosh_float(float x) {
  return __builtin_fabsf(x) > 88.0f ? (float)__td_cosh((double)x) : __td_coshf(x);
}

// Large arguments are reduced by multiples of 2, which is exact. sin(n pi) has n's sign, and
// cos((n + 1/2) pi) is +0.
__TD_FN double sinpi(double x) {
  const double s = __td_sinpi(x - 2.0 * __builtin_rint(0.5 * x));
  return s == 0.0 ? __builtin_copysign(0.0, x) : s;
}
__TD_FN float __td_sinpi_float(float x) {
  const float s = __td_sinpif(x - 2.0f * __builtin_rintf(0.5f * x));
  return s == 0.0f ? __builtin_copysignf(0.0f, x) : s;
}
__TD_FN double cospi(double x) { return __td_cospi(x - 2.0 * __builtin_rint(0.5 * x)) + 0.0; }
__TD_FN float __td_cospi_float(float x) {
  return __td_cospif(x - 2.0f * __builtin_rintf(0.5f * x)) + 0.0f;
}

// Just below the largest double the library overflows too early.
__TD_FN double pow(double x, double y) {
  const double p = __td_pow(x, y);
  if (!__builtin_isinf(p) || !__builtin_isfinite(x) || x == 0.0 || !__builtin_isfinite(y)) return p;
  const double root = __td_pow(__builtin_fabs(x), 0.5 * y);
  return __builtin_copysign(root * root, p);
}

// The library's quotients overflow where x is very much larger than y. A multiple of y first
// brings x closer, which does not change the remainder.
__TD_FN double fmod(double x, double y) {
  const double size = __builtin_fabs(x), d = __builtin_fabs(y);
  if (!(size > d * 0x1p600)) return __td_fmod(x, y);
  double rest = size;
  if (d * 0x1p1000 * 0x1p200 < size) rest = __td_fmod(rest, d * 0x1p1000 * 0x1p200);
  return __builtin_copysign(__td_fmod(__td_fmod(rest, d * 0x1p600), d), x);
}
__TD_FN float __td_fmod_float(float x, float y) {
  if (__builtin_fabsf(x) > __builtin_fabsf(y) * 0x1p60f)
    return (float)__td_fmod((double)x, (double)y);
  return __td_fmodf(x, y);
}

// One step of Newton's method, with an exact residual.
__TD_FN double rsqrt(double x) {
#pragma clang fp contract(off)
  const double r = 1.0 / __builtin_sqrt(x);
  const double product = x * r, rest = __builtin_fma(x, r, -product);
  const double residual = __builtin_fma(-product, r, 1.0) - rest * r;
  const double better = __builtin_fma(0.5 * r, residual, r);
  return better == better ? better : r;
}
#undef TD_LN2
