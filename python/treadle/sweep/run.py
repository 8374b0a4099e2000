"""Takes the samples of a sweep: every setting once a round, in a new order each round, results compared before."""

import dataclasses
import math

import numpy as np

from ..benchmarking import Policy
from ..benchmarking import measure as take
from .sources import Problem

__all__ = ["QUICK", "Task", "different", "policy_of", "run"]

QUICK = Policy(target=0.02, min_samples=6, max_samples=60, max_seconds=0.06, warm_seconds=0.1)
NORMAL = Policy(target=0.01, min_samples=8, max_samples=120, max_seconds=0.2, warm_seconds=0.2)


def policy_of(quick, seconds=None):
    """How long a setting is measured in a round; ``seconds``: in place of the policy's."""
    policy = QUICK if quick else NORMAL
    return policy if seconds is None else dataclasses.replace(policy, max_seconds=seconds)


@dataclasses.dataclass(frozen=True)
class Task:
    """One call to measure. ``picks``: scope -> name of the series that its samples belong to.

    ``scale``: what one call's seconds are multiplied with (1 / uses, for the time of a use). ``outputs``: positions of
    the arguments that hold the result, where the work returns none.
    """

    x: float
    work: object
    arguments: object  # () -> tuple
    picks: dict
    where: str = "device"
    scale: float = 1.0
    outputs: tuple | None = None


@dataclasses.dataclass
class Samples:
    """``rounds[series][x]``: a list of arrays of seconds, one a round. ``unsettled``: pairs of (series, x) whose
    samples did not become as narrow as the policy asks in some round.
    """

    rounds: dict
    unsettled: set

    def of(self, series, xs):
        """The rounds at each x, in the order of ``xs``."""
        return [self.rounds[series][x] for x in xs]


def run(tasks, rounds, policy, seed=0, measure=None, progress=None, samples=None):
    """The `Samples` of all tasks; with ``samples`` these are added to.

    Tasks with the same x are measured one right after the other. ``measure`` is `benchmarking.measure` or what stands
    in for it; ``progress(done, all, text)`` is called before each task.
    """
    measure, tasks = measure or take, list(tasks)
    samples = samples or Samples({}, set())
    rng = np.random.default_rng(seed)
    groups = {}
    for task in tasks:
        groups.setdefault(task.x, []).append(task)
    done, total = 0, rounds * len(tasks)
    for _ in range(rounds):
        for x in rng.permutation(sorted(groups)):
            group = groups[x.item()]
            for index in rng.permutation(len(group)):
                task = group[index]
                if progress:
                    progress(done, total, f"{', '.join(task.picks.values())} at {task.x:g}")
                _measure(task, policy, measure, samples)
                done += 1
    if progress:
        progress(total, total, "")
    return samples


def _measure(task, policy, measure, samples):
    found = measure(
        task.work, *task.arguments(), scopes=tuple(task.picks), where=task.where, policy=policy,
        **({} if task.outputs is None else {"outputs": task.outputs}),
    )  # fmt: skip
    for scope, name in task.picks.items():
        series = getattr(found, scope)
        if series is None:
            raise Problem(
                f"'{name}' has no result that could be brought to the host; return an array"
            )
        seconds = np.asarray(series.samples_s, np.float64) * task.scale
        if seconds.size == 0:
            raise Problem(
                f"'{name}' has no samples at {task.x:g}: all were discarded, the device was throttled"
            )
        if not (seconds > 0).all():  # below the clock's resolution
            seconds = np.maximum(seconds, 1e-10)
        samples.rounds.setdefault(name, {}).setdefault(task.x, []).append(seconds)
        if not series.converged:
            samples.unsettled.add((name, task.x))


def different(got, wanted, tolerance):
    """Why two results are not the same, in words; "" when they are. ``tolerance``: relative to the largest value."""
    got, wanted = (np.asarray(x.get() if hasattr(x, "get") else x) for x in (got, wanted))
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    if got.dtype != wanted.dtype:
        return f"dtype {got.dtype}, not {wanted.dtype}: times of different precisions cannot be compared"
    if got.size == 0 or got.dtype.kind not in "fc":
        return "" if np.array_equal(got, wanted) else "other values"
    if not np.array_equal(np.isnan(got), np.isnan(wanted)):
        return "NaN at other places"
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        error = float(np.nanmax(np.abs(got.astype(wide) - wanted), initial=0.0))
    scale = float(np.nanmax(np.abs(wanted), initial=0.0))
    if not math.isfinite(scale):
        return "" if np.array_equal(got, wanted, equal_nan=True) else "other values"
    return (
        ""
        if error <= tolerance * max(scale, 1e-30)
        else f"largest difference {error:.3g} of {scale:.3g}"
    )
