"""What a sweep found: sentences, tables, figures and the record, whatever shows them."""

import dataclasses
import json

from .._whole_files import write_whole
from . import images, page, terminal

__all__ = ["Report", "Table"]


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of text; the first column names the setting."""

    title: str
    head: tuple
    rows: tuple
    note: str = ""

    def words(self):
        """For each column: True when it holds words and not numbers."""
        return [not any(_is_number(row[i]) for row in self.rows) for i in range(len(self.head))]

    def text(self):
        """Columns aligned: names to the left, numbers to the right."""
        widths = [
            max(len(str(row[i])) for row in (self.head, *self.rows)) for i in range(len(self.head))
        ]
        words = self.words()

        def line(row):
            cells = (
                f"{v:<{w}}" if left else f"{v:>{w}}"
                for v, w, left in zip(map(str, row), widths, words)
            )
            return ("  " + "  ".join(cells)).rstrip()

        lines = [self.title, line(self.head), *map(line, self.rows)]
        return "\n".join(lines + ([f"  {self.note}"] if self.note else []))


def _is_number(text):
    return str(text)[:1].isdigit() or str(text)[:1] in "-±~"


@dataclasses.dataclass(frozen=True)
class Report:
    """One sweep. ``data`` are its numbers, in seconds, elements, threads and bytes, for programs."""

    title: str
    label: str  # what kind of time, of which device
    findings: tuple  # sentences
    tables: tuple
    figures: tuple
    data: dict
    record: dict

    def as_dict(self):
        """Plain values, for JSON."""
        return {
            "title": self.title, "time": self.label, "findings": list(self.findings), **self.data,
            "record": self.record,
        }  # fmt: skip

    def json(self):
        """The text of `as_dict`; a number that is not finite is null."""
        return json.dumps(_finite(self.as_dict()), indent=1)

    def text(self, width=100, encoding="utf-8", plots=True):
        """For a terminal."""
        parts = [f"{self.title}\n{self.label}", "\n".join(f"- {line}" for line in self.findings)]
        if plots:
            parts += [terminal.draw(figure, width, 18, encoding) for figure in self.figures]
        parts += [table.text() for table in self.tables]
        return "\n\n".join(part for part in parts if part)

    def save(self, path):
        """Writes the report where ``path`` ends in .html or .json, else its figures as `images.save` does; several
        figures are numbered. The file is whole or not there.
        """
        path = str(path)
        if path.endswith(".html"):
            write_whole(path, page.draw(self))
        elif path.endswith(".json"):
            write_whole(path, self.json() + "\n")
        else:
            stem, dot, ending = path.rpartition(".")
            for number, figure in enumerate(self.figures, 1):
                name = path if len(self.figures) == 1 else f"{stem}-{number}{dot}{ending}"
                images.save(figure, name)


def _finite(value):
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not (-1e300 < value < 1e300):
        return None
    return value
