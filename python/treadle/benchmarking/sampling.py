"""Takes samples of the three times of a piece of work. `measure` is the whole of it for other tools.

Scopes
  ``device``      data resident: from an event in front of the work to one behind it, in the same stream. The device
                  is kept busy in front, so that the host's pace of launching is not in the time.
  ``submission``  the host's time from the call to its return, pending array operations launched.
  ``end_to_end``  inputs in host memory to results in host memory, by the host's clock.
  ``graph``       as ``device``, hot, of a graph that holds the calls: without what a stream needs between two launches.
                  Only on request, and only of work that a graph can hold.

Cache
  ``hot``   a sample is the mean of as many calls, one behind the other, as the clock needs.
  ``cold``  a sample is one call, after a write of more than the last-level cache holds.
"""

import dataclasses
import math

import numpy as np

from . import statistics
from .arguments import Arguments, hand_over
from .clock import DeviceClock, HostClock

__all__ = ["ALL_SCOPES", "SCOPES", "Policy", "Samples", "Series", "measure"]

SCOPES = ("device", "end_to_end", "submission")
ALL_SCOPES = (*SCOPES, "graph")
_LONGEST_HIDDEN = 0.05  # seconds of a call that a delay may cover
_FEWEST_CALLS = 5  # of one hot sample, unless a call takes 10 ms
_MOST_CALLS = 256  # of one sample: fewer than a stream's queue takes without making the host wait


