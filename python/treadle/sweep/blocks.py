"""The block-size sweep: a kernel's time over block sizes, with occupancy and waves, and which sizes are as good."""

import datetime
import math

from .. import cuda
from ..occupancy import UNKNOWN_REGISTERS, occupancy
from . import crossover, run
from .figures import Axis, Figure, series_of, si
from .figures import Series as Curve
from .record import device_label, record
from .report import Report, Table
from .sources import Problem

__all__ = ["BLOCKS", "sweep_blocks"]

BLOCKS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_TIME = "time"
_TICKS = (32, 128, 256, 384, 512, 640, 768, 896, 1024)


def sweep_blocks(kernel, blocks=BLOCKS, *, grid=None, shared=0, rounds=5, policy=None, seed=0, tolerance=1e-5,
                 measure=None, progress=None):  # fmt: skip
    """The `Report` of a `launches.Launchable` over block sizes.

    ``grid``    number of blocks; default: enough for one thread for each element
    ``shared``  bytes of dynamic shared memory of a block, or a function of the block size that gives them

    Times are of the device, data resident. A size whose launch does not fit, or whose results differ from those of the
    first that fits (by more than ``tolerance`` of the largest value), is not timed, and the report says why.
    Problem: fewer than two sizes remain.
    """
    blocks = sorted(set(blocks))
    if not blocks or blocks[0] < 1:
        raise Problem("block sizes are 1 or more threads")
    policy, started = policy or run.policy_of(False), datetime.datetime.now(datetime.timezone.utc)
    shared_of = shared if callable(shared) else lambda block: shared
    grids = {b: grid or max(1, math.ceil(kernel.elements / b)) for b in blocks}
    found = {b: occupancy(kernel.compiled, b, dynamic_shared=shared_of(b)) for b in blocks}
    refused = _refused(kernel, blocks, grids, shared_of, found, tolerance)
    timed = [b for b in blocks if b not in refused]
    if len(timed) < 2:
        reasons = [f"{b} threads: {why}" for b, why in refused.items()] or ["give more of them"]
        more = f"; and {len(reasons) - 1} more like it" if len(reasons) > 1 else ""
        raise Problem(f"fewer than two block sizes can be compared: {reasons[0]}{more}")
    samples = run.run(
        _tasks(kernel, timed, grids, shared_of), rounds, policy, seed, measure, progress
    )
    facts = record(policy, rounds, seed, started)
    return _report(kernel, timed, refused, grids, found, samples, facts, seed)


def _refused(kernel, blocks, grids, shared_of, found, tolerance):
    """Block size -> why it is not timed."""
    out, reference, first = {}, None, None
    for b in blocks:
        if found[b].blocks == 0:
            out[b] = f"a block does not fit ({', '.join(found[b].limited_by)})"
            continue
        try:
            results = kernel.results(grids[b], b, shared_of(b))
        except ValueError as error:  # a limit of launches; a fault is raised: nothing runs after it
            if reference is None:
                raise
            out[b] = f"no such launch: {str(error).splitlines()[0]}"
            continue
        if reference is None:
            reference, first = results, b
        for got, wanted in zip(results, reference):
            problem = run.different(got, wanted, tolerance)
            if problem:
                out[b] = f"results differ from those with {first} threads: {problem}"
                break
    return out


def _tasks(kernel, blocks, grids, shared_of):
    for b in blocks:

        def work(*arguments, b=b):
            kernel.launch(grids[b], b, shared_of(b), arguments)

        yield run.Task(b, work, lambda: kernel.arguments, {"device": _TIME})


def _report(kernel, timed, refused, grids, found, samples, facts, seed):
    rounds = samples.rounds[_TIME]
    best = min(timed, key=lambda b: crossover.centre(rounds[b]))
    bands = {b: crossover.interval(rounds[b], seed=seed) for b in timed}
    ratios = {b: crossover.ratio(rounds[b], rounds[best], seed=seed) for b in timed}
    equal = [b for b in timed if b == best or ratios[b].low <= 1]
    processors = cuda.Device().attributes["MultiProcessorCount"]
    waves = {b: grids[b] / (found[b].blocks * processors) for b in timed}
    label = device_label()
    name = kernel.name
    figures = (
        Figure(
            f"{name}: time over block sizes", Axis("threads of a block", plain=True, ticks=_TICKS),
            Axis("time of a launch", "s", lowest=0), (series_of("measured", timed, [bands[b] for b in timed]),),
            note=label,
        ),
        Figure(
            f"{name}: theoretical occupancy, compute capability {found[best].compute_capability[0]}."
            f"{found[best].compute_capability[1]}", Axis("threads of a block", plain=True, ticks=_TICKS),
            Axis("resident warps", "%", lowest=0, highest=100),
            (Curve("occupancy", tuple(timed), tuple(100 * found[b].fraction for b in timed)),),
        ),
    )  # fmt: skip
    rows = tuple(
        (
            str(b), si(bands[b].centre, "s"), bands[b].text("s"), f"{ratios[b].centre:.3f}", ratios[b].text(),
            f"{100 * found[b].fraction:.0f} %", str(found[b].blocks), str(grids[b]), f"{waves[b]:.2f}",
            ", ".join(found[b].limited_by), "best" if b == best else "not told apart" if b in equal else "",
        )
        for b in timed
    )  # fmt: skip
    head = ("threads", "time", "95 %", "to best", "95 %", "occupancy", "blocks/SM", "grid", "waves", "limited by",
            "")  # fmt: skip
    return Report(
        f"Block-size sweep of {name}", label,
        tuple(_findings(best, equal, timed, ratios, refused, found, processors)),
        (Table("Block sizes", head, rows, f"waves: the grid over the blocks that {processors} multiprocessors hold"),),
        figures,
        {
            "sweep": "block", "kernel": name, "elements": kernel.elements, "best": best, "indistinguishable": equal,
            "refused": {str(b): why for b, why in refused.items()},
            "blocks": [
                {
                    "block": b, "grid": grids[b], "seconds": bands[b].as_dict("median"),
                    "to_best": ratios[b].as_dict("ratio"),
                    "converged": (_TIME, b) not in samples.unsettled, "waves": waves[b], **found[b].as_dict(),
                }
                for b in timed
            ],
        },
        facts,
    )  # fmt: skip


def _findings(best, equal, timed, ratios, refused, found, processors):
    others = [b for b in equal if b != best]
    if others:
        yield (
            f"fastest: {best} threads; not to be told from it in these samples: {', '.join(map(str, others))} "
            "(the 95 % interval of the ratio holds 1)"
        )
    else:
        yield f"fastest: {best} threads; every other size is slower by more than its interval"
    worst = max(timed, key=lambda b: ratios[b].centre)
    yield f"slowest: {worst} threads, {ratios[worst].centre:.2f} times as long ({ratios[worst].text()})"
    fullest = max(timed, key=lambda b: (found[b].fraction, b))
    yield (
        f"highest occupancy: {100 * found[fullest].fraction:.0f} % with {fullest} threads, on {processors} "
        f"multiprocessors of {found[fullest].max_warps} warps"
    )
    if UNKNOWN_REGISTERS in found[best].notes:
        yield UNKNOWN_REGISTERS
    for b, why in refused.items():
        yield f"{b} threads: not timed, {why}"
