"""Times that mean what they say: ``treadle bench`` and ``td.benchmark``.

`measure` takes samples of the three times of a piece of work: on the device, end to end, and of the host handing it
over. `statistics` turns samples into medians with intervals.
"""

from . import statistics
from .sampling import SCOPES, Policy, Samples, Series, measure

__all__ = ["SCOPES", "Policy", "Samples", "Series", "measure", "statistics"]
