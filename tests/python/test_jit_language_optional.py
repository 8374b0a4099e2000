"""cuda.jit: names and results that are a number or None."""

import math

import numpy as np
import pytest
import treadle as td
from treadle import cuda


def launch(k, out, *args, grid=1, block=1, shared=0):
    d = td.asarray(out)
    k[grid, block, None, shared](
        d, *[td.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
    )
    return d.get()


def test_a_name_may_be_a_number_or_none():
    @cuda.jit
    def k(o, a):
        best = None
        for x in a:
            if x > 2 and (best is None or x < best):
                best = x
        o[0] = -1 if best is None else best
        o[1] = best is not None
        o[2] = best == None  # noqa: E711
        if best:
            o[3] = best + 1
            best += 1
            o[4] = -best
            o[5] = max(best, 2)
        o[6] = a[best] if best is not None and best < a.size else 9

    for values in ([1, 5, 3, 4], [1, 2], [7, 8]):
        best = min((x for x in values if x > 2), default=None)
        want = [-1 if best is None else best, best is not None, best is None, 0, 0, 0, 9]
        if best:
            want[3:6] = [best + 1, -(best + 1), max(best + 1, 2)]
            if best + 1 < len(values):
                want[6] = values[best + 1]
        assert launch(k, np.zeros(7), np.array(values)).tolist() == want, values


def test_functions_that_return_a_number_or_none():
    @cuda.jit(device=True)
    def root(x):
        if x < 0:
            return None
        return math.sqrt(x)

    @cuda.jit(device=True)
    def or_else(x, other):
        return other if x is None else x

    @cuda.jit
    def k(o, a):
        for i in range(a.size):
            found = root(a[i])
            o[i, 0] = or_else(found, -5)
            if found is not None:
                o[i, 1] = found * 2

    found = launch(k, np.zeros((3, 2)), np.array([4.0, -1, 9]))
    assert found.tolist() == [[2, 4], [-5, 0], [3, 6]]


def test_a_test_for_none_leaves_a_number(capfd):
    @cuda.jit
    def k(o, a):
        x = None
        if a[0] > 0:
            x = a[0]
        if x is None:
            o[0] = -1
            return
        o[0] = x
        y = None if a[1] < 0 else a[1]
        if y:
            print("y is", y)
            y = y + 1
        o[1] = 7 if y is None else y

    assert launch(k, np.zeros(2, int), np.array([3, 4])).tolist() == [3, 5]
    cuda.synchronize()
    assert "y is 4" in capfd.readouterr().out
    assert launch(k, np.zeros(2, int), np.array([3, -4])).tolist() == [3, 7]
    assert launch(k, np.zeros(2, int), np.array([-3, 4])).tolist() == [-1, 0]

    @cuda.jit
    def prints(a):
        x = None
        if a[0] > 0:
            x = a[0]
        print(x)

    with pytest.raises(TypeError, match="OptionalType") as caught:
        prints[1, 1](td.zeros(1))
    assert "'is not None' first" in str(caught.value)
