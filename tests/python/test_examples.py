"""The programs of examples/ run as they stand, on the device of this run; each compares its results itself."""

from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(python, example):
    done = python("", str(example))
    assert done.returncode == 0, done.stderr
    assert done.stdout
