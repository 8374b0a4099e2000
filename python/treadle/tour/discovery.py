"""Step 1. The ladder from the driver library to a compared result, each rung its own result."""

from treadle import _treadle

from .report import FAIL, SKIPPED, Result

EVIDENCE = {"cuda": "NVIDIA GPU", "soft": "software device"}


def climb(kind, asked):
    """The rungs of one kind of device. What nobody asked for and is not there is a skip, not a failure."""
    for rung in _treadle._ladder(kind):
        status = SKIPPED if rung["status"] == FAIL and not asked else rung["status"]
        figures = {"found": rung["detail"]} if status == "PASS" else {}
        reason = "" if status == "PASS" else rung["detail"]
        yield Result(f"discovery: {rung['name']}", status, reason, EVIDENCE[kind], figures, asked)
