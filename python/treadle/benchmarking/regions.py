"""Marked regions of a program: ``with td.benchmark.region("name"):`` is timed each time it is entered.

A region has the same three times as other work. Its host code runs between its launches, so that the device's time is
the span from the first to the last of its work with the host's pace in it; ``end_to_end`` is the host's time until the
work has finished; ``submission`` is the host's time to the end of the block.
"""

import os
import sys

import numpy as np

from . import counts, guards, statistics
from .clock import DeviceClock
from .measurement import Measurement, place_of_clock
from .record import environment
from .sampling import Policy, Series

__all__ = ["collect", "forget", "region"]

_found = {}  # name: _Times, in the order of their first entry
_WINDOW = 5


class _Times:
    def __init__(self, clock):
        self.clock, self.policy = clock, Policy()
        self.device, self.whole, self.submission, self.gaps, self.conditions = [], [], [], [], []
        self.counts, self.counted = None, False
        self.folder = (
            os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv else None
        )  # the program's


class region:
    """Times the block each time it is entered; ``treadle bench script.py`` shows all of them, `collect` too.

    >>> with td.benchmark.region("step"):
    ...     y = td.sqrt(x * x + 1)  # launched and finished in the region's time, though nothing reads it here

    The first entry is kept apart: it compiles. The second is counted and not timed: launches, copies, loads. A region
    that gives the device nothing to do gets no time. Work in front of the block is finished before it begins. A block
    that raises has no sample. ``stream`` is the one that its work runs on (default: the current one).

    RuntimeError for a region that is entered inside of itself; ValueError for an empty name.
    """

    def __init__(self, name, stream=None):
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a region is a text that is not empty, not {name!r}")
        self.name, self._stream, self._inside = name, stream, False

    def __enter__(self):
        if self._inside:
            raise RuntimeError(f"region {self.name!r} is entered inside of itself")
        times = _found.get(self.name)
        if times is None:
            times = _found[self.name] = _Times(DeviceClock(self._stream))
        self._times, self._inside, clock = times, True, times.clock
        clock.mark()  # launches what is pending: it is no part of the region
        clock.wait()
        self._counting = bool(times.device) and not times.counted and counts.begin(clock.device)
        self._start = clock.mark()
        self._begin = clock.now()
        return self

    def __exit__(self, error, *_):
        times, clock = self._times, self._times.clock
        self._inside = False
        try:
            end = clock.mark() if error is None else None
            submitted = clock.now() - self._begin
        finally:
            found = counts.end(clock.device) if self._counting else None
        if error is not None:
            return
        gap = clock.passed(self._start)
        clock.reach(end)
        whole = clock.now() - self._begin
        clock.wait()
        if self._counting:
            times.counts, times.counted = found, True
            return
        if not times.device:
            clock.wait_for_compiles()
        times.device.append(clock.between(self._start, end))
        times.whole.append(whole)
        times.submission.append(submitted)
        times.gaps.append(gap)
        times.conditions.append(clock.conditions())


def forget():
    """Drops what regions have measured so far."""
    _found.clear()


def known():
    """True when a region was entered since `forget`."""
    return bool(_found)


def entries():
    """The smallest number of samples that a region has; 0 without regions."""
    return min((len(times.device) for times in _found.values()), default=0)


def collect():
    """A `Measurement` of each region that was entered, by name. A region without a time has a finding that says why."""
    return {name: _measurement(name, times) for name, times in _found.items()}


def settled_from(samples, window=_WINDOW):
    """The first index from which two windows of samples agree, or None."""
    for begin in range(1, len(samples) - 2 * window + 1):
        middle = begin + window
        if statistics.agree(samples[begin:middle], samples[middle : middle + window]):
            return begin
    return None


def _measurement(name, times):
    begin = settled_from(times.device)
    first = 1 if begin is None else begin
    findings = list(guards.findings_of_counts(times.counts))
    if times.counts is not None and times.counts.nothing:
        findings.append(
            guards.Finding(
                "nothing-launched",
                "the region gives the device nothing to do: there is nothing to time",
            )
        )
        first = len(times.device)
    elif len(times.device) <= first:
        findings.append(
            guards.Finding(
                "no-samples",
                f"the region was entered {len(times.device) + times.counted} times: too few",
            )
        )
    elif begin is None:
        findings.append(guards.Finding("not-settled", "no two windows of its entries agreed"))
    rows = []
    if len(times.device) > first:
        for scope, samples in (
            ("device", times.device), ("end_to_end", times.whole), ("submission", times.submission),
        ):  # fmt: skip
            gaps = sum(times.gaps[first:]) if scope == "device" else 0
            conditions = [one for one in times.conditions[first:] if one is not None]
            series = Series(
                scope, "hot", np.array(samples[first:]), gaps=gaps, conditions=conditions
            )
            series.converged = (
                len(series.samples_s) >= statistics.FEWEST
                and series.interval.relative_half_width <= series.policy.target
            )
            findings += guards.findings_of_series(series, 0.0)
            rows.append(series)
    clock = times.clock
    return Measurement(
        name=name, device=place_of_clock(clock), where="device", arguments=[], results=[],
        checked="a region's results are the program's to check", times=rows,
        first_call_modules=None, first_call_s=times.whole[0] if times.whole else None,
        warm_up_s=float(np.sum(times.whole[1:first])), settled=begin is not None, empty_s=0.0, upload_bytes=None,
        download_bytes=None, counts=times.counts, bytes_moved=None, findings=findings,
        record=environment(clock.device, clock.watch, times.policy, times.folder),
    )  # fmt: skip
