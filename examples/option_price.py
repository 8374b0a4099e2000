"""The price of a European call by Monte Carlo, against the formula of Black and Scholes.

Each thread draws its paths from its own sequence of <curand_kernel.h>; no NVIDIA software is needed for the header.
"""

import math

import numpy as np
import treadle as td

SOURCE = r"""
#include <curand_kernel.h>

// sums[t]: payoffs at expiry of the paths of thread t, discounted to today.
extern "C" __global__ void simulate(unsigned long long seed, double spot, double strike, double rate,
                                    double volatility, double years, int paths, double* sums) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, t, 0, &state);
  double drift = (rate - volatility * volatility / 2) * years, spread = volatility * sqrt(years), sum = 0;
  for (int i = 0; i < paths; i += 2) {
    double2 normal = curand_normal2_double(&state);
    sum += fmax(spot * exp(drift + spread * normal.x) - strike, 0.0);
    sum += fmax(spot * exp(drift + spread * normal.y) - strike, 0.0);
  }
  sums[t] = sum * exp(-rate * years);
}
"""

spot, strike, rate, volatility, years = 100.0, 105.0, 0.03, 0.2, 1.0
threads, paths = 4096, 256
sums = td.zeros(threads, np.float64)
simulate = td.RawKernel(SOURCE, "simulate")
simulate(
    (threads // 128,), (128,), (np.uint64(1), spot, strike, rate, volatility, years, paths, sums)
)
prices = td.asnumpy(sums) / paths
price, error = prices.mean(), prices.std() / math.sqrt(threads)

d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / (
    volatility * math.sqrt(years)
)
d2 = d1 - volatility * math.sqrt(years)
below = [0.5 * math.erfc(-d / math.sqrt(2)) for d in (d1, d2)]
exact = spot * below[0] - strike * math.exp(-rate * years) * below[1]
assert abs(price - exact) < 4 * error
print(f"{price:.3f} +- {error:.3f} from {threads * paths} paths; the formula gives {exact:.3f}")
