"""``treadle bench compare old.json new.json``: saved measurements against each other.

Two medians are called different when their intervals have nothing in common and they differ by more than the margin;
the same when they differ by no more than it and so do the ends of the ratio's interval; anything else is undecided.
Runs of different kinds are refused: another scope, cache, dtype, shape, kind of device.
"""

import json
import math
from typing import NamedTuple

import numpy as np

from . import report, statistics
from .measurement import FORMAT

__all__ = ["Row", "as_text", "compare_saved", "read"]


class Row(NamedTuple):
    """One time of both runs. ``verdict``: "faster", "slower" (the new one), "same", "undecided", "refused"."""

    name: str
    scope: str
    cache: str
    old_s: float | None
    new_s: float | None
    ratio: statistics.MedianInterval | None  # old over new: above 1, the new one is faster
    verdict: str
    reason: str


def read(path):
    """The measurements of a file of ``treadle bench --json``.

    ValueError for a file that is none, with its name and what is wrong; OSError as `open` raises it.
    """
    with open(path, encoding="utf-8") as file:
        try:
            found = json.load(file)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path} is no JSON: {error}") from None
    rows = found.get("measurements", [found]) if isinstance(found, dict) else None
    if not isinstance(rows, list) or not all(map(_is_measurement, rows)):
        raise ValueError(f"{path} is no record of `treadle bench --json` (format {FORMAT})")
    return rows


def _is_measurement(row):
    return (
        isinstance(row, dict) and row.get("format") == FORMAT and isinstance(row.get("times"), list)
    )


def compare_saved(old, new, margin=0.01, level=0.95, seed=0):
    """`Row` after row: each time of each measurement of both lists, matched by name."""
    rows, news = [], {one["name"]: one for one in new}
    for before in old:
        after = news.pop(before["name"], None)
        if after is None:
            rows.append(
                _refused(before["name"], "-", "-", "the new run has no measurement of this name")
            )
            continue
        reason = _different(before, after)
        if reason:
            rows.append(_refused(before["name"], "-", "-", reason))
            continue
        rows += _times(before, after, margin, level, seed)
    rows += [
        _refused(name, "-", "-", "the old run has no measurement of this name") for name in news
    ]
    return rows


def _refused(name, scope, cache, reason):
    return Row(name, scope, cache, None, None, None, "refused", reason)


def _different(before, after):
    """Why two measurements are not of the same thing; empty when they are."""
    for key, words in (("evidence", "kind of device"), ("description", "device")):
        if before["device"][key] != after["device"][key]:
            return f"another {words}: {before['device'][key]!r} and {after['device'][key]!r}"
    if before["where"] != after["where"]:
        return f"another place: {before['where']} and {after['where']}"
    for key in ("arguments", "results"):
        one, other = before[key], after[key]
        if len(one) != len(other):
            return f"{len(one)} and {len(other)} {key}"
        for i, (x, y) in enumerate(zip(one, other)):
            for fact in ("dtype", "shape", "value"):
                if x.get(fact) != y.get(fact):
                    return f"another {fact} of {key[:-1]} {i}: {x.get(fact)} and {y.get(fact)}"
    return ""


def _times(before, after, margin, level, seed):
    key = lambda row: (row["scope"], row["cache"])  # noqa: E731
    olds, news = ({key(row): row for row in one["times"]} for one in (before, after))
    for scope, cache in sorted(olds.keys() | news.keys()):
        old, new = olds.get((scope, cache)), news.get((scope, cache))
        if old is None or new is None:
            missing = "old" if old is None else "new"
            yield _refused(before["name"], scope, cache, f"the {missing} run has no such time")
            continue
        if not old["samples"] or not new["samples"]:
            yield _refused(
                before["name"], scope, cache, "one of the runs has no sample that counts"
            )
            continue
        yield _row(
            before["name"], scope, cache, old["samples"], new["samples"], margin, level, seed
        )


def _row(name, scope, cache, old, new, margin, level, seed):
    ratio = statistics.ratio_interval(old, new, level, paired=False, seed=seed)
    one, other = (statistics.median_interval(x, level, seed=seed) for x in (old, new))
    reason = ""
    if not math.isfinite(ratio.relative_half_width):
        found, reason = "undecided", f"fewer than {statistics.FEWEST} samples"
    elif 1 - margin <= ratio.low and ratio.high <= 1 + margin:
        found = "same"
    elif one.overlaps(other):
        found, reason = "undecided", "the intervals overlap"
    elif abs(ratio.median - 1) <= margin:
        found, reason = "undecided", "apart, and by less than the margin"
    else:
        found = "faster" if ratio.median > 1 else "slower"
    return Row(
        name, scope, cache, float(np.median(old)), float(np.median(new)), ratio, found, reason
    )


def as_text(rows, old, new):
    """The table of rows, with what changed between the machines of the two runs."""
    cells = [("measurement", "time", "old", "new", "old / new", "interval", "")]
    for row in rows:
        words = row.verdict + (f": {row.reason}" if row.reason else "")
        if row.ratio is None:
            cells.append(
                (row.name, f"{row.scope} {row.cache}".replace("- -", "-"), "", "", "", "", words)
            )
            continue
        middle = row.ratio
        whole = math.isfinite(middle.relative_half_width)
        cells.append((
            row.name, f"{row.scope} {row.cache}", report.in_seconds(row.old_s), report.in_seconds(row.new_s),
            f"{middle.median:.4g}", f"{middle.low:.4g} to {middle.high:.4g}" if whole else "-", words,
        ))  # fmt: skip
    return "\n".join(report.table(cells) + [f"! {line}" for line in changes(old, new)])


def changes(old, new):
    """What else differs between the first measurements of two runs: driver, compiler, versions, settings, machine."""
    if not old or not new:
        return
    one, other = old[0]["record"], new[0]["record"]
    for key in ("compiler", "versions", "settings"):
        if one.get(key) != other.get(key):
            yield f"{key}: {one.get(key)} then, {other.get(key)} now"
    for part, key in (("device", "driver"), ("machine", "cpu"), ("machine", "cores")):
        before, after = (x.get(part, {}).get(key) for x in (one, other))
        if before != after:
            yield f"{part} {key}: {before} then, {after} now"
