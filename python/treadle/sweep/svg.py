"""A figure as SVG: for files, with its own style sheet for light and dark, and for pages, which bring theirs."""

import html
import math

from .figures import COLOURS, position, ticks

__all__ = ["draw", "style"]

WIDTH, HEIGHT = 860, 430
_LEFT, _RIGHT, _BOTTOM = 84, 24, 58


def style(scope="svg.td"):
    """The style sheet of `draw`'s classes, for both colour schemes."""
    rules = [
        f"{scope} text{{font:13px system-ui,sans-serif;fill:var(--ink)}}",
        f"{scope} .title{{font-weight:600;font-size:15px}}",
        f"{scope} .grid{{stroke:var(--grid);stroke-width:1}}",
        f"{scope} .axis{{stroke:var(--ink);stroke-width:1}}",
        f"{scope} .paper{{fill:var(--paper)}}",
        f"{scope} .markband{{fill:var(--ink);opacity:.13}}",
        f"{scope} .mark{{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:2 3}}",
        f"{scope} .line{{fill:none;stroke-width:2}}",
        f"{scope} .dashed{{stroke-dasharray:7 4}}",
    ]
    for i in range(len(COLOURS["light"])):
        rules.append(
            f"{scope} .s{i}{{stroke:var(--s{i})}}{scope} .f{i}{{fill:var(--s{i})}}"
            f"{scope} .b{i}{{fill:var(--s{i});opacity:.2}}"
        )
    return "\n".join([_variables(scope, "light"), f"@media(prefers-color-scheme:dark){{{_variables(scope, 'dark')}}}",
                      *rules])  # fmt: skip


def _variables(scope, scheme):
    ink, grid, paper = (
        ("#1d1f21", "#dcdfe3", "#ffffff")
        if scheme == "light"
        else ("#e4e6e8", "#3a3f45", "#16181b")
    )
    colours = ";".join(f"--s{i}:{c}" for i, c in enumerate(COLOURS[scheme]))
    return f"{scope}{{--ink:{ink};--grid:{grid};--paper:{paper};{colours}}}"


