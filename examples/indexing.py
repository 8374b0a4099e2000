"""Indexing with arrays: masks, gather, scatter and counting, on the device from end to end."""

import numpy as np
import treadle as td

rng = td.random.default_rng(seed=3)
readings = rng.standard_normal(100_000)
station = rng.integers(0, 50, readings.size)  # which of 50 stations a reading came from

readings[td.abs(readings) > 4] = 0  # outliers, in one fused pass
count = td.bincount(station, minlength=50)
mean = td.bincount(station, weights=readings, minlength=50) / count

above = td.flatnonzero(readings > mean[station])  # gather: each reading's own mean
print(f"{above.size} of {readings.size} readings are above the mean of their station")

highest = td.full(50, -np.inf)
td.scatter_max(highest, station, readings)  # every reading counts, however often a station occurs
counts, edges = td.histogram(readings, bins=8, range=(-4, 4))
print("histogram:", counts)

# The same on the host.
r, s = td.asnumpy(readings), td.asnumpy(station)
expected = np.full(50, -np.inf)
np.maximum.at(expected, s, r)
np.testing.assert_array_equal(td.asnumpy(highest), expected)
np.testing.assert_array_equal(td.asnumpy(counts), np.histogram(r, bins=8, range=(-4, 4))[0])
np.testing.assert_allclose(td.asnumpy(mean), np.bincount(s, r, 50) / np.bincount(s, minlength=50))

try:
    readings[td.asarray([0, 100_000])]
except IndexError as error:
    print("IndexError:", error)
