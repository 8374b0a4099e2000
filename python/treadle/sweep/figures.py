"""What a plot shows, whatever draws it: `terminal` (characters), `svg` (pages and files) or `images` (matplotlib)."""

import dataclasses
import math

import numpy as np

__all__ = ["COLOURS", "Axis", "Figure", "Mark", "Series", "si", "ticks"]

# Distinct under the common kinds of colour blindness (after Okabe and Ito); every series has a marker of its own too.
COLOURS = {
    "light": ("#0072b2", "#c44e00", "#007a59", "#a3458b", "#7a5c00", "#4d4d4d"),
    "dark": ("#62bdf0", "#f0954a", "#3fcf9f", "#e79cc8", "#e3c34d", "#c8c8c8"),
}

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}


@dataclasses.dataclass(frozen=True)
class Axis:
    """``unit``: of the numbers; prefixes are put in front of it ("s" becomes "µs"). "%": none are."""

    label: str
    unit: str = ""
    log: bool = False
    lowest: float | None = None  # the axis begins here at the latest
    highest: float | None = None
    ticks: tuple = ()
    plain: bool = False  # numbers are written out, without a prefix

    def text(self, value):
        """A number as it stands at the axis."""
        return f"{value:g}" if self.plain else si(value, self.unit)


@dataclasses.dataclass(frozen=True)
class Series:
    """Points in the order of x; ``low`` and ``high`` bound a band. NaN: no point there."""

    name: str
    x: tuple
    y: tuple
    low: tuple | None = None
    high: tuple | None = None
    dashed: bool = False


def series_of(name, xs, intervals, dashed=False):
    """A `Series` of things with ``centre``, ``low`` and ``high``."""
    return Series(
        name, tuple(xs), tuple(i.centre for i in intervals), tuple(i.low for i in intervals),
        tuple(i.high for i in intervals), dashed,
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Mark:
    """A place on the x axis with its uncertainty."""

    x: float
    low: float
    high: float
    label: str


@dataclasses.dataclass(frozen=True)
class Figure:
    title: str
    x: Axis
    y: Axis
    series: tuple
    marks: tuple = ()
    note: str = ""

    def extent(self, bands=True):
        """((x from, x to), (y from, y to)) that hold every point, and the bands if wanted: those of noisy points as far
        as the others stay readable. Logarithmic axes leave out what is not positive. ValueError without points.
        """
        xs = [v for s in self.series for v in s.x] + [
            v for m in self.marks for v in (m.low, m.high)
        ]
        ys = [v for s in self.series for v in s.y if math.isfinite(v)]
        if bands and ys:
            lowest, highest = (
                (min(ys) / 10, max(ys) * 10) if self.y.log else (-math.inf, 1.6 * max(ys))
            )
            for s in self.series:
                ys += [max(v, lowest) for v in s.low or ()] + [
                    min(v, highest) for v in s.high or ()
                ]
        return _range(xs, self.x), _range(ys, self.y)


def _range(values, axis):
    found = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)]
    if not found:
        raise ValueError(f"there is nothing to draw along the axis '{axis.label}'")
    low, high = min(found), max(found)
    if axis.lowest is not None:
        low = min(low, axis.lowest)
    if axis.highest is not None:
        high = max(high, axis.highest)
    if axis.log:
        if high / low < 1.5:
            low, high = low / 1.5, high * 1.5
        return low, high
    if high == low:
        high = low + (abs(low) or 1.0)
    return low, high


def position(value, extent, log):
    """0 to 1 along an axis."""
    low, high = extent
    if log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def ticks(extent, axis, most=8):
    """Numbers to write at an axis: powers of ten (or 1, 2, 5 of them) on a logarithmic one, round steps otherwise."""
    if axis.ticks:
        return [t for t in axis.ticks if extent[0] * 0.999 <= t <= extent[1] * 1.001]
    low, high = extent
    if not axis.log:
        raw = (high - low) / max(most - 1, 1)
        step = 10.0 ** math.floor(math.log10(raw))
        step *= next(k for k in (1, 2, 5, 10) if k * step >= raw * 0.999)
        first = math.ceil(low / step - 1e-9)
        return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**e for e in decades for d in digits]
        found = [v for v in found if low * 0.999 <= v <= high * 1.001]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def si(value, unit="", digits=3):
    """``si(2.5e-6, "s")`` is "2.5 µs"; ``si(65536)`` is "65.5k"; percent and plain small numbers stay as they are."""
    if not np.isfinite(value):
        return "-" if np.isnan(value) else "∞" if value > 0 else "-∞"
    if value == 0:
        return f"0 {unit}".strip()
    if unit == "%":
        return f"{value:.{digits}g} %"
    exponent = min(max(3 * math.floor(math.log10(abs(value)) / 3 + 1e-12), -12), 12)
    scaled = value / 10.0**exponent
    if abs(float(f"{scaled:.{digits}g}")) >= 1000 and exponent < 12:
        exponent, scaled = exponent + 3, scaled / 1000
    number = f"{scaled:.{digits}g}" if abs(scaled) < 1000 else f"{scaled:.0f}"
    return f"{number}{' ' if unit else ''}{_PREFIXES[exponent]}{unit}"
