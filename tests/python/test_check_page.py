"""docs/check.md shows the rows, evidence and advice that `treadle check` has."""

import re
from pathlib import Path

from treadle.check import advice
from treadle.check.evidence import FACTS
from treadle.check.judge import BLOCKS, NOTE, WARNS
from treadle.check.rows import ROWS
from treadle.check.verdict import NO_PATTERN

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_current(python):
    done = python(None, str(ROOT / "tools/check_page.py"), "--check")
    assert done.returncode == 0, done.stderr


def test_rows_are_complete():
    ids = [row.id for row in ROWS]
    assert len(set(ids)) == len(ids)
    assert {str(n) for n in range(1, 43)} <= set(ids)
    for row in (*ROWS, NO_PATTERN):
        assert row.symptom and row.evidence and row.conclusion and row.advice, row
        assert row.weight in (BLOCKS, WARNS, NOTE)
        assert set(row.advice) <= set(advice.TEXTS), row
        assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", source) for source in row.sources)


def test_every_advice_is_used_and_has_a_text_for_all():
    source = "".join(p.read_text() for p in (ROOT / "python/treadle/check").glob("rows/*.py"))
    for key, texts in advice.TEXTS.items():
        assert texts.get(""), key
        assert f'"{key}"' in source or key in NO_PATTERN.advice, f"nothing uses the advice {key!r}"


def test_evidence_has_numbers_in_order():
    assert list(FACTS) == [f"E{n}" for n in range(25)]
