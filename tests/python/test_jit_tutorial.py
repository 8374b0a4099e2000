"""The listings of docs/tutorial-jit.md run one after the other, and print what stands below them."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tutorial-jit.md"


def test_every_listing_runs_and_prints_what_the_page_says(python, tmp_path):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    listings = [text for kind, text in blocks if kind == "python"]
    wanted = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
    assert len(listings) >= 7 and {kind for kind, _ in blocks} == {"python", "text"}
    program = tmp_path / "tutorial.py"
    program.write_text("\n".join(listings))
    done = python("", str(program))
    assert done.returncode == 0, done.stderr
    printed = iter(line.strip() for line in done.stdout.splitlines())
    for line in wanted:  # in this order, whatever stands between
        assert line.strip() in printed, (line, done.stdout)
