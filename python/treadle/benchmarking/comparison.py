"""Two pieces of work against each other, sample by sample in turns, as a ratio with an interval."""

import dataclasses
import time

import numpy as np

from . import guards, report, statistics
from .expressions import as_work
from .measurement import first_call, place_of_clock
from .record import available_cores
from .sampling import Policy, Sampler, check_scopes

__all__ = ["Comparison", "Ratio", "compare", "on_host", "verdict"]

_SCOPES = ("device", "end_to_end")


class on_host:
    """Marks a function that computes on the CPU with NumPy arrays, for `compare`: ``on_host(np.sqrt)``."""

    def __init__(self, work):
        self.work = work


@dataclasses.dataclass(frozen=True)
class Ratio:
    """The time of a over the time of b in one scope: above 1, b is faster."""

    scope: str
    cache: str
    interval: statistics.MedianInterval
    verdict: str  # "a", "b" (which is faster), "same", "undecided"
    a_samples_s: np.ndarray
    b_samples_s: np.ndarray


@dataclasses.dataclass
class Comparison:
    """What `compare` found. Prints as a table."""

    a: str
    b: str
    places: tuple
    ratios: list
    checked: str
    margin: float
    findings: list

    def ratio(self, scope="device"):
        """The `Ratio` of a scope."""
        return next(row for row in self.ratios if row.scope == scope)

    def to_dict(self):
        """Everything as JSON's types; times are seconds."""
        return {
            "a": {"name": self.a, "place": self.places[0]},
            "b": {"name": self.b, "place": self.places[1]},
            "checked": self.checked,
            "margin": self.margin,
            "ratios": [
                {
                    "scope": row.scope, "cache": row.cache, "verdict": row.verdict, **row.interval._asdict(),
                    "a_samples_s": row.a_samples_s.tolist(), "b_samples_s": row.b_samples_s.tolist(),
                }
                for row in self.ratios
            ],
            "findings": [finding._asdict() for finding in self.findings],
        }  # fmt: skip

    def __str__(self):
        lines = [
            f"{letter}  {name}    {report.place(where)}, {where['time']}"
            for letter, name, where in zip("ab", (self.a, self.b), self.places)
        ]
        lines.append("")
        rows = [("time", "cache", "a", "b", "a / b", "interval", "rounds", "")]
        for row in self.ratios:
            middle = row.interval
            rows.append((
                {"device": "data where it is computed", "end_to_end": "end to end"}[row.scope], row.cache,
                *(report.in_seconds(float(np.median(x))) for x in (row.a_samples_s, row.b_samples_s)),
                f"{middle.median:.4g}", f"{middle.low:.4g} to {middle.high:.4g}", str(len(row.a_samples_s)),
                self._words(row),
            ))  # fmt: skip
        lines += ["  " + line for line in report.table(rows)]
        lines += ["", f"results     {self.checked}"]
        return "\n".join([*lines, *report.remarks(self.findings)])

    __repr__ = __str__

    def _words(self, row):
        if row.verdict == "undecided":
            return "undecided"
        if row.verdict == "same":
            return f"the same within {100 * self.margin:g} %"
        factor = row.interval.median if row.verdict == "b" else 1 / row.interval.median
        return f"{row.verdict} is {factor:.3g} times as fast"


def verdict(interval, margin):
    """ "same": the interval lies within ``margin`` of 1. "a" or "b": it leaves 1 out, and that one is faster."""
    if 1 - margin <= interval.low and interval.high <= 1 + margin:
        return "same"
    if interval.low > 1:
        return "b"
    return "a" if interval.high < 1 else "undecided"


