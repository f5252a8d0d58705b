"""How figures of the study look: colours, lines with error bars, boxes, and files that come out the same each time."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from firstfactor._utils.atomic_write import write_whole

from ...data.setting import Setting
from ...scores.results import Results

WIDTH = 9.0  # inches, about as wide as a page on GitHub
GREY = "#6e6e6e"
EMPHASIS = "#D55E00"
BOX = "#56B4E9"

# Okabe and Ito's colours, without the yellow that is lost on white; marker and dashes tell methods apart in grey too.
LOOKS: dict[str, tuple[str, str, str]] = {
    "FIRST": (EMPHASIS, "o", "-"),
    "COSSO": ("#0072B2", "s", "-"),
    "RF-VS": ("#009E73", "^", "-"),
    "KFOCI": ("#56B4E9", "D", "-"),
    "LASSO": ("#CC79A7", "v", "--"),
    "VIMP-R2": ("#E69F00", "P", "--"),
    "VIMP-ACC": ("#E69F00", "P", "--"),
    "FILTER": (GREY, "<", ":"),
    "RF": ("#000000", "x", ":"),
    "RF-SHAP": ("#000000", "+", "-."),
}

STYLE: Any = {
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "firstfactor",
}


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, without anything that changes from run to run."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(buffer.getvalue()))


def panels(n_rows: int, n_columns: int, height: float, **options: Any) -> tuple[Figure, Any]:
    """Return a figure with panels, ``height`` inches for each row."""
    figure = Figure(figsize=(WIDTH, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def draw_lines(axes: Axes, results: Results, methods: Sequence[str], settings: Sequence[Setting], metric: str) -> None:
    """Draw the mean of each method against the correlation, with bars of two standard errors."""
    results.need("FIRST", settings[0])
    for position, method in enumerate(methods):
        cells = [results.find(method, setting) for setting in settings]
        points = [(cell.setting.correlation, cell.mean(metric)) for cell in cells if cell.n > 1]
        if not points:
            continue
        colour, marker, dashes = LOOKS[method]
        emphasised = method == "FIRST"
        shift = 0.006 * ((position + 1) // 2) * (-1) ** position  # bars side by side, those of FIRST in place
        axes.errorbar(
            [rho + shift for rho, _ in points],
            [mean.value for _, mean in points],
            yerr=[2 * mean.standard_error for _, mean in points],
            label=method,
            color=colour,
            marker=marker,
            linestyle=dashes,
            linewidth=2.6 if emphasised else 1.3,
            markersize=6 if emphasised else 5,
            elinewidth=1,
            zorder=5 if emphasised else 3,
        )
    axes.set_xticks(sorted({setting.correlation for setting in settings}))
    axes.set_xlabel("ρ")


def draw_boxes(axes: Axes, values: Sequence[Any], labels: Sequence[str], colour: str, width: float) -> None:
    """Draw a box per group, ``width`` points wide: quartiles and median, with whiskers from 5 to 95 %.

    Thick lines take a tenth of the space that the shapes of a boxplot need in a file.
    """
    positions = range(1, len(values) + 1)
    lowest, low, median, high, highest = np.array(
        [np.quantile(group, [0.05, 0.25, 0.5, 0.75, 0.95]) for group in values]
    ).T
    axes.vlines(positions, lowest, highest, color="black", linewidth=1)
    axes.vlines(positions, low, high, color=colour, linewidth=width)
    axes.plot(positions, median, "_", color="black", markersize=width, markeredgewidth=1.5)
    axes.set_xticks(positions, labels)
    axes.set_xlim(0.4, len(values) + 0.8)
    axes.grid(visible=False, axis="x")


def use_log_scale(axes: Axes) -> None:
    """Make the vertical axis logarithmic, with plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def add_legend(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """Put one legend for all panels above them, where it hides nothing."""
    found: dict[str, Any] = {}
    for one in axes:
        handles, labels = one.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    if found:
        figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns)


def styled() -> Any:
    """Return a context in which figures look like those of the study, whatever the user has set."""
    return mpl.rc_context(mpl.rcParamsDefault | STYLE)
