"""`benchmark`: checks a piece of work, takes its three times, and says what is in them."""

import contextlib
import dataclasses
import inspect
import json
import os

import numpy as np

from ..errors import OutOfMemoryError
from . import guards
from .arguments import arrays_in
from .expressions import as_work
from .record import environment, time_label
from .sampling import ALL_SCOPES, SCOPES, Sampler, check_scopes

__all__ = ["FORMAT", "Measurement", "benchmark"]

FORMAT = "treadle-benchmark-1"


@dataclasses.dataclass
class Measurement:
    """The times of a piece of work, with everything that a reader needs to believe or to doubt them.

    ``times`` are `Series`, by scope and cache: ``device`` hot and cold, ``end_to_end``, ``submission``. `time` finds
    one of them. Prints as a table; `to_dict` and `json` are for programs.
    """

    name: str
    device: dict  # name, evidence, description, time: which kind of time it is
    where: str  # "device" or "host"
    arguments: list  # of each: kind, dtype, shape, bytes; or kind and value
    results: list
    checked: str  # how the result was compared before
    times: list
    first_call_s: float | None
    first_call_modules: int | None  # compiled, or loaded from the disk cache, by the first call
    warm_up_s: float
    settled: bool
    empty_s: float
    upload_bytes: int | None  # of one end-to-end call
    download_bytes: int | None
    counts: object  # `Counts` of one call, or None
    bytes_moved: int | None  # of one call, as its author declares
    findings: list
    record: dict
    peak_bytes_per_s: float | None = None

    def time(self, scope="device", cache="hot"):
        """The `Series` of a scope; KeyError with those that there are."""
        for series in self.times:
            if (series.scope, series.cache) == (scope, cache):
                return series
        have = ", ".join(f"{s.scope} {s.cache}" for s in self.times)
        raise KeyError(f"{self.name} has no time '{scope} {cache}'; there are: {have}")

    @property
    def median_s(self):
        """The median of the device's hot time, in seconds of one call."""
        return self.time().median_s

    @property
    def converged(self):
        """True when every interval is as narrow as it was asked for."""
        return all(series.converged for series in self.times)

    def bandwidth(self, series):
        """(bytes a second, "declared" or "planned") of a series of the device; None where no bytes are known."""
        size, how = self.bytes_moved, "declared"
        if size is None and self.counts is not None:
            size, how = self.counts.planned_bytes, "planned"
        if not size or series.scope not in ("device", "graph") or not len(series.samples_s):
            return None
        return size / series.median_s, how

    def to_dict(self):
        """Everything, the samples too, as JSON's types."""
        from . import report

        return report.as_dict(self)

    def json(self):
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1)

    def __str__(self):
        from . import report

        return report.as_text(self)

    __repr__ = __str__


def benchmark(
    work, *args, reference=None, rtol=None, atol=None, cache=("hot", "cold"), scopes=SCOPES, inputs=None, outputs=None,
    setup=None, where="device", stream=None, name=None, bytes_moved=None, policy=None, clock=None, progress=None,
    **arrays,
):  # fmt: skip
    """Measures ``work(*args)``: on the device, end to end, and the host's submission, side by side.

    ``work`` is a function, or an expression of arrays as text, whose names are Treadle's functions and the arrays
    given by keyword:

    >>> td.benchmark(lambda a: td.sqrt(a * a + 1), x, reference=lambda a: np.sqrt(a * a + 1))
    >>> td.benchmark("sqrt(a * a + 1)", a=x)

    Arrays among the arguments may be NumPy's or Treadle's, of any shape and dtype; for the device's time they lie on
    the device, for the end-to-end time each call uploads them, computes, and brings the result to the host.

    ``reference``    what the result must be: a function (called with NumPy arrays), or the array or arrays. Compared
                     with the first call's result before anything is timed, within ``rtol`` and ``atol`` as
                     `guards.check_results` says; a result that differs gets no time (`Refused`)
    ``cache``        "hot", "cold" or both: the device's time with the data of the last call still in the cache, or
                     after a write of more than the cache holds
    ``scopes``       which of "device", "end_to_end" and "submission" to take, and "graph": the device's hot time of a
                     graph that holds the calls, for kernels so short that the gaps between launches count
    ``inputs``       positions of the arrays that an end-to-end call uploads (default: all)
    ``outputs``      positions of the arrays that hold the result (default: what the call returns, else the arrays
                     that its first call changed)
    ``setup``        called before each sample, outside of the times: to restore what the work changes
    ``where``        "host": the work computes with NumPy arrays; a time of the CPU, to compare with
    ``stream``       the stream that the work runs on (default: the current one)
    ``bytes_moved``  bytes that one call reads and writes in device memory, for a bandwidth
    ``policy``       a `Policy`: how long, how exact, and the seed of the intervals

    Returns a `Measurement`, in seconds of one call. A call that cannot be timed raises `Refused`: it launches
    nothing, hides a launch that failed, goes on behind the timed stream, or has a wrong result. What the work raises
    is raised. ValueError for options that are none.

    What the scopes mean, and why, is on the page docs/benchmarking.md.
    """
    caches = (cache,) if isinstance(cache, str) else tuple(cache)
    _check_options(scopes, caches, where, reference)
    work, args, label = as_work(work, args, arrays, where)
    with contextlib.nullcontext() if stream is None else stream:
        sampler = Sampler(work, args, inputs, outputs, setup, where, policy, clock, progress)
        checked, results = first_call(sampler, reference, rtol, atol)
        sampler.warm_up()
        counts = sampler.count()
        guards.check_work(sampler, counts)
        times, missing = _times(sampler, scopes, caches, counts)
    return _measurement(
        sampler,
        times,
        missing,
        counts,
        results,
        name=name or label,
        checked=checked,
        bytes_moved=bytes_moved,
    )


