#include "oracle.h"

#include <cmath>

namespace numerics {

// MPFR gives cos(pi/2) a sign that follows the quadrant; CUDA's is always +0.
void cospi(mpfr_ptr r, mpfr_srcptr x) {
  mpfr_cospi(r, x, N);
  if (mpfr_zero_p(r)) mpfr_abs(r, r, N);
}

void rcbrt(mpfr_ptr r, mpfr_srcptr x) {
  Number root;
  mpfr_cbrt(root, x, N);
  mpfr_ui_div(r, 1, root, N);
}

// MPFR's rec_sqrt gives +infinity for -0; the division gives the sign of the zero.
void rsqrt(mpfr_ptr r, mpfr_srcptr x) {
  Number root;
  mpfr_sqrt(root, x, N);
  mpfr_ui_div(r, 1, root, N);
}

void norm(mpfr_ptr r, std::initializer_list<mpfr_srcptr> numbers, bool inverse) {
  bool infinite = false;
  Number sum(0.0), square;
  for (mpfr_srcptr x : numbers) {
    infinite |= mpfr_inf_p(x) != 0;
    mpfr_sqr(square, x, N);
    mpfr_add(sum, sum, square, N);
  }
  if (infinite) mpfr_set_inf(sum, 1);
  mpfr_sqrt(r, sum, N);
  if (inverse) mpfr_ui_div(r, 1, r, N);
}

// exp(x^2) erfc(x); the asymptotic series where erfc leaves even MPFR's comfort.
void erfcx(mpfr_ptr r, mpfr_srcptr x) {
  if (mpfr_cmp_d(x, 1000) > 0) {
    Number pi;
    mpfr_const_pi(pi, N);
    mpfr_sqrt(pi, pi, N);
    mpfr_mul(r, pi, x, N);
    mpfr_ui_div(r, 1, r, N);  // 1 / (x sqrt(pi)) (1 - 1/(2 x^2) + 3/(4 x^4) - 15/(8 x^6))
    if (mpfr_inf_p(x)) return;
    Number s, term;
    mpfr_sqr(s, x, N);
    mpfr_ui_div(s, 1, s, N);
    mpfr_mul_d(term, s, -15.0 / 8, N);
    mpfr_add_d(term, term, 3.0 / 4, N);
    mpfr_mul(term, term, s, N);
    mpfr_sub_d(term, term, 0.5, N);
    mpfr_mul(term, term, s, N);
    mpfr_add_ui(term, term, 1, N);
    mpfr_mul(r, r, term, N);
    return;
  }
  if (mpfr_cmp_d(x, -1000) < 0) {
    mpfr_set_inf(r, 1);
    return;
  }
  mpfr_t square, e;
  mpfr_inits2(400, square, e, nullptr);
  mpfr_sqr(square, x, N);
  mpfr_exp(square, square, N);
  mpfr_erfc(e, x, N);
  mpfr_mul(r, square, e, N);
  mpfr_clears(square, e, nullptr);
}

void normcdf(mpfr_ptr r, mpfr_srcptr x) {
  mpfr_t root, z;
  mpfr_inits2(300, root, z, nullptr);
  mpfr_sqrt_ui(root, 2, N);
  mpfr_div(z, x, root, N);
  mpfr_neg(z, z, N);
  mpfr_erfc(r, z, N);
  mpfr_div_ui(r, r, 2, N);
  mpfr_clears(root, z, nullptr);
}

void tgamma(mpfr_ptr r, mpfr_srcptr x) { mpfr_gamma(r, x, N); }

// The logarithm of |gamma|: +infinity at the poles.
void lgamma(mpfr_ptr r, mpfr_srcptr x) {
  int sign;
  mpfr_lgamma(r, &sign, x, N);
}

void bessel_i(mpfr_ptr r, int order, mpfr_srcptr x) {
  if (!mpfr_number_p(x) || mpfr_cmpabs(x, Number(1000.0)) > 0) {
    mpfr_set_inf(r, 1);
    if (mpfr_nan_p(x)) mpfr_set_nan(r);
    if (order == 1) mpfr_copysign(r, r, x, N);
    return;
  }
  Number z, term(1.0);
  mpfr_sqr(z, x, N);
  mpfr_div_ui(z, z, 4, N);
  mpfr_set_ui(r, 1, N);
  for (unsigned long k = 1; k < 3000; ++k) {
    mpfr_mul(term, term, z, N);
    mpfr_div_ui(term, term, k * (k + static_cast<unsigned long>(order)), N);
    mpfr_add(r, r, term, N);
    if (mpfr_zero_p(static_cast<mpfr_ptr>(term)) ||
        mpfr_get_exp(term) < mpfr_get_exp(r) - kPrecision)
      break;
  }
  if (order == 1) {
    mpfr_mul(r, r, x, N);
    mpfr_div_ui(r, r, 2, N);
  }
}

// An odd function also at -infinity, where MPFR gives +0.
void bessel_j(mpfr_ptr r, long order, mpfr_srcptr x) {
  mpfr_jn(r, order, x, N);
  if (order % 2 != 0 && mpfr_inf_p(x)) mpfr_copysign(r, r, x, N);
}

void remquo_bits(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) {
  long bits = 0;
  mpfr_remquo(r, &bits, x, y, N);
  mpfr_set_si(r, mpfr_nan_p(r) ? 0 : bits % 8, N);
}

namespace {

// x <- x - (log erfc(x) - log p) / (d/dx log erfc(x)), or with erf where that is the smaller.
void newton(mpfr_ptr r, mpfr_srcptr p, bool complement, double start) {
  mpfr_set_d(r, start, N);
  for (int i = 0; i < 4; ++i) {
    Number value, slope, square, target;
    mpfr_sqr(square, r, N);
    mpfr_neg(square, square, N);
    mpfr_exp(slope, square, N);
    mpfr_const_pi(square, N);
    mpfr_sqrt(square, square, N);
    mpfr_div(slope, slope, square, N);
    mpfr_mul_ui(slope, slope, 2, N);
    if (complement) {
      mpfr_erfc(value, r, N);
      mpfr_div(slope, slope, value, N);
      mpfr_log(value, value, N);
      mpfr_log(target, p, N);
      mpfr_sub(value, target, value, N);
    } else {
      mpfr_erf(value, r, N);
      mpfr_sub(value, value, p, N);
    }
    mpfr_div(value, value, slope, N);
    mpfr_sub(r, r, value, N);
  }
}

// True when the special value has been set.
bool special_inverse(mpfr_ptr r, mpfr_srcptr y, double low, double high, bool falling) {
  if (mpfr_nan_p(y)) {
    mpfr_set_nan(r);
    return true;
  }
  if (mpfr_cmp_d(y, low) == 0 || mpfr_cmp_d(y, high) == 0) {
    mpfr_set_inf(r, (mpfr_cmp_d(y, low) == 0) == falling ? 1 : -1);
    return true;
  }
  if (mpfr_cmp_d(y, low) < 0 || mpfr_cmp_d(y, high) > 0) {
    mpfr_set_nan(r);
    return true;
  }
  return false;
}

}  // namespace

void erfinv(mpfr_ptr r, mpfr_srcptr y, double got) {
  if (special_inverse(r, y, -1, 1, false)) return;
  if (mpfr_zero_p(y)) {
    mpfr_set(r, y, N);
    return;
  }
  Number size, complement;
  mpfr_abs(size, y, N);
  mpfr_ui_sub(complement, 1, size, N);
  const bool tail = mpfr_cmp_d(size, 0.5) > 0;
  newton(r, tail ? static_cast<mpfr_ptr>(complement) : static_cast<mpfr_ptr>(size), tail,
         std::fabs(got));
  mpfr_copysign(r, r, y, N);
}

void erfcinv(mpfr_ptr r, mpfr_srcptr y, double got) {
  if (special_inverse(r, y, 0, 2, true)) return;
  Number rest;
  if (mpfr_cmp_d(y, 0.5) > 0) {
    mpfr_ui_sub(rest, 1, y, N);
    erfinv(r, rest, got);
  } else {
    newton(r, y, true, got);
  }
}

void normcdfinv(mpfr_ptr r, mpfr_srcptr p, double got) {
  if (special_inverse(r, p, 0, 1, false)) return;
  Number twice, root;
  mpfr_mul_ui(twice, p, 2, N);
  erfcinv(r, twice, -got / std::sqrt(2.0));
  mpfr_sqrt_ui(root, 2, N);
  mpfr_mul(r, r, root, N);
  mpfr_neg(r, r, N);
  if (mpfr_zero_p(r)) mpfr_abs(r, r, N);
}

}  // namespace numerics
