"""The size sweep: NumPy beside the device, data resident and end to end, and from which size on which is faster."""

import datetime

import numpy as np

import treadle as td

from .. import _treadle
from . import crossover, run
from .figures import Axis, Figure, Mark, series_of, si
from .record import device_label, record
from .report import Report, Table
from .sources import Problem

__all__ = ["RESIDENT", "WHOLE", "check_results", "default_sizes", "sweep_sizes"]

HOST, RESIDENT, WHOLE = "NumPy", "device, data resident", "device, end to end"
_SHORT = {RESIDENT: "faster, resident,", WHOLE: "faster end to end"}
_NAMES = {HOST: "numpy", RESIDENT: "resident", WHOLE: "end_to_end"}


def default_sizes(work, largest=None):
    """Powers of ten from the work's smallest size to its largest."""
    top = work.largest if largest is None else largest
    found, n = [], work.smallest
    while n <= top:
        found.append(n)
        n *= 10
    return found


def sweep_sizes(
    work, sizes=None, *, rounds=5, policy=None, seed=0, refine=2, measure=None, progress=None
):
    """The `Report` of a `workloads.Workload` over ``sizes`` (numbers of elements, ascending; default: powers of ten).

    Every size is measured ``rounds`` times, in a new order each time. ``refine``: how often a size is added in the
    middle of the two that enclose a crossing. Problem: fewer than two sizes, or results that differ between the host
    and the device, which are then not timed.
    """
    sizes = sorted(set(default_sizes(work) if sizes is None else sizes))
    if len(sizes) < 2 or sizes[0] < 1:
        raise Problem("a size sweep needs at least two sizes of 1 or more elements")
    policy, started = policy or run.policy_of(False), datetime.datetime.now(datetime.timezone.utc)
    check_results(work, sizes)
    samples = run.run(_tasks(work, sizes), rounds, policy, seed, measure, progress)
    for step in range(refine):
        fresh = _between_crossings(sizes, samples)
        if not fresh:
            break
        check_results(work, fresh)
        run.run(_tasks(work, fresh), rounds, policy, seed + 1 + step, measure, progress, samples)
        sizes = sorted(sizes + fresh)
    return _report(work, sizes, samples, record(policy, rounds, seed, started), seed)


def _tasks(work, sizes):
    for n in sizes:

        def arguments(n=n):
            return work.inputs(n)

        yield run.Task(n, work.host, arguments, {"device": HOST}, where="host")
        yield run.Task(n, work.device, arguments, {"device": RESIDENT, "end_to_end": WHOLE})


def check_results(work, sizes):
    """Problem when the device and the host do not compute the same, each in its place, at one of the sizes."""
    for n in sizes:
        arrays = work.inputs(n)
        got = work.device(*(td.asarray(a) if isinstance(a, np.ndarray) else a for a in arrays))
        wanted = work.host(*arrays)
        if not isinstance(got, _treadle.ndarray):
            raise Problem(
                f"'{work.name}' is not timed: of Treadle arrays it made a {type(got).__name__}, so it does not compute "
                "on the device; let it return a Treadle array"
            )
        if isinstance(wanted, _treadle.ndarray):
            raise Problem(
                f"'{work.name}' is not timed: of NumPy arrays it made a Treadle array, so it does not compute on the "
                f"host; give NumPy's counterpart ({work.name}_numpy in a script, host= in Python)"
            )
        problem = run.different(got, wanted, work.tolerance)
        if problem:
            raise Problem(
                f"'{work.name}' is not timed: with {n} elements the device's result differs from the host's: {problem}"
            )


def _between_crossings(sizes, samples):
    """A size in the middle of each pair that encloses a crossing, unless they are close already."""
    fresh = set()
    for name in (RESIDENT, WHOLE):
        found = _crossing(sizes, samples, name, resamples=100)
        if not sizes[0] < found.x < sizes[-1]:
            continue
        upper = next(i for i, n in enumerate(sizes) if n >= found.x)
        low, high = sizes[upper - 1], sizes[upper]
        middle = round((low * high) ** 0.5)
        if high / low > 1.5 and low < middle < high:
            fresh.add(middle)
    return sorted(fresh)


