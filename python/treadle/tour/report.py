"""What a step says, and how results are shown: lines on a terminal, or one JSON object.

Evidence words: PASS, the step ran and compared equal within its tolerance. FAIL, it ran and did not.
SKIPPED, it did not run, and the reason says why. Every result names the device on which it ran.
"""

import json
import os
import shutil
import sys
import textwrap
import time
from dataclasses import asdict, dataclass, field

PASS, FAIL, SKIPPED = "PASS", "FAIL", "SKIPPED"
_COLOURS = {PASS: "32", FAIL: "31", SKIPPED: "33"}


@dataclass
class Result:
    """One step's outcome. ``figures`` are numbers and words by name; ``tables`` are lists of rows."""

    name: str
    status: str
    reason: str = ""
    device: str = ""
    figures: dict = field(default_factory=dict)
    asked: bool = True  # false: of a device that nobody asked for; a skip of it is not a failure


class Mismatch(AssertionError):
    """A comparison that failed: the message says what was got and what was expected."""


class Skip(Exception):
    """Raised by a step that cannot run; the message is the reason."""


class Reporter:
    """Collects results and shows each as it comes."""

    def __init__(self, as_json, stream=None):
        self.results = []
        self.as_json = as_json
        self.out = stream or sys.stdout
        terminal = self.out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.live = terminal and not as_json
        self.colour = self.live and "NO_COLOR" not in os.environ
        self.width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 120))
        self.started = time.perf_counter()

    def heading(self, text):
        self._line(f"\n{text}")

    def note(self, text):
        self._line(text)

    def progress(self, name):
        """One line that the result overwrites; nothing in a pipe."""
        if self.live:
            print(f"\r\033[K  …        {name}"[: self.width], end="", file=self.out, flush=True)

    def add(self, result, shown=True):
        """``shown=False``: in the JSON report only."""
        self.results.append(result)
        if not shown:
            return
        status = result.status.ljust(7)
        if self.colour:
            status = f"\033[{_COLOURS[result.status]}m{status}\033[0m"
        self._line(f"  {status}  {result.name}" + (f"  [{result.device}]" if result.device else ""))
        self._details(result)

    def summary(self, headline):
        counts = {
            word: sum(r.status == word for r in self.results) for word in (PASS, FAIL, SKIPPED)
        }
        seconds = time.perf_counter() - self.started
        self._line(
            f"\n{headline}: {counts[PASS]} passed, {counts[FAIL]} failed, {counts[SKIPPED]} skipped in {seconds:.1f} s"
        )

    def write_json(self, **facts):
        steps = [asdict(result) for result in self.results]
        seconds = round(time.perf_counter() - self.started, 3)
        json.dump({**facts, "seconds": seconds, "steps": steps}, self.out, indent=1)
        self.out.write("\n")

    def _line(self, text):
        if not self.as_json:
            clear = "\r\033[K" if self.live else ""
            print(clear + text, file=self.out, flush=True)

    def _details(self, result):
        if result.reason:
            self._wrapped(result.reason)
        plain = {key: value for key, value in result.figures.items() if not isinstance(value, list)}
        if plain:
            self._wrapped(", ".join(f"{key}: {show(value)}" for key, value in plain.items()))
        for rows in (value for value in result.figures.values() if isinstance(value, list)):
            self._table(rows)

    def _wrapped(self, text):
        for line in text.splitlines():
            self._line(
                textwrap.indent(
                    textwrap.fill(line, self.width - 11, break_on_hyphens=False), " " * 11
                )
            )

    def _table(self, rows):
        """Rows are dictionaries with the same keys: one aligned line each, under their names."""
        names = list(rows[0])
        cells = [names] + [[show(row[name]) for name in names] for row in rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
        for row in cells:
            self._line(" " * 11 + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def show(value):
    """A figure as text: numbers with four significant digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)
