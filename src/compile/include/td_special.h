// Special functions: bodies of the BODY rows of device_math.def. The float forms are these, rounded
// once more. The polynomials interpolate the functions at Chebyshev points, computed with 50 digits
// (tools/fit_special.py prints this file's first half); t is the variable of each.
#pragma once
#pragma clang system_header

// (1 + 2x / sqrt(pi)) erfcx(x) for x >= 0 and t = (x - 3.75) / (x + 3.75)
__TD_FN double __td_erfcx_fit(double t) {
  double p = -0x1.edaaea1ee4915p-36;
  p = __builtin_fma(p, t, 0x1.e00794520aba5p-33);
  p = __builtin_fma(p, t, 0x1.abdb388a17206p-32);
  p = __builtin_fma(p, t, -0x1.6b79fc035228ap-29);
  p = __builtin_fma(p, t, -0x1.a5108f0363185p-29);
  p = __builtin_fma(p, t, 0x1.5296947881165p-26);
  p = __builtin_fma(p, t, 0x1.30802cc2c832fp-26);
  p = __builtin_fma(p, t, -0x1.1bf95f1080594p-23);
  p = __builtin_fma(p, t, -0x1.1536dff2eb545p-24);
  p = __builtin_fma(p, t, 0x1.e7a8d147516bcp-21);
  p = __builtin_fma(p, t, -0x1.18bd81d4a6732p-22);
  p = __builtin_fma(p, t, -0x1.9b6841ebc8f0dp-18);
  p = __builtin_fma(p, t, 0x1.4d5412552bc9bp-17);
  p = __builtin_fma(p, t, 0x1.018b6838e6a88p-15);
  p = __builtin_fma(p, t, -0x1.2b87b23680c68p-13);
  p = __builtin_fma(p, t, 0x1.a059620acd547p-14);
  p = __builtin_fma(p, t, 0x1.00bce4eeda40fp-10);
  p = __builtin_fma(p, t, -0x1.34e1da1d6ee93p-8);
  p = __builtin_fma(p, t, 0x1.96f2b3f0d0438p-7);
  p = __builtin_fma(p, t, -0x1.72271fa6605f0p-6);
  p = __builtin_fma(p, t, 0x1.cdecff6bda4e4p-6);
  p = __builtin_fma(p, t, -0x1.111f1d7860662p-6);
  p = __builtin_fma(p, t, -0x1.976a51bbdf45ep-6);
  p = __builtin_fma(p, t, 0x1.9bba5c37a167dp-4);
  p = __builtin_fma(p, t, -0x1.961516ac29bddp-3);
  p = __builtin_fma(p, t, 0x1.85f5d7a0df6cbp-1);
  return p;
}

// erfinv(y) / y for |y| <= 0.5 and t = 8 y^2 - 1
__TD_FN double __td_erfinv_fit(double t) {
  double p = 0x1.ede07d1651b6cp-46;
  p = __builtin_fma(p, t, 0x1.d17c7b07ac5f5p-43);
  p = __builtin_fma(p, t, 0x1.9e7921c41ccd2p-40);
  p = __builtin_fma(p, t, 0x1.8e278f9035352p-37);
  p = __builtin_fma(p, t, 0x1.82612730b09e3p-34);
  p = __builtin_fma(p, t, 0x1.7a340d2857d16p-31);
  p = __builtin_fma(p, t, 0x1.76f884a507bd0p-28);
  p = __builtin_fma(p, t, 0x1.79cf22ed476e7p-25);
  p = __builtin_fma(p, t, 0x1.84ae1144b9184p-22);
  p = __builtin_fma(p, t, 0x1.9b356dec0d0fbp-19);
  p = __builtin_fma(p, t, 0x1.c499564b109fap-16);
  p = __builtin_fma(p, t, 0x1.08877d2b56c98p-12);
  p = __builtin_fma(p, t, 0x1.56a033eae07a1p-9);
  p = __builtin_fma(p, t, 0x1.12fc00eac5524p-5);
  p = __builtin_fma(p, t, 0x1.d5b68cab21ed6p-1);
  return p;
}

