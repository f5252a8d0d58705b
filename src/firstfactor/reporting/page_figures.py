"""The figures of the page, as SVG text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._utils.optional import require
from .._utils.text import printable
from ..plots.axes import BLUE, GREY, VERMILION
from ..plots.effects import draw_effect
from ..plots.pair import Pair, draw_pair
from ..plots.path import draw_path, stops
from ..plots.stability import draw_stability
from ..results.indices import Indices
from .data_summary import Data, brief
from .figures import figure_to_svg, page_style

if TYPE_CHECKING:
    from ..results.stability import Stability

# Inches; figures are shown as large as they are drawn, so that text in all of them has one size, and a phone has room.
FIGURE_WIDTH, PANEL_SIZE, PAIR_SIZE = 3.6, (2.9, 2.3), (3.6, 2.9)
STEP_WIDTH, WIDEST = 0.3, 9.0
COLOURS = {BLUE: "var(--strong)", VERMILION: "var(--warm)", GREY: "var(--points)"}


def draw_figures(indices: Indices, data: Data | None, stability: "Stability | None") -> dict[str, Any]:
    """Figures as SVG text, None where there is nothing to draw; ``effects`` come with names."""
    figure = require("matplotlib.figure", "a report").Figure
    with page_style(FIGURE_WIDTH):
        walked = [] if indices.path is None else stops(indices.path, indices.r2_ceiling)
        path = _draw_path(indices, len(walked), figure) if len(walked) > 1 else None
        halves = draw_stability(stability, None, figure) if stability else None
        return {
            "path": path and figure_to_svg(path.figure, "path", "R² after each step", COLOURS),
            "stability": halves and figure_to_svg(halves.figure, "halves", "How often each is selected", COLOURS),
            "effects": [] if data is None else list(_draw_effects(data, figure)),
            "pair": None if data is None or data.pair is None else _draw_pair(data.pair, figure),
        }


def _draw_path(indices: Indices, steps: int, figure: Any) -> Any:
    """The axes of the path; of many steps, so wide that names stand apart, though a phone must scroll."""
    with page_style(min(max(FIGURE_WIDTH, STEP_WIDTH * steps), WIDEST)):
        return draw_path(indices, None, figure)


def _draw_effects(data: Data, figure: Any) -> Iterator[tuple[str, str, str]]:
    """Yield for each factor its name, as much of it as makes a caption, and the panel."""
    for number, effect in enumerate(data.effects):
        ax = figure(figsize=PANEL_SIZE, layout="constrained").add_subplot()
        draw_effect(ax, effect, data.target, legend=False)
        name = printable(effect.name)
        description = f"{data.target.label} against {name}"
        yield name, brief(name, 60), figure_to_svg(ax.figure, f"effect{number}", description, COLOURS)


def _draw_pair(pair: Pair, figure: Any) -> str:
    """Two factors that work together, as SVG text."""
    ax = figure(figsize=PAIR_SIZE, layout="constrained").add_subplot()
    draw_pair(ax, pair)
    description = f"{pair.label} over {printable(pair.across.name)} and {printable(pair.up.name)}"
    return figure_to_svg(ax.figure, "pair", description, COLOURS)
