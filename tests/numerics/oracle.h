// Functions that MPFR has under no name, or gives other special values than CUDA's manual does.
#pragma once

#include <mpfr.h>

#include <initializer_list>

namespace numerics {

inline constexpr mpfr_rnd_t N = MPFR_RNDN;
inline constexpr mpfr_prec_t kPrecision = 160;

// A number of MPFR that frees itself.
class Number {
 public:
  Number() { mpfr_init2(value_, kPrecision); }
  explicit Number(double x) : Number() { mpfr_set_d(value_, x, N); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

void cospi(mpfr_ptr r, mpfr_srcptr x);
void rcbrt(mpfr_ptr r, mpfr_srcptr x);
void rsqrt(mpfr_ptr r, mpfr_srcptr x);
// The root of the sum of the squares, or its inverse. Infinite arguments win over NaN.
void norm(mpfr_ptr r, std::initializer_list<mpfr_srcptr> numbers, bool inverse);
void erfcx(mpfr_ptr r, mpfr_srcptr x);
void normcdf(mpfr_ptr r, mpfr_srcptr x);
void tgamma(mpfr_ptr r, mpfr_srcptr x);
void lgamma(mpfr_ptr r, mpfr_srcptr x);
void bessel_j(mpfr_ptr r, long order, mpfr_srcptr x);
void bessel_i(mpfr_ptr r, int order, mpfr_srcptr x);
// The three low bits of the rounded quotient, with its sign; 0 where the remainder is NaN.
void remquo_bits(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y);

// Inverses: Newton's method from the result under test, which it leaves when that is wrong.
void erfinv(mpfr_ptr r, mpfr_srcptr y, double got);
void erfcinv(mpfr_ptr r, mpfr_srcptr y, double got);
void normcdfinv(mpfr_ptr r, mpfr_srcptr p, double got);

}  // namespace numerics
