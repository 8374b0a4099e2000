"""Statistics of sweeps on samples whose truth is known."""

import math

import numpy as np
import pytest
from treadle.sweep import crossover

SIZES = [10, 100, 1000, 10_000, 100_000]


def samples(seconds, rng, rounds=3, noise=0.05, drift=0.03, count=15):
    """Rounds of samples around each of ``seconds``."""
    return [
        [s * np.exp(rng.normal(0, drift) + rng.normal(0, noise, count)) for _ in range(rounds)]
        for s in seconds
    ]  # fmt: skip


def lines(seed, start=1e-5, slope=1e-9):
    """A device that starts late and is ten times as fast, and a host: they cross at start / (0.9 slope)."""
    rng = np.random.default_rng(seed)
    n = np.array(SIZES)
    return samples(start + 0.1 * slope * n, rng), samples(slope * n, rng)


TRUTH = 1e-5 / 0.9e-9


def test_repeated_crossovers_overlap_and_hold_the_truth():
    found = [crossover.crossing(SIZES, *lines(seed), seed=seed) for seed in range(5)]
    assert all(c.state == "found" for c in found)
    assert all(a.overlaps(b) for a in found for b in found)
    # Between the sizes the lines are no straight lines of logarithms: that is worth a few percent.
    assert all(c.low * 0.85 <= TRUTH <= c.high * 1.15 for c in found)
    assert all(c.low <= c.x <= c.high for c in found)


def test_intervals_hold_the_median_as_often_as_they_say():
    held = 0
    for seed in range(100):
        (rounds,) = samples([1.0], np.random.default_rng(seed), rounds=5, drift=0)
        found = crossover.interval(rounds, seed=seed)
        held += found.low <= 1.0 <= found.high
    assert held >= 88


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_intervals_of_few_rounds_that_differ_hold_the_median_too(rounds):
    """Percentiles of resamples alone hold it 52, 74 and 93 times of 100."""
    held = 0
    for seed in range(100):
        (found,) = samples([1.0], np.random.default_rng(seed), rounds=rounds, drift=0.1, noise=0.01)
        found = crossover.interval(found, resamples=300, seed=seed)
        held += found.low <= 1.0 <= found.high
    assert held >= 88


def test_widening_is_students():
    # t(0.975) of 2 and 4 degrees of freedom: 4.3027 and 2.7764 (any table); z: 1.95996
    assert crossover.widening(3) == pytest.approx(4.3027 / 1.95996 * 1.5**0.5, rel=1e-3)
    assert crossover.widening(5) == pytest.approx(2.7764 / 1.95996 * 1.25**0.5, rel=1e-3)
    assert crossover.widening(1) == 1.0 and crossover.widening(10_000) == pytest.approx(1, abs=1e-3)


def test_drift_between_rounds_widens_the_interval():
    rng = np.random.default_rng(1)
    still = crossover.interval(samples([1.0], rng, rounds=5, drift=0)[0])
    moving = crossover.interval(samples([1.0], rng, rounds=5, drift=0.3)[0])
    assert moving.high - moving.low > 3 * (still.high - still.low)


def test_what_a_round_has_in_common_cancels_in_ratios():
    rng = np.random.default_rng(2)
    a, b = [], []
    for _ in range(6):
        factor = math.exp(rng.normal(0, 0.5))
        a.append(2 * factor * np.exp(rng.normal(0, 0.01, 20)))
        b.append(factor * np.exp(rng.normal(0, 0.01, 20)))
    found = crossover.ratio(a, b)
    assert found.low > 1.9 and found.high < 2.1
    assert not found.overlaps(crossover.Interval(1, 0.9, 1.1))


@pytest.mark.parametrize("start, slope, state", [(1e-12, 1e-9, "always"), (1e-1, 1e-9, "never")])
def test_curves_that_do_not_cross(start, slope, state):
    found = crossover.crossing(SIZES, *lines(3, start, slope))
    assert found.state == state
    assert (found.low, found.high) == ((0, 0) if state == "always" else (math.inf, math.inf))
    assert None not in (found.as_dict()["first"], found.as_dict()["state"])


def test_a_crossover_at_the_edge_is_open():
    rng = np.random.default_rng(4)
    a, b = samples([2, 2, 2, 2, 1.0], rng, noise=0.3), samples([1, 1, 1, 1, 1.0], rng, noise=0.3)
    found = crossover.crossing(SIZES, a, b)
    assert found.state == "open" and found.high == math.inf and found.as_dict()["high"] is None


def test_of_several_crossings_the_last_counts():
    rng = np.random.default_rng(5)
    a, b = samples([0.5, 2, 0.5, 2, 0.5], rng), samples([1, 1, 1, 1, 1.0], rng)
    found = crossover.crossing(SIZES, a, b)
    assert 10_000 < found.low <= found.high < 100_000


def test_bad_questions_are_refused():
    one = [[np.ones(3)]]
    with pytest.raises(ValueError, match="at least two x"):
        crossover.crossing([10], one, one)
    with pytest.raises(ValueError, match="ascending"):
        crossover.crossing([10, 10], one * 2, one * 2)
    with pytest.raises(ValueError, match="rounds"):
        crossover.Resampler(0)


def test_bounds_as_text():
    assert crossover.Interval(1, 16.8e-6, 17.4e-6).text("s") == "16.8 to 17.4 µs"
    assert crossover.Interval(1, 0.9e-3, 1.1e-3).text("s") == "900 µs to 1.1 ms"
    assert crossover.Interval(1, 0.98, 1.05).text() == "0.98 to 1.05"
