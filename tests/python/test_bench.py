"""The judgement of the benchmark programs: goals, clocks, and the table."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import common


@pytest.mark.parametrize(
    "value, goal, met",
    [
        (59, ("<=", 60), True),
        (61, ("<=", 60), False),
        (0.9, (">=", 0.9), True),
        (None, ("<=", 1), False),
    ],
)
def test_goals(value, goal, met):
    row = common.record("x", value, "ms", "scope", "host", goal)
    assert row["met"] is met and row["goal"].startswith(goal[0])


def test_no_goal_is_no_judgement():
    assert "met" not in common.record("x", 1.0, "ms", "scope")


def test_clocks_measure_time():
    import time

    assert 0.009 < common.median_seconds(lambda: time.sleep(0.01), 3) < 1
    assert 0 < common.event_seconds(lambda: None, 3) < 1
    assert 0 < common.per_call_seconds(lambda: None, 100) < 0.01


def test_fresh_process_reports_failures():
    assert common.fresh_process("print(1); print(2.5)") == 2.5
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        common.fresh_process("1 / 0")


def test_table(capsys):
    common.show(
        [common.record("a", 1.0, "ms", "s", "host", ("<=", 2)), common.record("b", None, "x", "s")]
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and "yes" in lines[1]


def test_every_array_function_has_a_row():
    import re

    import functions_table as table
    import numpy as np
    import treadle as td

    rows = [call for text in table.TABLES.values() for call in table.split_calls(text)]
    measured = set(re.findall(r"\w+", " ".join([*rows, *table.GOALS, table.NO_ROW])))
    names = {name for name in dir(np) if callable(getattr(np, name)) and not name.startswith("_")}
    names = {name for name in names if not isinstance(getattr(np, name), type)}
    assert not {name for name in names if hasattr(td, name)} - measured
    for row in rows:
        compile(row, row, "eval")
