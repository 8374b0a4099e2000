"""docs/array-functions.md says what is there: the script that writes it would write the same."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_is_current(python):
    done = python(None, str(ROOT / "tools/array_functions.py"), "--check")
    assert done.returncode == 0, done.stderr
