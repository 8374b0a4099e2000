#!/usr/bin/env python3
"""Writes the tables of docs/check.md: evidence, rows and advice, as `treadle check` itself uses them.

    PYTHONPATH=build/python python3 tools/check_page.py [--check]

The text above the mark in the page is written by hand; everything below is replaced. With --check nothing is written:
exit 1 when the page is not what would be written.
"""

import re
import sys
from pathlib import Path

from treadle.check import advice
from treadle.check.evidence import FACTS
from treadle.check.judge import BLOCKS, NOTE, WARNS
from treadle.check.rows import ROWS
from treadle.check.verdict import NO_PATTERN

PAGE = Path(__file__).resolve().parents[1] / "docs/check.md"
MARK = "<!-- written by tools/check_page.py from here on -->\n"
WEIGHTS = {BLOCKS: "no GPU", WARNS: "fault or trap", NOTE: "note"}
NAMES = {
    "debian": "Debian", "ubuntu": "Ubuntu", "fedora": "Fedora", "rhel": "RHEL and kin", "suse": "SUSE", "arch": "Arch",
}  # fmt: skip
HEAD = "| row | symptom | evidence | concluded at most | means | advice |"


def cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").replace("<", "&lt;")


def anchor(key):
    return f"[{key}](#{key.replace(' ', '-')})"


def report(source):
    """A link to a public report, 'owner/name#12'."""
    repository, _, number = source.partition("#")
    return f"[{source}](https://github.com/{repository}/issues/{number})"


def tables():
    out = ["## Rows", "", HEAD, "|---|---|---|---|---|---|"]
    for row in (*ROWS, NO_PATTERN):
        seen = f" Seen in {', '.join(map(report, row.sources))}." if row.sources else ""
        said = re.sub(r"\{(\w+)(![rs])?\}", r"*\1*", row.conclusion)
        out.append(
            f"| {row.id} | {cell(row.symptom)} | {cell(row.evidence)}.{seen} | {cell(said)} | {WEIGHTS[row.weight]} | "
            f"{', '.join(map(anchor, row.advice))} |"
        )
    out += ["", "## Evidence", "", "| | layer | fact |", "|---|---|---|"]
    out += [f"| {id} | {layer} | {title} |" for id, (layer, title) in FACTS.items()]
    out += ["", "## Advice", ""]
    for key, texts in advice.TEXTS.items():
        out += [f"### {key}", "", texts[""], ""]
        lines = [f"- {NAMES[family]}: {text}" for family, text in texts.items() if family]
        out += [*lines, ""] if lines else []
    return "\n".join(out).rstrip() + "\n"


def main():
    text = PAGE.read_text(encoding="utf-8")
    head, mark, _ = text.partition(MARK)
    if not mark:
        sys.exit(f"{PAGE} has no line {MARK.strip()!r}")
    wanted = head + MARK + "\n" + tables()
    if "--check" in sys.argv[1:]:
        if wanted != text:
            sys.exit(f"{PAGE} is not current: run tools/check_page.py")
    else:
        PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
