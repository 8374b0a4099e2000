"""Statistics of time samples: medians with bootstrap intervals, ratios, outliers, windows.

Pure functions of arrays of numbers. Times are skewed to the right and have outliers that say something about the
machine and nothing about the work, so that the centre is the median, and every interval is one of a median.
"""

import math
from typing import NamedTuple

import numpy as np

__all__ = [
    "FEWEST",
    "MedianInterval",
    "Outliers",
    "agree",
    "drifts",
    "median_interval",
    "outliers",
    "ratio_interval",
    "skewness",
]

FEWEST = 6  # 2**(1 - 6) < 0.05: below, the smallest and the largest sample do not enclose the median with 95 %
_CHUNK = 1 << 22  # elements that are drawn at once


class MedianInterval(NamedTuple):
    """A median, or a ratio of two, and the interval that holds it with probability ``level``."""

    median: float
    low: float
    high: float
    level: float

    @property
    def relative_half_width(self):
        """Half of the interval's width over the median; infinity where there is no interval."""
        if not math.isfinite(self.high - self.low):
            return math.inf
        width = (self.high - self.low) / 2
        if self.median == 0:
            return 0.0 if width == 0 else math.inf
        return width / abs(self.median)

    def overlaps(self, other):
        """True when the two intervals have a number in common."""
        return self.low <= other.high and other.low <= self.high


def median_interval(samples, level=0.95, *, resamples=2000, seed=0):
    """The median of ``samples`` and its bootstrap interval (percentile method).

    ``samples`` is a one-dimensional sequence of finite numbers in any unit; the answer has that unit. The medians of
    ``resamples`` sets of ``len(samples)`` numbers, drawn with replacement by NumPy's PCG64 from ``seed``, so that
    equal calls give equal answers. Fewer than six samples have a median and no interval: it reaches from minus to
    plus infinity.

    ValueError: no samples, a number that is not finite, more than one dimension, a level outside of 0 to 1, or
    fewer than 100 resamples.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    values = _checked(samples, level, resamples)
    centre = float(np.median(values))
    if values.size < FEWEST:
        return MedianInterval(centre, -math.inf, math.inf, level)
    return _percentiles(centre, _resampled_medians(values, resamples, seed), level)


def _resampled_medians(values, resamples, seed):
    """Medians of sets drawn with replacement, in the time of sorting and not of drawing them.

    A draw is ``values[floor(n u)]`` of sorted values with u uniform in [0, 1). Both steps keep the order, so that the
    k-th smallest draw comes from the k-th smallest u, whose distribution is Beta(k, n + 1 - k). The next larger of
    n - k others above it lies a Beta(1, n - k)th of the remaining way up.
    """
    ordered, n = np.sort(values), values.size
    rng = np.random.default_rng(seed)
    k = (n + 1) // 2
    u = rng.beta(k, n + 1 - k, resamples)
    middle = ordered[np.minimum((n * u).astype(np.int64), n - 1)]
    if n % 2:
        return middle
    above = u + (1 - u) * rng.beta(1, n - k, resamples)
    return (middle + ordered[np.minimum((n * above).astype(np.int64), n - 1)]) / 2


def ratio_interval(a, b, level=0.95, *, paired=True, resamples=2000, seed=0):
    """median(a) / median(b) with its bootstrap interval.

    ``paired``: ``a[i]`` and ``b[i]`` were measured one right after the other, and are drawn together, so that what
    changed both (a clock, a neighbour) cancels. Otherwise they are drawn independently and may differ in length.
    Both are positive. Fewer than six samples in one of them give no interval.

    ValueError: as `median_interval`; also a number that is not positive, or paired samples of different length.
    """
    first, second = _checked(a, level, resamples), _checked(b, level, resamples)
    if first.min() <= 0 or second.min() <= 0:
        raise ValueError(
            "a ratio needs positive samples; a time of 0 is below the clock's resolution"
        )
    if paired and first.size != second.size:
        raise ValueError(f"paired samples must be as many: {first.size} and {second.size}")
    centre = float(np.median(first) / np.median(second))
    if min(first.size, second.size) < FEWEST:
        return MedianInterval(centre, -math.inf, math.inf, level)
    rng = np.random.default_rng(seed)
    if paired:
        ratios = [
            np.median(first[picks], axis=1) / np.median(second[picks], axis=1)
            for picks in _draws(rng, first.size, resamples)
        ]
    else:
        one, other = rng.integers(0, 1 << 63, 2)
        ratios = [
            _resampled_medians(first, resamples, one) / _resampled_medians(second, resamples, other)
        ]
    return _percentiles(centre, np.concatenate(ratios), level)


def _checked(samples, level, resamples):
    values = np.asarray(samples, np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"samples must be a non-empty list of numbers, not of shape {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("samples must be finite numbers")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, as 0.95")
    if resamples < 100:
        raise ValueError(f"resamples is {resamples}; an interval needs at least 100")
    return values


def _draws(rng, size, resamples):
    """Rows of indices with replacement, in pieces that fit into memory."""
    rows = max(1, _CHUNK // size)
    for begin in range(0, resamples, rows):
        yield rng.integers(0, size, (min(rows, resamples - begin), size))


def _percentiles(centre, found, level):
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return MedianInterval(centre, float(low), float(high), level)


class Outliers(NamedTuple):
    """How many samples lie beyond Tukey's fences: 1.5 (mild) and 3 (severe) interquartile ranges off the quartiles."""

    low_severe: int
    low_mild: int
    high_mild: int
    high_severe: int

    @property
    def count(self):
        """All of them."""
        return sum(self)


def outliers(samples):
    """Classes of outliers, which are counted and never removed. Source: Tukey, Exploratory Data Analysis (1977)."""
    values = _checked(samples, 0.5, 100)
    q1, q3 = np.quantile(values, [0.25, 0.75])
    mild, severe = 1.5 * (q3 - q1), 3 * (q3 - q1)
    low = int((values < q1 - mild).sum()), int((values < q1 - severe).sum())
    high = int((values > q3 + mild).sum()), int((values > q3 + severe).sum())
    return Outliers(low[1], low[0] - low[1], high[0] - high[1], high[1])


def agree(first, second, tolerance=0.02):
    """True when two windows of samples have the same median, within ``tolerance`` or within their own noise.

    The noise is 1.96 standard errors of the difference: of a median 1.2533 times that of a mean, with the deviation
    from the median absolute deviation (1.4826 of it for a normal distribution).
    """
    one, other = _checked(first, 0.5, 100), _checked(second, 0.5, 100)
    centres = np.median(one), np.median(other)
    errors = [
        1.2533 * 1.4826 * np.median(np.abs(x - c)) / math.sqrt(x.size)
        for x, c in zip((one, other), centres)
    ]
    noise = 1.96 * math.hypot(*errors)
    return bool(abs(centres[0] - centres[1]) <= max(tolerance * abs(centres[0]), noise))


def drifts(samples, tolerance=0.02):
    """True when the first and the last third of samples, in their order, do not `agree`."""
    third = len(samples) // 3
    return third >= FEWEST and not agree(samples[:third], samples[-third:], tolerance)


def skewness(samples):
    """Mean over median. Above 1: a few slow samples pull the mean, which is why the centre is the median."""
    values = _checked(samples, 0.5, 100)
    centre = float(np.median(values))
    return float(values.mean()) / centre if centre else 1.0