// erfcinv(exp(-s^2)) for s from 0.8325 to 2.5 and t = (s - 1.66625) / 0.83375
__TD_FN double __td_erfcinv_fit0(double t) {
  double p = 0x1.9f7f0a18b3031p-34;
  p = __builtin_fma(p, t, -0x1.deb92320aaac7p-33);
  p = __builtin_fma(p, t, -0x1.d20377469258cp-33);
  p = __builtin_fma(p, t, 0x1.fd7364e992105p-31);
  p = __builtin_fma(p, t, -0x1.169437ba953f3p-30);
  p = __builtin_fma(p, t, 0x1.58eb2bccccd7dp-29);
  p = __builtin_fma(p, t, -0x1.0ccd1d126f1a6p-27);
  p = __builtin_fma(p, t, 0x1.cef57daf98e20p-27);
  p = __builtin_fma(p, t, -0x1.5e91202355d3ap-27);
  p = __builtin_fma(p, t, -0x1.d0eea1012cd12p-26);
  p = __builtin_fma(p, t, 0x1.75125924b7fedp-23);
  p = __builtin_fma(p, t, -0x1.42d9d56c677d0p-21);
  p = __builtin_fma(p, t, 0x1.aebcebf716eacp-20);
  p = __builtin_fma(p, t, -0x1.d1849bb757ee3p-19);
  p = __builtin_fma(p, t, 0x1.7c0fba09536d8p-18);
  p = __builtin_fma(p, t, -0x1.0a4cfaebb7b43p-18);
  p = __builtin_fma(p, t, -0x1.2ac12d68e6332p-16);
  p = __builtin_fma(p, t, 0x1.c63c0ca87c823p-14);
  p = __builtin_fma(p, t, -0x1.9b5a6d4ae3e5cp-12);
  p = __builtin_fma(p, t, 0x1.2c9a76e1515f5p-10);
  p = __builtin_fma(p, t, -0x1.7979c4b2887d9p-9);
  p = __builtin_fma(p, t, 0x1.96d67f21554acp-8);
  p = __builtin_fma(p, t, -0x1.5cdfef1a63e37p-7);
  p = __builtin_fma(p, t, 0x1.2438af41bf0dep-7);
  p = __builtin_fma(p, t, 0x1.be574387ae4cep-1);
  p = __builtin_fma(p, t, 0x1.517eeefde277ap+0);
  return p;
}

// erfcinv(exp(-s^2)) for s from 2.5 to 8 and t = (s - 5.25) / 2.75
__TD_FN double __td_erfcinv_fit1(double t) {
  double p = 0x1.b3e3bb03c2c09p-30;
  p = __builtin_fma(p, t, -0x1.0e3a97ee66416p-29);
  p = __builtin_fma(p, t, -0x1.3691430153252p-27);
  p = __builtin_fma(p, t, 0x1.d338ac8157551p-27);
  p = __builtin_fma(p, t, 0x1.b424a321abe21p-27);
  p = __builtin_fma(p, t, -0x1.77431dd9a1b81p-27);
  p = __builtin_fma(p, t, -0x1.f6cd4b72b1ed8p-25);
  p = __builtin_fma(p, t, 0x1.be1688c2a7eb6p-24);
  p = __builtin_fma(p, t, -0x1.098e492724a92p-23);
  p = __builtin_fma(p, t, 0x1.2e00a544a5fcep-22);
  p = __builtin_fma(p, t, -0x1.61653f4486c45p-21);
  p = __builtin_fma(p, t, 0x1.610b9af2b12bdp-20);
  p = __builtin_fma(p, t, -0x1.582b5012d9693p-19);
  p = __builtin_fma(p, t, 0x1.4f886d2b5829bp-18);
  p = __builtin_fma(p, t, -0x1.409d4f740275fp-17);
  p = __builtin_fma(p, t, 0x1.2a93fc6e0c54bp-16);
  p = __builtin_fma(p, t, -0x1.0e1b34f431443p-15);
  p = __builtin_fma(p, t, 0x1.d68ced6454492p-15);
  p = __builtin_fma(p, t, -0x1.84147f80a982dp-14);
  p = __builtin_fma(p, t, 0x1.24a4633752cacp-13);
  p = __builtin_fma(p, t, -0x1.6f7a714e89efep-13);
  p = __builtin_fma(p, t, 0x1.e1a24125f6d0dp-14);
  p = __builtin_fma(p, t, 0x1.41818d43ebf84p-12);
  p = __builtin_fma(p, t, -0x1.e5a68661fa185p-10);
  p = __builtin_fma(p, t, 0x1.b4fbe0c012232p-8);
  p = __builtin_fma(p, t, -0x1.56580729c7f52p-6);
  p = __builtin_fma(p, t, 0x1.6828871c8263ep+1);
  p = __builtin_fma(p, t, 0x1.424349bf387c8p+2);
  return p;
}

