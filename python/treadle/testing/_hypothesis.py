"""Tests of statistical hypotheses."""

import statistics

import numpy as np

__all__ = ["chi_square_test"]


def chi_square_test(observed, expected, alpha=0.05, df=None):
    """Pearson's test: may counts have come from a distribution that expects ``expected``?

    False where the statistic exceeds the quantile 1 - ``alpha`` of the chi-square distribution with ``df`` degrees of
    freedom, by default one less than there are counts. The quantile is Wilson and Hilferty's approximation (PNAS 17,
    1931), good to a percent from 3 degrees of freedom on.
    """
    observed, expected = np.asarray(observed), np.asarray(expected)
    df = observed.size - 1 if df is None else df
    z = statistics.NormalDist().inv_cdf(1 - alpha)
    spread = 2 / (9 * df)
    limit = df * (1 - spread + z * spread**0.5) ** 3
    return bool(((observed - expected) ** 2 / expected).sum() <= limit)
