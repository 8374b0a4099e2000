"""NumPy's arrays on the device: explicit transfers, one fused pass, a reduction."""

import numpy as np
import treadle as td
from treadle import cuda

quantities = td.asarray([2, 5, 3])
prices = td.asarray([10, 8, 15])
print("total:", int((quantities * prices).sum()))

x = td.random.default_rng(seed=1).standard_normal((1000, 1000))
y = td.sqrt(x * x + 1).sum(axis=0)  # one kernel, no temporary arrays
np.testing.assert_allclose(td.asnumpy(y), np.sqrt(td.asnumpy(x) ** 2 + 1).sum(axis=0))

a = td.arange(12, dtype=td.float32).reshape(3, 4)
print(a @ a.T)
print("computed on", cuda.Device().description)
