"""Times that mean what they say: ``treadle bench`` and ``td.benchmark``.

`benchmark` (``td.benchmark``) checks a piece of work, measures it, and says what its times hold. ``benchmark.compare``
measures two against each other. `measure` only takes samples, of the three times of a piece of work: on the device,
end to end, and of the host handing it over. `statistics` turns samples into medians with intervals.
"""

from . import statistics
from .comparison import Comparison, compare, on_host
from .guards import Finding, Refused
from .measurement import Measurement, benchmark
from .regions import collect, region
from .sampling import SCOPES, Policy, Samples, Series, measure

benchmark.compare, benchmark.on_host = compare, on_host
benchmark.region, benchmark.regions = region, collect
benchmark.Policy, benchmark.Refused = Policy, Refused

__all__ = [
    "SCOPES",
    "Comparison",
    "Finding",
    "Measurement",
    "Policy",
    "Refused",
    "Samples",
    "Series",
    "benchmark",
    "collect",
    "compare",
    "measure",
    "on_host",
    "region",
    "statistics",
]