@dataclasses.dataclass(frozen=True)
class Policy:
    """When to stop. Seconds are of one series of samples (one scope and one state of the cache)."""

    target: float = 0.005  # half width of the median's interval over the median
    level: float = 0.95
    min_samples: int = 20
    max_samples: int = 2000
    max_seconds: float = 1.0
    warm_seconds: float = 1.0  # warm-up at most
    warm_tolerance: float = 0.02  # two windows agree
    min_clock_fraction: float = 0.75  # of the default clock; samples below are discarded
    resamples: int = 2000
    seed: int = 0

    def __post_init__(self):
        if self.min_samples < statistics.FEWEST:
            raise ValueError(
                f"min_samples is {self.min_samples}; an interval needs {statistics.FEWEST} samples"
            )
        if self.max_samples < self.min_samples:
            raise ValueError(
                f"max_samples is {self.max_samples}; it must not be below min_samples ({self.min_samples})"
            )
        for name in ("target", "max_seconds", "warm_seconds", "warm_tolerance"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be positive")


@dataclasses.dataclass
class Series:
    """Samples of one scope in one state of the cache, in the order in which they were taken.

    ``samples_s`` are seconds of one call. ``converged``: the interval is as narrow as the policy asks. ``discarded``
    samples were taken while the device ran below ``min_clock_fraction`` of its default clock. ``gaps`` samples have
    the host's pace in them, because the device had nothing left to do before the call had handed its work over.
    """

    scope: str
    cache: str
    samples_s: np.ndarray
    calls_per_sample: int = 1
    converged: bool = False
    discarded: int = 0
    gaps: int = 0
    waits_inside: bool = False
    conditions: list = dataclasses.field(default_factory=list)
    policy: Policy = dataclasses.field(default_factory=Policy)

    @property
    def interval(self):
        """Median and bootstrap interval in seconds (`statistics.median_interval`)."""
        p = self.policy
        return statistics.median_interval(
            self.samples_s, p.level, resamples=p.resamples, seed=p.seed
        )

    @property
    def median_s(self):
        """The median in seconds."""
        return float(np.median(self.samples_s))


@dataclasses.dataclass
class Samples:
    """What `measure` found. A scope that was not asked for, or that the work does not have, is None."""

    device: Series | None
    end_to_end: Series | None
    submission: Series | None
    first_call_s: (
        float  # of the very first call, to its end: compiling, loading and allocating are in it
    )
    warm_up_s: float
    settled: bool  # two windows of the warm-up agreed
    empty_s: float  # between two marks with nothing in between: what the device's clock adds


def measure(
    work, *args, cache="hot", scopes=SCOPES, inputs=None, outputs=None, setup=None, where="device",
    policy=None, clock=None, progress=None,
):  # fmt: skip
    """Samples of the times of ``work(*args)``.

    ``work`` is called many times with the same arguments. NumPy and Treadle arrays among ``args`` may have any shape
    and dtype; they are given to the work as Treadle arrays that were uploaded before (``where="host"``: as NumPy
    arrays, and the work computes on the host). Array operations that a call leaves pending belong to its time:
    they are launched before it counts as handed over, and nothing is kept from one call to the next.

    Work on the host has no submission.

    ``cache``            "hot" or "cold", for scope ``device``; the others are always hot
    ``scopes``           which of "device", "end_to_end" and "submission" to take
    ``inputs``           positions of the arrays that end-to-end calls upload (default: all)
    ``outputs``          positions of the arrays that hold the result (default: what the call returns)
    ``setup``            called without arguments before each sample, outside of the times; a sample is then one call
    ``policy``           a `Policy`: how long, how exact
    ``clock``            a clock as in `clock` (default: of the current device's current stream)
    ``progress``         called as ``progress(scope, cache, samples, interval)`` now and then

    Errors of the work are raised as they are, a fault of a kernel by the wait after the sample: a launch that failed
    has no time. ValueError for an unknown scope, state or place, and for positions that are no arrays.
    """
    sampler = Sampler(work, args, inputs, outputs, setup, where, policy, clock, progress)
    check_scopes(scopes, SCOPES)
    if cache not in ("hot", "cold"):
        raise ValueError(f"cache is {cache!r}; it must be 'hot' or 'cold'")
    sampler.warm_up()
    device = submission = whole = None
    if {"device", "submission"} & set(scopes):
        device, submission = sampler.resident(cache)
    if "end_to_end" in scopes:
        whole = sampler.end_to_end()
    return Samples(
        device if "device" in scopes else None,
        whole,
        submission if "submission" in scopes and where == "device" else None,
        sampler.first_call_s,
        sampler.warm_up_s,
        sampler.settled,
        sampler.empty_s,
    )


def check_scopes(scopes, known):
    """ValueError for none, or for one that is not among the known."""
    unknown = [scope for scope in scopes if scope not in known]
    if unknown or not scopes:
        raise ValueError(f"scopes are {', '.join(known)}; not {unknown[0] if unknown else 'none'}")


class Sampler:
    """One piece of work under a clock. `warm_up` comes first, then any of the series in any order."""

    def __init__(self, work, args=(), inputs=None, outputs=None, setup=None, where="device",
                 policy=None, clock=None, progress=None, own=False):  # fmt: skip
        if not callable(work):
            raise TypeError(
                f"work must be a function, not {type(work).__name__}: the value of an array is computed once, "
                "so give `lambda: a + b` instead of `a + b`"
            )
        if where not in ("device", "host"):
            raise ValueError(f"where is {where!r}; it must be 'device' or 'host'")
        self.work, self.setup, self.where = work, setup, where
        self.policy = policy or Policy()
        self.clock = clock or (DeviceClock() if where == "device" else HostClock())
        self.arguments = Arguments(args, self.clock, inputs, outputs, own)
        self.progress = progress or (lambda *_: None)
        self.calls, self.gaps_in_a_row = 1, 0
        self.called = self.waits_inside = False
        self.delay_s = self.longest_delay_s = 0.0
        self.first_call_s = self.warm_up_s = self.empty_s = 0.0
        self.settled, self.first_counts = False, None

    def call(self):
        """One call, with its work handed to the device. Nothing of its result outlives it."""
        hand_over(self.work(*self.arguments.resident))

    def first_call(self, count=False):
        """The very first call, timed to its end, and counted on request. The arrays of its result, on the host."""
        clock = self.clock
        self._prepare()
        clock.wait()
        returned = None

        def run():
            nonlocal returned
            returned = self.work(*self.arguments.resident)
            hand_over(returned)

        start = clock.now()
        self.first_counts = clock.count(run) if count else run()
        clock.wait()
        self.first_call_s = clock.now() - start
        clock.wait_for_compiles()
        self.called = True
        self.arguments.find_outputs(returned, clock)
        return [
            clock.download(x) for x in self.arguments.results(self.arguments.resident, returned)
        ]

    def outlives(self):
        """True when other streams have work of the call left after the mark behind it: work that the marks do not see.

        A few tries, since a slow host may come to look when everything has finished. Work that other streams do and
        the timed one waits for is never seen here.
        """
        for _ in range(9):
            self._prepare()
            self.clock.wait()
            self.call()
            self.clock.reach(self.clock.mark())
            if self.clock.unfinished():
                self.clock.wait()
                return True
        return False

    def count(self):
        """The `counts.Counts` of a call, or None where they cannot be counted."""
        self._prepare()
        return self.clock.count(self.call)

    def warm_up(self):
        """Calls until two windows of samples agree; finds how many calls make a sample and which delay hides them."""
        clock, policy = self.clock, self.policy
        if not self.called:
            self.first_call()
        begin = clock.now()
        self.empty_s = self._empty()
        self._find_pace()
        clock.wait_for_compiles()  # kernels that run a lot get better code
        before, size = None, 5
        while clock.now() - begin < policy.warm_seconds:
            window = [self.sample()[0] for _ in range(size)]
            if before is not None and statistics.agree(before, window, policy.warm_tolerance):
                self.settled = True
                break
            before = window
        self.warm_up_s = clock.now() - begin

    def calls_of_a_sample(self, cold=False):
        """One where something happens in front of each sample."""
        return 1 if cold or self.setup else self.calls

    def sample(self, cold=False):
        """(seconds of the device, seconds of the host) of one call, and whether the device ran out of work."""
        clock, calls = self.clock, self.calls_of_a_sample(cold)
        self._prepare()
        clock.wait()
        if cold:
            clock.flush_cache()
        clock.delay(self.delay_s)
        start = clock.mark()
        begin = clock.now()
        for _ in range(calls):
            self.call()
        handed = clock.now()
        end = clock.mark()
        gap = clock.passed(start)
        clock.wait()
        return clock.between(start, end) / calls, (handed - begin) / calls, gap

    def resident(self, cache):
        """The series of scopes ``device`` and ``submission``."""
        cold = cache == "cold"
        device, submission = _Growing(self, "device", cache), []
        try:
            while device.wants_more():
                seconds, host, gap = self.resident_sample(cold)
                if device.add(seconds, self.clock.conditions(), gap):
                    submission.append(host)
        finally:
            self.clock.release()
        first = device.finish(self.calls_of_a_sample(cold), self.waits_inside)
        second = dataclasses.replace(
            first, scope="submission", samples_s=np.array(submission), gaps=0
        )
        second.converged = _narrow(second)
        return first, second

    def replays(self, counts):
        """The series of scope ``graph``; ``counts`` are those of one call. `Refused` where a graph cannot hold it."""
        calls = self.calls_of_a_sample()
        replay, series = self.clock.record(self.call, calls, counts), _Growing(self, "graph", "hot")
        while series.wants_more():
            series.add(self.replay_sample(replay) / calls, self.clock.conditions(), False)
        return series.finish(calls, False)

    def replay_sample(self, replay):
        """Seconds of the device for one replay, with another in front so that the device is busy when it begins."""
        clock = self.clock
        self._prepare()
        clock.wait()
        if self.setup is None:
            replay.launch()
        clock.delay(self.delay_s)
        start = clock.mark()
        replay.launch()
        end = clock.mark()
        clock.wait()
        return clock.between(start, end)

    def resident_sample(self, cold=False):
        """As `sample`, taken anew where a gap can be avoided."""
        while True:
            found = self.sample(cold)
            if not self._retry(found[2]):
                return found

    def end_to_end(self):
        """The series of scope ``end_to_end``; None when there is no result that could be brought to the host."""
        series = _Growing(self, "end_to_end", "hot")
        while series.wants_more():
            seconds = self.whole_sample()
            if seconds is None:
                return None
            series.add(seconds, self.clock.conditions(), False)
        return series.finish(1, False)

    def whole_sample(self):
        """Seconds of one end-to-end call; None when it has no result that could be brought to the host."""
        clock, arguments = self.clock, self.arguments
        self._prepare()
        clock.wait()
        begin = clock.now()
        args = arguments.uploaded(clock)
        found = arguments.results(args, self.work(*args))
        for array in found:
            clock.download(array)
        seconds = clock.now() - begin
        clock.wait()
        return seconds if found else None

    def _prepare(self):
        if self.setup is not None:
            self.setup()

    def _empty(self):
        """The median time between two marks around nothing."""
        times = []
        for _ in range(9):
            self.clock.wait()
            start, end = self.clock.mark(), self.clock.mark()
            self.clock.wait()
            times.append(self.clock.between(start, end))
        return float(np.median(times))

    def _find_pace(self):
        """How many calls make a sample, and the delay behind which they are handed over.

        A call that returns only after the delay in front of it waits for the device itself: then its time has the
        host's in it, whatever is done, and `waits_inside` says so.
        """
        seconds, host, _ = self.sample()
        if host < _LONGEST_HIDDEN:
            self.delay_s = min(4 * host + 1e-3, _LONGEST_HIDDEN)
            tries = [self.sample() for _ in range(3)]
            seconds, host, _ = min(tries, key=lambda sample: sample[1])
            self.waits_inside = all(gap for _, _, gap in tries)
            if self.waits_inside:
                self.delay_s = 0.0
                seconds, host, _ = self.sample()
        # Two marks around nothing, and a device that wakes up, are a small part of a sample.
        wanted = max(400 * self.empty_s, 2e-4, _FEWEST_CALLS * seconds if seconds < 1e-2 else 0)
        self.calls = min(_MOST_CALLS, max(1, math.ceil(wanted / max(seconds, 1e-9))))
        if self.delay_s:
            self.delay_s = min(1.5 * host * self.calls + 2e-5, _LONGEST_HIDDEN)
        self.longest_delay_s = min(16 * self.delay_s, _LONGEST_HIDDEN)

    def _retry(self, gap):
        """True when a sample with a gap is to be taken anew.

        The third in a row changes how samples are taken: fewer calls (a stream's queue has an end), then a longer
        delay. Where nothing is left to change, samples count as they are, and the series says how many have gaps.
        """
        self.gaps_in_a_row = self.gaps_in_a_row + 1 if gap else 0
        if not gap or self.waits_inside or not self.delay_s:
            return False
        if self.gaps_in_a_row % 3:
            return True
        if self.calls > 1:
            self.calls = (self.calls + 1) // 2
        elif 2 * self.delay_s <= self.longest_delay_s:
            self.delay_s *= 2
        else:
            return False
        return True


class _Growing:
    """A series that is being taken: whether to go on, and which samples count."""

    def __init__(self, sampler, scope, cache):
        self.policy, self.progress = sampler.policy, sampler.progress
        self.clock, self.scope, self.cache = sampler.clock, scope, cache
        self.times, self.conditions, self.discarded, self.gaps = [], [], 0, 0
        self.begin, self.check_at, self.narrow = sampler.clock.now(), self.policy.min_samples, False

    def wants_more(self):
        policy, count = self.policy, len(self.times)
        spent = self.clock.now() - self.begin
        if count >= self.check_at and count >= policy.min_samples:
            found = self._series()
            self.narrow = _narrow(found)
            self.check_at = math.ceil(count * 1.25)
            self.progress(self.scope, self.cache, count, found.interval)
        if self.narrow or count >= policy.max_samples:
            return False
        # An interval needs its samples even when each takes long, up to ten times the seconds of the series.
        enough = statistics.FEWEST if spent > policy.max_seconds else policy.min_samples
        return spent < policy.max_seconds or (count < enough and spent < 10 * policy.max_seconds)

    def add(self, seconds, conditions, gap):
        """False for a sample that was taken while the device was throttled."""
        if conditions is not None:
            self.conditions.append(conditions)
            if (
                conditions.fraction is not None
                and conditions.fraction < self.policy.min_clock_fraction
            ):
                self.discarded += 1
                return False
        self.times.append(seconds)
        self.gaps += bool(gap)
        return True

    def _series(self, calls=1, waits_inside=False):
        return Series(
            self.scope, self.cache, np.array(self.times), calls, False, self.discarded, self.gaps,
            waits_inside, self.conditions, self.policy,
        )  # fmt: skip

    def finish(self, calls, waits_inside):
        found = self._series(calls, waits_inside)
        found.converged = _narrow(found)
        return found


def _narrow(series):
    if len(series.samples_s) < series.policy.min_samples:
        return False
    return series.interval.relative_half_width <= series.policy.target