// erfcinv(exp(-s^2)) for s from 8 to 27.5 and t = (s - 17.75) / 9.75
__TD_FN double __td_erfcinv_fit2(double t) {
  double p = -0x1.9e12e756e54a1p-27;
  p = __builtin_fma(p, t, 0x1.4582d2cd6338ap-26);
  p = __builtin_fma(p, t, 0x1.bd9b829d53b0ep-25);
  p = __builtin_fma(p, t, -0x1.4eb1d64167bc8p-24);
  p = __builtin_fma(p, t, -0x1.131bc1798fb59p-23);
  p = __builtin_fma(p, t, 0x1.89f162d6a403bp-23);
  p = __builtin_fma(p, t, 0x1.6e29cb1138bd6p-23);
  p = __builtin_fma(p, t, -0x1.fd2598e61db4fp-23);
  p = __builtin_fma(p, t, -0x1.54691d990ca07p-23);
  p = __builtin_fma(p, t, 0x1.71773faf3df77p-23);
  p = __builtin_fma(p, t, 0x1.01bf1a5e0944cp-22);
  p = __builtin_fma(p, t, -0x1.fb44a2c3ab01fp-22);
  p = __builtin_fma(p, t, 0x1.9de7ca3400070p-21);
  p = __builtin_fma(p, t, -0x1.ec0c06af06f12p-20);
  p = __builtin_fma(p, t, 0x1.1bb9daee49bfap-18);
  p = __builtin_fma(p, t, -0x1.34dea6ec7255dp-17);
  p = __builtin_fma(p, t, 0x1.4b261bb7732b1p-16);
  p = __builtin_fma(p, t, -0x1.5fde6ee55c6e4p-15);
  p = __builtin_fma(p, t, 0x1.72fb04f04f9a2p-14);
  p = __builtin_fma(p, t, -0x1.851d353aa12abp-13);
  p = __builtin_fma(p, t, 0x1.970f386e86d50p-12);
  p = __builtin_fma(p, t, -0x1.a9c20feeeb786p-11);
  p = __builtin_fma(p, t, 0x1.be7bb92af12b8p-10);
  p = __builtin_fma(p, t, -0x1.d725c89b3866bp-9);
  p = __builtin_fma(p, t, 0x1.f6ff167f679d9p-8);
  p = __builtin_fma(p, t, -0x1.123f23d1e3292p-6);
  p = __builtin_fma(p, t, 0x1.3938053fe957bp+3);
  p = __builtin_fma(p, t, 0x1.1a71708a4daaep+4);
  return p;
}

// ---- error functions
// exp(high + low) for a low part far below 1.
__TD_FN double __td_exp_pair(double high, double low) {
  const double e = exp(high);
  return e < __builtin_inf() ? __builtin_fma(e, low, e) : e;
}

__TD_FN double __td_erfcx_of_positive(double x) {
  const double far = 0.5641895835477563 / x;  // 1 / sqrt(pi)
  const double near =
      __td_erfcx_fit((x - 3.75) / (x + 3.75)) / __builtin_fma(1.1283791670955126, x, 1.0);
  return x > 1e9 ? far : near;
}

// erfcx(-x) = 2 exp(x^2) - erfcx(x); the part of x^2 that a product drops matters there.
__TD_FN double erfcx(double x) {
#pragma clang fp contract(off)
  const double tail = __td_erfcx_of_positive(__builtin_fabs(x));
  if (!(x < 0.0)) return x != x ? x : tail;
  const double square = x * x;
  return square > 800.0 ? __builtin_inf()
                        : 2.0 * __td_exp_pair(square, __builtin_fma(x, x, -square)) - tail;
}

