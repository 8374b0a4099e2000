"""Launches from several threads."""

import threading

import numpy as np
import treadle as td
from treadle import cuda


def test_threads_that_compile_the_same_kernel():
    for _ in range(5):

        @cuda.jit
        def put(r, x):
            r[0] = x + 1

        errors, barrier = [], threading.Barrier(8)

        def launch(put=put, errors=errors, barrier=barrier):
            try:
                barrier.wait()
                for value in range(20):
                    out = td.zeros(1, np.int64)
                    put[1, 1](out, value)
                    assert out.get()[0] == value + 1
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=launch) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
