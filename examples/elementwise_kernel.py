"""An ElementwiseKernel: one expression for one element. Types are found, shapes broadcast, any layout is read."""

import numpy as np
import treadle as td

squared_difference = td.ElementwiseKernel(
    "T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference"
)
x = np.arange(10, dtype=np.float32).reshape(2, 5)
y = np.arange(5, dtype=np.float32)
z = squared_difference(td.asarray(x), td.asarray(y))
np.testing.assert_array_equal(td.asnumpy(z), (x - y) ** 2)

# A raw parameter is the whole array; i is the index in C order, n the number of indices.
smooth = td.ElementwiseKernel(
    "raw T x", "T z", "z = (x[i == 0 ? 0 : i - 1] + x[i] + x[i + 1 == n ? i : i + 1]) / 3", "smooth"
)
steps = np.repeat(np.arange(4.0), 3)
print(smooth(td.asarray(steps), size=len(steps)))

# Any view is read by its strides, never as the plain memory behind it.
turned = td.asarray(x).T[::-1]
np.testing.assert_array_equal(
    td.asnumpy(squared_difference(turned, 1)), (x.T[::-1] - np.float32(1)) ** 2
)