// p in (0, 0.5].
__TD_FN double __td_erfcinv_tail(double p) {
  const double s = __builtin_sqrt(-log(p));
  if (s < 2.5) return __td_erfcinv_fit0((s - 1.66625) / 0.83375);
  if (s < 8.0) return __td_erfcinv_fit1((s - 5.25) / 2.75);
  return p > 0.0 ? __td_erfcinv_fit2((s - 17.75) / 9.75) : __builtin_inf();
}

__TD_FN double __td_erfinv_center(double y) {
  return y * __td_erfinv_fit(__builtin_fma(8.0 * y, y, -1.0));
}

// 1 - |y| is exact where it is needed. NaN beyond -1 and 1, infinity there.
__TD_FN double erfinv(double y) {
  const double size = __builtin_fabs(y);
  if (size <= 0.5) return __td_erfinv_center(y);
  if (!(size <= 1.0)) return __builtin_nan("");
  return __builtin_copysign(__td_erfcinv_tail(1.0 - size), y);
}

__TD_FN double erfcinv(double y) {
  const double center = 1.0 - y;
  if (__builtin_fabs(center) <= 0.5) return __td_erfinv_center(center);
  if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
  return y < 1.0 ? __td_erfcinv_tail(y) : -__td_erfcinv_tail(2.0 - y);
}

// -sqrt(2) erfcinv(2 p), with the arguments that are exact.
__TD_FN double normcdfinv(double p) {
#pragma clang fp contract(off)
  const double root = 1.4142135623730951;
  if (p >= 0.25 && p <= 0.75) return root * __td_erfinv_center(2.0 * p - 1.0);
  if (!(p >= 0.0 && p <= 1.0)) return __builtin_nan("");
  return p < 0.5 ? -root * __td_erfcinv_tail(2.0 * p) : root * __td_erfcinv_tail(2.0 * (1.0 - p));
}

// erfc(z) / 2 with z = |x| / sqrt(2), as erfcx(z) exp(-z^2) / 2: the square needs more than 53
// bits. Beyond 40 the tail is 0.
__TD_FN double normcdf(double x) {
#pragma clang fp contract(off)
  const double size = __builtin_fabs(x) > 40.0 ? 40.0 : __builtin_fabs(x);
  const double square = size * size, rest = __builtin_fma(size, size, -square);
  const double tail = 0.5 * __td_erfcx_of_positive(size * 0.7071067811865476) *
                      __td_exp_pair(-0.5 * square, -0.5 * rest);
  return x < 0.0 ? tail : 1.0 - tail;
}

// ---- roots and norms
// One step of Newton's method, whose residual 1 - x y^3 is computed from exact products.
__TD_FN double rcbrt(double x) {
#pragma clang fp contract(off)
  const double y = 1.0 / cbrt(x);
  const double square = y * y, square_rest = __builtin_fma(y, y, -square);
  const double product = x * y, product_rest = __builtin_fma(x, y, -product);
  const double residual =
      __builtin_fma(-square, product, 1.0) - (square * product_rest + square_rest * product);
  const double better = __builtin_fma(y * 0.3333333333333333, residual, y);
  return better == better ? better : y;
}

// high + low = (x^2 + y^2 + z^2 + w^2) * 2^(-2 exponent), near 1. Infinite when a number is; NaN
// only without an infinite one.
struct __td_square_sum {
  double high, low;
  int exponent;
};

__TD_FN __td_pair __td_add_square(__td_pair sum, double x) {
#pragma clang fp contract(off)
  const double square = x * x;
  const __td_pair s = __td_sum(sum.value, square);
  return {s.value, sum.rest + (s.rest + __builtin_fma(x, x, -square))};
}

__TD_FN __td_square_sum __td_squares(double x, double y, double z, double w) {
  const double a = __builtin_fmax(__builtin_fabs(x), __builtin_fabs(y));
  const double largest = __builtin_fmax(a, __builtin_fmax(__builtin_fabs(z), __builtin_fabs(w)));
  int e;
  __td_normalized(largest, 0, &e);
  const double s = __td_power_of_2(-e / 2), t = __td_power_of_2(-e - -e / 2);
  __td_pair sum = __td_exact(0.0);
  sum = __td_add_square(sum, x * s * t);
  sum = __td_add_square(sum, y * s * t);
  sum = __td_add_square(sum, z * s * t);
  sum = __td_add_square(sum, w * s * t);
  const bool infinite = largest == __builtin_inf();
  return {infinite ? largest : sum.value, infinite || !(sum.value > 0.0) ? 0.0 : sum.rest, e};
}

