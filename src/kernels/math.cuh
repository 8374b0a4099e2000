// Floating-point functions of tables/ops.def. float16 and bfloat16 compute in float and round once;
// complex functions use Kahan's formulas. Nothing here is contracted: kernels are compiled with
// --fmad=false, so that fusing changes no result.

#ifdef TD_HALF
#define TD_HALF_UNARY(name, f)                                   \
  TD_FN td_half name(td_half x) { return td_half(f((float)x)); } \
  TD_FN td_bfloat name(td_bfloat x) { return td_bfloat(f((float)x)); }
#define TD_HALF_BINARY(name, f)                                                       \
  TD_FN td_half name(td_half x, td_half y) { return td_half(f((float)x, (float)y)); } \
  TD_FN td_bfloat name(td_bfloat x, td_bfloat y) { return td_bfloat(f((float)x, (float)y)); }
#else
#define TD_HALF_UNARY(name, f)
#define TD_HALF_BINARY(name, f)
#endif
#define TD_UNARY(name, fn)                       \
  TD_FN float name(float x) { return fn##f(x); } \
  TD_FN double name(double x) { return fn(x); }  \
  TD_HALF_UNARY(name, fn##f)
#define TD_BINARY(name, fn)                                  \
  TD_FN float name(float x, float y) { return fn##f(x, y); } \
  TD_FN double name(double x, double y) { return fn(x, y); } \
  TD_HALF_BINARY(name, fn##f)

TD_UNARY(td_sqrt, sqrt)
TD_UNARY(td_cbrt, cbrt)
TD_UNARY(td_exp, exp)
TD_UNARY(td_exp2, exp2)
TD_UNARY(td_expm1, expm1)
TD_UNARY(td_log, log)
TD_UNARY(td_log2, log2)
TD_UNARY(td_log10, log10)
TD_UNARY(td_log1p, log1p)
TD_UNARY(td_sin, sin)
TD_UNARY(td_cos, cos)
TD_UNARY(td_tan, tan)
TD_UNARY(td_asin, asin)
TD_UNARY(td_acos, acos)
TD_UNARY(td_atan, atan)
TD_UNARY(td_sinh, sinh)
TD_UNARY(td_cosh, cosh)
TD_UNARY(td_tanh, tanh)
TD_UNARY(td_asinh, asinh)
TD_UNARY(td_acosh, acosh)
TD_UNARY(td_atanh, atanh)
TD_UNARY(td_float_floor, floor)
TD_UNARY(td_float_ceil, ceil)
TD_UNARY(td_float_trunc, trunc)
TD_UNARY(td_rint, rint)
TD_UNARY(td_float_abs, fabs)
TD_BINARY(td_hypot, hypot)
TD_BINARY(td_atan2, atan2)
TD_BINARY(td_float_pow, pow)
TD_BINARY(td_float_fmod, fmod)
TD_BINARY(td_copysign, copysign)
TD_BINARY(td_float_nextafter, nextafter)

// Integers and bool are their own floor, ceil and trunc.
template <class T>
TD_FN T td_floor(T x) {
  if constexpr (td_traits<T>::floating)
    return td_float_floor(x);
  else
    return x;
}
template <class T>
TD_FN T td_ceil(T x) {
  if constexpr (td_traits<T>::floating)
    return td_float_ceil(x);
  else
    return x;
}
template <class T>
TD_FN T td_trunc(T x) {
  if constexpr (td_traits<T>::floating)
    return td_float_trunc(x);
  else
    return x;
}

// The absolute value of the lowest signed integer wraps to itself.
template <class T>
TD_FN T td_abs(T x) {
  if constexpr (td_traits<T>::floating)
    return td_float_abs(x);
  else if constexpr (td_traits<T>::is_signed)
    return x < T(0) ? T(0ull - (unsigned long long)x) : x;
  else
    return x;
}

// float functions as NumPy composes them
TD_FN float td_degrees(float x) { return x * (180.0f / 3.14159265358979323846f); }
TD_FN double td_degrees(double x) { return x * (180.0 / 3.14159265358979323846); }
TD_HALF_UNARY(td_degrees, td_degrees)
TD_FN float td_radians(float x) { return x * (3.14159265358979323846f / 180.0f); }
TD_FN double td_radians(double x) { return x * (3.14159265358979323846 / 180.0); }
TD_HALF_UNARY(td_radians, td_radians)

template <class T>
TD_FN T td_real_heaviside(T x, T at_zero) {
  return x != x ? x : x == T(0) ? at_zero : x < T(0) ? T(0) : T(1);
}
template <class T>
TD_FN T td_real_logaddexp(T x, T y) {
  if (x == y) return x + T(0.6931471805599453);
  T d = x - y;
  if (d > T(0)) return x + td_log1p(td_exp(-d));
  return d <= T(0) ? y + td_log1p(td_exp(d)) : d;
}
template <class T>
TD_FN T td_real_logaddexp2(T x, T y) {
  if (x == y) return x + T(1);
  T d = x - y;
  if (d > T(0)) return x + td_log1p(td_exp2(-d)) * T(1.4426950408889634);
  return d <= T(0) ? y + td_log1p(td_exp2(d)) * T(1.4426950408889634) : d;
}

// Floor division and remainder through fmod: exact remainders, and the pair always satisfies q*y +
// r == x to rounding.
template <class T>
TD_FN T td_real_floor_divide(T x, T y) {
  if (y == T(0)) return x / y;
  T r = td_float_fmod(x, y);
  T q = (x - r) / y;
  if (r != T(0) && ((y < T(0)) != (r < T(0)))) q = q - T(1);
  if (q == T(0)) return td_copysign(T(0), x / y);
  T whole = td_float_floor(q);
  return q - whole > T(0.5) ? whole + T(1) : whole;
}
template <class T>
TD_FN T td_real_remainder(T x, T y) {
  T r = td_float_fmod(x, y);
  if (y == T(0)) return r;
  if (r == T(0)) return td_copysign(T(0), y);
  return (y < T(0)) != (r < T(0)) ? r + y : r;
}

#define TD_LIFT2(name, f)                                           \
  TD_FN float name(float x, float y) { return f<float>(x, y); }     \
  TD_FN double name(double x, double y) { return f<double>(x, y); } \
  TD_HALF_BINARY(name, f<float>)
TD_LIFT2(td_heaviside, td_real_heaviside)
TD_LIFT2(td_logaddexp, td_real_logaddexp)
TD_LIFT2(td_logaddexp2, td_real_logaddexp2)
TD_LIFT2(td_float_floor_divide, td_real_floor_divide)
TD_LIFT2(td_float_remainder, td_real_remainder)
#undef TD_LIFT2

TD_FN float td_ldexp(float x, int n) { return ldexpf(x, n); }
TD_FN double td_ldexp(double x, int n) { return ldexp(x, n); }
TD_FN float td_nextafter(float x, float y) { return td_float_nextafter(x, y); }
TD_FN double td_nextafter(double x, double y) { return td_float_nextafter(x, y); }
#ifdef TD_HALF
TD_FN td_half td_ldexp(td_half x, int n) { return td_half(ldexpf((float)x, n)); }
TD_FN td_bfloat td_ldexp(td_bfloat x, int n) { return td_bfloat(ldexpf((float)x, n)); }
template <class T>
TD_FN T td_half_nextafter(T x, T y) {
  float a = x, b = y;
  if (a != a || b != b) return td_from_bits<T>(T::nan);
  if (a == b) return y;
  if (a == 0.0f) return td_from_bits<T>((unsigned short)((y.bits & 0x8000u) | 1u));
  bool grow = (a < b) == (a > 0.0f);
  return td_from_bits<T>((unsigned short)(grow ? x.bits + 1u : x.bits - 1u));
}
TD_FN td_half td_nextafter(td_half x, td_half y) { return td_half_nextafter(x, y); }
TD_FN td_bfloat td_nextafter(td_bfloat x, td_bfloat y) { return td_half_nextafter(x, y); }
#endif

// The argument of a real number: 0 or pi.
template <class T>
TD_FN T td_angle(T x) {
  return td_atan2(T(0.0f), x);
}

#ifdef TD_COMPLEX
template <class T>
TD_FN T td_abs(td_complex<T> z) {
  return td_hypot(z.re, z.im);
}
template <class T>
TD_FN T td_angle(td_complex<T> z) {
  return td_atan2(z.im, z.re);
}
template <class T>
TD_FN td_complex<T> td_times_i(td_complex<T> z) {
  return {-z.im, z.re};
}
template <class T>
TD_FN td_complex<T> td_over_i(td_complex<T> z) {
  return {z.im, -z.re};
}
template <class T>
TD_FN td_complex<T> td_rint(td_complex<T> z) {
  return {td_rint(z.re), td_rint(z.im)};
}
template <class T>
TD_FN td_complex<T> td_complex_sign(td_complex<T> z) {
  T length = td_abs(z);
  return {z.re / length, z.im / length};
}

// Infinities and NaN as C99's Annex G has them.
template <class T>
TD_FN bool td_finite(T x) {
  return x - x == T(0);
}
template <class T>
TD_FN bool td_infinite(T x) {
  return x == x && x - x != T(0);
}

template <class T>
TD_FN td_complex<T> td_exp(td_complex<T> z) {
  T scale = td_exp(z.re);
  if (z.im == T(0)) return {scale, z.im};
  if (!td_finite(z.im)) {
    T nan = z.im - z.im;
    if (!td_infinite(z.re)) return {nan, nan};
    return z.re > T(0) ? td_complex<T>(z.re, nan) : td_complex<T>(T(0), T(0));
  }
  if (scale == T(0)) return {td_copysign(T(0), td_cos(z.im)), td_copysign(T(0), td_sin(z.im))};
  return {scale * td_cos(z.im), scale * td_sin(z.im)};
}
// log |z| without losing digits where |z| is near 1.
template <class T>
TD_FN T td_log_abs(td_complex<T> z) {
  T a = td_float_abs(z.re), b = td_float_abs(z.im);
  T large = a > b ? a : b, small = a > b ? b : a;
  if (large > T(0.5) && large < T(2))
    return T(0.5) * td_log1p((large - T(1)) * (large + T(1)) + small * small);
  return td_log(td_hypot(z.re, z.im));
}
template <class T>
TD_FN td_complex<T> td_log(td_complex<T> z) {
  return {td_log_abs(z), td_angle(z)};
}
template <class T>
TD_FN td_complex<T> td_log2(td_complex<T> z) {
  td_complex<T> w = td_log(z);
  return {w.re * T(1.4426950408889634), w.im * T(1.4426950408889634)};
}
template <class T>
TD_FN td_complex<T> td_log10(td_complex<T> z) {
  td_complex<T> w = td_log(z);
  return {w.re * T(0.4342944819032518), w.im * T(0.4342944819032518)};
}
template <class T>
TD_FN td_complex<T> td_log1p(td_complex<T> z) {
  T l = td_hypot(z.re + T(1), z.im);
  return {td_log(l), td_atan2(z.im, z.re + T(1))};
}
template <class T>
TD_FN td_complex<T> td_exp2(td_complex<T> z) {
  return td_exp(td_complex<T>(z.re * T(0.6931471805599453), z.im * T(0.6931471805599453)));
}
template <class T>
TD_FN td_complex<T> td_expm1(td_complex<T> z) {
  if (z.im == T(0)) return {td_expm1(z.re), z.im};
  if (td_infinite(z.re) && !td_finite(z.im))
    return z.re > T(0) ? td_complex<T>(z.re, z.im - z.im) : td_complex<T>(T(-1), T(0));
  T s = td_sin(z.im / T(2));
  return {td_expm1(z.re) * td_cos(z.im) - T(2) * s * s, td_exp(z.re) * td_sin(z.im)};
}
template <class T>
TD_FN td_complex<T> td_sqrt(td_complex<T> z) {
  T a = td_float_abs(z.re), b = td_float_abs(z.im);
  if (a == T(0) && b == T(0)) return {T(0), z.im};
  if (b > T(0) && b == b + b) return {b, z.im};
  T t = td_sqrt(a / T(2) + td_hypot(z.re / T(2), z.im / T(2)));
  if (z.re >= T(0)) return {t, z.im / (T(2) * t)};
  return {b / (T(2) * t), td_copysign(t, z.im)};
}
template <class T>
TD_FN td_complex<T> td_sinh(td_complex<T> z) {
  if (z.im == T(0)) return {td_sinh(z.re), z.im};
  if (!td_finite(z.im) && (z.re == T(0) || td_infinite(z.re))) return {z.re, z.im - z.im};
  return {td_sinh(z.re) * td_cos(z.im), td_cosh(z.re) * td_sin(z.im)};
}
template <class T>
TD_FN td_complex<T> td_cosh(td_complex<T> z) {
  if (z.im == T(0)) return {td_cosh(z.re), td_copysign(T(1), z.re) * z.im};
  if (!td_finite(z.im)) {
    if (z.re == T(0)) return {z.im - z.im, T(0)};
    if (td_infinite(z.re)) return {td_float_abs(z.re), z.im - z.im};
  }
  return {td_cosh(z.re) * td_cos(z.im), td_sinh(z.re) * td_sin(z.im)};
}
template <class T>
TD_FN td_complex<T> td_tanh(td_complex<T> z) {
  T a = td_float_abs(z.re);
  if (z.im == T(0)) return {td_tanh(z.re), z.im};
  if (!td_finite(z.im)) {
    T nan = z.im - z.im;
    if (td_infinite(z.re)) return {td_copysign(T(1), z.re), td_copysign(T(0), z.im)};
    return {z.re == T(0) ? z.re : nan, nan};
  }
  if (a > T(22)) {
    T e = td_exp(-a);
    return {td_copysign(T(1), z.re), T(4) * td_sin(z.im) * td_cos(z.im) * e * e};
  }
  T t = td_tan(z.im), beta = T(1) + t * t, s = td_sinh(z.re), rho = td_sqrt(T(1) + s * s),
    d = T(1) + beta * s * s;
  return {beta * rho * s / d, t / d};
}
template <class T>
TD_FN td_complex<T> td_sin(td_complex<T> z) {
  return td_over_i(td_sinh(td_times_i(z)));
}
template <class T>
TD_FN td_complex<T> td_cos(td_complex<T> z) {
  return td_cosh(td_times_i(z));
}
template <class T>
TD_FN td_complex<T> td_tan(td_complex<T> z) {
  return td_over_i(td_tanh(td_times_i(z)));
}

template <class T>
TD_FN td_complex<T> td_root_above(td_complex<T> z) {
  return td_sqrt(td_complex<T>(T(1) + z.re, z.im));
}
template <class T>
TD_FN td_complex<T> td_root_below(td_complex<T> z) {
  return td_sqrt(td_complex<T>(T(1) - z.re, -z.im));
}
// asinh where a part is not finite.
template <class T>
TD_FN td_complex<T> td_asinh_limit(td_complex<T> z) {
  T x = td_float_abs(z.re), nan = z.re - z.re + (z.im - z.im);
  if (td_infinite(z.re) || td_infinite(z.im)) {
    T large = td_infinite(z.re) ? x : td_float_abs(z.im);
    return {td_copysign(large, z.re), x == x ? td_atan2(z.im, x) : nan};
  }
  return {nan, z.im == T(0) ? z.im : nan};
}
template <class T>
TD_FN td_complex<T> td_asin(td_complex<T> z) {
  if (!td_finite(z.re) || !td_finite(z.im)) return td_over_i(td_asinh_limit(td_times_i(z)));
  td_complex<T> p = td_root_above(z), m = td_root_below(z);
  return {td_atan2(z.re, m.re * p.re - m.im * p.im), td_asinh(m.re * p.im - m.im * p.re)};
}
template <class T>
TD_FN td_complex<T> td_acos(td_complex<T> z) {
  if (!td_finite(z.re) || !td_finite(z.im)) {
    T y = td_float_abs(z.im), nan = z.re - z.re + (z.im - z.im);
    if (td_infinite(z.re) || td_infinite(z.im)) {
      T large = td_infinite(z.im) ? y : td_float_abs(z.re);
      return {y == y && z.re == z.re ? td_atan2(y, z.re) : nan, -td_copysign(large, z.im)};
    }
    return {z.re == T(0) ? td_atan2(T(1), T(0)) : nan, nan};
  }
  td_complex<T> p = td_root_above(z), m = td_root_below(z);
  return {T(2) * td_atan2(m.re, p.re), td_asinh(p.re * m.im - p.im * m.re)};
}
template <class T>
TD_FN td_complex<T> td_acosh(td_complex<T> z) {
  if (!td_finite(z.re) || !td_finite(z.im)) {
    td_complex<T> turned = td_acos(z);
    return {td_float_abs(turned.im), td_copysign(turned.re, z.im)};
  }
  td_complex<T> p = td_root_above(z), m = td_sqrt(td_complex<T>(z.re - T(1), z.im));
  return {td_asinh(m.re * p.re + m.im * p.im), T(2) * td_atan2(m.im, p.re)};
}
template <class T>
TD_FN td_complex<T> td_asinh(td_complex<T> z) {
  return td_over_i(td_asin(td_times_i(z)));
}
// Odd in the real part, where the formula is exact for x >= 0.
template <class T>
TD_FN td_complex<T> td_atanh(td_complex<T> z) {
  if (!td_finite(z.re) || !td_finite(z.im)) {
    T nan = z.re - z.re + (z.im - z.im);
    if (td_infinite(z.re) || td_infinite(z.im)) {
      T quarter = td_atan2(T(1), T(0));
      return {td_copysign(T(0), z.re), z.im == z.im ? td_copysign(quarter, z.im) : nan};
    }
    return {z.re == T(0) ? z.re : nan, nan};
  }
  T x = td_float_abs(z.re), d = T(1) - x, y2 = z.im * z.im;
  T re = T(0.25) * td_log1p(T(4) * x / (d * d + y2));
  return {td_copysign(re, z.re), T(0.5) * td_atan2(T(2) * z.im, d * (T(1) + x) - y2)};
}
template <class T>
TD_FN td_complex<T> td_atan(td_complex<T> z) {
  return td_over_i(td_atanh(td_times_i(z)));
}

// Small whole exponents multiply, as in NumPy; the others go through the logarithm.
template <class T>
TD_FN td_complex<T> td_complex_pow(td_complex<T> x, td_complex<T> y) {
  typedef td_complex<T> C;
  if (y.re == T(0) && y.im == T(0)) return C(T(1));
  if (x.re == T(0) && x.im == T(0)) {
    if (y.re > T(0)) return C(T(0));
    T nan = T(0) / x.re;
    return C(nan, nan);
  }
  int n = (int)y.re;
  if (y.im == T(0) && (T)n == y.re && n > -100 && n < 100) {
    C result(T(1)), base = x;
    for (unsigned k = n < 0 ? 0u - (unsigned)n : (unsigned)n; k != 0; k >>= 1) {
      if (k & 1u) result = result * base;
      base = base * base;
    }
    return n < 0 ? C(T(1)) / result : result;
  }
  return td_exp(y * td_log(x));
}
#endif
