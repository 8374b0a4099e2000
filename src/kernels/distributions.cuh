// Random numbers of other distributions. Every element has its own sequence of Philox words, so
// methods may use as many as they like, and rejection in one element changes no other. All is
// computed in double.

struct td_numbers {
  unsigned long long key, element, stream;
  td_words words;
  int left;

  __device__ __forceinline__ td_numbers(unsigned long long key_, unsigned long long stream_,
                                        unsigned long long element_)
      : key(key_), element(element_), stream(stream_), left(0) {}

  __device__ __forceinline__ unsigned long long word64() {
    if (left == 0) {
      words = td_philox(element, stream++, key);
      left = 2;
      return td_word64(words, 0);
    }
    left = 0;
    return td_word64(words, 1);
  }
  // Inside of (0, 1): odd multiples of 2^-53.
  __device__ __forceinline__ double unit() {
    return ((double)(word64() >> 12) + 0.5) * 2.220446049250313e-16;
  }
  __device__ __forceinline__ double exponential() { return -log(unit()); }
  // Box and Muller's, one of the pair.
  __device__ __forceinline__ double normal() {
    const double radius = sqrt(2 * exponential());
    return radius * cos(6.283185307179586 * unit());
  }
};

// log(k!) by Stirling's series from 16 on.
TD_FN double td_log_factorial(double k) {
  if (k < 16) {
    double product = 1;
    for (int i = 2; i <= (int)k; ++i) product *= i;
    return log(product);
  }
  const double r = 1 / k;
  return (k + 0.5) * log(k) - k + 0.9189385332046727 +
         r * (8.333333333333333e-2 - r * r * (2.777777777777778e-3 - r * r * 7.936507936507937e-4));
}

// Marsaglia and Tsang's method for shapes of 1 and more.
TD_FN double td_draw_gamma_from_one(td_numbers& g, double shape) {
  const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    const double x = g.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, u = g.unit();
    if (u < 1 - 0.0331 * x * x * x * x || log(u) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
  }
}
// Below 1: a variate of shape + 1, times a uniform one to the power of 1 / shape.
TD_FN double td_draw_gamma(td_numbers& g, double shape) {
  if (shape == 0) return 0;
  if (shape >= 1) return td_draw_gamma_from_one(g, shape);
  const double larger = td_draw_gamma_from_one(g, shape + 1);
  return larger * exp(-g.exponential() / shape);
}
TD_FN double td_draw_log_gamma(td_numbers& g, double shape) {
  if (shape >= 1) return log(td_draw_gamma_from_one(g, shape));
  const double larger = td_draw_gamma_from_one(g, shape + 1);
  return log(larger) - g.exponential() / shape;
}

TD_FN double td_draw_beta(td_numbers& g, double a, double b) {
  const double x = td_draw_log_gamma(g, a), y = td_draw_log_gamma(g, b);
  return 1 / (1 + exp(y - x));
}

TD_FN double td_draw_laplace(td_numbers& g, double location, double scale) {
  const double u = g.unit();
  return u < 0.5 ? location + scale * log(2 * u) : location - scale * log(2 - 2 * u);
}
TD_FN double td_draw_logistic(td_numbers& g, double location, double scale) {
  const double u = g.unit();
  return location + scale * log(u / (1 - u));
}

TD_FN double td_draw_triangular(td_numbers& g, double left, double mode, double right) {
  const double width = right - left, u = g.unit();
  if (u * width <= mode - left) return left + sqrt(u * width * (mode - left));
  return right - sqrt((1 - u) * width * (right - mode));
}

// Best and Fisher's rejection from a wrapped Cauchy distribution; a normal one when it is narrow.
TD_FN double td_draw_vonmises(td_numbers& g, double mu, double kappa) {
  const double pi = 3.141592653589793;
  if (kappa < 1e-8) return pi * (2 * g.unit() - 1);
  double angle;
  if (kappa > 1e6) {
    angle = mu + sqrt(1 / kappa) * g.normal();
  } else {
    double s;
    if (kappa < 1e-5) {
      s = 1 / kappa + kappa;
    } else {
      const double r = 1 + sqrt(1 + 4 * kappa * kappa), rho = (r - sqrt(2 * r)) / (2 * kappa);
      s = (1 + rho * rho) / (2 * rho);
    }
    double w;
    for (;;) {
      const double z = cos(pi * g.unit()), v = g.unit();
      w = (1 + s * z) / (s + z);
      const double y = kappa * (s - w);
      if (y * (2 - y) - v >= 0 || log(y / v) + 1 - y >= 0) break;
    }
    const double turned = acos(w > 1 ? 1.0 : w < -1 ? -1.0 : w);
    angle = mu + (g.unit() < 0.5 ? -turned : turned);
  }
  return angle - 2 * pi * floor((angle + pi) / (2 * pi));
}

// Michael, Schucany and Haas: a root of a quadratic equation, or the other one.
TD_FN double td_draw_wald(td_numbers& g, double mean, double scale) {
  const double z = g.normal(), y = mean * z * z;
  const double x = mean + mean / (2 * scale) * (y - sqrt(4 * scale * y + y * y));
  return g.unit() <= mean / (mean + x) ? x : mean * mean / x;
}

// ---- whole numbers, as long long ----