def _check_options(scopes, caches, where, reference):
    check_scopes(scopes, ALL_SCOPES)
    if "graph" in scopes and where == "host":
        raise ValueError("the scope 'graph' is of a device; the work computes on the host")
    if not caches or [x for x in caches if x not in ("hot", "cold")]:
        raise ValueError(f"cache is {caches}; it must be 'hot', 'cold' or both")
    if (
        reference is not None
        and not callable(reference)
        and not arrays_in(reference)
        and not np.isscalar(reference)
    ):
        raise ValueError(
            f"reference is a {type(reference).__name__}; it must be a function or the expected array or arrays"
        )


def first_call(sampler, reference, rtol, atol):
    """How the result of the first call was compared, and its arrays on the host."""
    got = sampler.first_call(count=True)
    if reference is None:
        return "not compared with a reference", got
    if callable(reference):
        args = tuple(
            np.array(x) if isinstance(x, np.ndarray) else x for x in sampler.arguments.host
        )
        returned = reference(*args)
        want = arrays_in(returned)
        if not want and sampler.arguments.outputs is not None:
            want = sampler.arguments.results(args, None)
        elif not want and np.isscalar(returned):
            want = [np.asarray(returned)]
    else:
        want = arrays_in(reference) or [np.asarray(reference)]
    want = [np.asarray(x.get() if hasattr(x, "get") else x) for x in want]
    return guards.check_results(got, want, rtol, atol), got


def _times(sampler, scopes, caches, counts):
    """The series of all scopes and caches, and findings about those that there are none of."""
    times, missing = [], []
    resident = caches if "device" in scopes else caches[:1] if "submission" in scopes else ()
    for number, cache in enumerate(resident):
        try:
            device, submission = sampler.resident(cache)
        except OutOfMemoryError as error:
            if cache == "hot":
                raise
            missing.append(
                guards.Finding("no-cold-time", f"the cache could not be flushed: {error}")
            )
            continue
        if "device" in scopes:
            times.append(device)
        if "submission" in scopes and number == 0 and sampler.where == "device":
            times.append(submission)
    if "graph" in scopes:
        try:
            times.append(sampler.replays(counts))
        except guards.Refused as error:
            if len(scopes) == 1:
                raise
            missing.append(guards.Finding(error.kind, str(error)))
    if "end_to_end" in scopes:
        whole = sampler.end_to_end()
        times += [] if whole is None else [whole]
        if whole is None:
            missing.append(
                guards.Finding(
                    "no-end-to-end-time",
                    "the call returns no array, and its first call changed none of its arguments: name the results "
                    "with outputs=",
                )
            )
    return sorted(times, key=lambda s: (ALL_SCOPES.index(s.scope), s.cache != "hot")), missing


def _measurement(sampler, times, missing, counts, results, **more):
    moved = sampler.where == "device" and any(series.scope == "end_to_end" for series in times)
    findings = [*missing, *guards.findings_of_counts(counts)]
    if not sampler.settled:
        findings.append(
            guards.Finding("not-settled", "the warm-up ended before two of its windows agreed")
        )
    for series in times:
        findings += guards.findings_of_series(series, sampler.empty_s, sampler.where)
    device, watch = getattr(sampler.clock, "device", None), getattr(sampler.clock, "watch", None)
    return Measurement(
        device=place_of_clock(sampler.clock), where=sampler.where, times=times, counts=counts, findings=findings,
        arguments=[_described(x) for x in sampler.arguments.host], first_call_s=sampler.first_call_s,
        first_call_modules=sampler.first_counts and sampler.first_counts.modules_loaded,
        warm_up_s=sampler.warm_up_s, settled=sampler.settled, empty_s=sampler.empty_s,
        record=environment(device, watch, sampler.policy, folder_of(sampler.work)),
        peak_bytes_per_s=device and _peak(device),
        results=[_described(x) for x in results],
        upload_bytes=sampler.arguments.upload_bytes if moved else None,
        download_bytes=sum(x.nbytes for x in results) if moved else None, **more,
    )  # fmt: skip


def place_of_clock(clock):
    """Where the work under a clock computes, and what kind of time that is."""
    device = getattr(clock, "device", None)
    if device is None:
        return {
            "name": "host",
            "evidence": "CPU",
            "description": "",
            "time": "CPU time of the host",
        }
    return {
        "name": device.name,
        "evidence": device.evidence,
        "description": device.description,
        "time": time_label(device),
    }


def folder_of(work):
    """The folder of the program that a function was written in; None where that is no file."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(work))
    except TypeError:
        return None
    folder = os.path.dirname(os.path.abspath(file)) if file else ""
    return folder if os.path.isdir(folder) else None


def _described(value):
    if isinstance(value, np.ndarray):
        return {
            "kind": "array",
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "bytes": int(value.nbytes),
        }
    if isinstance(value, (bool, int, float, complex, str, np.generic)):
        dtype = str(value.dtype) if isinstance(value, np.generic) else type(value).__name__
        return {"kind": "value", "dtype": dtype, "value": str(value)}
    return {"kind": "object", "dtype": type(value).__name__}


def _peak(device):
    """Bytes a second that the device's memory can move: two transfers a clock; None where it does not say."""
    found = device.attributes
    clock_khz, width_bits = found.get("MemoryClockRate", 0), found.get("GlobalMemoryBusWidth", 0)
    return 2 * clock_khz * 1e3 * width_bits / 8 or None
