"""Statistics of sweeps: medians, ratios and crossings with bootstrap intervals, of samples taken in rounds.

A sweep measures every setting once in each of several rounds, in a new order each time, so that what changes in between
(a clock, a neighbour, where memory came to lie) is in the rounds and not only in one of the settings. A resample draws
rounds with replacement, and the samples within each: then the interval covers both. Source: Davison and Hinkley,
Bootstrap Methods and their Application (1997), section 3.8, hierarchical data.

Few rounds say little about how much rounds differ: percentiles of resamples of three of them hold the truth far less
often than they claim. So the bounds are moved away from the centre, as Student's interval is wider than the normal one
with the spread known (`widening`). Five sweeps of one GPU, of three rounds each, then agree on their crossover.
"""

import dataclasses
import functools
import math
from statistics import NormalDist

import numpy as np

from .figures import si

__all__ = ["Crossing", "Interval", "Resampler", "crossing", "interval", "ratio"]


@dataclasses.dataclass(frozen=True)
class Interval:
    """A number and the bounds that hold it with probability ``level``."""

    centre: float
    low: float
    high: float
    level: float = 0.95

    def overlaps(self, other):
        """True when the two have a number in common."""
        return self.low <= other.high and other.low <= self.high

    def as_dict(self, name):
        """Plain values; the centre is called ``name``."""
        return {name: self.centre, "low": self.low, "high": self.high}

    def text(self, unit=""):
        """The bounds, "16.8 to 17.4 µs"; without a unit as they are, "0.98 to 1.05"."""
        if not unit:
            return f"{self.low:.3g} to {self.high:.3g}"
        low, high = si(self.low, unit), si(self.high, unit)
        same = low.partition(" ")[2] == high.partition(" ")[2]
        return f"{low.partition(' ')[0] if same else low} to {high}"


class Resampler:
    """Draws of rounds that all settings of one sweep share, so that what a round has in common cancels in ratios."""

    def __init__(self, rounds, resamples=1000, seed=0):
        if rounds < 1 or resamples < 100:
            raise ValueError(f"{rounds} rounds and {resamples} resamples: needs 1 and 100 at least")
        self.rng = np.random.default_rng(seed)
        self.picks = self.rng.integers(0, rounds, (resamples, rounds))

    def medians(self, rounds):
        """A median for each resample. ``rounds``: a non-empty array of samples for each round."""
        inner = np.stack([self._within(np.asarray(r, np.float64)) for r in rounds])
        return np.median(inner[self.picks, np.arange(len(self.picks))[:, None]], axis=1)

    def _within(self, samples):
        draws = self.rng.integers(0, samples.size, (len(self.picks), samples.size))
        return np.median(samples[draws], axis=1)


def centre(rounds):
    """The median of the rounds' medians."""
    return float(np.median([np.median(r) for r in rounds]))


def _bounds(values, level):
    """Percentiles that may be infinite."""
    return (
        float(np.quantile(values, (1 - level) / 2, method="lower")),
        float(np.quantile(values, (1 + level) / 2, method="higher")),
    )


@functools.cache
def widening(rounds, level=0.95):
    """How much further from the centre the bounds of a bootstrap over so few rounds belong; 1 for a single round.

    Student's quantile with ``rounds - 1`` degrees of freedom over the normal one, times the root of n / (n - 1), since
    resamples of n things spread by that much less than the things.
    """
    if rounds < 2:
        return 1.0
    normal = NormalDist().inv_cdf((1 + level) / 2)
    return _student(rounds - 1, (1 + level) / 2) / normal * math.sqrt(rounds / (rounds - 1))