// Products of uniform numbers below 10, Hörmann's transformed rejection (PTRS) from there on.
TD_FN long long td_draw_poisson(td_numbers& g, double mean) {
  if (!(mean < 9.2e18)) return 0x7fffffffffffffffll;
  if (mean < 10) {
    const double least = exp(-mean);
    long long k = -1;
    double product = 1;
    do {
      ++k;
      product *= g.unit();
    } while (product > least);
    return k;
  }
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), limit = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = g.unit() - 0.5, v = g.unit(), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= limit) return (long long)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v * inverse_alpha / (a / (us * us) + b)) <= k * log(mean) - mean - td_log_factorial(k))
      return (long long)k;
  }
}

// p <= 1/2. Inversion for means below 10, Hörmann's transformed rejection (BTRS) from there on.
TD_FN long long td_draw_binomial_half(td_numbers& g, double n, double p) {
  const double q = 1 - p, mean = n * p;
  if (mean < 10) {
    const double none = exp(n * log1p(-p));
    for (;;) {
      double u = g.unit(), chance = none, k = 0;
      while (u > chance && k < n && k < mean + 60) {
        u -= chance;
        ++k;
        chance *= (n - k + 1) * p / (k * q);
      }
      if (k < mean + 60) return (long long)k;
    }
  }
  const double spread = sqrt(mean * q), b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, limit = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * spread, mode = floor((n + 1) * p);
  const double top = td_log_factorial(mode) + td_log_factorial(n - mode);
  for (;;) {
    const double u = g.unit() - 0.5, v = g.unit(), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + mean + 0.5);
    if (k < 0 || k > n) continue;
    if (us >= 0.07 && v <= limit) return (long long)k;
    if (log(v * alpha / (a / (us * us) + b)) <=
        top - td_log_factorial(k) - td_log_factorial(n - k) + (k - mode) * log(p / q))
      return (long long)k;
  }
}
TD_FN long long td_draw_binomial(td_numbers& g, double n, double p) {
  if (n == 0 || p == 0) return 0;
  return p <= 0.5 ? td_draw_binomial_half(g, n, p)
                  : (long long)n - td_draw_binomial_half(g, n, 1 - p);
}

TD_FN double td_draw_noncentral_chisquare(td_numbers& g, double df, double shift) {
  if (shift == 0) return 2 * td_draw_gamma(g, df / 2);
  if (df > 1) {
    const double rest = 2 * td_draw_gamma(g, (df - 1) / 2), n = g.normal() + sqrt(shift);
    return rest + n * n;
  }
  return 2 * td_draw_gamma(g, df / 2 + (double)td_draw_poisson(g, shift / 2));
}

TD_FN long long td_draw_geometric(td_numbers& g, double p) {
  if (p >= 1) return 1;
  const double k = ceil(-g.exponential() / log1p(-p));
  return k >= 9.2233720368547748e18 ? 0x7fffffffffffffffll : k < 1 ? 1 : (long long)k;
}

// One by one for small samples, Stadlober's ratio of uniforms (HRUA) otherwise.
TD_FN long long td_draw_hypergeometric(td_numbers& g, double good, double bad, double sample) {
  const double total = good + bad, m = sample < total - sample ? sample : total - sample;
  double k = 0;
  if (m < 10) {
    double left_good = good, left = total;
    for (int i = 0; i < (int)m; ++i, left -= 1)
      if (g.unit() * left < left_good) {
        k += 1;
        left_good -= 1;
      }
  } else {
    const double fewer = good < bad ? good : bad, more = total - fewer;
    const double p = fewer / total, start = m * p + 0.5;
    const double spread = sqrt((total - m) * m * p * (1 - p) / (total - 1) + 0.5);
    const double width = 1.7155277699214135 * spread + 0.8989161620588988;
    const double mode = floor((m + 1) * (fewer + 1) / (total + 2));
    const double top = td_log_factorial(mode) + td_log_factorial(fewer - mode) +
                       td_log_factorial(m - mode) + td_log_factorial(more - m + mode);
    const double most = (m < fewer ? m : fewer) + 1, far = floor(start + 16 * spread);
    const double end = most < far ? most : far;
    for (;;) {
      const double u = g.unit(), x = start + width * (g.unit() - 0.5) / u;
      if (x < 0 || x >= end) continue;
      k = floor(x);
      const double t = top - (td_log_factorial(k) + td_log_factorial(fewer - k) +
                              td_log_factorial(m - k) + td_log_factorial(more - m + k));
      if (u * (4 - u) - 3 <= t) break;
      if (u * (u - t) >= 1) continue;
      if (2 * log(u) <= t) break;
    }
    if (good > bad) k = m - k;
  }
  return (long long)(m < sample ? good - k : k);
}

// Kemp's method.
TD_FN long long td_draw_logseries(td_numbers& g, double p) {
  const double r = log1p(-p);
  for (;;) {
    const double v = g.unit();
    if (v >= p) return 1;
    const double q = -expm1(r * g.unit());
    if (v > q) return 1;
    if (v > q * q) return 2;
    const double k = floor(1 + log(v) / log(q));
    if (k >= 1 && k < 9.2e18) return (long long)k;
  }
}

// Devroye's rejection.
TD_FN long long td_draw_zipf(td_numbers& g, double a) {
  if (a >= 1025) return 1;
  const double less = a - 1, b = pow(2.0, less);
  for (;;) {
    const double x = floor(exp(g.exponential() / less)), v = g.unit();
    if (!(x < 9.2e18)) continue;
    const double t = pow(1 + 1 / x, less);
    if (v * x * (t - 1) / (b - 1) <= t / b) return (long long)x;
  }
}