def _crossing(sizes, samples, name, **options):
    return crossover.crossing(sizes, samples.of(name, sizes), samples.of(HOST, sizes), **options)


def _sentence(found, name, work):
    what = {RESIDENT: "with the data resident", WHOLE: "end to end"}[name]
    unit = work.unit
    bounds = found.span()
    if found.state == "always":
        return f"{what} the device is faster at every size from {si(found.first)} {unit} on"
    if found.state == "never":
        return f"{what} NumPy is faster at every size up to {si(found.last)} {unit}"
    if found.state == "open":
        return f"{what} the crossover is not decided within the measured sizes ({bounds} {unit})"
    return f"{what} the device is faster from {si(found.x)} {unit} on ({bounds})"


def _report(work, sizes, samples, facts, seed):
    crossings = {name: _crossing(sizes, samples, name, seed=seed) for name in (RESIDENT, WHOLE)}
    bands = {
        name: [crossover.interval(r, seed=seed) for r in samples.of(name, sizes)]
        for name in (HOST, RESIDENT, WHOLE)
    }  # fmt: skip
    label = device_label()
    figure = Figure(
        f"{work.name}: {work.formula}", Axis(work.unit, log=True), Axis("time of a call", "s", log=True),
        tuple(series_of(name, sizes, bands[name], name == WHOLE) for name in bands),
        tuple(
            Mark(c.x, max(c.low, sizes[0]), min(c.high, sizes[-1]), f"{_SHORT[name]} from {si(c.x)}")
            for name, c in crossings.items() if c.state == "found"
        ),
        note=label,
    )  # fmt: skip
    return Report(
        f"Size sweep of {work.name}", label, tuple(_sentence(c, name, work) for name, c in crossings.items()),
        (_table(work, sizes, bands, samples),), (figure,), _data(work, sizes, bands, crossings, samples), facts,
    )  # fmt: skip


def _table(work, sizes, bands, samples):
    rows, loose = [], False
    for k, n in enumerate(sizes):
        row = [si(n)]
        for name in (HOST, RESIDENT, WHOLE):
            found, mark = bands[name][k], ""
            if (name, n) in samples.unsettled:
                mark, loose = "~", True
            row += [f"{mark}{si(found.centre, 's')}", found.text("s")]
        row.append(f"{bands[HOST][k].centre / bands[RESIDENT][k].centre:.2f}")
        row.append(f"{bands[HOST][k].centre / bands[WHOLE][k].centre:.2f}")
        row.append(si(work.moved(n), "B") if work.moved else "-")
        rows.append(tuple(row))
    head = (
        work.unit,
        "NumPy",
        "95 %",
        "resident",
        "95 %",
        "end to end",
        "95 %",
        "gain",
        "gain e. e.",
        "moved",
    )
    note = "95 %: interval of the median, over rounds and samples; gain: NumPy's time over the device's"
    return Table(
        "Times of a call",
        head,
        tuple(rows),
        note + ("; ~ not converged in some round" if loose else ""),
    )


def _data(work, sizes, bands, crossings, samples):
    return {
        "sweep": "size",
        "work": work.name,
        "sizes": list(sizes),
        "seconds": {
            _NAMES[name]: [
                {
                    "median": i.centre,
                    "low": i.low,
                    "high": i.high,
                    "converged": (name, n) not in samples.unsettled,
                }
                for n, i in zip(sizes, found)
            ]
            for name, found in bands.items()
        },
        "bytes_moved": [work.moved(n) if work.moved else None for n in sizes],
        "crossover": {_NAMES[name]: found.as_dict() for name, found in crossings.items()},
    }
