"""What draws figures: ticks, numbers, characters, SVG, files. The oracle is what can be read back."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
from treadle import _whole_files
from treadle.sweep import images, svg, terminal
from treadle.sweep.figures import COLOURS, Axis, Figure, Mark, Series, si, ticks

FIGURE = Figure(
    "a <title> & more", Axis("elements", log=True), Axis("time", "s", log=True),
    (
        Series("first", (10, 100, 1000), (1e-6, 1e-5, 1e-4), (9e-7, 9e-6, 9e-5), (2e-6, 2e-5, 2e-4)),
        Series("second", (10, 100, 1000), (5e-5, math.nan, 5e-5), dashed=True),
    ),
    (Mark(400, 300, 500, "crossover 400"),),
)  # fmt: skip


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (2.5e-6, "s", "2.5 µs"), (0, "s", "0 s"), (999.9999, "B", "1 kB"), (65536, "", "65.5k"), (1e6, "", "1M"),
        (50, "%", "50 %"), (1e-15, "s", "0.001 ps"), (math.inf, "s", "∞"), (math.nan, "s", "-"), (-3e-3, "s", "-3 ms"),
    ],
)  # fmt: skip
def test_numbers_have_prefixes(value, unit, text):
    assert si(value, unit) == text


@pytest.mark.parametrize("extent", [(1, 10), (3, 7e6), (1e-9, 2.5), (9.9, 10.1), (20, 40)])
def test_logarithmic_ticks_are_few_and_inside(extent):
    found = ticks(extent, Axis("x", log=True))
    assert len(found) <= 8 and all(extent[0] * 0.99 <= t <= extent[1] * 1.01 for t in found)


@pytest.mark.parametrize("extent", [(0, 100), (0, 1e-5), (-3, 17), (32, 1024)])
def test_linear_ticks_are_round_and_even(extent):
    found = ticks(extent, Axis("x"))
    steps = {round((b - a) / (found[1] - found[0]), 6) for a, b in zip(found, found[1:])}  # noqa: RUF007
    assert 3 <= len(found) <= 9 and steps == {1.0}


def test_terminal_plot_is_readable_in_any_encoding():
    text = terminal.draw(FIGURE, 80, 12)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80 and "crossover 400" in text and "░" in text
    assert text.count("o") >= 3 and "100 µs" in text and "1k" in text
    plain = terminal.draw(FIGURE, 80, 12, "ascii")
    assert plain.isascii() and "100 us" in plain


def test_svg_is_well_formed_and_has_every_point():
    root = ElementTree.fromstring(svg.draw(FIGURE))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}circle")) == 3 + 1  # and the legend's
    assert len(root.findall(f"{space}rect[@class='f1']")) == 2 + 1  # NaN is no point
    texts = [t.text for t in root.findall(f"{space}text")]
    assert "a <title> & more" in texts and "crossover 400" in texts
    box = [float(v) for v in root.attrib["viewBox"].split()]
    for circle in root.findall(f"{space}circle"):
        assert (
            0 <= float(circle.attrib["cx"]) <= box[2] and 0 <= float(circle.attrib["cy"]) <= box[3]
        )


def test_one_noisy_point_does_not_hide_the_others():
    noisy = Figure(
        "noise",
        Axis("x"),
        Axis("y", lowest=0),
        (Series("s", (1, 2, 3), (1, 1, 1), (1, 1, 1), (1.1, 900, 1.1)),),
    )
    assert noisy.extent()[1] == (0, 1.6)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("scheme, paper", [("light", "#ffffff"), ("dark", "#16181b")])
def test_colours_stand_out_from_the_paper(scheme, paper):
    """WCAG 2.1: graphics need a contrast of 3 to 1."""
    for colour in COLOURS[scheme]:
        dark, light = sorted((luminance(colour), luminance(paper)))
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(_whole_files.os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        images.save(FIGURE, tmp_path / "f.svg")
    assert not list(tmp_path.iterdir())


def test_pictures_that_need_matplotlib(tmp_path):
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match=r"pip install matplotlib.*f\.svg"):
            images.save(FIGURE, tmp_path / "f.png")
        assert not list(tmp_path.iterdir())
        return
    images.save(FIGURE, tmp_path / "f.png")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_without_points_is_refused():
    with pytest.raises(ValueError, match="nothing to draw"):
        svg.draw(Figure("empty", Axis("x"), Axis("y"), (Series("s", (), ()),)))
