"""Medians, intervals, outliers, windows: against NumPy, plain resampling and known distributions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from treadle.benchmarking import statistics as s

finite = st.floats(1e-9, 1e9)
samples = st.lists(finite, min_size=s.FEWEST, max_size=60)


@settings(max_examples=60, deadline=None)
@given(samples, st.integers(0, 5))
def test_a_median_is_numpys_and_lies_in_its_interval(values, seed):
    found = s.median_interval(values, seed=seed)
    assert found.median == np.median(values)
    assert min(values) <= found.low <= found.high <= max(values)
    assert found == s.median_interval(values, seed=seed)
    shuffled = np.random.default_rng(seed).permutation(values)
    assert found == s.median_interval(shuffled, seed=seed)  # the order of samples does not matter


@settings(max_examples=30, deadline=None)
@given(samples, st.floats(0.5, 2e3))
def test_an_interval_scales_with_its_unit(values, factor):
    one, other = s.median_interval(values), s.median_interval(np.array(values) * factor)
    np.testing.assert_allclose(other[:3], np.array(one[:3]) * factor, rtol=1e-12)


@pytest.mark.parametrize("n", [7, 8, 25, 40])
def test_medians_of_resamples_have_the_distribution_of_plain_resampling(n):
    """The sorted way and the plain way (indices drawn with replacement) agree in every decile."""
    values = np.random.default_rng(n).lognormal(size=n)
    rng = np.random.default_rng(1)
    plain = np.median(values[rng.integers(0, n, (40_000, n))], axis=1)
    ours = s._resampled_medians(values, 40_000, 2)
    points = np.quantile(plain, np.linspace(0.05, 0.95, 10))
    for point in points:
        assert abs(np.mean(ours <= point) - np.mean(plain <= point)) < 0.015


@pytest.mark.parametrize("draw", ["normal", "lognormal", "exponential", "two_peaks"])
def test_the_interval_holds_the_true_median_as_often_as_it_says(draw):
    rng = np.random.default_rng(5)
    make, true = {
        "normal": (lambda n: rng.normal(10, 1, n), 10.0),
        "lognormal": (lambda n: rng.lognormal(size=n), 1.0),
        "exponential": (lambda n: rng.exponential(size=n), math.log(2)),
        "two_peaks": (lambda n: np.where(rng.random(n) < 0.7, rng.normal(5, 0.1, n), 9.0), None),
    }[draw]
    if true is None:
        true = np.median(make(1_000_000))
    inside = 0
    for trial in range(400):
        found = s.median_interval(make(41), seed=trial)
        inside += found.low <= true <= found.high
    assert 0.91 <= inside / 400 <= 0.985


def test_the_interval_narrows_as_the_root_of_the_number_of_samples():
    rng = np.random.default_rng(3)
    widths = [s.median_interval(rng.normal(10, 1, n)).relative_half_width for n in (100, 6400)]
    assert 5 < widths[0] / widths[1] < 12  # sqrt(64) = 8


def test_few_samples_have_a_median_and_no_interval():
    found = s.median_interval([1.0, 2.0, 3.0])
    assert found.median == 2 and found.relative_half_width == math.inf
    assert s.ratio_interval([1.0] * 5, [2.0] * 5).relative_half_width == math.inf


@pytest.mark.parametrize(
    "values, more, words",
    [
        ([], {}, "non-empty"),
        ([[1.0]], {}, "shape"),
        ([1.0, math.nan], {}, "finite"),
        ([1.0, math.inf], {}, "finite"),
        ([1.0], {"level": 1.0}, "level"),
        ([1.0], {"resamples": 10}, "resamples"),
    ],
)
def test_bad_samples_are_refused_by_name(values, more, words):
    with pytest.raises(ValueError, match=words):
        s.median_interval(values, **more)


@pytest.mark.parametrize("paired", [True, False])
def test_a_ratio_holds_the_true_one(paired):
    rng = np.random.default_rng(11)
    inside = 0
    for trial in range(200):
        machine = rng.lognormal(0, 0.3, 40)  # what slows both
        a = 3 * machine * rng.lognormal(0, 0.02, 40)
        b = machine * rng.lognormal(0, 0.02, 40)
        found = s.ratio_interval(a, b, paired=paired, resamples=500, seed=trial)
        inside += found.low <= 3 <= found.high
    assert inside >= 180


def test_pairs_narrow_the_ratio_when_the_machine_slows_both():
    rng = np.random.default_rng(12)
    machine = rng.lognormal(0, 0.3, 60)
    a, b = machine * rng.lognormal(0, 0.01, 60), machine * rng.lognormal(0, 0.01, 60)
    pairs = s.ratio_interval(a, b, paired=True).relative_half_width
    assert pairs < 0.5 * s.ratio_interval(a, b, paired=False).relative_half_width


def test_a_ratio_refuses_what_is_no_time():
    with pytest.raises(ValueError, match="positive"):
        s.ratio_interval([0.0] * 8, [1.0] * 8)
    with pytest.raises(ValueError, match="as many"):
        s.ratio_interval([1.0] * 8, [1.0] * 9)


def test_outliers_are_those_beyond_tukeys_fences():
    values = [*range(101), 180, 240, 401, -75, -220]  # quartiles 24, 77.25 …
    q1, q3 = np.quantile(values, [0.25, 0.75])
    mild, severe = 1.5 * (q3 - q1), 3 * (q3 - q1)
    expected = (
        sum(v < q1 - severe for v in values),
        sum(q1 - severe <= v < q1 - mild for v in values),
        sum(q3 + mild < v <= q3 + severe for v in values),
        sum(v > q3 + severe for v in values),
    )
    found = s.outliers(values)
    assert tuple(found) == expected and found.count == 5 and all(n > 0 for n in expected)
    assert s.outliers([1.0] * 9).count == 0


def test_windows_agree_within_the_tolerance_or_their_noise():
    rng = np.random.default_rng(0)
    assert s.agree([1.0, 1.0, 1.0], [1.01, 1.01, 1.01])
    assert not s.agree([1.0, 1.0, 1.0], [1.1, 1.1, 1.1])
    noisy = rng.normal(10, 3, 20), rng.normal(10.5, 3, 20)
    assert s.agree(*noisy)


def test_a_drift_is_seen_and_noise_is_not_one():
    rng = np.random.default_rng(0)
    noise = rng.normal(10, 0.2, 90)
    assert not s.drifts(noise)
    assert s.drifts(noise * np.linspace(1, 1.2, 90))
    assert not s.drifts([1.0, 2.0])


def test_the_mean_of_skewed_samples_is_seen_to_be_off():
    assert s.skewness([1.0] * 95 + [100.0] * 5) > 5
    assert s.skewness([1.0, 2.0, 3.0]) == 1