def _student(freedom, probability):
    """The quantile of Student's distribution, by the trapezoidal rule on its density in t = tan(angle)."""
    power = (freedom + 1) / 2
    scale = math.exp(math.lgamma(power) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    angles = np.linspace(0, math.pi / 2, 20001)[:-1]
    t = np.tan(angles)
    density = scale * (1 + t * t / freedom) ** -power * (1 + t * t)
    steps = (density[1:] + density[:-1]) / 2 * np.diff(angles)
    return float(np.interp(probability - 0.5, np.concatenate(([0.0], np.cumsum(steps))), t))


def _widened(middle, bounds, rounds, level):
    """The bounds of a positive number, moved away from it by the factor `widening`."""
    factor = widening(rounds, level)
    return tuple(middle * (bound / middle) ** factor for bound in bounds)


def interval(rounds, level=0.95, resamples=1000, seed=0):
    """The median with its `Interval`; samples are positive."""
    middle, draws = centre(rounds), Resampler(len(rounds), resamples, seed).medians(rounds)
    return Interval(middle, *_widened(middle, _bounds(draws, level), len(rounds), level), level)


def ratio(a, b, level=0.95, resamples=1000, seed=0):
    """median(a) / median(b) with its `Interval`; both have the same rounds, of positive samples."""
    sampler, middle = Resampler(len(a), resamples, seed), centre(a) / centre(b)
    bounds = _bounds(sampler.medians(a) / sampler.medians(b), level)
    return Interval(middle, *_widened(middle, bounds, len(a), level), level)


@dataclasses.dataclass(frozen=True)
class Crossing:
    """Where one curve gets below another for good.

    ``state``: "found"; "always" below, already at the smallest x; "never", even at the largest; "open" when the
    interval reaches beyond the measured x on at least one side (then a bound is infinite, and the centre may be).
    """

    x: float
    low: float
    high: float
    level: float
    state: str
    first: float  # smallest and largest x that were measured
    last: float

    def overlaps(self, other):
        """True when the two intervals have an x in common."""
        return self.low <= other.high and other.low <= self.high

    def span(self):
        """The interval in words, "95 % interval 88.7k to above 10M"."""
        return (
            f"{100 * self.level:.0f} % interval {self._bound(self.low)} to {self._bound(self.high)}"
        )

    def _bound(self, value):
        if value < self.first:
            return f"below {si(self.first)}"
        return f"above {si(self.last)}" if value > self.last else si(value)

    def as_dict(self):
        """Plain values; a bound beyond what was measured is None."""
        out = dataclasses.asdict(self)
        return {
            k: (None if isinstance(v, float) and not math.isfinite(v) else v)
            for k, v in out.items()
        }


def crossing(x, a, b, level=0.95, resamples=1000, seed=0):
    """The `Crossing`: the x from which on ``a`` is below ``b``, interpolated between logarithms.

    ``x`` ascends and is positive; ``a[i]`` and ``b[i]`` are the rounds of samples at ``x[i]``, positive. Of several
    crossings the last counts. ValueError for fewer than two x, or x that do not ascend.
    """
    places = np.log(np.asarray(x, np.float64))
    if places.size < 2 or not (np.diff(places) > 0).all():
        raise ValueError("a crossing needs at least two x, ascending")
    sampler = Resampler(len(a[0]), resamples, seed)
    drawn = np.stack(
        [np.log(sampler.medians(p) / sampler.medians(q)) for p, q in zip(a, b)], axis=1
    )
    plain = np.array([[math.log(centre(p) / centre(q)) for p, q in zip(a, b)]])
    where = float(_last_crossing(places, plain)[0])
    low, high = _bounds(_last_crossing(places, drawn), level)
    if math.isfinite(where):
        factor = widening(len(a[0]), level)
        low, high = where + factor * (low - where), where + factor * (high - where)
        low = -math.inf if low < places[0] else low
        high = math.inf if high > places[-1] else high
    if low == high == -math.inf:
        state = "always"
    elif low == high == math.inf:
        state = "never"
    else:
        state = "found" if math.isfinite(low) and math.isfinite(high) else "open"
    return Crossing(
        _exp(where), _exp(low), _exp(high), level, state, float(x[0]), float(x[-1])
    )  # fmt: skip


def _last_crossing(places, logs):
    """For each row of log ratios: where it falls through 0 for the last time; infinities beyond both ends."""
    above = logs > 0
    last = np.where(above.any(axis=1), logs.shape[1] - 1 - np.argmax(above[:, ::-1], axis=1), -1)
    left = np.clip(last, 0, logs.shape[1] - 2)
    rows = np.arange(len(logs))
    y0, y1 = logs[rows, left], logs[rows, left + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(y0 != y1, y0 / (y0 - y1), 0.0)
    found = places[left] + part * (places[left + 1] - places[left])
    return np.where(last < 0, -np.inf, np.where(last == logs.shape[1] - 1, np.inf, found))


def _exp(value):
    """0 stands for "below everything that was measured"."""
    return 0.0 if value == -math.inf else math.inf if value == math.inf else math.exp(value)
