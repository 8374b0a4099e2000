"""The reuse sweep: data uploaded for every use beside data uploaded once and used k times, fused and op by op."""

import datetime

import numpy as np

from . import crossover, run
from .figures import Axis, Figure, Mark, series_of, si
from .record import device_label, record
from .report import Report, Table
from .sizes import check_results
from .sources import Problem

__all__ = ["USES", "sweep_reuse"]

USES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
HOST, EVERY, ONCE, STEPS = (
    "NumPy",
    "uploaded for every use",
    "uploaded once",
    "uploaded once, op by op",
)
_NAMES = {HOST: "numpy", EVERY: "every_use", ONCE: "once", STEPS: "once_op_by_op"}


def sweep_reuse(work, size=100_000, uses=USES, *, share=0.1, rounds=5, policy=None, seed=0, measure=None,
                progress=None):  # fmt: skip
    """The `Report` of a `workloads.Workload` of ``size`` elements, used ``uses`` times (ascending, from 1).

    Every time is one of a use: the whole time, first upload to last download, over the number of uses. ``share``: the
    transfers matter as long as they are more than this part of it. Problem: fewer than two numbers of uses, or results
    that differ between the host and the device.
    """
    uses = sorted(set(uses))
    if len(uses) < 2 or uses[0] < 1:
        raise Problem("a reuse sweep needs at least two numbers of uses, of 1 or more")
    if not 0 < share < 1:
        raise Problem(f"share is {share}; it must lie between 0 and 1, as 0.1")
    policy, started = policy or run.policy_of(False), datetime.datetime.now(datetime.timezone.utc)
    check_results(work, [size])
    arrays = work.inputs(size)
    samples = run.run(_tasks(work, arrays, uses), rounds, policy, seed, measure, progress)
    return _report(work, size, uses, share, samples, record(policy, rounds, seed, started), seed)


def _repeated(function, k):
    """k uses of the same data; every result is computed, the last one is returned."""

    def work(*arrays):
        for _ in range(k - 1):
            result = function(*arrays)
            if hasattr(result, "flush"):
                result.flush()
            del result
        return function(*arrays)

    return work


def _tasks(work, arrays, uses):
    def arguments():
        return arrays

    for k in uses:
        yield run.Task(k, work.host, arguments, {"device": HOST}, where="host")
        yield run.Task(k, work.device, arguments, {"end_to_end": EVERY})
        yield run.Task(k, _repeated(work.device, k), arguments, {"end_to_end": ONCE}, scale=1 / k)
        if work.steps:
            yield run.Task(
                k, _repeated(work.steps, k), arguments, {"end_to_end": STEPS}, scale=1 / k
            )


def _without_transfers(samples, uses):
    """Rounds of the time that one more use costs: what k uses take longer than the fewest, over how many more they are.
    The transfers, which are the same in both, cancel.
    """
    first, last = uses[0], uses[-1]
    out = []
    for few, many in zip(*samples.of(ONCE, (first, last))):
        n = min(few.size, many.size)
        each = (many[:n] * last - few[:n] * first) / (last - first)
        out.append(np.maximum(each, 1e-10))
    return out


def _report(work, size, uses, share, samples, facts, seed):
    names = [name for name in _NAMES if name in samples.rounds]
    bands = {
        name: [crossover.interval(r, seed=seed) for r in samples.of(name, uses)] for name in names
    }
    each = _without_transfers(samples, uses)
    limit = [[r / (1 - share) for r in each]] * len(uses)
    matters = crossover.crossing(uses, samples.of(ONCE, uses), limit, seed=seed)
    wins = crossover.crossing(uses, samples.of(ONCE, uses), samples.of(HOST, uses), seed=seed)
    gain = None
    if STEPS in bands:
        last = uses[-1]
        gain = crossover.ratio(samples.rounds[STEPS][last], samples.rounds[ONCE][last], seed=seed)
    use = crossover.interval(each, seed=seed)
    label = device_label()
    marks = (
        (matters, f"transfers below {100 * share:.0f} %: {_uses(matters.x)}"),
        (wins, f"faster than NumPy: {_uses(wins.x)}"),
    )
    figure = Figure(
        f"{work.name}: {work.formula}, {si(size)} {work.unit}", Axis("uses of the same data", log=True),
        Axis("time of a use", "s", log=True), tuple(series_of(n, uses, bands[n], n in (EVERY, STEPS)) for n in names),
        tuple(Mark(c.x, max(c.low, uses[0]), min(c.high, uses[-1]), text) for c, text in marks if c.state == "found"),
        note=label,
    )  # fmt: skip
    return Report(
        f"Reuse sweep of {work.name}", label, tuple(_findings(matters, wins, gain, use, share, uses)),
        (_table(uses, names, bands, use),), (figure,),
        {
            "sweep": "reuse", "work": work.name, "size": size, "uses": list(uses), "share": share,
            "seconds_of_a_use": {
                _NAMES[n]: [i.as_dict("median") for i in bands[n]] for n in names
            },
            "seconds_of_a_use_without_transfers": use.as_dict("median"),
            "transfers_stop_to_matter": matters.as_dict(),
            "faster_than_numpy": wins.as_dict(),
            "op_by_op_over_fused": None if gain is None else gain.as_dict("ratio"),
        },
        facts,
    )  # fmt: skip


def _uses(k):
    return f"{si(k)} use{'' if k == 1 else 's'}"


def _findings(matters, wins, gain, use, share, uses):
    percent = f"{100 * share:.0f} %"
    if matters.state == "always":
        yield f"the transfers are less than {percent} of a use from the first one on"
    elif matters.state == "never":
        yield f"the transfers are more than {percent} of a use even with {uses[-1]} uses"
    elif matters.state == "open":
        yield f"from which use on the transfers are less than {percent} is not decided ({matters.span()})"
    else:
        yield f"from {si(matters.x)} uses on the transfers are less than {percent} of a use ({matters.span()})"
    yield f"without transfers a use takes {si(use.centre, 's')} ({use.text('s')})"
    if wins.state == "always":
        yield "uploaded once, the device is faster than NumPy from the first use on"
    elif wins.state == "never":
        yield f"uploaded once, NumPy stays faster even with {uses[-1]} uses"
    elif wins.state == "open":
        yield f"uploaded once, from which use on the device is faster than NumPy is not decided ({wins.span()})"
    else:
        yield f"uploaded once, the device is faster than NumPy from {si(wins.x)} uses on ({wins.span()})"
    if gain:
        yield (
            f"op by op a use takes {gain.centre:.2f} times as long as fused ({gain.low:.2f} to {gain.high:.2f}) with "
            f"{uses[-1]} uses"
        )


def _table(uses, names, bands, use):
    rows = []
    for i, k in enumerate(uses):
        row = [si(k)]
        for name in names:
            row += [si(bands[name][i].centre, "s"), bands[name][i].text("s")]
        part = 1 - use.centre / bands[ONCE][i].centre
        rows.append((*row, f"{max(0, 100 * part):.0f} %"))
    head = ["uses"]
    for name in names:
        head += [{STEPS: "op by op", EVERY: "every use", ONCE: "once"}.get(name, name), "95 %"]
    return Table(
        "Time of a use",
        (*head, "transfers"),
        tuple(rows),
        "transfers: their part of a use, uploaded once",
    )