def compare(
    a, b, *args, reference=None, rtol=None, atol=None, scopes=_SCOPES, cache="hot", inputs=None, outputs=None,
    setup=None, margin=0.01, policy=None, clocks=None, **arrays,
):  # fmt: skip
    """Measures ``a(*args)`` and ``b(*args)`` in turns: their times as a ratio with an interval, and who is faster.

    Both get the same arguments, so that shapes and dtypes are the same by construction. A function that computes on
    the CPU is marked: ``compare(on_host(lambda x: np.sqrt(x)), lambda x: td.sqrt(x), x)``. In scope "device" each
    has its data where it computes; in "end_to_end" both begin and end with data in host memory. Expressions as text
    take their arrays by keyword, as in `benchmark`.

    Each round takes one sample of each, in an order drawn from the policy's seed, and the interval is that of pairs,
    so that what slows the machine for a while slows both. Rounds end when the ratio is known to the policy's target
    or its time is over. ``margin``: two times that differ by less are "the same"; an interval that holds 1 and more
    than that is "undecided".

    `Refused`: results that differ from each other (or from ``reference``) in value, shape or dtype, and whatever
    `benchmark` refuses. Other options are those of `benchmark`. Returns a `Comparison`.
    """
    check_scopes(scopes, _SCOPES)
    if not 0 <= margin < 1:
        raise ValueError(f"margin is {margin}; it must be at least 0 and below 1, as 0.01")
    policy = policy or Policy()
    samplers, names = [], []
    for i, one in enumerate((a, b)):
        where = "host" if isinstance(one, on_host) else "device"
        work, values, name = as_work(one.work if where == "host" else one, args, arrays, where)
        clock = clocks[i] if clocks else None
        samplers.append(
            Sampler(work, values, inputs, outputs, setup, where, policy, clock, own=True)
        )
        names.append(name)
    checked = _same_results(samplers, reference, rtol, atol)
    findings = []
    for sampler, name in zip(samplers, names):
        sampler.warm_up()
        counts = sampler.count()
        guards.check_work(sampler, counts)
        findings += [
            guards.Finding(kind, text, name) for kind, text, _ in guards.findings_of_counts(counts)
        ]
        if not sampler.settled:
            findings.append(
                guards.Finding("not-settled", "two windows of the warm-up did not agree", name)
            )
    ratios = [
        found for scope in scopes if (found := _ratio(samplers, scope, cache, policy, margin))
    ]
    findings += _about_places(samplers, names)
    return Comparison(
        *names, tuple(place_of_clock(x.clock) for x in samplers), ratios, checked, margin, findings
    )


def _same_results(samplers, reference, rtol, atol):
    if reference is not None:
        found = [first_call(sampler, reference, rtol, atol) for sampler in samplers]
        words, results = found[0][0], [found[0][1], found[1][1]]
    else:
        results = [sampler.first_call() for sampler in samplers]
        words = guards.check_results(*results, rtol, atol).replace("the reference", "each other")
    for i, (one, other) in enumerate(zip(*results)):
        if one.dtype != other.dtype:
            raise guards.Refused(
                "different-dtype",
                f"result {i} is {one.dtype} of a and {other.dtype} of b: they do not do the same work; give both the "
                "same dtype",
            )
    return words


def _ratio(samplers, scope, cache, policy, margin):
    """Rounds until the ratio is known well enough; None for a scope that one of them does not have."""
    rng, clock = np.random.default_rng(policy.seed), samplers[0].clock
    times, begin, check_at = ([], []), clock.now(), policy.min_samples
    interval = None
    while len(times[0]) < policy.max_samples:
        taken = [None, None]
        for i in rng.permutation(2):
            taken[i] = _sample(samplers[i], scope, cache)
        if None in taken:
            return None
        if min(taken) <= 0:
            raise guards.Refused(
                "below-resolution", "a sample took no time by the clock; give it more work"
            )
        times[0].append(taken[0])
        times[1].append(taken[1])
        if len(times[0]) >= check_at:
            interval = statistics.ratio_interval(
                *times, policy.level, resamples=policy.resamples, seed=policy.seed
            )
            check_at = int(1.25 * len(times[0])) + 1
            if interval.relative_half_width <= policy.target:
                break
        spent = clock.now() - begin
        if spent > 2 * policy.max_seconds and len(times[0]) >= statistics.FEWEST:
            break
    for sampler in samplers:
        sampler.clock.release()
    a, b = map(np.array, times)
    interval = statistics.ratio_interval(
        a, b, policy.level, resamples=policy.resamples, seed=policy.seed
    )
    return Ratio(
        scope, cache if scope == "device" else "hot", interval, verdict(interval, margin), a, b
    )


def _sample(sampler, scope, cache):
    if scope == "device":
        return sampler.resident_sample(cache == "cold")[0]
    return sampler.whole_sample()


def _about_places(samplers, names):
    """What is to be said where a device is compared with a CPU."""
    if samplers[0].where == samplers[1].where:
        return
    yield guards.Finding(
        "one-size",
        "one size was compared; which side is faster depends on it: `treadle sweep` shows where they cross",
    )
    for sampler, name in zip(samplers, names):
        if sampler.where == "host":
            used, have = cores_used(sampler.call), available_cores()
            if have > 1 and used < 0.75 * have:
                yield guards.Finding(
                    "part-of-the-cpu",
                    f"{used:.1f} of {have} cores are busy: a baseline that uses all of them may be faster",
                    name,
                )


def cores_used(call, seconds=0.2):
    """How many cores a few calls keep busy, whatever else the machine does.

    Processor time of the process over that of the calling thread; over wall time where that thread only waits.
    """
    wall, process, thread = time.perf_counter(), time.process_time(), time.thread_time()
    while time.perf_counter() - wall < seconds:
        call()
    spent = time.perf_counter() - wall
    process, thread = time.process_time() - process, time.thread_time() - thread
    return process / (thread if thread > 0.05 * process else spent)
