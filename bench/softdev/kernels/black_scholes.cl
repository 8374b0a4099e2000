// Distribution function of the normal distribution: a polynomial of fifth degree (Abramowitz and Stegun 26.2.17).
float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float tail = 0.39894228f * exp(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float* prices, __global const float* strikes, __global const float* years,
                            __global float* calls, __global float* puts, float rate, float volatility, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float s = prices[i], x = strikes[i], t = years[i], root = sqrt(t);
  float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root, n1 = normal(d1), n2 = normal(d2), discounted = x * exp(-rate * t);
  calls[i] = s * n1 - discounted * n2;
  puts[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
