"""Rules for the number of a histogram's bins, NumPy's: each gives a width from facts about the sample.

The facts (size, extremes, deviation, quartiles) are computed on the device and waited for.
"""

import math

import numpy as np

from . import _treadle


def bin_count(a, rule, limits, edges):
    """The number of bins of ``rule`` for the elements of ``a`` (1-D) within ``limits``; ValueError for other names.

    ``edges`` are the outermost ones of the histogram.
    """
    if rule not in RULES:
        raise ValueError(
            f"{rule!r} is not a valid estimator for `bins`; those are {', '.join(RULES)}"
        )
    first, last = edges
    if limits is not None:
        a = a[(a >= first) & (a <= last)]
    if a.size == 0:
        return 1
    width = _stone(a, edges) if rule == "stone" else RULES[rule](a)
    if a.dtype.kind in "iub" and 0 < width < 1:
        width = 1  # narrower bins would be empty
    if not width:
        return 1
    return math.ceil((_plain(last) - _plain(first)) / width)


def _plain(edge):
    return edge.item() if isinstance(edge, np.generic) else edge


def _range(a):
    return _number(_treadle.max(a)) - _number(_treadle.min(a))


def _number(x):
    value = x.item()
    return int(value) if x.dtype.kind in "iub" else float(value)


def _deviation(a):
    from ._statistics import std

    return float(std(a))


def _sqrt(a):
    return _range(a) / math.sqrt(a.size)


def _sturges(a):
    return _range(a) / (math.log2(a.size) + 1.0)


def _rice(a):
    return _range(a) / (2.0 * a.size ** (1.0 / 3))


def _scott(a):
    return (24.0 * math.pi**0.5 / a.size) ** (1.0 / 3.0) * _deviation(a)


def _stone(a, edges):
    """The number of bins with the least estimated error of leaving one out (Stone 1984)."""
    from ._histograms import histogram

    n, span = a.size, _range(a)
    if n <= 1 or span == 0:
        return 0

    def loss(bins):
        shares = histogram(a, bins=bins, range=edges)[0].astype(np.float64) / n
        return (2 - (n + 1) * float(_treadle.sum(shares * shares))) * bins / span

    return span / min(range(1, max(100, int(math.sqrt(n))) + 1), key=loss)


def _doane(a):
    if a.size > 2:
        skew_error = math.sqrt(6.0 * (a.size - 2) / ((a.size + 1.0) * (a.size + 3)))
        deviation = _deviation(a)
        if deviation > 0.0:
            z = (a - _treadle.mean(a)) / deviation
            skew = float(_treadle.mean(z * z * z))
            return _range(a) / (1.0 + math.log2(a.size) + math.log2(1.0 + abs(skew) / skew_error))
    return 0.0


def _freedman_diaconis(a):
    from ._quantiles import percentile

    quartiles = percentile(a, [75, 25])
    return 2.0 * float(quartiles[0] - quartiles[1]) * a.size ** (-1.0 / 3.0)


def _auto(a):
    """The narrower of Freedman and Diaconis's and Sturges's, but not far below that of the square root."""
    narrow = _freedman_diaconis(a)
    sturges, root = _sturges(a), _sqrt(a)
    return min(max(narrow, root / 2), sturges)


RULES = {
    "stone": _stone, "auto": _auto, "doane": _doane, "fd": _freedman_diaconis, "rice": _rice, "scott": _scott,
    "sqrt": _sqrt, "sturges": _sturges,
}  # fmt: skip
