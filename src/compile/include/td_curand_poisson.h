// Poisson numbers of the mean `lambda`.
//
// Pseudorandom generators: below 64 the number of uniform numbers whose product stays above
// exp(-lambda) (Knuth: The Art of Computer Programming 2, section 3.4.1); above 4000 the rounded
// normal number; between them rejection. Quasirandom ones invert the distribution, from 1000 on the
// normal one's.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

namespace td_curand {

QUALIFIERS unsigned int rounded_normal(double lambda, double normal) {
  return (unsigned int)(sqrt(lambda) * normal + lambda + 0.5);
}

template <class State>
QUALIFIERS unsigned int poisson_by_product(State* state, float lambda) {
  unsigned int k = 0;
  for (float p = expf(lambda) * curand_uniform(state); p > 1.0f; p *= curand_uniform(state)) ++k;
  return k;
}

QUALIFIERS float fast_exp(float x) { return exp2f((float)(x * 1.4426950408889634)); }
QUALIFIERS float fast_log(float x) { return (float)(log2f(x) * 0.6931471805599453); }

// The incomplete gamma function P(a, x), close enough to propose numbers: the square of a logistic
// function.
struct Gamma {
  float a, alpha, beta;
};
QUALIFIERS Gamma make_gamma(float a) {
  return {a, 1.43248035f * rsqrtf(a - 0.124009793f) + 0.000253610749f,
          0.210967349f * rsqrtf(a - 1.97381164f) + 0.942017341f};
}
QUALIFIERS float gamma_at(Gamma g, float x) {
  const float t = 1.0f + fast_exp(g.alpha * (g.a - x) - g.beta);
  return 1.0f / (t * t);
}
QUALIFIERS float gamma_inverse(Gamma g, float y) {
  const float t = g.beta + fast_log(rsqrtf(y) - 1.0f);
  return -t * (1.0f / g.alpha) + g.a;
}

// Proposes by the inverse of Gamma, accepts by the ratio of the true probability to 1.3 times the
// proposed one.
template <class State>
QUALIFIERS unsigned int poisson_by_rejection(State* state, float lambda) {
  const Gamma gamma = make_gamma(lambda);
  const float log_lambda = fast_log(lambda);
  for (;;) {
    const float x = floorf(gamma_inverse(gamma, curand_uniform(state)));
    const float proposed = (gamma_at(gamma, x + 1.0f) - gamma_at(gamma, x)) * 1.3f;
    const float height = curand_uniform(state) * proposed;
    const float log_factorial = (float)lgamma((double)(1.0f + x));
    const float wanted = fast_exp(-lambda + x * log_lambda - log_factorial);
    if (height < wanted && proposed >= 1e-20f) return (unsigned int)x;
  }
}

template <class State>
QUALIFIERS unsigned int poisson(State* state, double lambda) {
  if (lambda < 64) return poisson_by_product(state, (float)lambda);
  if (lambda > 4000) return rounded_normal(lambda, curand_normal_double(state));
  return poisson_by_rejection(state, (float)lambda);
}

// Smallest k whose cumulative probability reaches u. exp(-lambda) is multiplied in by parts of
// exp(-500), which a double holds.
QUALIFIERS unsigned int poisson_by_inversion(double u, double lambda) {
  double term = 1.0, total = 1.0;
  unsigned int k = 0;
  int done = 0;
  do {
    const double part = exp(lambda > done + 500.0 ? -500.0 : done - lambda);
    term *= part;
    total *= part;
    done += 500;
    while (u > total && term > 0) {
      ++k;
      term *= lambda / (double)k;
      total += term;
    }
  } while (done < lambda);
  return k;
}
QUALIFIERS double below_one(unsigned int x) { return x * 0x1p-32 + 0x1p-33; }
QUALIFIERS double below_one(unsigned long long x) { return (double)(x >> 11) * 0x1p-53 + 0x1p-55; }

template <class Word>
QUALIFIERS unsigned int quasi_poisson(Word x, double lambda) {
  return lambda < 1000 ? poisson_by_inversion(below_one(x), lambda)
                       : rounded_normal(lambda, _curand_normal_icdf_double(x));
}

}  // namespace td_curand

#define TD_POISSON(State)                                               \
  QUALIFIERS unsigned int curand_poisson(State* state, double lambda) { \
    return td_curand::poisson(state, lambda);                           \
  }
TD_CURAND_PSEUDO(TD_POISSON)
#undef TD_POISSON

#define TD_POISSON(State)                                               \
  QUALIFIERS unsigned int curand_poisson(State* state, double lambda) { \
    return td_curand::quasi_poisson(curand(state), lambda);             \
  }
TD_CURAND_QUASI(TD_POISSON)
#undef TD_POISSON

QUALIFIERS uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
  if (lambda > 4000) {
    const double4 x = curand_normal4_double(state);
    return make_uint4(
        td_curand::rounded_normal(lambda, x.x), td_curand::rounded_normal(lambda, x.y),
        td_curand::rounded_normal(lambda, x.z), td_curand::rounded_normal(lambda, x.w));
  }
  const unsigned a = curand_poisson(state, lambda), b = curand_poisson(state, lambda);
  const unsigned c = curand_poisson(state, lambda);
  return make_uint4(a, b, c, curand_poisson(state, lambda));
}
