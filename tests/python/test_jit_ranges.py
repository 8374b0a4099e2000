"""What comparisons and loops say of indices: which need no look at their sign, and that the others keep it."""

import numpy as np
import pytest
import treadle as td
from treadle import cuda

LIMIT = 3


@cuda.jit
def between(a, b):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        b[i] = a[i - 1] + a[i + 1]


@cuda.jit
def guard(a, b):
    i = cuda.grid(1)
    if i < LIMIT or not i < a.size:
        return
    if i >= 3:
        b[i] = a[i - 3]


@cuda.jit
def conditional(a, b):
    i = cuda.grid(1)
    b[i] = a[i - 1] if i > 0 else a[0]


@cuda.jit
def conjunction(a, b):
    i = cuda.grid(1)
    if i > 1 and a[i - 2] > 2:
        b[i] = a[i - 2]


@cuda.jit
def counted(a, b):
    for i in range(1, a.size):
        b[i] = a[i - 1]


@cuda.jit
def downward(a, b):
    for i in range(a.size - 1, 0, -1):
        b[i] = a[i - 1]


@cuda.jit
def periodic(a, b):
    i = cuda.grid(1)
    b[i] = a[(i - 1) % a.size]


@cuda.jit
def loop(a, b):
    i = a.size
    while i > 0:
        i -= 1
        b[i] = a[i]


PROVEN = [between, guard, conditional, conjunction, counted, downward, periodic]


def of_numpy(name, a):
    b = np.zeros_like(a)
    if name == "between":
        b[1:-1] = a[:-2] + a[2:]
    elif name == "guard":
        b[3:] = a[:-3]
    elif name == "conditional":
        b[:] = np.concatenate([a[:1], a[:-1]])
    elif name == "conjunction":
        b[2:] = np.where(a[:-2] > 2, a[:-2], 0)
    elif name in ("counted", "downward"):
        b[1:] = a[:-1]
    elif name == "periodic":
        b[:] = np.roll(a, 1)
    else:
        b[:] = a
    return b


@pytest.mark.parametrize("kernel", [*PROVEN, loop], ids=lambda k: k.__name__)
def test_indices_below_a_name_that_is_compared(kernel):
    a = np.arange(1, 33)
    x, y = td.asarray(a), td.zeros(32, np.int64)
    kernel[1, 32](x, y)
    np.testing.assert_array_equal(y.get(), of_numpy(kernel.__name__, a))
    if kernel is not loop:
        text = next(iter(kernel.inspect_source().values()))
        assert "tdpy::wrap(" not in text.partition("py__" + kernel.__name__)[2]


@cuda.jit
def other_path(a, b):
    i = cuda.grid(1)
    if i > 3:
        b[i, 0] = 1
    b[i, 1] = a[i - 2]


@cuda.jit
def changed(a, b):
    i = cuda.grid(1)
    if i > 1:
        i -= 3
        b[i + 3, 0] = a[i]


@cuda.jit
def falls(a, b):
    i = a.size + 2
    for k in range(6):
        i -= 1
        if i >= 5:
            b[k, 0] = a[i - 5]
        i -= 1
        b[k, 1] = a[i - a.size]


@cuda.jit
def negated(a, b):
    i = cuda.grid(1)
    if i > 2 and i < 30:
        b[i, 0] = 1
    else:
        b[i, 1] = a[i - 3]


@cuda.jit
def either(a, b):
    i = cuda.grid(1)
    if i > 4 or i < 2:
        b[i, 0] = a[i - 1]


@cuda.jit
def assigned_inside(a, b):
    i = cuda.grid(1)
    if i > 0 and (i := i - 2) < 40:
        b[i, 0] = a[i - 1]


@pytest.mark.parametrize(
    "kernel",
    [other_path, changed, falls, negated, either, assigned_inside],
    ids=lambda k: k.__name__,
)
def test_negative_indices_still_count_from_the_end(kernel):
    a = np.arange(100, 132)
    x, y = td.asarray(a), td.zeros((32, 2), np.int64)
    kernel[1, 32](x, y)
    expected = np.zeros((32, 2), np.int64)
    for thread in range(32):
        threads = {"falls": 1}.get(kernel.__name__, 32)
        if thread < threads:
            run_in_python(kernel.py_func, thread, a, expected)
    np.testing.assert_array_equal(y.get(), expected)


def run_in_python(function, thread, a, b):
    """One thread of a kernel, by Python's own rules."""
    fake = type("cuda", (), {"grid": staticmethod(lambda axes: thread)})
    scope = {**function.__globals__, "cuda": fake}
    type(function)(function.__code__, scope)(a, b)
