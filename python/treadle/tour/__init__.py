"""``treadle tour``: the way of GPU computing, walked on this machine, every step checked.

    treadle tour [--device NAME] [--require-gpu] [--json] [--step TEXT]

The exit status is 0 only when everything that was asked for ran and passed, and at least one kernel's result was
compared.
"""

import argparse
import os

from .report import FAIL, PASS, SKIPPED, Reporter, Result, Skip

GROUPS = (
    ("2  Arrays and explicit transfer", "arrays"),
    ("3  Raw kernels in CUDA C++", "launches"),
    ("4  Threads of a block working together", "blocks"),
    ("5  What goes wrong, on purpose", "mistakes"),
    ("6  Time", "timing"),
)


def parser():
    p = argparse.ArgumentParser(
        prog="treadle tour", description="Runs CUDA kernels and arrays, checked and timed."
    )
    p.add_argument(
        "--device",
        default=None,
        help="cuda[:N], soft[:N] or auto (default: TREADLE_DEVICE, else auto)",
    )
    p.add_argument(
        "--require-gpu",
        action="store_true",
        help="anything but a pass on an NVIDIA GPU is a failure",
    )
    p.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    p.add_argument(
        "--step", default="", metavar="TEXT", help="only the steps whose name contains TEXT"
    )
    return p


def main(argv=None):
    """Runs the tour; returns the exit status."""
    options = parser().parse_args(argv)
    report = Reporter(options.json)
    run = discover(report, options)
    if run is not None:
        walk(report, run, options)
    return conclude(report, run, options)


def discover(report, options):
    """Step 1: the ladders, and the device that the rest of the tour runs on (None when there is none)."""
    from treadle import cuda

    from . import discovery
    from .context import Context

    report.progress("choosing a device")
    wanted = options.device or ("cuda" if options.require_gpu else None)
    try:
        device, problem = cuda.Device(wanted) if wanted else cuda.Device(), ""
    except Exception as error:
        device, problem = None, str(error)
    kind = device.name.partition(":")[0] if device else (wanted or "cuda").partition(":")[0]
    if device:
        report.note(
            f"{device.name}: {device.description}. Every result below is of the {device.evidence}."
        )
    report.heading("1  Discovery")
    free_choice = not wanted and os.environ.get("TREADLE_DEVICE", "auto") in ("", "auto")
    if kind == "soft" and free_choice:
        climb(report, options, "cuda", asked=False)
    if kind in discovery.EVIDENCE:
        climb(report, options, kind, asked=True)
    if device is None:
        report.add(Result("discovery: device", FAIL, problem, "", {}))
        return None
    device.use()
    return Context(device)


def climb(report, options, kind, asked):
    """One ladder. Of a device that is not there and was not asked for, the first missing rung is enough to read."""
    from . import discovery

    missing = False
    for result in discovery.climb(kind, asked):
        if chosen(result.name, options):
            report.add(result, shown=not missing)
        missing = missing or (not asked and result.status == SKIPPED)


def walk(report, run, options):
    """Steps 2 to 6."""
    from importlib import import_module

    for heading, module in GROUPS:
        steps = [
            step for step in import_module(f".{module}", __name__).STEPS if chosen(step[0], options)
        ]
        if steps:
            report.heading(heading)
        for name, function in steps:
            report.progress(name)
            report.add(take(name, function, run))


def take(name, function, run):
    """One step's result. Whatever it raises is that step's failure, never the tour's end."""
    try:
        return Result(name, PASS, "", run.evidence, function(run) or {})
    except Skip as skip:
        return Result(name, SKIPPED, str(skip), run.evidence)
    except Exception as error:
        return Result(name, FAIL, f"{type(error).__name__}: {error}", run.evidence)


def chosen(name, options):
    return options.step.lower() in name.lower()


def conclude(report, run, options):
    """The verdict: what makes the exit status other than 0 is said."""
    asked = [result for result in report.results if result.asked]
    problems = []
    if not any(result.status == PASS for result in asked):
        problems.append("nothing ran")
    if any(result.status != PASS for result in asked):
        problems.append("a step did not pass")
    if run is None:
        problems.append("no device")
    elif not run.verified and not any(
        r.name == "discovery: compare" and r.status == PASS for r in asked
    ):
        problems.append("no kernel ran")
    if options.require_gpu and (run is None or run.device.is_software):
        problems.append("an NVIDIA GPU was required")
    if options.json:
        device = {} if run is None else {
            "name": run.device.name, "description": run.device.description, "evidence": run.evidence,
        }  # fmt: skip
        report.write_json(device=device, verdict=FAIL if problems else PASS, problems=problems)
    else:
        report.summary(f"{FAIL} ({'; '.join(problems)})" if problems else PASS)
    return 1 if problems else 0
