"""In-place operations on large overlapping views act as if every operand were read first.

Large enough for many threads to be at work at once, where a race would show. NumPy gets a copy of the operand: its
own ``x[::2] = x[:n]`` reads elements that it has written already.
"""

import numpy as np
import pytest
import treadle as td

N = 300_007
SLICES = {
    "shifted up": (slice(1, None), slice(None, -1)),
    "shifted down": (slice(None, -1), slice(1, None)),
    "reversed": (slice(None), slice(None, None, -1)),
    "halves meet reversed": (slice(N // 3, None), slice(N - N // 3 - 1, None, -1)),
    "every second, backwards": (slice(0, 2 * (N // 2), 2), slice(2 * (N // 2) - 1, 0, -2)),
    "one every second, one in a row": (slice(0, 2 * (N // 2), 2), slice(0, N // 2)),
}
OPERATIONS = {
    "iadd": lambda xp, a, b: a.__iadd__(b),
    "multiply out": lambda xp, a, b: xp.multiply(a, b, out=a),
    "assign": lambda xp, a, b: a.__setitem__(..., b),
    "negative out": lambda xp, a, b: xp.negative(b, out=a),
    "chain": lambda xp, a, b: a.__setitem__(..., b * 2 - a),
    "where": lambda xp, a, b: a.__setitem__(..., xp.where(b > a, b, -a)),
}


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.complex128])
@pytest.mark.parametrize("name", SLICES)
def test_lines(name, dtype):
    left, right = SLICES[name]
    base = (np.arange(N) * 7919 % 101 - 50).astype(dtype)
    for label, operation in OPERATIONS.items():
        if label == "where" and dtype == np.complex128:
            continue
        host, mine = base.copy(), td.asarray(base)
        length = min(host[left].size, host[right].size)
        for _ in range(2):  # the second reads what the first has written
            operation(np, host[left][:length], host[right][:length].copy())
            operation(td, mine[left][:length], mine[right][:length])
        np.testing.assert_array_equal(td.asnumpy(mine), host, err_msg=label)


@pytest.mark.parametrize("n", [33, 1000, 1021])
def test_squares(n):
    """A square and its transposes, turned and shifted."""
    base = (np.arange(n * n) * 7919 % 1009).reshape(n, n).astype(np.float64)
    views = (
        lambda a: (a, a.T),
        lambda a: (a[::-1], a.T),
        lambda a: (a, a[::-1, ::-1]),
        lambda a: (a[1:, 1:], a[:-1, :-1]),
        lambda a: (a[:-1, 1:], a.T[1:, :-1]),
        lambda a: (a[:, ::-1], a.T[::-1]),
    )
    for view in views:
        host, mine = base.copy(), td.asarray(base)
        for x in (host, mine):
            left, right = view(x)
            left += right
            left -= 2 * right
        np.testing.assert_array_equal(td.asnumpy(mine), host)


def test_broadcasts_of_the_target():
    """A row or a column of the target, spread over it."""
    base = np.arange(500 * 700.0).reshape(500, 700)
    for pick in (np.s_[250], np.s_[-1], np.s_[:, 350:351], np.s_[::-1, :1], np.s_[7, ::-1]):
        host, mine = base.copy(), td.asarray(base)
        for x in (host, mine):
            x += x[pick]
            x *= x[pick] - 3
        np.testing.assert_array_equal(td.asnumpy(mine), host)


def test_scans_sorts_and_copies_into_their_operand():
    base = (np.arange(N) * 7919 % 101).astype(np.int64)
    for act in (
        lambda xp, x: xp.cumsum(x[::-1], out=x),
        lambda xp, x: x[::-1].sort(),
        lambda xp, x: x.__setitem__(slice(5, None), xp.cumsum(x[:-5])),
        lambda xp, x: xp.copyto(x[N // 2 :], x[: N - N // 2][::-1]),
        lambda xp, x: xp.take(x, xp.arange(N)[::-1], out=x),
        lambda xp, x: x.__setitem__(xp.arange(N)[::-1], x),
        lambda xp, x: x.__setitem__(x % 2 == 0, x[x % 2 == 0][::-1]),
    ):
        host, mine = base.copy(), td.asarray(base)
        act(np, host)
        act(td, mine)
        np.testing.assert_array_equal(td.asnumpy(mine), host)