def draw(figure, standalone=True):
    """The text of an ``<svg>`` element; ``standalone``: a whole file, with the style sheet in it."""
    drawing = _Drawing(figure)
    parts = [
        f'<svg class="td" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{_text(figure.title)}"'
        + (f' width="{WIDTH}" height="{HEIGHT}">' if standalone else ">")
    ]
    if standalone:
        parts.append(f"<style>{style()}</style>")
    parts.append(f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>')
    parts += [*drawing.title(), *drawing.grid(), *drawing.marks()]
    for number, series in enumerate(figure.series):
        parts += drawing.series(number, series)
    parts.append("</svg>")
    return "\n".join(parts) + ("\n" if standalone else "")


def _text(value):
    return html.escape(str(value), quote=True)


def _width(text):
    """About the width of a text at 13 px; the fonts of readers differ."""
    return sum(4.4 if c in "iljtfr.,;:'|()[] " else 10.5 if c in "mwMW%" else 8 for c in text)


def _shape(number, x, y, css):
    """The marker of a series: circle, square, triangle, diamond, then again."""
    kind, r = number % 4, 4.2
    if kind == 0:
        return f'<circle class="{css}" cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    if kind == 1:
        s = r - 0.4
        return f'<rect class="{css}" x="{x - s:.1f}" y="{y - s:.1f}" width="{2 * s}" height="{2 * s}"/>'
    corners = (
        [(0, -5), (5, 4.2), (-5, 4.2)] if kind == 2 else [(0, -5.2), (5.2, 0), (0, 5.2), (-5.2, 0)]
    )
    return f'<polygon class="{css}" points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)}"/>'


class _Drawing:
    def __init__(self, figure):
        self.figure = figure
        self.x_extent, self.y_extent = figure.extent()
        self.legend, rows = self._legend()
        self.top = 50 + 20 * rows + (18 if figure.marks else 0)
        self.bottom = HEIGHT - _BOTTOM - (18 if figure.note else 0)

    def x(self, value):
        return _LEFT + position(value, self.x_extent, self.figure.x.log) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value):
        return self.bottom - position(value, self.y_extent, self.figure.y.log) * (
            self.bottom - self.top
        )

    def _legend(self):
        """Markers and names in rows above the plot."""
        parts, x, row = [], _LEFT, 0
        for i, series in enumerate(self.figure.series):
            width = 34 + _width(series.name)
            if x + width > WIDTH - _RIGHT and x > _LEFT:
                x, row = _LEFT, row + 1
            y, colour = 46 + 20 * row, i % len(COLOURS["light"])
            dashed = " dashed" if series.dashed else ""
            parts.append(
                f'<line class="line s{colour}{dashed}" x1="{x}" y1="{y}" x2="{x + 22}" y2="{y}"/>'
            )
            parts.append(_shape(i, x + 11, y, f"f{colour}"))
            parts.append(f'<text x="{x + 28}" y="{y + 4.5}">{_text(series.name)}</text>')
            x += width + 14
        return parts, row + 1

    def title(self):
        yield f'<text class="title" x="{_LEFT}" y="24">{_text(self.figure.title)}</text>'
        yield from self.legend
        if self.figure.note:
            yield f'<text x="{_LEFT}" y="{HEIGHT - 10}">{_text(self.figure.note)}</text>'

    def grid(self):
        figure, right = self.figure, WIDTH - _RIGHT
        for t in ticks(self.x_extent, figure.x, 11):
            x = self.x(t)
            yield f'<line class="grid" x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{self.bottom}"/>'
            anchor = "end" if x > right - 12 else "middle"
            yield (
                f'<text x="{min(x, right):.1f}" y="{self.bottom + 18}" text-anchor="{anchor}">'
                f"{_text(figure.x.text(t))}</text>"
            )
        for t in ticks(self.y_extent, figure.y, 8):
            y = self.y(t)
            yield f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4.5:.1f}" text-anchor="end">{_text(figure.y.text(t))}</text>'
        yield f'<path class="axis" fill="none" d="M{_LEFT} {self.top}V{self.bottom}H{right}"/>'
        middle = (_LEFT + right) / 2
        yield f'<text x="{middle:.0f}" y="{self.bottom + 40}" text-anchor="middle">{_text(figure.x.label)}</text>'
        middle = (self.top + self.bottom) / 2
        yield (
            f'<text x="18" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 18 {middle:.0f})">'
            f"{_text(figure.y.label)}</text>"
        )

    def marks(self):
        end = -math.inf
        for mark in sorted(self.figure.marks, key=lambda m: m.x):
            low, high, x = self.x(mark.low), self.x(mark.high), self.x(mark.x)
            yield (
                f'<rect class="markband" x="{low:.1f}" y="{self.top}" width="{max(high - low, 1):.1f}" '
                f'height="{self.bottom - self.top}"/>'
            )
            yield f'<line class="mark" x1="{x:.1f}" y1="{self.top}" x2="{x:.1f}" y2="{self.bottom}"/>'
            width = _width(mark.label)
            begin = min(max(x - width / 2, _LEFT), WIDTH - _RIGHT - width)
            if begin > end:
                yield f'<text x="{begin:.1f}" y="{self.top - 6}">{_text(mark.label)}</text>'
                end = begin + width + 8

    def series(self, number, series):
        figure, colour = self.figure, number % len(COLOURS["light"])

        def usable(x, y):
            return (
                math.isfinite(x)
                and math.isfinite(y)
                and (x > 0 or not figure.x.log)
                and (y > 0 or not figure.y.log)
            )

        points = [(self.x(x), self.y(y)) for x, y in zip(series.x, series.y) if usable(x, y)]
        if series.low is not None:
            rows = [
                (self.x(x), self.y(max(low, self.y_extent[0])), self.y(min(high, self.y_extent[1])))
                for x, low, high in zip(series.x, series.low, series.high)
                if usable(x, low) and usable(x, high)
            ]
            outline = [f"{x:.1f},{high:.1f}" for x, _, high in rows]
            outline += [f"{x:.1f},{low:.1f}" for x, low, _ in reversed(rows)]
            if len(rows) > 1:
                yield f'<polygon class="b{colour}" points="{" ".join(outline)}"/>'
        if len(points) > 1:
            dashed = " dashed" if series.dashed else ""
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline class="line s{colour}{dashed}" points="{path}"/>'
        for x, y in points:
            yield _shape(number, x, y, f"f{colour}")
