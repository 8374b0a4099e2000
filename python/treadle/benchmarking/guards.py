"""What a time must not hide. A guard either refuses a time (`Refused`) or says what is in it (`Finding`).

Refused: a result that differs, work that gave the device nothing to do, a launch that failed, work that goes on after
the second event, numbers of different kinds compared. Said: everything that is true of a time and that a reader
would want to know before believing it. Each kind has a name, so that programs can look for it.
"""

import math
from typing import NamedTuple

import numpy as np

from . import statistics

__all__ = [
    "Finding",
    "Refused",
    "check_results",
    "check_work",
    "findings_of_counts",
    "findings_of_series",
]


class Finding(NamedTuple):
    """Something about a time: its kind (one word, for programs), a sentence, and which time, if one ("device, hot")."""

    kind: str
    text: str
    where: str = ""


class Refused(RuntimeError):
    """There is no time to give. ``kind`` says why in one word, the message in a sentence with the cure."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind

    def __reduce__(self):
        return type(self), (self.kind, str(self))


# ---- results ----


def check_results(got, want, rtol=None, atol=None):
    """Compares arrays of a call with those of the reference; a sentence that says how equal they are.

    Numbers may differ by ``rtol * |want| + atol``. Without ``rtol``: the square root of the spacing of the coarser
    dtype at 1 (float32: 3.5e-4, float64: 1.5e-8), and integers and booleans must be equal. Without ``atol``: ``rtol``
    times the mean of |want|. NaN equals NaN. `Refused` for another number of arrays, another shape, or other values.
    """
    if len(got) != len(want):
        raise Refused(
            "different-result", f"the work gives {len(got)} arrays, the reference {len(want)}"
        )
    if not got:
        raise Refused(
            "different-result",
            "there is no result to compare: return it, or name the arguments that hold it with outputs=",
        )
    worst, allowed = 0.0, 0.0
    for i, (one, other) in enumerate(zip(got, want)):
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            raise Refused(
                "different-result",
                f"result {i} has shape {one.shape}, the reference's {other.shape}",
            )
        tolerance = _tolerance(one.dtype, other.dtype) if rtol is None else rtol
        worst = max(worst, _difference(i, one, other, tolerance, atol))
        allowed = max(allowed, tolerance)
    if allowed == 0:
        return "equal to the reference"
    return (
        f"equal to the reference within {allowed:.2g} (largest difference {worst:.2g} of the mean)"
    )


def _tolerance(*dtypes):
    inexact = [dtype for dtype in dtypes if dtype.kind not in "biuMmSUVO"]
    if not inexact:
        return 0.0
    return max(float(_spacing(dtype)) ** 0.5 for dtype in inexact)


def _spacing(dtype):
    if dtype.kind in "fc":
        return np.finfo(dtype).eps
    import ml_dtypes

    return ml_dtypes.finfo(dtype).eps  # bfloat16


def _difference(i, got, want, rtol, atol):
    if got.size == 0:
        return 0.0
    if rtol == 0 and not atol and got.dtype.kind not in "fc":
        wrong = int((got != want).sum())
        if wrong:
            raise Refused(
                "different-result",
                f"result {i}: {wrong} of {got.size} values differ from the reference",
            )
        return 0.0
    kind = np.result_type(np.float64, got.dtype if got.dtype.kind == "c" else np.float64)
    one, other = got.astype(kind), want.astype(kind)
    finite = np.abs(other[np.isfinite(other)])
    mean = float(finite.mean()) if finite.size else 0.0
    bound = rtol * np.abs(other) + (rtol * mean if atol is None else atol)
    with np.errstate(invalid="ignore"):
        off = np.abs(one - other)
        same = (one == other) | (np.isnan(one) & np.isnan(other)) | (off <= bound)
    wrong = int((~same).sum())
    if wrong:
        place = np.unravel_index(int(np.argmax(~same)), got.shape)
        raise Refused(
            "different-result",
            f"result {i}: {wrong} of {got.size} values differ from the reference, the first at "
            f"{tuple(map(int, place))}: {got[place]} instead of {want[place]} (allowed: {rtol:.2g} of it)",
        )
    off = off[np.isfinite(off)]
    return float(off.max()) / mean if off.size and mean else 0.0


# ---- work ----


def check_work(sampler, counts):
    """Refuses work that leaves the device idle, hides a failed launch, or goes on behind the second event."""
    if counts is not None and counts.failed:
        calls = ", ".join(f"{name} {number} times" for name, number in counts.failed)
        raise Refused(
            "failed-call",
            f"a call answers an error that the work hides ({calls}): what failed has no time",
        )
    if sampler.where == "host":
        return
    if counts is not None and counts.nothing:
        raise Refused(
            "nothing-launched",
            "the call gives the device nothing to do, so that there is nothing to time. Return the array that it "
            "computes (a value that nobody keeps is not computed), compute it anew in each call, and look whether an "
            "error was caught inside. (Work of other libraries is not seen; treadle.benchmarking.measure times it.)",
        )
    if sampler.outlives():
        raise Refused(
            "other-stream",
            "the device still works for the call when the second event of the timed stream has passed: the work runs "
            "on another stream. Time it with stream=, or make the timed stream wait for it",
        )


def findings_of_counts(counts):
    """What a call does besides computing."""
    if counts is None:
        return
    if counts.modules_loaded:
        yield Finding(
            "compiles-inside",
            f"each call loads {counts.modules_loaded} modules: compiling and loading are in its time; make the kernel "
            "once, in front of the function",
        )
    if counts.uploaded_bytes or counts.downloaded_bytes:
        yield Finding(
            "transfers-inside",
            f"each call moves {counts.uploaded_bytes} bytes to the device and {counts.downloaded_bytes} back: the "
            "transfers are in every scope, the device's too",
        )


def findings_of_series(series, empty_s, place="device"):
    """What is to be said of a series of samples of work on the device or the host."""
    scope = place if series.scope == "device" else series.scope.replace("_", " ")
    where = f"{scope}, {series.cache}"
    return [Finding(kind, text, where) for kind, text in _about_series(series, empty_s)]


def _about_series(series, empty_s):
    count = len(series.samples_s)
    yield from _about_clocks(series)
    if series.waits_inside:
        yield (
            "waits-inside",
            "the call waits for the device itself, so that the host's time between launches is in it",
        )
    elif series.gaps:
        yield "gaps", f"in {series.gaps} of {count} samples the device waited for the host"
    if not series.converged:
        width = series.interval.relative_half_width if count else math.inf
        wanted = f"{100 * series.policy.target:.2g} %"
        yield (
            "not-converged",
            f"{count} samples give the median to {100 * width:.3g} %, not to {wanted}",
        )
    if not count:
        return
    if statistics.drifts(series.samples_s):
        yield "drifts", "the last samples differ from the first: the machine is not steady"
    skew = statistics.skewness(series.samples_s)
    if skew > 1.1:
        yield "skewed", f"the mean would be {skew:.2f} times the median: a few samples are slow"
    if (
        series.scope in ("device", "graph")
        and empty_s > 0.02 * series.median_s * series.calls_per_sample
    ):
        yield (
            "near-resolution",
            f"two events around nothing are {1e6 * empty_s:.2g} us apart, the median is {1e6 * series.median_s:.3g} "
            "us: the clock's own part is not small",
        )


def _about_clocks(series):
    seen = series.conditions
    if series.discarded:
        least = f"{100 * series.policy.min_clock_fraction:.0f} %"
        yield (
            "throttled",
            f"{series.discarded} samples were discarded: the clock was below {least} of its default",
        )
    reasons = sorted({text for one in seen for text in one.throttled})
    if reasons:
        yield "slowed-down", f"the device reports: {', '.join(reasons)}"
    clocks = [one.sm_mhz for one in seen if one.sm_mhz]
    if clocks and max(clocks) > 1.03 * min(clocks):
        yield (
            "clocks-not-locked",
            f"the clock moved between {min(clocks)} and {max(clocks)} MHz; `nvidia-smi -lgc` locks it",
        )
