"""Sorting and statistics on the device: the best buyers of a shop, and how much they spend.

Run it with ``python examples/sorting.py``; ``TREADLE_DEVICE`` chooses the device.
"""

import numpy as np
import treadle as td

rng = np.random.default_rng(7)
buyer = td.asarray(rng.integers(0, 1000, 100_000))
price = td.asarray(rng.gamma(2.0, 20.0, 100_000))

# What each buyer spent: sort by buyer, add up, and take differences where the buyer changes.
order = td.argsort(buyer)
names, count = td.unique(buyer, return_counts=True)
end = td.cumsum(count)
running = td.cumulative_sum(price[order], include_initial=True)
spent = td.diff(running[td.concatenate([td.asarray([0]), end])])

best = td.argsort(spent, descending=True)[:3]
print("best buyers:", names[best], "spent", td.round(spent[best], 2))
print("median and top percentile:", td.percentile(spent, [50, 99]))

want = np.bincount(buyer.get(), price.get(), minlength=1000)
assert np.allclose(spent.get(), want[names.get()])
assert np.isclose(td.median(spent).item(), np.median(spent.get()))
