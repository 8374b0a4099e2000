"""docs/array-functions.md says what is there: the script that writes it would write the same."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OTHER_NUMPY = 77


def test_the_page_is_current(python):
    done = python(None, str(ROOT / "tools/array_functions.py"), "--check")
    if done.returncode == OTHER_NUMPY:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
