"""A figure as a PNG, PDF or SVG file. SVG needs nothing; the others need matplotlib, which is optional."""

from pathlib import Path

from .._whole_files import write_whole
from . import svg
from .figures import COLOURS, ticks

__all__ = ["FORMATS", "save"]

FORMATS = (".svg", ".png", ".pdf")
_MARKERS = "os^D"


def check(path):
    """ValueError for a name whose ending is unknown, ImportError where matplotlib is needed and missing,
    FileNotFoundError for a folder that is not there: all before anything is measured.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(
            f"a plot is written as {', '.join(FORMATS)}; '{path}' has none of these endings"
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder '{path.parent}' for the plot '{path}'")
    if path.suffix != ".svg":
        _pyplot(path)


def save(figure, path):
    """Writes one figure; errors as `check`."""
    check(path)
    path = Path(path)
    if path.suffix == ".svg":
        write_whole(path, svg.draw(figure))
        return
    import io

    buffer = io.BytesIO()
    drawn = _draw(figure, _pyplot(path))
    drawn.savefig(buffer, format=path.suffix[1:], dpi=160)
    write_whole(path, buffer.getvalue())


def _pyplot(path):
    try:
        from matplotlib import figure
    except ImportError:
        raise ImportError(
            f"'{path}' needs matplotlib, which is not installed: install it (`pip install matplotlib`), or write "
            f"'{Path(path).with_suffix('.svg')}', which needs nothing"
        ) from None
    return figure


def _draw(figure, module):
    drawn = module.Figure(figsize=(9, 4.8), layout="constrained")
    axes = drawn.subplots()
    for i, series in enumerate(figure.series):
        colour = COLOURS["light"][i % len(COLOURS["light"])]
        axes.plot(
            series.x, series.y, _MARKERS[i % 4], linestyle="--" if series.dashed else "-", color=colour,
            label=series.name, markersize=5.5,
        )  # fmt: skip
        if series.low is not None:
            axes.fill_between(
                series.x, series.low, series.high, color=colour, alpha=0.2, linewidth=0
            )
    for mark in figure.marks:
        axes.axvspan(mark.low, mark.high, color="black", alpha=0.12, linewidth=0)
        axes.axvline(mark.x, color="black", linestyle=":", label=mark.label)
    _axis(axes.xaxis, axes.set_xscale, axes.set_xlim, figure.x, figure.extent()[0])
    _axis(axes.yaxis, axes.set_yscale, axes.set_ylim, figure.y, figure.extent()[1])
    axes.set_xlabel(figure.x.label)
    axes.set_ylabel(figure.y.label)
    axes.grid(True, color="#dcdfe3")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    drawn.legend(
        loc="outside upper left", ncols=3, frameon=False, fontsize=9, title=figure.title, alignment="left",
        title_fontproperties={"size": 12, "weight": "bold"},
    )  # fmt: skip
    if figure.note:
        drawn.supxlabel(figure.note, fontsize=8, x=0.01, ha="left")
    return drawn


def _axis(axis, set_scale, set_limits, description, extent):
    if description.log:
        set_scale("log")
        extent = extent[0] / 1.15, extent[1] * 1.15
    else:
        space = (extent[1] - extent[0]) * 0.03
        extent = extent[0] - space, extent[1] + space
    set_limits(*extent)
    axis.set_ticks([]) if description.log else None
    axis.set_ticks([], minor=True) if description.log else None
    marks = ticks(extent, description)
    axis.set_ticks(marks, [description.text(t) for t in marks])
