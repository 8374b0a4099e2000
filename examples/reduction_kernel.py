"""A ReductionKernel: map, combine, finish. The accumulator may be a type of your own."""

import numpy as np
import treadle as td

l2_norm = td.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2_norm")
x = np.random.default_rng(0).standard_normal((100, 300))
np.testing.assert_allclose(td.asnumpy(l2_norm(td.asarray(x), axis=1)), np.linalg.norm(x, axis=1))
np.testing.assert_allclose(td.asnumpy(l2_norm(td.asarray(x).T)), np.linalg.norm(x))

# The smallest and the largest value of each column in one pass, with two outputs.
extent = td.ReductionKernel(
    "T x",
    "T low, T high",
    "bounds<T>(x, x)",
    "bounds<T>(a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high)",
    "low = a.low; high = a.high",
    None,
    "extent",
    reduce_type="bounds<T>",
    preamble="""
template <class A> struct bounds {
  A low, high;
  bounds() = default;
  __device__ bounds(A l, A h) : low(l), high(h) {}
};""",
)
low, high = extent(td.asarray(x), axis=0)
np.testing.assert_array_equal(td.asnumpy(low), x.min(axis=0))
np.testing.assert_array_equal(td.asnumpy(high), x.max(axis=0))
print("columns span", float((high - low).min()), "to", float((high - low).max()))
