"""A figure in characters: points by one letter each, bands by light dots, marks by columns."""

import itertools
import math
import shutil
import sys

from .figures import position, ticks

__all__ = ["draw", "width_of"]

_MARKERS = "ox+*#@"


def width_of(stream=None):
    """Columns of the terminal, at most 110; 100 where there is none."""
    stream = sys.stdout if stream is None else stream
    if not getattr(stream, "isatty", lambda: False)():
        return 100
    return max(50, min(110, shutil.get_terminal_size().columns - 1))


def draw(figure, width=100, height=18, encoding="utf-8"):
    """The lines of a plot of ``width`` columns and ``height`` rows, with axes and a legend, as one text."""
    (x_extent, y_extent) = figure.extent(bands=False)
    y_ticks = ticks(y_extent, figure.y, max(3, height // 3))
    labels = {_row(t, y_extent, figure.y.log, height): figure.y.text(t) for t in y_ticks}
    margin = max(map(len, labels.values()), default=0) + 1
    columns = max(20, width - margin - 2)
    canvas = [[" "] * columns for _ in range(height)]

    def column(x):
        return round(position(x, x_extent, figure.x.log) * (columns - 1))

    for mark in figure.marks:
        for c in range(max(0, column(mark.low)), min(columns - 1, column(mark.high)) + 1):
            for line in canvas:
                line[c] = "░"
        for line in canvas:
            line[column(mark.x)] = "│"
    for number, series in enumerate(figure.series):
        _draw_series(canvas, series, figure, column, y_extent, _MARKERS[number % len(_MARKERS)])
    lines = [figure.title, ""]
    for row, cells in enumerate(canvas):
        lines.append(f"{labels.get(row, ''):>{margin}} ┤{''.join(cells).rstrip()}")
    lines += _x_axis(figure, x_extent, column, margin, columns)
    lines += [""] + _legend(figure, margin, width)
    text = "\n".join(lines)
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        text = text.translate(_PLAIN).encode("ascii", "replace").decode()
    return text


_PLAIN = str.maketrans(
    {"░": ":", "│": "|", "┤": "|", "┴": "+", "└": "+", "─": "-", "·": ".", "µ": "u", "×": "x"}
)


def _row(y, extent, log, height):
    return height - 1 - round(position(y, extent, log) * (height - 1))


def _usable(x, y, figure):
    return (
        math.isfinite(x) and math.isfinite(y) and (x > 0 or not figure.x.log) and (y > 0 or not figure.y.log)
    )  # fmt: skip


def _draw_series(canvas, series, figure, column, y_extent, marker):
    height = len(canvas)
    points = [
        (column(x), position(y, y_extent, figure.y.log))
        for x, y in zip(series.x, series.y)
        if _usable(x, y, figure)
    ]
    for (c0, p0), (c1, p1) in itertools.pairwise(points):
        for c in range(c0 + 1, c1):
            p = p0 + (p1 - p0) * (c - c0) / (c1 - c0)
            row = height - 1 - round(p * (height - 1))
            if canvas[row][c] in " ░":
                canvas[row][c] = "·"
    for c, p in points:
        row = height - 1 - round(p * (height - 1))
        taken = canvas[row][c]
        canvas[row][c] = "%" if taken in _MARKERS and taken != marker else marker


def _x_axis(figure, extent, column, margin, columns):
    line, text = ["─"] * columns, [" "] * (columns + 8)
    end = -2
    for t in ticks(extent, figure.x, max(3, columns // 10)):
        label, c = figure.x.text(t), column(t)
        begin = max(0, min(c - len(label) // 2, columns - len(label)))
        line[c] = "┴"
        if begin > end + 1:
            text[begin : begin + len(label)] = label
            end = begin + len(label)
    name = figure.x.label
    return [
        " " * margin + " └" + "".join(line),
        " " * (margin + 2) + "".join(text).rstrip(),
        " " * (margin + 2) + f"{name:^{columns}}".rstrip(),
    ]


def _legend(figure, margin, width):
    indent = " " * (margin + 2)
    items = [f"{_MARKERS[i % len(_MARKERS)]} {s.name}" for i, s in enumerate(figure.series)]
    if len(figure.series) > 1:
        items.append("% several at one place")
    items += [f"│ {m.label}" for m in figure.marks]
    lines, current = [], ""
    for item in items:
        if current and len(indent) + len(current) + 3 + len(item) > width:
            lines.append(indent + current)
            current = ""
        current += ("   " if current else "") + item
    lines.append(indent + current)
    lines.append(f"{indent}vertical: {figure.y.label}")
    return lines + ([indent + figure.note] if figure.note else [])
