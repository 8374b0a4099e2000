"""The host side of cuda.jit: arguments, arrays, streams, contexts by Numba's names."""

import warnings

import numpy as np
import pytest
from treadle import cuda
from treadle._jit.arguments import NumbaPerformanceWarning


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_host_arrays_are_copied_and_told_once():
    host = np.arange(5.0)
    with pytest.warns(NumbaPerformanceWarning, match="copy overhead") as caught:
        add_one[1, 32](host)
    assert caught[0].filename == __file__
    assert host.tolist() == [1, 2, 3, 4, 5]
    frozen = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        add_one[1, 32](cuda.In(frozen))
    assert frozen.tolist() == [0, 0, 0]