__TD_FN double __td_norm4(double x, double y, double z, double w) {
#pragma clang fp contract(off)
  const __td_square_sum s = __td_squares(x, y, z, w);
  const double root = __builtin_sqrt(s.high);
  const double better = root + (__builtin_fma(-root, root, s.high) + s.low) / (2.0 * root);
  return ldexp(s.high > 0.0 && s.high < __builtin_inf() ? better : root, s.exponent);
}

__TD_FN double __td_rnorm4(double x, double y, double z, double w) {
#pragma clang fp contract(off)
  const __td_square_sum s = __td_squares(x, y, z, w);
  const double r = 1.0 / __builtin_sqrt(s.high);
  const double square = r * r, square_rest = __builtin_fma(r, r, -square);
  const double residual =
      __builtin_fma(-s.high, square, 1.0) - (s.high * square_rest + s.low * square);
  const double better = __builtin_fma(0.5 * r, residual, r);
  return ldexp(s.high > 0.0 && s.high < __builtin_inf() ? better : r, -s.exponent);
}

__TD_FN double rhypot(double x, double y) { return __td_rnorm4(x, y, 0.0, 0.0); }
__TD_FN double norm3d(double x, double y, double z) { return __td_norm4(x, y, z, 0.0); }
__TD_FN double rnorm3d(double x, double y, double z) { return __td_rnorm4(x, y, z, 0.0); }
__TD_FN double norm4d(double x, double y, double z, double w) { return __td_norm4(x, y, z, w); }
__TD_FN double rnorm4d(double x, double y, double z, double w) { return __td_rnorm4(x, y, z, w); }

// Squares of floats do not overflow in double.
__TD_FN double __td_norm4d_of_floats(double x, double y, double z, double w) {
  const double sum = x * x + y * y + (z * z + w * w);
  const double inf = __builtin_inf();
  const bool infinite = __builtin_fabs(x) == inf || __builtin_fabs(y) == inf ||
                        __builtin_fabs(z) == inf || __builtin_fabs(w) == inf;
  return infinite ? inf : __builtin_sqrt(sum);
}
__TD_FN float __td_norm4df(float x, float y, float z, float w) {
  return (float)__td_norm4d_of_floats(x, y, z, w);
}
__TD_FN float __td_rnorm4df(float x, float y, float z, float w) {
  return (float)(1.0 / __td_norm4d_of_floats(x, y, z, w));
}

// The root of the sum of the squares, which are scaled by the largest element so that none
// overflows: root * 2^exponent.
__TD_FN double __td_norm_of_array(int count, const double* p, int* exponent) {
  double largest = 0.0, sum = 0.0;
  bool nan = false;
  for (int i = 0; i < count; ++i) {
    largest = __builtin_fmax(largest, __builtin_fabs(p[i]));
    nan |= p[i] != p[i];
  }
  __td_normalized(largest, 0, exponent);
  for (int i = 0; i < count; ++i) {
    const double x = ldexp(p[i], -*exponent);
    sum = __builtin_fma(x, x, sum);
  }
  const double inf = __builtin_inf();
  return largest == inf ? inf : nan ? __builtin_nan("") : __builtin_sqrt(sum);
}
__TD_FN double norm(int count, const double* p) {
  int e;
  const double root = __td_norm_of_array(count, p, &e);
  return ldexp(root, e);
}
__TD_FN double rnorm(int count, const double* p) {
  int e;
  const double root = __td_norm_of_array(count, p, &e);
  return ldexp(1.0 / root, -e);
}

__TD_FN double __td_norm_of_floats(int count, const float* p) {
  double sum = 0.0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    sum += (double)p[i] * p[i];
    infinite |= __builtin_isinf(p[i]);
  }
  return infinite ? __builtin_inf() : __builtin_sqrt(sum);
}
__TD_FN float normf(int count, const float* p) { return (float)__td_norm_of_floats(count, p); }
__TD_FN float rnormf(int count, const float* p) {
  return (float)(1.0 / __td_norm_of_floats(count, p));
}
